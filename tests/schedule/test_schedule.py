"""Which labels follow a schedule, and recorded runs of JMeter that follow theirs."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from support import jmx_text as jmx
from support.simulated import expected_schedules, rows_of
from tollgate.plan.read import read_plan
from tollgate.samples.counts import read_jtl
from tollgate.schedule.lateness import join, summarise
from tollgate.schedule.model import Schedule
from tollgate.schedule.replay import replay_jtl
from tollgate.stats.bins import SECONDS

GOLDEN = Path(__file__).parents[1] / "golden"
#: Thread group, its number, "-", the thread's number.
THREAD_NAME = r"^(.*) \d+-(\d+)$"


@pytest.fixture
def schedules(tmp_path):
    def of(*children):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children))
        return expected_schedules(read_plan(path, {}))

    return of


def recorded(name, label):
    """Return the schedule, the rows and TESTSTART.MS of a recorded run."""
    schedule = expected_schedules(read_plan(GOLDEN / f"{name}.jmx", {}))[label]
    with (GOLDEN / f"{name}.jtl").open(newline="") as file:
        samples = list(csv.DictReader(file))
    rows = rows_of(
        start_ms=np.array([int(s["timeStamp"]) for s in samples]),
        elapsed_ms=np.array([int(s["elapsed"]) for s in samples]),
        thread=np.array([int(re.match(THREAD_NAME, s["threadName"])[2]) for s in samples]),
        is_governed=np.array([s["label"] == label for s in samples]),
    )
    assert {re.match(THREAD_NAME, s["threadName"])[1] for s in samples} == {schedule.group}
    return schedule, rows, int(samples[0]["TESTSTART.MS"])


def test_a_recorded_run_of_a_precise_throughput_timer_replays_to_within_2_ms():
    schedule, rows, origin = recorded("timer-run", "nap")
    joined = join(schedule, rows, origin)
    assert (joined.intended, len(joined.missing), joined.extra) == (300, 0, 0)
    assert joined.lateness_ms.min() >= -2
    # JMeter's threads began half a second late, and caught up; five sleeps were too long later on.
    begun = joined.intended_ms > origin + 1000
    assert np.mean(joined.lateness_ms[begun] <= 2) > 0.98
    assert (joined.generator_ms[~begun] > 100).any()
    assert summarise(joined).late_service == 0


def test_a_thread_group_outlasts_its_duration_by_the_time_that_it_took_to_start():
    schedule, rows, origin = recorded("timer-run", "nap")
    joined = join(schedule, rows, origin)
    # Five events of the timer's second window: sent, as JMeter does, but not asked for.
    assert len(joined.event) == 305
    assert sorted(joined.event) == list(range(305))
    assert summarise(joined).sent == 300


def test_without_teststart_a_recorded_run_has_its_origin_estimated_to_within_2_ms():
    schedule, rows, origin = recorded("timer-run", "nap")
    joined = join(schedule, rows)
    assert joined.origin_is_estimated
    assert joined.origin_ms == pytest.approx(origin, abs=2)


def test_a_recorded_run_of_an_open_model_joins_every_arrival_with_its_thread(tmp_path):
    jtl = read_jtl(shutil.copy(GOLDEN / "group-run.jtl", tmp_path))
    found = replay_jtl(read_plan(GOLDEN / "group-run.jmx", {}), jtl.path, jtl, 0, None, SECONDS)
    (facts,) = found.facts
    assert (facts.intended, facts.missing, facts.extra) == (180, 0, 0)
    assert facts.lateness_p50_ms < 5
    assert found.steps == ()


def test_a_thread_group_ends_the_schedule_before_the_timer_does(schedules):
    timer = jmx.timer(duration=60)
    schedule = schedules(jmx.group(jmx.sampler("a", timer), duration=10))["a"]
    assert schedule.end_s == 10
    assert 60 < len(schedule.arrivals(10)) < 140
    assert len(schedule.arrivals(60)) == 600


def test_finite_loops_ask_for_so_many_events_and_no_more(schedules):
    loops = jmx.group(jmx.sampler("a", jmx.timer()), loops=30, threads=5, duration=None)
    schedule = schedules(loops)["a"]
    assert (schedule.end_s, schedule.limit) == (None, 150)
    events = schedule.arrivals(np.inf)
    assert len(events) == 150
    assert events.max() > 10


def test_samplers_under_one_timer_share_its_schedule(schedules):
    either = jmx.element("RandomController", "either", [jmx.sampler("base"), jmx.sampler("head")])
    found = schedules(jmx.group(jmx.timer(), either))
    assert found["base"] is found["head"]
    assert [label.text for label in found["base"].labels] == ["base", "head"]


def test_a_counter_s_arrivals_are_a_schedule_and_what_follows_one_is_none(schedules):
    follower = jmx.sampler("b")
    found = schedules(jmx.group(jmx.counter(), jmx.one_by_one(jmx.sampler("a")), follower))
    assert (found["a"].end_s, found["a"].threads, found["a"].by_thread) == (10, 4, False)
    assert found["a"].arrivals(0.06) == pytest.approx([0.005, 0.025, 0.045])
    assert isinstance(found["b"], str)


def test_think_time_of_the_thread_is_part_of_its_schedule(schedules):
    group = jmx.group(
        jmx.sampler("a", jmx.timer()), jmx.think(jmx.constant_timer(400)), jmx.think(ms=100)
    )
    assert schedules(group)["a"].think_ms == 500


def test_a_label_with_a_variable_keeps_its_schedule(schedules):
    schedule = schedules(jmx.group(jmx.timer(), jmx.sampler("item ${row}")))["item ${row}"]
    assert schedule.matches("item 12")
    assert not schedule.matches("other")


def a(*children):
    return jmx.sampler("a", *children)


B = jmx.sampler("b")
TIMED = a(jmx.timer())
PACING = jmx.element("ConstantThroughputTimer", "per minute")
ON_CONDITION = jmx.element("IfController", "if", [a()])
PARENT = {"TransactionController__parent": "true"}
VISIT = jmx.element("TransactionController", "visit", [a()], **PARENT)
WITHOUT_SCHEDULE = {
    "no timer": (jmx.group(a()), "no timer says when"),
    "a timer that paces": (jmx.group(a(), PACING), "'per minute' slows a loop down"),
    "a seed of 0": (jmx.group(a(jmx.timer(randomSeed=0))), "random seed is 0"),
    "a variable rate": (jmx.group(a(jmx.timer(throughput="${r}"))), "throughput cannot be known"),
    "two timers": (jmx.group(a(jmx.timer(), jmx.timer())), "waits add up"),
    "a pause": (jmx.group(a(jmx.timer(), jmx.constant_timer(5))), "beyond its event"),
    "a timer that paces besides": (jmx.group(TIMED, PACING), "beyond its event"),
    "an action": (jmx.group(jmx.timer(), a(), jmx.think(ms=9)), "'think' uses up events"),
    "a timer beside another": (
        jmx.group(TIMED, jmx.sampler("b", jmx.timer(randomSeed=8))),
        "share one queue",
    ),
    "a parent sample": (
        jmx.group(jmx.timer(), VISIT, ON_CONDITION),
        "'visit' generates a parent sample",
    ),
    "two groups": (jmx.group(TIMED) + jmx.group(TIMED), "more than one thread group"),
    "a twin without": (jmx.group(TIMED, a()), "with a schedule and without one"),
    "a setup": (jmx.group(TIMED, kind="SetupThreadGroup"), "is a SetupThreadGroup"),
    "a variable length": (
        jmx.group(TIMED, duration="${long}"),
        "duration is only known at run time",
    ),
    "a variable pause": (
        jmx.group(TIMED, jmx.think(ms="${nap}")),
        "pause of its thread is only known",
    ),
    "the second of a counter's turn": (
        jmx.group(jmx.counter(), jmx.one_by_one(B, a())),
        "one arrival for each turn",
    ),
    "behind a sampler without a counter": (
        jmx.group(jmx.counter(), B, jmx.one_by_one(a())),
        "one arrival for each turn",
    ),
    "on a condition in a counter's turn": (
        jmx.group(jmx.counter(), jmx.one_by_one(ON_CONDITION)),
        "one arrival for each turn",
    ),
    "no counter": (jmx.group(jmx.one_by_one(a())), "no Counter of its thread group"),
    "arrivals of a seed of 0": (jmx.open_group(a(), seed=0), "random seed is 0"),
    "a rate of no time": (jmx.open_group(a(), schedule="rate(5)"), "expected / or per"),
    "a variable plan": (
        jmx.open_group(a(), schedule="${plan}"),
        "schedule is only known at run",
    ),
    "a wait after the arrival": (jmx.open_group(TIMED), "'a' waits after the arrival"),
    "a pause before": (jmx.open_group(jmx.think(ms=3), a()), "follows another sampler"),
}


@pytest.mark.parametrize("plan", WITHOUT_SCHEDULE)
def test_a_label_without_a_schedule_says_why(schedules, plan):
    groups, reason = WITHOUT_SCHEDULE[plan]
    found = schedules(groups)["a"]
    assert isinstance(found, str)
    assert reason in found


def test_any_choice_of_first_sampler_follows_the_arrivals_of_an_open_model(schedules):
    either = jmx.element("RandomController", "either", [jmx.sampler("a"), jmx.sampler("b")])
    maybe = jmx.element("IfController", "maybe", [jmx.sampler("c")])
    found = schedules(jmx.open_group(maybe, either, jmx.sampler("d")))
    assert found["a"] is found["b"] is found["c"]
    assert isinstance(found["d"], str)


def test_in_a_branch_that_is_picked_only_the_first_sampler_follows_the_arrivals(schedules):
    pause = jmx.element(
        "TestAction",
        "reads",
        [
            jmx.element(
                "UniformRandomTimer", "think", ConstantTimer__delay=500, RandomTimer__range=9
            )
        ],
        ActionProcessor__action=1,
    )
    long = jmx.element("GenericController", "long", [jmx.sampler("a"), pause, jmx.sampler("b")])
    short = jmx.element("GenericController", "short", [jmx.sampler("c")])
    either = jmx.element("SwitchController", "one of them", [long, short, jmx.sampler("d")])
    found = schedules(jmx.open_group(either, jmx.sampler("e")))
    assert found["a"] is found["c"] is found["d"]
    assert isinstance(found["a"], Schedule)
    assert isinstance(found["b"], str)
    assert isinstance(found["e"], str)


def test_behind_a_condition_in_a_branch_the_next_sampler_may_be_the_first_as_well(schedules):
    maybe = jmx.element("IfController", "maybe", [jmx.sampler("a")])
    branch = jmx.element("GenericController", "branch", [maybe, jmx.sampler("b"), jmx.sampler("c")])
    found = schedules(jmx.open_group(jmx.element("SwitchController", "one", [branch])))
    assert found["a"] is found["b"]
    assert isinstance(found["c"], str)


def test_a_transaction_controller_has_no_schedule_of_its_own(schedules):
    visit = jmx.element("TransactionController", "visit", [jmx.sampler("a", jmx.timer())])
    found = schedules(jmx.group(visit))
    assert isinstance(found["a"], Schedule)
    assert "Transaction Controller" in found["visit"]
