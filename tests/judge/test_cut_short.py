import pytest

from support.executions import counts, execution
from support.forecasts import at_rates
from tollgate.base.text import format_duration
from tollgate.judge.facts import ExecutionFacts, JudgeSettings, MeasuredRun
from tollgate.judge.judgement import judge
from tollgate.schedule.model import ScheduleFacts
from tollgate.workers.model import WorkerCount

CRITERION = "p95 of search>250ms"
COUNTS = JudgeSettings(cut_short_counts=True)


def interrupted(settings=None, warmup_s=0.0, measured_s=86_400.0, others=(), **facts):
    """The verdict on a run of which 34 s were measured, at most."""
    service = counts(1000, 34)
    facts = ExecutionFacts(interrupted=True, **{"ended_s": 34.0, **facts})
    times = {"warmup_s": warmup_s, "measured_s": measured_s}
    one = execution(CRITERION, service=service, response=service, facts=facts, **times)
    return judge(MeasuredRun((one, *others), interrupted=True), settings)


def texts(verdict):
    return [f"({it.fault}) {it.text}" for it in verdict.reasons]


def test_a_run_cut_short_is_invalid_and_says_how_short():
    verdict = interrupted()
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 2)
    assert texts(verdict) == [
        "(operator) the run was interrupted",
        "(operator) search-fork: cut short after 34 s of 24 h",
    ]


def test_a_run_cut_short_is_judged_by_what_was_measured_where_that_counts():
    verdict = interrupted(COUNTS)
    assert (verdict.verdict, verdict.exit_code, verdict.reasons) == ("PASS", 2, ())
    assert verdict.executions[0].warnings == (
        "cut short after 34 s of 24 h: judged by what was measured until then",
    )
    slow = execution("p95 of search>150ms", facts=ExecutionFacts(interrupted=True, ended_s=60.0))
    verdict = judge(MeasuredRun((slow,), interrupted=True), COUNTS)
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 2)


def test_an_execution_that_had_finished_before_is_not_called_short():
    facts = ExecutionFacts(interrupted=True, ended_s=59.4)
    done = execution(CRITERION, response=counts(), facts=facts, name="done")
    verdict = interrupted(COUNTS, others=(done,))
    assert verdict.executions[1].warnings == ()
    assert len(verdict.executions[0].warnings) == 1


@pytest.mark.parametrize(
    ("ended_s", "generator_exit", "told"),
    [
        (33.6, 0, None),
        (32.0, 0, "cut short after 32 s of 51 s"),
        # Who had to be killed in the closed hours still ran, and that is no fault of JMeter's.
        (33.6, 143, "cut short after 33.6 s of 51 s"),
    ],
)
def test_a_forecast_that_ends_with_closed_hours_is_finished_before_them(
    ended_s, generator_exit, told
):
    service = counts(1700, 34)
    facts = ExecutionFacts(interrupted=True, ended_s=ended_s, generator_exit=generator_exit)
    changes = {"measured_s": 51.0, "forecast": at_rates(50, 50, 0, length_s=17.0)}
    one = execution(CRITERION, service=service, response=service, facts=facts, **changes)
    verdict = judge(MeasuredRun((one,), interrupted=True), COUNTS)
    warning = f"{told}: judged by what was measured until then"
    assert verdict.executions[0].warnings == ((warning,) if told else ())
    assert texts(verdict) == []


#: What is said of the run itself, by settings.
OWN = [(None, ["(operator) the run was interrupted"]), (COUNTS, [])]


@pytest.mark.parametrize(("settings", "own"), OWN)
def test_an_execution_that_never_began_cannot_be_judged(settings, own):
    facts = ExecutionFacts(
        interrupted=True,
        generator_error="JMeter was never started",
        jtl_error="kpi.jtl: cannot be read: No such file or directory",
        workers=(WorkerCount(2),),
    )
    never = execution(CRITERION, service=counts(0), facts=facts, name="cluster", labels={})
    verdict = judge(MeasuredRun((never,), interrupted=True), settings)
    text = "(operator) cluster: it never began: the run was interrupted before"
    assert (verdict.verdict, texts(verdict)) == ("INVALID", [*own, text])


@pytest.mark.parametrize(("settings", "own"), OWN)
def test_what_was_cut_short_in_the_warm_up_measured_nothing(settings, own):
    verdict = interrupted(settings, warmup_s=60.0, measured_s=30.0)
    cut = "cut short after 34 s of 90 s, in the warm-up: nothing was measured"
    assert texts(verdict) == [*own, f"(operator) search-fork: {cut}"]
    assert verdict.verdict == verdict.executions[0].criteria[0].verdict == "INVALID"


def test_without_samples_it_says_why_there_are_none():
    problem = "kpi.jtl: holds a header but no samples: JMeter sent nothing; see jmeter.log"
    said = texts(interrupted(COUNTS, ended_s=None, jtl_error=problem))
    assert f"(operator) search-fork: cut short, and there are no samples: {problem}" in said


def test_a_label_that_had_no_sample_yet_is_not_the_services_fault():
    facts = ExecutionFacts(interrupted=True, ended_s=34.0)
    times = {"warmup_s": 20.0, "measured_s": 900.0}
    one = execution(CRITERION, service=counts(10, 10), facts=facts, **times)
    verdict = judge(MeasuredRun((one,), interrupted=True), COUNTS)
    assert verdict.verdict == "INVALID"
    assert {it.fault for it in verdict.reasons} == {"operator"}


def test_how_jmeter_was_ended_is_no_fault_of_its_own():
    assert interrupted(COUNTS, generator_exit=143, cut_off_line=1001).verdict == "PASS"


def test_what_else_is_wrong_makes_a_run_that_was_cut_short_invalid_all_the_same():
    full = interrupted(COUNTS, machine_problems=("the disk is full",))
    assert texts(full) == ["(machine) search-fork: the disk is full"]
    unanswered = (ScheduleFacts(("search",), intended=1000, sent=900, missing_generator=100),)
    facts = ExecutionFacts(interrupted=True, ended_s=34.0)
    one = execution(CRITERION, facts=facts, measured_s=900.0, schedules=unanswered)
    verdict = judge(MeasuredRun((one,), interrupted=True), COUNTS)
    assert "generator was too slow" in texts(verdict)[0]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (34.04, "34 s"), (119, "119 s"), (750, "12.5 min"), (86_400, "24 h")],
)
def test_a_time_is_said_as_a_person_would(seconds, told):
    assert format_duration(seconds) == told
