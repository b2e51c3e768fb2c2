"""The verdict on whole folders of comparisons whose truth is known, judged as a run's end does."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from support import compare_folder, jmx_text
from support.compare_folder import SAME, WARMUP_S, Label, Load, both, finding, judged, make
from support.jtl_rows import START_MS
from support.run_folder import reasons, spoil, verdict_of
from tollgate.commands import cli
from tollgate.compare import record
from tollgate.compare.record import SideRecord
from tollgate.compare.settings import lag_s
from tollgate.compare.words import course
from tollgate.gather import evidence
from tollgate.gather.comparison import labels_of
from tollgate.judge.facts import JudgeSettings as Strictness
from tollgate.judge.judgement import judge
from tollgate.plan.read import read_plan
from tollgate.run import manifest
from tollgate.run.manifest import ManifestError

SETTINGS = Load().settings
LONG = replace(SETTINGS, budget_s=600.0)
#: Ended after 90 s of a schedule of ten minutes.
EARLY = Load(seconds=96, schedule_s=600, settings=LONG)


def test_base_against_itself_passes_and_is_told_as_the_control(tmp_path):
    verdict = judged(tmp_path, of={"head": SAME})
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("PASS", 0, ())
    (execution,) = verdict.executions
    assert execution.comparison.is_control
    assert "base and head are the same" in " ".join(execution.warnings)


def test_a_head_that_takes_a_fifth_longer_fails_and_the_line_says_label_metric_change_and_interval(
    tmp_path,
):
    verdict = judged(tmp_path, Load(both(ratio=1.2)))
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)
    p95 = finding(verdict, "p95")
    assert 0 < p95.low < 0.2 < p95.high
    text = reasons(verdict)
    assert "(service) compare: p95 of sum: head " in text
    assert " ms against base " in text
    assert "% (at least +" in text
    assert "worse beyond doubt" in text
    assert "search" not in text


def test_a_failure_ends_the_measuring_and_what_was_open_then_is_no_reason(tmp_path):
    load = replace(EARLY, labels=both(ratio=1.5, sigma=0.3), settings=replace(LONG, fail_fast=True))
    verdict = judged(tmp_path, load, decided_s=60.0)
    assert (verdict.verdict, {reason.verdict for reason in verdict.reasons}) == ("FAIL", {"FAIL"})
    comparison = verdict.executions[0].comparison
    assert (comparison.doubt, comparison.gate.looks_s) == ("", (60.0,))
    left = comparison.gate.left_open
    assert {each.verdict for each in left} == {"INCONCLUSIVE"}
    said = course(comparison)
    assert said.startswith("ended by a FAIL after 60 s of at most 10 min, with 1 look; open then: ")
    assert said.endswith(", ".join(f"{it.metric} of {it.label}" for it in left))


def test_a_head_that_takes_less_time_passes_and_is_told_as_better(tmp_path):
    verdict = judged(tmp_path, Load(both(ratio=0.8)))
    assert (verdict.verdict, verdict.exit_code) == ("PASS", 0)
    assert finding(verdict, "p50").verdict == finding(verdict, "p95").verdict == "IMPROVED"


def test_a_head_that_fails_more_often_fails_though_it_is_as_fast(tmp_path):
    verdict = judged(tmp_path, Load(both(failing=(0.0, 0.04))))
    assert verdict.exit_code == 3
    assert "errors of sum: head " in reasons(verdict)
    assert finding(verdict, "p95").verdict == "PASS"


def test_failures_of_both_sides_alike_are_no_regression_but_are_warned_about(tmp_path):
    verdict = judged(tmp_path, Load(both(failing=(0.005, 0.005))))
    assert finding(verdict, "errors").verdict != "FAIL"
    assert "requests of sum failed, and no criterion is about that" in " ".join(
        verdict.executions[0].warnings
    )


def test_a_head_whose_every_request_fails_can_not_pass_also_where_its_label_has_no_say(tmp_path):
    told_only = replace(SETTINGS, labels=("search",))
    for number, settings in enumerate((SETTINGS, told_only)):
        verdict = judged(tmp_path / str(number), Load(both(failing=(0, 1)), settings=settings))
        assert verdict.verdict == "FAIL"
        assert "(service) compare: every request of sum to head failed (n=" in reasons(verdict)


def test_a_base_whose_every_request_fails_leaves_nothing_to_compare_with(tmp_path):
    verdict = judged(tmp_path, Load(both(failing=(1, 0))))
    assert verdict.verdict == "INVALID"
    assert "every request of sum to base failed" in reasons(verdict)


@pytest.mark.parametrize(("odds", "side"), [(0.0, "head"), (1.0, "base")])
def test_a_side_without_samples_can_not_pass(odds, side, tmp_path):
    verdict = judged(tmp_path, Load(both(odds=odds)))
    assert verdict.verdict == "INVALID"
    assert f"sum: no samples of {side}" in reasons(verdict)


def test_a_label_that_nobody_asked_can_not_pass(tmp_path):
    made = make(tmp_path)
    more = jmx_text.open_group(jmx_text.sampler("never"), schedule="pause(5 s)", name="never")
    plan = tmp_path / made.executions[0].plan
    plan.write_text(plan.read_text().replace("<OpenModel", f"{more}<OpenModel", 1))
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "never: no samples of base and head" in reasons(verdict)


def test_samples_that_no_fair_coin_gives_make_the_run_invalid(tmp_path):
    verdict = judged(tmp_path, Load(both(odds=0.4)))
    assert verdict.verdict == "INVALID"
    text = reasons(verdict)
    assert "are no fair coin: some were lost" in text
    assert "p50 of sum" not in text  # the coin is the reason, not what could not be told for it


def test_an_unfair_coin_beats_a_failure_that_was_found_before_it_showed(tmp_path):
    verdict = judged(tmp_path, Load((Label("sum", odds=0.4), Label("search", 40.0, ratio=1.3))))
    assert finding(verdict, "p95", "search").verdict == "FAIL"
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 1)


def test_a_label_without_a_say_is_told_and_decides_nothing(tmp_path):
    only = replace(SETTINGS, labels=("search",))
    verdict = judged(tmp_path, Load(both(ratio=1.3), settings=only))
    assert verdict.verdict == "PASS"
    p95 = finding(verdict, "p95")
    assert (p95.gates, p95.verdict) == (False, "TOLD")
    assert p95.low > 0.1


def test_fewer_labels_with_a_say_share_the_error_among_fewer(tmp_path):
    of_all, alone = (
        finding(judged(tmp_path / str(number), Load(settings=settings)), "p95", "search")
        for number, settings in enumerate((SETTINGS, replace(SETTINGS, labels=("search",))))
    )
    assert of_all.low < alone.low < of_all.change == alone.change


def test_a_label_that_is_to_gate_and_is_none_of_the_plan_is_refused(tmp_path):
    make(tmp_path, Load(settings=replace(SETTINGS, labels=("serach",))))
    with pytest.raises(evidence.EvidenceError, match="no serach: it has sum, search"):
        verdict_of(tmp_path)


def test_a_label_that_the_running_plan_makes_up_is_refused(tmp_path):
    made = make(tmp_path)
    plan = tmp_path / made.executions[0].plan
    plan.write_text(plan.read_text().replace('testname="sum"', 'testname="sum ${n}"'))
    with pytest.raises(evidence.EvidenceError, match=r"'sum \$\{n\}' as it runs"):
        verdict_of(tmp_path)


def test_a_parent_sample_in_the_place_of_what_is_compared_is_refused(tmp_path):
    made = make(tmp_path)
    plan = tmp_path / made.executions[0].plan
    parent = jmx_text.element(
        "TransactionController",
        "all of it",
        [jmx_text.sampler("step")],
        TransactionController__parent="true",
    )
    group = jmx_text.group(parent)
    plan.write_text(
        plan.read_text().replace("<OpenModelThreadGroup", f"{group}<OpenModelThreadGroup", 1)
    )
    with pytest.raises(evidence.EvidenceError, match="'all of it' generates a parent sample"):
        verdict_of(tmp_path)


def test_what_a_transaction_adds_up_is_not_compared(tmp_path):
    inner = jmx_text.sampler("sum")
    both_of = jmx_text.element("TransactionController", "all of it", [inner])
    path = tmp_path / "plan.jmx"
    path.write_text(jmx_text.plan(jmx_text.open_group(both_of)))
    assert labels_of(read_plan(path, {})) == ("sum",)


def test_a_run_too_short_to_tell_is_inconclusive_and_says_how_much_longer(tmp_path):
    noisy = Load((Label("sum", sigma=1.5),))
    verdict = judged(tmp_path, noisy)
    assert (verdict.verdict, verdict.exit_code) == ("INCONCLUSIVE", 1)
    text = reasons(verdict)
    assert "(machine) compare: p95 of sum: head " in text
    assert re.search(r"(some [\d.]+ times as many|far more) samples would", text)


def test_a_run_without_time_for_a_look_is_inconclusive(tmp_path):
    settings = replace(SETTINGS, budget_s=1000.0)
    verdict = judged(tmp_path, Load(seconds=3, schedule_s=3, settings=settings), measured=3.0)
    assert verdict.verdict == "INCONCLUSIVE"
    assert "too short to compare: 3 s were measured" in reasons(verdict)


def test_a_run_that_ended_itself_is_complete_though_the_schedule_goes_on(tmp_path):
    verdict = judged(tmp_path, replace(EARLY, labels=both(ratio=1.2)), decided_s=90.0)
    assert verdict.exit_code == 3
    assert {reason.fault for reason in verdict.reasons} == {"service"}
    passing = judged(tmp_path / "again", replace(EARLY, labels=both(ratio=0.8)), decided_s=90.0)
    assert (passing.verdict, passing.reasons) == ("PASS", ())


def test_what_taurus_does_to_jmeter_after_that_is_no_accident(tmp_path):
    load = replace(EARLY, labels=both(ratio=0.8))
    made = make(tmp_path, load, decided_s=90.0, exit_code=-15)
    jtl = (tmp_path / "kpi.jtl").read_bytes()
    spoil(tmp_path, jtl[:-20])
    assert made.executions[0].exit_code == -15
    assert verdict_of(tmp_path).verdict == "PASS"


def test_the_seconds_behind_the_decision_do_not_count(tmp_path):
    load = replace(EARLY, labels=both(ratio=0.8), seconds=130)
    comparison = judged(tmp_path, load, decided_s=90.0).executions[0].comparison
    assert comparison.seconds == 90
    assert sum(comparison.samples["sum"]) == pytest.approx(90 * compare_folder.RATE, rel=0.1)


def test_a_decision_that_the_samples_do_not_bear_out_is_no_pass(tmp_path):
    noisy = replace(EARLY, labels=(Label("sum", sigma=1.5),))
    verdict = judged(tmp_path, noisy, decided_s=90.0)
    assert verdict.verdict == "INCONCLUSIVE"
    assert "ended itself after 90 s of measuring, and the samples do not bear out" in reasons(
        verdict
    )


def test_a_decision_at_a_time_when_nobody_looked_is_invalid(tmp_path):
    noisy = replace(EARLY, labels=(Label("sum", sigma=1.5),))
    verdict = judged(tmp_path, noisy, decided_s=75.0)
    assert verdict.verdict == "INVALID"
    assert "after 75 s of measuring, when there was no look" in reasons(verdict)


def test_a_decision_later_than_the_samples_go_is_invalid(tmp_path):
    noisy = replace(EARLY, labels=(Label("sum", sigma=1.5),))
    verdict = judged(tmp_path, noisy, decided_s=300.0)
    assert verdict.verdict == "INVALID"
    assert "measured 97 s of 300 s" in reasons(verdict)


def test_a_jmeter_that_was_killed_before_a_decision_makes_the_run_invalid(tmp_path):
    verdict = judged(tmp_path, replace(EARLY, labels=both(ratio=1.3)), exit_code=-9)
    assert verdict.verdict == "INVALID"
    text = reasons(verdict)
    assert "(generator) compare: JMeter exited with code -9" in text
    assert "scheduled requests of sum were not sent" in text
    assert "(service) compare: p95 of sum" in text  # told, though it can't decide


def test_arrivals_that_were_not_sent_before_the_decision_make_it_invalid(tmp_path):
    load = replace(EARLY, labels=both(ratio=0.8))
    make(tmp_path, load, decided_s=90.0)
    lines = (tmp_path / "kpi.jtl").read_bytes().splitlines(keepends=True)
    gap = [line for number, line in enumerate(lines) if not 3000 < number < 3400]
    spoil(tmp_path, b"".join(gap))
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "scheduled requests of sum were not sent: the generator was too slow" in reasons(verdict)


def test_the_lateness_of_the_generator_has_no_limit_of_its_own(tmp_path):
    """The coin falls after the wait, and service times don't contain it."""
    make(tmp_path, Load(both(ratio=0.8)))
    run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
    (execution,) = run.executions
    late = tuple(replace(each, generator_p99_ms=900.0) for each in execution.schedules)
    verdict = judge(replace(run, executions=(replace(execution, schedules=late),)), settings)
    assert verdict.verdict == "PASS"


