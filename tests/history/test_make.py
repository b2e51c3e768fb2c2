"""What a run leaves in the history is small, as its schema says, and names what it is about."""

import hashlib
import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from support import ROOT
from support.archived import unpacked
from support.compare_folder import Load, both
from support.compare_folder import make as make_comparison
from tollgate.base.paths import HISTORY
from tollgate.compare.words import cases
from tollgate.history import files
from tollgate.history.make import record_of
from tollgate.judge.verdicts import Reason
from tollgate.report.json_model import plain
from tollgate.report.pages.run.write import judge_and_write

SCHEMA = ROOT / "scripts" / "tollgate" / "history" / "history.schema.json"


def judged(name, tmp_path):
    run = unpacked(name, tmp_path / f"20261124T081500Z-{name}")
    return run, judge_and_write(run)


def test_a_comparison_leaves_each_deciding_change_with_its_interval_and_both_commits(tmp_path):
    run, known = judged("compare-pass", tmp_path)
    record = record_of(run, known)
    (execution,) = record.executions
    assert (record.run, record.kind, record.verdict) == (run.name, "compare", "PASS")
    assert record.id == hashlib.sha256((run / "run.json").read_bytes()).hexdigest()
    assert execution.anchor.description == "cf3b17f (HEAD)"
    assert record.commit_of(execution) == "cf3b17f6d517a32ec49baf2a7f5ddc7715a4924a"
    findings = {it.key: it for it in known.verdict.executions[0].comparison.gating}
    measures = {(it.label, it.metric): it for it in execution.measures}
    assert {*measures} == {*findings}
    for key, it in measures.items():
        found = findings[key]
        assert it.value == pytest.approx(found.change, rel=1e-5)
        assert (it.low, it.high) == pytest.approx((found.low, found.high), rel=1e-5)
        assert it.effect == (0.05 if it.metric == "errors" else 0.6)
        assert it.unit == ("points" if it.metric == "errors" else "ratio")


def test_a_comparison_leaves_by_which_of_its_metrics_it_failed(tmp_path):
    run, known = judged("compare-fail", tmp_path)
    findings = known.verdict.executions[0].comparison.gating
    failed = {it.key for it in findings if it.verdict == "FAIL"}
    (execution,) = record_of(run, known).executions
    assert {(it.label, it.metric) for it in execution.measures if it.failed} == failed
    assert 0 < len(failed) < len(findings)
    assert {it.failed for it in execution.measures} == {True, False}


def test_a_check_leaves_what_it_observed_without_an_anchor(tmp_path):
    run, known = judged("check-pass", tmp_path)
    record = record_of(run, known)
    assert [it.name for it in record.executions] == ["fork", "cluster"]
    assert {it.anchor for it in record.executions} == {None}
    measure = next(it for it in record.executions[0].measures if it.metric == "avg-lt")
    assert (measure.label, measure.unit, measure.effect) == ("calculate", "ms", None)
    assert measure.value == measure.level == pytest.approx(9.23, abs=0.01)
    assert record.commit_of(record.executions[0]) == "cf3b17f6d517a32ec49baf2a7f5ddc7715a4924a"


@pytest.mark.parametrize("name", ["compare-pass", "compare-fail", "check-pass", "soak"])
def test_a_record_is_one_line_of_a_few_kilobytes_that_its_schema_wants(name, tmp_path):
    run, known = judged(name, tmp_path)
    files.add(run, known, is_shared=True)
    (path,) = (tmp_path / HISTORY.name).iterdir()
    line = path.read_text()
    assert line.count("\n") == 1
    assert len(line) < 8_000
    found = Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(json.loads(line))
    assert [it.message for it in found] == []
    assert (run / "history.jsonl").read_text() == line
    for place in (tmp_path, run, path.parent, path):
        assert files.read([place]) == [record_of(run, known)]


def test_what_slows_head_on_purpose_is_another_setup_than_what_does_not(tmp_path):
    setups = []
    for name, injected in (("a", {}), ("b", {"work_percent": 20.0}), ("c", {})):
        run = tmp_path / name
        make_comparison(run, of={"injected": injected})
        setups.append(record_of(run, judge_and_write(run)).executions[0].setup)
    assert setups[0] == setups[2] != setups[1]


def test_another_plan_of_a_users_own_is_another_setup_wherever_it_lies(tmp_path):
    make_comparison(tmp_path)
    known = judge_and_write(tmp_path)
    setups = []
    for plan in ("", "/a/visits.jmx", "/b/visits.jmx", "/a/orders.jmx"):
        variables = {"PLAN": plan} if plan else {}
        environment = known.record.environment | {"variables": variables}
        record = replace(known, record=replace(known.record, environment=environment))
        setups.append(record_of(tmp_path, record).executions[0].setup)
    assert setups[1] == setups[2]
    assert len({*setups}) == 3


@pytest.mark.parametrize(
    ("load", "criteria", "kept"),
    [
        (Load(both(ratio=1.5)), ["p95 of search>30ms"], "compare: p95 of search = "),
        (Load(both(failing=(0, 1))), [], "compare: every request of sum to head failed (n="),
    ],
)
def test_a_fail_that_is_no_deciding_metric_is_kept_in_words(load, criteria, kept, tmp_path):
    make_comparison(tmp_path, load, criteria=criteria)
    known = judge_and_write(tmp_path)
    failed = [it.text for it in known.verdict.reasons if it.verdict == "FAIL"]
    (text,) = record_of(tmp_path, known).failed
    assert text.startswith(kept)
    assert text in failed
    assert len(failed) > 1


def test_a_metric_that_failed_without_a_value_is_kept_in_words(tmp_path):
    run, known = judged("compare-fail", tmp_path)
    (execution,) = known.verdict.executions
    comparison = execution.comparison
    lost = next(it for it in comparison.gating if it.verdict == "FAIL")
    findings = [
        replace(it, change=None, low=None, high=None) if it.key == lost.key else it
        for it in comparison.gate.findings
    ]
    unlike = replace(comparison, gate=replace(comparison.gate, findings=tuple(findings)))
    (case,) = (it for it in cases(unlike) if it.name.startswith(f"{lost.metric} of {lost.label},"))
    reason = Reason("FAIL", "service", case.line_with_reason)
    whole = replace(execution, comparison=unlike, reasons=(*execution.reasons, reason))
    verdict = replace(known.verdict, executions=(whole,))
    record = record_of(run, replace(known, verdict=verdict))
    assert lost.key not in {(it.label, it.metric) for it in record.executions[0].measures}
    assert f"{whole.name}: {case.line_with_reason}" in record.failed


def test_a_broken_measurement_leaves_nothing(tmp_path):
    run, known = judged("check-invalid", tmp_path)
    assert record_of(run, known) is None
    files.add(run, known, is_shared=True)
    assert not (tmp_path / HISTORY.name).exists()
    assert not (run / "history.jsonl").exists()


def test_a_run_in_a_folder_of_somebody_elses_leaves_its_record_there_alone(tmp_path):
    run, known = judged("check-pass", tmp_path)
    files.add(run, known, is_shared=False)
    assert [it.name for it in tmp_path.iterdir()] == [run.name]
    assert files.read([run]) == [record_of(run, known)]


def test_the_schema_refuses_a_value_that_is_a_text(tmp_path):
    run, known = judged("compare-pass", tmp_path)
    fields = plain(record_of(run, known))
    fields["executions"][0]["measures"][0]["value"] = "5 %"
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    assert [it.json_path for it in validator.iter_errors(fields)] == [
        "$.executions[0].measures[0].value"
    ]
