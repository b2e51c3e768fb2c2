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


def a(*children):
    return jmx.sampler("a", *children)


B, C, D = (jmx.sampler(name) for name in "bcd")
TIMED = a(jmx.timer())
EITHER = jmx.element("RandomController", "either", [a(), B])


@pytest.fixture
def schedules(tmp_path):
    def of(*children):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children))
        return expected_schedules(read_plan(path, {}))

    return of


@pytest.fixture(scope="module")
def recorded():
    """The schedule, the rows and TESTSTART.MS of a recorded run."""
    schedule = expected_schedules(read_plan(GOLDEN / "timer-run.jmx", {}))["nap"]
    with (GOLDEN / "timer-run.jtl").open(newline="") as file:
        samples = list(csv.DictReader(file))
    threads = [re.match(THREAD_NAME, it["threadName"]) for it in samples]
    assert {thread[1] for thread in threads} == {schedule.group}
    rows = rows_of(
        start_ms=np.array([int(it["timeStamp"]) for it in samples]),
        elapsed_ms=np.array([int(it["elapsed"]) for it in samples]),
        thread=np.array([int(thread[2]) for thread in threads]),
        is_governed=np.array([it["label"] == "nap" for it in samples]),
    )
    return schedule, rows, int(samples[0]["TESTSTART.MS"])


def test_a_recorded_run_of_a_precise_throughput_timer_replays_to_within_2_ms(recorded):
    schedule, rows, origin = recorded
    joined = join(schedule, rows, origin)
    assert (joined.intended, len(joined.missing), joined.extra) == (300, 0, 0)
    assert joined.lateness_ms.min() >= -2
    # JMeter's threads began half a second late, and caught up; five sleeps were too long later on.
    begun = joined.intended_ms > origin + 1000
    assert np.mean(joined.lateness_ms[begun] <= 2) > 0.98
    assert (joined.generator_ms[~begun] > 100).any()
    assert summarise(joined).late_service == 0


def test_a_thread_group_outlasts_its_duration_by_the_time_that_it_took_to_start(recorded):
    joined = join(*recorded)
    # Five events of the timer's second window: sent, as JMeter does, but not asked for.
    assert sorted(joined.event) == list(range(305))
    assert summarise(joined).sent == 300


def test_a_recorded_run_of_an_open_model_joins_every_arrival_with_its_thread(tmp_path):
    jtl = read_jtl(shutil.copy(GOLDEN / "group-run.jtl", tmp_path))
    found = replay_jtl(read_plan(GOLDEN / "group-run.jmx", {}), jtl.path, jtl, 0, None, SECONDS)
    (facts,) = found.facts
    assert (facts.intended, facts.missing, facts.extra) == (180, 0, 0)
    assert facts.lateness_p50_ms < 5
    assert found.steps == ()


def test_a_thread_group_ends_the_schedule_before_the_timer_does(schedules):
    schedule = schedules(jmx.group(a(jmx.timer(duration=60)), duration=10))["a"]
    assert schedule.end_s == 10
    assert 60 < len(schedule.arrivals(10)) < 140
    assert len(schedule.arrivals(60)) == 600


def test_finite_loops_ask_for_so_many_events_and_no_more(schedules):
    schedule = schedules(jmx.group(TIMED, loops=30, threads=5, duration=None))["a"]
    assert (schedule.end_s, schedule.limit) == (None, 150)
    events = schedule.arrivals(np.inf)
    assert len(events) == 150
    assert events.max() > 10


def test_samplers_under_one_timer_share_its_schedule(schedules):
    found = schedules(jmx.group(jmx.timer(), EITHER))
    assert found["a"] is found["b"]
    assert [label.text for label in found["a"].labels] == ["a", "b"]


def test_a_counter_s_arrivals_are_a_schedule_and_what_follows_one_is_none(schedules):
    found = schedules(jmx.group(jmx.counter(), jmx.one_by_one(a()), B))
    assert (found["a"].end_s, found["a"].threads, found["a"].by_thread) == (10, 4, False)
    assert found["a"].arrivals(0.06) == pytest.approx([0.005, 0.025, 0.045])
    assert isinstance(found["b"], str)


