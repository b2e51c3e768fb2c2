"""How a comparison came to its end, and what of it counts then: whole folders, judged at once."""

import re
from dataclasses import replace

import pytest

from support import compare_folder
from support.compare_folder import WARMUP_S, Label, Load, both, judged, make
from support.jtl_rows import START_MS
from support.run_folder import reasons, spoil, verdict_of
from tollgate.compare.settings import lag_s
from tollgate.gather import evidence
from tollgate.judge.judgement import judge
from tollgate.record import manifest
from tollgate.record.manifest import ManifestError

SETTINGS = Load().settings
LONG = replace(SETTINGS, budget_s=600.0)
#: Ended after 90 s of a schedule of ten minutes, when not every seed has decided all; and after
#: 180 s, by when each of eight seeds had.
EARLY = Load(seconds=96, schedule_s=600, settings=LONG)
DECIDED = replace(EARLY, seconds=186)
NOISY = replace(EARLY, labels=(Label("sum", sigma=1.5),))


def test_a_run_too_short_to_tell_is_inconclusive_and_says_how_much_longer(tmp_path):
    verdict = judged(tmp_path, Load((Label("sum", sigma=1.5),)))
    assert (verdict.verdict, verdict.exit_code) == ("INCONCLUSIVE", 5)
    text = reasons(verdict)
    assert "(machine) compare: p95 of sum: head " in text
    assert re.search(r"(some [\d.]+ times as many|far more) samples would", text)
    # Without time for a look.
    short = Load(seconds=3, schedule_s=3, settings=replace(SETTINGS, budget_s=1000.0))
    verdict = judged(tmp_path, short, measured=3.0)
    assert verdict.verdict == "INCONCLUSIVE"
    assert "too short to compare: 3 s were measured" in reasons(verdict)


def test_a_run_that_ended_itself_is_complete_though_the_schedule_goes_on(tmp_path):
    verdict = judged(tmp_path, replace(DECIDED, labels=both(ratio=1.2)), decided_s=180.0)
    assert verdict.exit_code == 3
    assert {reason.fault for reason in verdict.reasons} == {"service"}
    passing = judged(tmp_path / "again", replace(DECIDED, labels=both(ratio=0.8)), decided_s=180.0)
    assert (passing.verdict, passing.reasons) == ("PASS", ())


def test_what_taurus_does_to_jmeter_after_that_is_no_accident(tmp_path):
    load = replace(DECIDED, labels=both(ratio=0.8))
    made = make(tmp_path, load, decided_s=180.0, exit_code=-15)
    spoil(tmp_path, (tmp_path / "kpi.jtl").read_bytes()[:-20])
    assert made.executions[0].exit_code == -15
    assert verdict_of(tmp_path).verdict == "PASS"


def test_the_seconds_behind_the_decision_do_not_count(tmp_path):
    load = replace(EARLY, labels=both(ratio=0.8), seconds=130)
    comparison = judged(tmp_path, load, decided_s=90.0).executions[0].comparison
    assert comparison.seconds == 90
    assert sum(comparison.samples["sum"]) == pytest.approx(90 * compare_folder.RATE, rel=0.1)


@pytest.mark.parametrize(
    ("decided_s", "expected", "said"),
    [
        (90.0, "INCONCLUSIVE", "itself after 90 s of measuring, and the samples do not bear out"),
        (75.0, "INVALID", "after 75 s of measuring, when there was no look"),
        (300.0, "INVALID", "measured 97 s of 300 s"),
    ],
)
def test_a_decision_that_the_samples_do_not_bear_out_is_no_pass(
    tmp_path, decided_s, expected, said
):
    verdict = judged(tmp_path, NOISY, decided_s=decided_s)
    assert verdict.verdict == expected
    assert said in reasons(verdict)


def test_a_jmeter_that_was_killed_before_a_decision_makes_the_run_invalid(tmp_path):
    verdict = judged(tmp_path, replace(EARLY, labels=both(ratio=1.3)), exit_code=-9)
    assert verdict.verdict == "INVALID"
    text = reasons(verdict)
    assert "(generator) compare: JMeter exited with code -9" in text
    assert "scheduled requests of sum were not sent" in text
    assert "(service) compare: p95 of sum" in text  # told, though it can't decide


def test_arrivals_that_were_not_sent_before_the_decision_make_it_invalid(tmp_path):
    load = replace(DECIDED, labels=both(ratio=0.8))
    make(tmp_path, load, decided_s=180.0)
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


def interrupted(folder, load, may_count, after_s=None):
    """The record of a run that was interrupted when, or so long after, JMeter began."""
    made = make(folder, load)
    (execution,) = made.executions
    if after_s is not None:
        execution.ended = execution.began + after_s
    made.interrupted, made.interrupted_at = True, execution.ended
    made.settings = {"cut_short_counts": True} if may_count else {}
    manifest.write(made, folder)
    return made


def test_an_interrupted_run_exits_2_and_is_judged_by_what_was_measured_if_it_may_count(tmp_path):
    load = replace(EARLY, labels=both(ratio=1.2))
    interrupted(tmp_path, load, may_count=False)
    verdict = verdict_of(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)
    assert "the run was interrupted" in reasons(verdict)
    interrupted(tmp_path, load, may_count=True)
    verdict = verdict_of(tmp_path)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 2)
    assert verdict.executions[0].comparison.gate.looks_s[0] == 60


def test_of_an_interrupted_run_the_seconds_whose_slow_answers_are_missing_do_not_count(tmp_path):
    """Whatever was sent in them and took long was still under way when the run was cut."""
    made = interrupted(tmp_path, NOISY, may_count=True)
    rows = [line.split(",") for line in (tmp_path / "kpi.jtl").read_text().splitlines()[1:]]
    ended_s = (max(int(row[0]) + int(row[1]) for row in rows) - START_MS) / 1000 - WARMUP_S
    (execution,) = verdict_of(tmp_path).executions
    last_s = execution.comparison.gate.looks_s[-1]
    assert last_s <= ended_s - lag_s({}) < last_s + 1
    assert execution.comparison.seconds == int(last_s)

    made.executions[0].properties = {"connect_timeout": "0"}
    manifest.write(made, tmp_path)
    with pytest.raises(ManifestError, match="compare: the property connect_timeout is '0'"):
        verdict_of(tmp_path)


def test_a_run_that_is_interrupted_in_its_warm_up_says_only_that(tmp_path):
    interrupted(tmp_path, replace(EARLY, seconds=0), may_count=False, after_s=4.0)
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "in the warm-up: nothing was measured" in reasons(verdict)
    assert len(verdict.executions[0].comparison.gating) == 12


def test_samples_that_can_not_be_read_leave_findings_that_nobody_can_tell(tmp_path):
    make(tmp_path)
    spoil(tmp_path, (tmp_path / "kpi.jtl").read_bytes().replace(b',"coin"', b',"side"', 1))
    verdict = verdict_of(tmp_path)
    assert verdict.verdict == "INVALID"
    assert "no column coin" in reasons(verdict)
    assert "no criterion can fail" not in reasons(verdict)
    findings = verdict.executions[0].comparison.gating
    assert {each.verdict for each in findings} == {"INCONCLUSIVE"}