def test_an_interrupted_run_is_invalid_and_exits_2(tmp_path):
    made = make(tmp_path, replace(EARLY, labels=both(ratio=1.2)))
    made.interrupted, made.interrupted_at = True, made.executions[0].ended
    manifest.write(made, tmp_path)
    verdict = verdict_of(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)
    assert "the run was interrupted" in reasons(verdict)


def test_an_interrupted_run_that_may_count_is_judged_by_what_was_measured(tmp_path):
    made = make(tmp_path, replace(EARLY, labels=both(ratio=1.2)))
    made.interrupted, made.interrupted_at = True, made.executions[0].ended
    made.settings = {"cut_short_counts": True}
    manifest.write(made, tmp_path)
    verdict = verdict_of(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 2)
    assert verdict.executions[0].comparison.gate.looks_s[0] == 60


def test_of_an_interrupted_run_the_seconds_whose_slow_answers_are_missing_do_not_count(tmp_path):
    """Whatever was sent in them and took long was still under way when the run was cut."""
    made = make(tmp_path, replace(EARLY, labels=(Label("sum", sigma=1.5),)))
    made.interrupted, made.interrupted_at = True, made.executions[0].ended
    made.settings = {"cut_short_counts": True}
    manifest.write(made, tmp_path)
    ended_s = last_answer_s(tmp_path)
    (execution,) = verdict_of(tmp_path).executions
    last_s = execution.comparison.gate.looks_s[-1]
    assert last_s <= ended_s - lag_s({}) < last_s + 1
    assert execution.comparison.seconds == int(last_s)

    made.executions[0].properties = {"connect_timeout": "0"}
    manifest.write(made, tmp_path)
    with pytest.raises(ManifestError, match="compare: the property connect_timeout is '0'"):
        verdict_of(tmp_path)