def one_of(*parts):
    return jmx.element("SwitchController", "one of these", parts)


@pytest.mark.parametrize("timers", [[jmx.timer()], [jmx.counter(), jmx.counted_timer()]])
def test_behind_a_wait_for_an_arrival_the_first_of_each_part_is_sent_when_it_is_due(
    schedules, timers
):
    *around, timer = timers
    parts = jmx.simple(a(), C, name="cart"), B
    found = schedules(jmx.group(*around, jmx.think(timer, ms=0), one_of(*parts), D))
    assert found["a"] is found["b"]
    assert isinstance(found["a"], Schedule)
    assert [label.text for label in found["a"].labels] == ["a", "b"]
    assert len(found["a"].arrivals(found["a"].end_s)) >= 50
    follows = "follows another sampler of the same arrival"
    assert [found[label][: len(follows)] for label in "cd"] == [follows, follows]


def test_of_the_parts_of_a_switch_controller_a_turn_has_the_pauses_of_one(schedules):
    parts = [
        jmx.simple(a(), jmx.think(ms=100), C, name="one"),
        jmx.simple(B, jmx.think(ms=30), jmx.think(ms=20), name="other"),
    ]
    group = jmx.group(jmx.think(jmx.timer(), ms=0), one_of(*parts), jmx.think(ms=7))
    assert schedules(group)["a"].think_ms == 107


WAIT = jmx.think(jmx.counted_timer(), ms=0)
NO_WAIT = {
    "a pause beside it": [jmx.think(jmx.counted_timer(), ms=100), B],
    "a sampler before it": [B, WAIT, C],
    "a wait on a condition": [jmx.element("IfController", "maybe", [WAIT]), B],
    "a condition behind it": [WAIT, jmx.element("IfController", "maybe", [B]), C],
    "a part that is picked at random": [WAIT, jmx.element("RandomController", "one", [B, C])],
    "a pause behind it": [WAIT, jmx.sampler("b", jmx.constant_timer(50))],
}


@pytest.mark.parametrize("children", NO_WAIT.values(), ids=NO_WAIT)
def test_a_wait_behind_which_nothing_is_surely_sent_at_once_is_no_schedule(schedules, children):
    found = schedules(jmx.group(jmx.counter(), *children))
    assert not any(isinstance(it, Schedule) for it in found.values())


def test_think_time_of_the_thread_is_part_of_its_schedule(schedules):
    group = jmx.group(TIMED, jmx.think(jmx.constant_timer(400)), jmx.think(ms=100))
    assert schedules(group)["a"].think_ms == 500


def test_a_label_with_a_variable_keeps_its_schedule(schedules):
    schedule = schedules(jmx.group(jmx.timer(), jmx.sampler("item ${row}")))["item ${row}"]
    assert schedule.matches("item 12")
    assert not schedule.matches("other")


PACING = jmx.element("ConstantThroughputTimer", "per minute")
OTHER = jmx.sampler("b", jmx.timer(randomSeed=8))
MAYBE = jmx.element("IfController", "maybe", [a()])
NAP = jmx.think(ms="${nap}")
PARENT = {"TransactionController__parent": "true"}
VISIT = jmx.element("TransactionController", "visit", [a()], **PARENT)
ONE_EACH = "one arrival for each turn"


def counted(*children):
    return jmx.group(jmx.counter(), *children)


