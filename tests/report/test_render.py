import json
import math
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from support.executions import execution
from support.golden import check_file
from support.judged import RUNS, judged, runs
from tollgate.judge.facts import MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.judge.verdicts import FAIL, INVALID, SERVICE, Reason
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import of_the_run, to_junit, unsound
from tollgate.report.markdown import to_markdown

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


def written(run):
    """verdict.json's content as a reader gets it."""
    text = to_json(to_dict(*judged(run), "check", {}))

    def refuse(constant):
        raise AssertionError(f"JSON has no {constant}")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", ["pass, fail and inconclusive", "invalid", "interrupted"])
def test_junit_and_markdown_read_like_the_golden_files(name):
    verdict, file = judge(RUNS[name]), f"render/{name.replace(',', '').replace(' ', '-')}"
    check_file(f"{file}.xml", to_junit(verdict, "check"))
    check_file(f"{file}.md", to_markdown(verdict, "check"))


@pytest.mark.parametrize("name", RUNS)
def test_every_number_in_verdict_json_is_one_that_json_knows(name):
    verdict, _ = judged(RUNS[name])
    content = written(RUNS[name])
    assert (content["verdict"], content["exit_code"]) == (verdict.verdict, verdict.exit_code)


def test_an_interval_without_an_upper_end_and_lateness_of_nothing_are_null():
    run = RUNS["inconclusive"]
    assert judge(run).executions[0].criteria[0].high == math.inf
    low, high = written(run)["executions"][0]["criteria"][0]["interval"]
    assert (low > 0, high) == (True, None)
    (schedule,) = written(RUNS["no samples"])["executions"][0]["schedules"]
    assert (schedule["sent"], schedule["lateness_p99_ms"]) == (0, None)


def test_executions_of_one_name_keep_their_own_facts():
    longer = replace(execution("p95>250ms"), measured_s=30.0)
    first, second = written(MeasuredRun((longer, execution("p95>250ms"))))["executions"]
    assert (first["measured_s"], second["measured_s"]) == (30, 60)


@settings(max_examples=60, **SLOW)
@given(runs())
def test_every_reason_is_told_once_by_the_run_a_measurement_or_a_criterion(run):
    verdict = judge(run)
    assert len(of_the_run(verdict)) == len(verdict.reasons) - sum(
        len(each.reasons) for each in verdict.executions
    )
    for each in verdict.executions:
        failing = [it for it in each.criteria if it.decides and it.verdict != "PASS"]
        assert len(unsound(each)) + len(failing) == len(each.reasons)


@settings(max_examples=60, **SLOW)
@given(runs())
def test_whatever_the_labels_hold_all_outputs_can_be_read(run):
    verdict = judge(run)
    written(run)
    root = ET.fromstring(to_junit(verdict, "check").encode())
    red = {child.tag for it in root.iter("testcase") for child in it} - {"system-out"}
    assert bool(red) == (verdict.verdict != "PASS")
    markdown = to_markdown(verdict, "check")
    assert markdown.encode("utf-8").decode("utf-8") == markdown
    rows = sum(line.startswith("|") for line in markdown.splitlines())
    assert rows == sum(2 + len(each.criteria) for each in verdict.executions)


def test_reasons_are_told_apart_by_all_that_they_say():
    reasons = (Reason(FAIL, SERVICE, "a: x"), Reason(INVALID, SERVICE, "a: x"))
    verdict = replace(judge(RUNS["no criteria"]), reasons=reasons)
    of_a = replace(verdict.executions[0], name="a", reasons=(Reason(INVALID, SERVICE, "x"),))
    assert of_the_run(replace(verdict, executions=(of_a,))) == [reasons[0]]