def last_answer_s(run):
    """In seconds of measuring."""
    rows = [line.split(",") for line in (run / "kpi.jtl").read_text().splitlines()[1:]]
    return (max(int(row[0]) + int(row[1]) for row in rows) - START_MS) / 1000 - WARMUP_S


def test_a_run_that_is_interrupted_in_its_warm_up_says_only_that(tmp_path):
    made = make(tmp_path, replace(EARLY, seconds=0))
    made.interrupted, made.interrupted_at = True, made.executions[0].began + 4.0
    made.executions[0].ended = made.interrupted_at
    manifest.write(made, tmp_path)
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "in the warm-up: nothing was measured" in reasons(verdict)
    assert len(verdict.executions[0].comparison.gating) == 8


def test_samples_that_can_not_be_read_leave_findings_that_nobody_can_tell(tmp_path):
    make(tmp_path)
    spoil(tmp_path, (tmp_path / "kpi.jtl").read_bytes().replace(b',"coin"', b',"side"', 1))
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "no column coin" in reasons(verdict)
    assert "no criterion can fail" not in reasons(verdict)
    findings = verdict.executions[0].comparison.gating
    assert {each.verdict for each in findings} == {"INCONCLUSIVE"}


def test_criteria_of_a_comparison_are_judged_beside_it(tmp_path):
    verdict = judged(tmp_path, Load(both(ratio=0.8)), criteria=["p95 of search>30ms"])
    assert verdict.verdict == "FAIL"
    assert "p95 of search = " in reasons(verdict)