WITHOUT_SCHEDULE = {
    "no timer": (jmx.group(a()), "no timer says when"),
    "a timer that paces": (jmx.group(a(), PACING), "'per minute' slows a loop down"),
    "a seed of 0": (jmx.group(a(jmx.timer(randomSeed=0))), "random seed is 0"),
    "a variable rate": (jmx.group(a(jmx.timer(throughput="${r}"))), "throughput cannot be known"),
    "two timers": (jmx.group(a(jmx.timer(), jmx.timer())), "waits add up"),
    "a pause": (jmx.group(a(jmx.timer(), jmx.constant_timer(5))), "beyond its event"),
    "a timer that paces besides": (jmx.group(TIMED, PACING), "beyond its event"),
    "an action": (jmx.group(jmx.timer(), a(), jmx.think(ms=9)), "'think' uses up events"),
    "a timer beside another": (jmx.group(TIMED, OTHER), "share one queue"),
    "a parent sample": (jmx.group(jmx.timer(), VISIT, MAYBE), "'visit' generates a parent sample"),
    "two groups": (jmx.group(TIMED) + jmx.group(TIMED), "more than one thread group"),
    "a twin without": (jmx.group(TIMED, a()), "with a schedule and without one"),
    "a setup": (jmx.group(TIMED, kind="SetupThreadGroup"), "is a SetupThreadGroup"),
    "a variable length": (jmx.group(TIMED, duration="${t}"), "duration is only known at run time"),
    "a variable pause": (jmx.group(TIMED, NAP), "pause of its thread is only known"),
    "the second of a counter's turn": (counted(jmx.one_by_one(B, a())), ONE_EACH),
    "behind a sampler without a counter": (counted(B, jmx.one_by_one(a())), ONE_EACH),
    "on a condition in a counter's turn": (counted(jmx.one_by_one(MAYBE)), ONE_EACH),
    "no counter": (jmx.group(jmx.one_by_one(a())), "no Counter around or beside it"),
    "arrivals of a seed of 0": (jmx.open_group(a(), seed=0), "random seed is 0"),
    "a rate of no time": (jmx.open_group(a(), schedule="rate(5)"), "expected / or per"),
    "a variable plan": (jmx.open_group(a(), schedule="${p}"), "schedule is only known at run"),
    "a wait after the arrival": (jmx.open_group(TIMED), "'a' waits after the arrival"),
    "a pace after the arrival": (
        jmx.open_group(a(jmx.element("ConstantThroughputTimer", "pace"))),
        "'a' waits after the arrival",
    ),
    "a pause before": (jmx.open_group(jmx.think(ms=3), a()), "follows another sampler"),
}


@pytest.mark.parametrize("plan", WITHOUT_SCHEDULE)
def test_a_label_without_a_schedule_says_why(schedules, plan):
    groups, reason = WITHOUT_SCHEDULE[plan]
    found = schedules(groups)["a"]
    assert isinstance(found, str)
    assert reason in found


def test_any_choice_of_first_sampler_follows_the_arrivals_of_an_open_model(schedules):
    maybe = jmx.element("IfController", "maybe", [C])
    found = schedules(jmx.open_group(maybe, EITHER, D))
    assert found["a"] is found["b"] is found["c"]
    assert isinstance(found["d"], str)


def test_in_a_branch_that_is_picked_only_the_first_sampler_follows_the_arrivals(schedules):
    delay = {"ConstantTimer__delay": 500, "RandomTimer__range": 9}
    pause = jmx.element("UniformRandomTimer", "think", **delay)
    reads = jmx.element("TestAction", "reads", [pause], ActionProcessor__action=1)
    long = jmx.element("GenericController", "long", [a(), reads, B])
    short = jmx.element("GenericController", "short", [C])
    either = jmx.element("SwitchController", "one of them", [long, short, D])
    found = schedules(jmx.open_group(either, jmx.sampler("e")))
    assert found["a"] is found["c"] is found["d"]
    assert isinstance(found["a"], Schedule)
    assert isinstance(found["b"], str)
    assert isinstance(found["e"], str)


def test_behind_a_condition_in_a_branch_the_next_sampler_may_be_the_first_as_well(schedules):
    branch = jmx.element("GenericController", "branch", [MAYBE, B, C])
    found = schedules(jmx.open_group(jmx.element("SwitchController", "one", [branch])))
    assert found["a"] is found["b"]
    assert isinstance(found["c"], str)


def test_a_transaction_controller_has_no_schedule_of_its_own(schedules):
    found = schedules(jmx.group(jmx.element("TransactionController", "visit", [TIMED])))
    assert isinstance(found["a"], Schedule)
    assert "Transaction Controller" in found["visit"]
