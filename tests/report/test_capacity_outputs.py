"""A search for capacity in verdict.json, JUnit, Markdown, on the console and on the page."""

import json
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from support import PLANS
from support.capacities import BOTH, RUNS
from tollgate.base.paths import SUITE
from tollgate.judge.judgement import judge
from tollgate.record.environment import fingerprint
from tollgate.report.capacity import scaling
from tollgate.report.console import verdict_table
from tollgate.report.json_model import to_json
from tollgate.report.json_verdict import to_dict
from tollgate.report.junit import to_junit
from tollgate.report.markdown import to_markdown
from tollgate.report.pages.capacity.page import part
from tollgate.report.pages.kit.assemble import Contents, environment
from tollgate.report.pages.kit.charts import data

SCHEMA = json.loads((SUITE / "scripts/tollgate/report/verdict.schema.json").read_text())


@pytest.fixture(scope="module")
def content_of():
    """Reads verdict.json of a run, written on this machine."""
    machine = fingerprint(PLANS)
    return lambda run: json.loads(to_json(to_dict(judge(run), run, "capacity", machine)))


@pytest.mark.parametrize("name", RUNS)
def test_a_written_capacity_is_what_the_schema_says(name, content_of):
    assert [*Draft202012Validator(SCHEMA).iter_errors(content_of(RUNS[name]))] == []


def test_verdict_json_has_the_answer_every_trial_and_how_the_executions_scale(content_of):
    content = content_of(BOTH)
    fork = content["executions"][0]["capacity"]
    assert (fork["status"], fork["estimate"], fork["interval"]) == ("found", 100, [95, 105])
    assert [it["purpose"] for it in fork["trials"]] == ["ceiling", *["search"] * 4]
    assert [it["keeps"] for it in fork["trials"]] == [True, True, True, False, False]
    assert fork["trials"][-1]["p95_ms"] is None
    factor = content["scaling"]
    assert (factor["of"], factor["to"]) == ("cluster", "fork")
    assert factor["value"] == pytest.approx(3)
    low, high = factor["interval"]
    assert low < 280 / 100 < 3 < 320 / 100 < high
    assert scaling(judge(RUNS["a capacity below"]).executions) is None


def test_the_console_names_capacity_interval_holdout_and_ceiling_and_markdown_warns_of_leaks():
    text = verdict_table(judge(BOTH))
    for figure in ("100/s", "95-105", "held out", "1600/s", "cluster / fork", "90/s"):
        assert figure in text
    assert "leak" in to_markdown(judge(BOTH), "capacity")


def test_junit_has_a_case_for_the_criterion_and_one_for_the_search_red_without_an_answer():
    root = ET.fromstring(to_junit(judge(BOTH), "capacity"))
    names = [(it.get("classname"), it.get("name")) for it in root.iter("testcase")]
    assert ("tollgate.capacity.fork", "capacity of fork<90/s") in names
    assert ("tollgate.capacity.cluster", "the measurement is sound") in names
    below = ET.fromstring(to_junit(judge(RUNS["a capacity below"]), "capacity"))
    assert below.find(".//failure") is not None


@pytest.mark.parametrize("name", RUNS)
def test_every_search_has_a_part_of_the_page(name):
    found = part(judge(RUNS[name]))
    for chart in filter(None, (found.together, *found.each)):
        json.dumps(data(chart), allow_nan=False)
    page = environment().get_template("capacity/capacity.html.jinja")
    html = page.make_module({"contents": Contents()}).sections(found)
    assert "leak" in html
    for search in (it.capacity for it in RUNS[name].executions):
        assert all(it.ask.purpose in html for it in (*search.ceiling_trials, *search.trials))


def test_the_picture_holds_both_executions_and_that_of_one_begins_near_its_interval():
    found = part(judge(BOTH))
    names = [it.label for it in found.together.series]
    assert names == ["fork", "fork, trials", "cluster", "cluster, trials"]
    assert found.together.limit == 250
    assert (95.0, 105.0) in [(it.low, it.high) for it in found.together.spans]
    assert len(found.together.series[1].x) == 3  # no answer came of the fourth
    every, one = found.together.series[1].x, found.each[0]
    near = one.series[3].x
    assert near == [rate for rate in every if rate >= 0.6 * 95]
    assert 0 < len(near) < len(every)
    assert one.x.low < 95 < 105 < one.x.high
    assert not one.x.log