def test_a_kind_compare_without_its_record_is_refused(tmp_path):
    manifest.write(replace(make(tmp_path), compare_sha256=None), tmp_path)
    (tmp_path / record.NAME).unlink()
    with pytest.raises(ManifestError, match=r"compare.json is missing: nobody knows"):
        verdict_of(tmp_path)


def test_a_head_that_fails_fast_is_not_faster(tmp_path):
    times = replace(SETTINGS, gates=("p50", "p95"))
    verdict = judged(tmp_path, Load(both(ratio=0.5, failing=(0.0, 0.6)), settings=times))
    assert verdict.verdict == "INCONCLUSIVE"
    assert "% of head's requests failed: the times are not of the same work" in reasons(verdict)
    assert {reason.fault for reason in verdict.reasons} == {"service"}


def test_a_record_that_has_changed_since_the_run_ended_is_refused(tmp_path):
    made = make(tmp_path, Load(both(ratio=1.2)))
    assert verdict_of(tmp_path).verdict == "FAIL"
    kept = record.read(tmp_path)
    record.write(replace(kept, settings=replace(kept.settings, effect=0.4)), tmp_path)
    with pytest.raises(ManifestError, match=r"compare\.json has changed since the run ended"):
        verdict_of(tmp_path)
    manifest.write(replace(made, compare_sha256=None), tmp_path)
    with pytest.raises(ManifestError, match=r"compare\.json has changed since the run ended"):
        verdict_of(tmp_path)
    manifest.write(made, tmp_path)
    (tmp_path / record.NAME).unlink()
    with pytest.raises(ManifestError, match=r"compare\.json is missing: what was promised"):
        verdict_of(tmp_path)


