from dataclasses import replace

import pytest

from support.executions import counts, execution, verdict_on
from support.forecasts import at_rates
from support.golden import check_golden
from tollgate.judge.facts import MeasuredExecution, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.schedule.model import ScheduleFacts
from tollgate.workers.model import WorkerCount, WorkerEvent

CRITERION = "p95 of search>250ms"


MANY_SAMPLES = execution(service=counts(160_000, 79_200)).labels


def kept(**changes):
    return (ScheduleFacts(("search",), intended=3000, sent=3000, **changes),)


INVALID = {
    "samples end early": {"service": counts(1000, 20), "measured_s": 60.0},
    "unsent by the generator": {"schedules": kept(missing_generator=31)},
    "unsent by the plan": {"schedules": kept(missing_plan=31)},
    "generator late": {"schedules": kept(measured=3000, far_late=31, generator_far_late=31)},
    "pattern lost": {"schedules": kept(measured=3000, displaced=751)},
    "service late": {"schedules": kept(measured=3000, far_late=31)},
    "no samples at all": {"service": counts(0)},
}
DIED = WorkerEvent("2 of fork", 7, "worker 2 of fork died after 12 s")
CLUSTER = WorkerCount(2, 2, app="cluster")
BROKEN_FACTS = {
    "cut off": {"cut_off_line": 3001},
    "jtl refused": {"jtl_error": "kpi.jtl:7: elapsed = 'x': not a whole number"},
    "jmeter exit": {"generator_exit": 1},
    "jmeter died": {"generator_error": "JMeter was killed by signal 9"},
    "worker died": {"worker_events": (DIED,)},
    "too few workers": {"workers": (WorkerCount(2, 1),)},
    "no workers seen": {"workers": (WorkerCount(2),)},
    "too few workers of one target": {"workers": (CLUSTER, WorkerCount(1, 0, app="pi-2"))},
    "no workers of one target seen": {"workers": (CLUSTER, WorkerCount(1, app="pi-2"))},
    "disk full": {"machine_problems": ("the disk under reports/ is full",)},
    "ended early": {"ended_s": 31.0},
    "stopped without cause": {"stopped_by": "p95 of search>1s for 5s"},
}
INVALID |= {name: {"facts": facts} for name, facts in BROKEN_FACTS.items()}


@pytest.mark.parametrize("name", INVALID)
def test_a_broken_measurement_is_invalid_and_says_whose_fault_it_is(name):
    verdict = verdict_on(CRITERION, **INVALID[name])
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 4)
    reason = verdict.reasons[0]
    check_golden("judge/invalid.txt", name, f"({reason.fault}) {reason.text}")


def test_requests_that_the_service_kept_from_being_sent_fail_the_run():
    verdict = verdict_on(CRITERION, schedules=kept(missing_service=31))
    assert verdict.verdict == "FAIL"
    assert verdict.reasons[0].fault == "service"


SOUND = {
    "one request in a hundred unsent": {"schedules": kept(missing_generator=30)},
    "generator a little late": {"schedules": kept(generator_p99_ms=900.0, late_generator=2000)},
    "one in a hundred far late": {
        "schedules": kept(measured=3000, far_late=30, generator_far_late=30, displaced=750)
    },
    "one of a few far late": {
        "schedules": kept(measured=17, far_late=1, generator_far_late=1, displaced=1)
    },
    "service a little late": {"schedules": kept(lateness_p99_ms=900, late_service=200)},
    "workers as asked": {"facts": {"workers": (WorkerCount(2, 2),), "ended_s": 60.0}},
    "a second less": {"facts": {"ended_s": 59.2}},
    "a slow trickle": {"service": counts(90, 58), "measured_s": 60.0},
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_measurement_is_judged_by_its_criteria(name):
    assert verdict_on(CRITERION, **SOUND[name]).verdict == "PASS"


#: A day of which the last two hours are quiet, and one on which they are closed.
QUIET, CLOSED = (at_rates(*[2] * 11, rate, length_s=7200.0) for rate in (0.1, 0))


SILENCES = [
    (CLOSED, 79_195.0, None),
    (CLOSED, 79_190.0, "measured 79191 s of 86400 s"),
    (QUIET, 86_270.0, None),
    (QUIET, 86_255.0, "measured 86256 s of 86400 s"),
    (QUIET, 79_199.0, "measured 79200 s of 86400 s"),
    (None, 79_199.0, "measured 79200 s of 86400 s"),
]


@pytest.mark.parametrize(("day", "last_s", "missing"), SILENCES)
def test_how_long_a_run_may_be_silent_at_its_end_is_said_by_its_forecast(day, last_s, missing):
    one = execution(CRITERION, measured_s=86_400.0, forecast=day)
    one = replace(one, facts=replace(one.facts, last_start_s=last_s), labels=MANY_SAMPLES)
    texts = [it.text for it in judge(MeasuredRun((one,))).reasons if "measured" in it.text]
    assert texts == ([f"search-fork: {missing}"] if missing else [])


def test_one_unsent_request_of_a_small_schedule_is_tolerated():
    small = (ScheduleFacts(("search",), intended=20, sent=19, missing_generator=1),)
    assert verdict_on(CRITERION, schedules=small).verdict == "PASS"


def test_a_service_that_kept_every_thread_waiting_fails_by_its_criteria_and_is_not_invalid():
    waited = kept(measured=3000, far_late=1000)
    assert verdict_on("fail>1%", "avg-lt of search>1s", schedules=waited).verdict == "INVALID"
    assert verdict_on("fail>1%", "avg-lt of search>1ms", schedules=waited).verdict == "FAIL"


def test_a_stop_that_the_samples_bear_out_fails_the_run_instead_of_making_it_invalid():
    stop = "p95 of search>150ms for 5s"
    changes = {"service": counts(600, 12), "measured_s": 60.0, "facts": {"stopped_by": stop}}
    verdict = verdict_on(stop, CRITERION, **changes)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 3)


@pytest.mark.parametrize("limit", ["150ms", "250ms"])
def test_a_run_cut_short_by_a_stop_as_non_failed_has_measured_too_little_to_pass(limit):
    stop = "hits of search>0 for 5s, stop as non-failed"
    changes = {"service": counts(600, 12), "measured_s": 60.0, "facts": {"stopped_by": stop}}
    assert verdict_on(stop, f"p95 of search>{limit}", **changes).verdict == "INVALID"


def test_an_interrupted_run_is_invalid_and_exits_2():
    verdict = judge(MeasuredRun((execution(CRITERION),), interrupted=True))
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)


@pytest.mark.parametrize(
    "changes", [{}, {"schedules": kept(missing_generator=900), "measured_s": 600.0}]
)
def test_a_problem_of_the_run_makes_it_invalid_and_what_it_cut_off_is_no_reason(changes):
    problem = "reports/x is not writable"
    verdict = judge(MeasuredRun((execution(CRITERION, **changes),), problems=(problem,)))
    assert [it.text for it in verdict.reasons] == [problem]
    assert verdict.verdict == "INVALID"


def test_a_run_without_executions_or_labels_is_invalid():
    without_labels = MeasuredExecution("empty", {}, measured_s=60.0)
    for executions in ((), (execution(CRITERION), without_labels)):
        assert judge(MeasuredRun(executions)).verdict == "INVALID"


def test_a_gate_that_cannot_fail_proves_nothing():
    for criteria in ((), ("p95 of search>1s, continue as non-failed",)):
        verdict = verdict_on(*criteria)
        assert verdict.verdict == "INVALID"
        assert "proves nothing" in verdict.reasons[0].text
