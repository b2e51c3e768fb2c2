"""A search for capacity as a part of the verdict."""

from dataclasses import replace

import pytest

from support.capacities import BOTH, EMPTY, NOTHING, result, searched, searching, trial
from tollgate.judge.facts import ExecutionFacts, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, INVALID, PASS
from tollgate.workers.model import WorkerEvent


def verdict_of(*criteria, of=None, **facts):
    """The verdict on the one execution of a run."""
    run = searching(*criteria, of=of)
    if facts:
        run = replace(run, facts=ExecutionFacts(**facts))
    return judge(MeasuredRun((run,))).executions[0]


@pytest.mark.parametrize(
    ("status", "verdict", "fault"),
    [
        ("below", FAIL, "service"),
        ("unsaturated", INVALID, "generator"),
        ("generator", INVALID, "generator"),
        ("open", INCONCLUSIVE, "machine"),
    ],
)
def test_any_other_answer_has_a_verdict_of_its_own(status, verdict, fault):
    found = verdict_of(of=searched(result(status, **NOTHING)))
    assert found.verdict == verdict
    assert {it.fault for it in found.reasons if it.verdict == verdict} == {fault}
    assert any(f"the reason for {status}" in it.text for it in found.reasons)


@pytest.mark.parametrize(
    ("criterion", "verdict"),
    [
        ("capacity of fork<94/s", PASS),
        ("capacity of fork<95/s", PASS),
        ("capacity of fork<100/s", INCONCLUSIVE),
        ("capacity of fork<105/s", INCONCLUSIVE),
        ("capacity of fork<106/s", FAIL),
        ("capacity of fork<=105/s", FAIL),
        ("capacity of fork>105/s", PASS),
        ("capacity of fork>94/s", FAIL),
        ("capacity of fork>=105/s", INCONCLUSIVE),
        ("capacity of fork<5640/min", PASS),
    ],
)
def test_a_criterion_is_judged_by_where_the_interval_lies(criterion, verdict):
    found = verdict_of(criterion)
    (judged,) = found.criteria
    assert (judged.verdict, found.verdict) == (verdict, verdict)
    assert (judged.observed, judged.low, judged.high) == (100.0, 95.0, 105.0)
    assert (judged.unit, judged.samples) == ("/s", 4)


def test_a_criterion_without_a_say_changes_nothing():
    found = verdict_of("capacity of fork<200/s, continue as non-failed")
    assert (found.criteria[0].verdict, found.verdict) == (FAIL, PASS)


@pytest.mark.parametrize(("status", "verdict"), [("below", FAIL), ("open", INCONCLUSIVE)])
def test_without_an_interval_only_what_fails_at_the_lowest_rate_is_decided(status, verdict):
    found = verdict_of("capacity of fork<1/s", of=searched(result(status, **NOTHING)))
    assert found.criteria[0].verdict == verdict


def test_a_search_that_was_cut_short_is_invalid_and_says_after_how_many_trials_or_whose_fault():
    found = verdict_of(of=searched(is_over=False))
    assert found.verdict == INVALID
    assert any("4 trials" in it.text for it in found.reasons)
    problem = "the service accepts no connections any more"
    found = verdict_of(of=searched(is_over=False, problem=problem))
    assert found.verdict == INVALID
    assert any(problem in it.text and it.fault == "service" for it in found.reasons)


def test_trials_that_are_not_sound_are_told_and_most_of_them_make_the_run_invalid():
    lost = trial(100.0, sound=False)
    some = verdict_of(of=searched(trials=(lost, *searched().trials)))
    most = verdict_of(of=searched(trials=(lost, lost, trial(90.0))))
    assert some.verdict == PASS
    assert any("1 of 5 trials" in line for line in some.warnings)
    assert most.verdict == INVALID


def test_workers_that_die_of_a_search_are_told_and_change_no_verdict():
    event = WorkerEvent("0", 7, "worker 0 (pid 7) ended")
    found = verdict_of(worker_events=(event,))
    assert found.verdict == PASS
    assert any(event.text in line for line in found.warnings)


def test_a_capacity_that_was_found_passes_without_any_criterion_and_one_never_searched_does_not():
    assert verdict_of().verdict == PASS
    assert judge(BOTH).verdict == PASS
    assert verdict_of(of=EMPTY).verdict == INCONCLUSIVE