def test_a_record_of_another_execution_is_refused(tmp_path):
    make(tmp_path, of={"execution": "fork"})
    with pytest.raises(ManifestError, match=r"about an execution 'fork', which run\.json has"):
        verdict_of(tmp_path)


@pytest.mark.parametrize(
    ("changes", "is_control"),
    [
        ({"head": SAME}, True),
        ({}, False),
        ({"head": replace(SAME, revision=None)}, False),  # a working tree with changes
        ({"head": SAME, "injected": {"work_percent": 20.0}}, False),
        ({side: SideRecord(side, "http://a", None, "http://a") for side in ("base", "head")}, True),
        (
            {"base": SideRecord("base", "x", None, None), "head": replace(SAME, revision=None)},
            False,
        ),
    ],
)
def test_only_the_same_code_untouched_is_the_control(changes, is_control, tmp_path):
    verdict = judged(tmp_path, Load(seconds=3, schedule_s=3), of=changes)
    assert verdict.executions[0].comparison.is_control is is_control


def test_tollgate_judge_comes_to_the_same_again(tmp_path, monkeypatch, capsys):
    make(tmp_path, Load(both(ratio=1.2)))
    first = verdict_of(tmp_path)
    monkeypatch.setattr("sys.argv", ["tollgate", "judge", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == first.exit_code == 3
    assert "FAIL compare: p95 of sum: head " in capsys.readouterr().out


def test_inconclusive_may_pass_where_a_team_lets_it_but_not_what_its_record_contradicts(tmp_path):
    noisy = replace(EARLY, labels=(Label("sum", sigma=1.5),))
    made = make(tmp_path, noisy, decided_s=75.0)
    made.settings = {"inconclusive_passes": True}
    manifest.write(made, tmp_path)
    assert verdict_of(tmp_path).exit_code == 1


def test_the_defaults_of_the_judge_change_nothing_of_it(tmp_path):
    make(tmp_path)
    run, settings = evidence.gather(tmp_path, manifest.read(tmp_path))
    assert settings == Strictness()
    assert json.loads((tmp_path / record.NAME).read_text())["settings"]["labels"] == []
    assert judge(run, settings) == judge(run)
