"""Replayed arrivals are those of JMeter's own classes: see golden/arrivals.groovy."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.simulated import open_model_arrivals, schedule_duration_s
from tollgate.plan.arrivals import (
    BLOCK,
    EvenArrivals,
    JavaRandom,
    NotReplayableError,
    PreciseThroughput,
)
from tollgate.schedule.grammar import ScheduleError, parse_schedule
from tollgate.schedule.open_model import OpenModelArrivals

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "arrivals.json").read_text())
# Sums are taken in another order here than in JMeter: some units in the last place of a double.
TOLERANCE_S = 1e-9


@pytest.mark.parametrize("case", GOLDEN["timers"], ids=lambda c: f"seed {c['seed']}")
def test_a_precise_throughput_timer_is_replayed_event_for_event(case):
    rate = case["throughput"] / case["period_s"]
    timer = PreciseThroughput(case["seed"], rate, case["duration_s"], case["batch_size"])
    events = timer.arrivals(math.nextafter(max(case["events"]), math.inf) + TOLERANCE_S)
    # The golden list may stop inside a batch.
    assert 0 <= len(events) - len(case["events"]) < case["batch_size"]
    seen = events[: len(case["events"])]
    np.testing.assert_allclose(seen, case["events"], rtol=0, atol=TOLERANCE_S)


@pytest.mark.parametrize("case", GOLDEN["groups"], ids=lambda c: c["schedule"])
def test_an_open_model_is_replayed_arrival_for_arrival_at_once_step_by_step_or_one_by_one(case):
    whole = open_model_arrivals(case["schedule"], case["seed"])
    np.testing.assert_allclose(whole, case["events"], rtol=0, atol=TOLERANCE_S)
    assert schedule_duration_s(case["schedule"]) == pytest.approx(case["duration_s"])
    arrivals = OpenModelArrivals(case["schedule"], case["seed"])
    assert arrivals.count == len(whole)
    assert np.concatenate([np.empty(0), *arrivals.by_step()]).tolist() == whole.tolist()
    assert arrivals.at(np.arange(len(whole))[::-1]).tolist() == whole[::-1].tolist()
    for end_s in (*whole[:: len(whole) // 7 + 1], 0.0, case["duration_s"]):
        assert arrivals.count_before(end_s) == np.count_nonzero(whole < end_s)
    assert arrivals.count_before(None) == len(whole)


def test_arrivals_of_many_steps_are_found_in_any_order_although_only_some_steps_are_kept():
    arrivals = OpenModelArrivals("rate(9/s) random_arrivals(3 s) rate(4/s) " * 9, 5)
    whole = arrivals.arrivals(math.inf)
    for some in np.array_split(np.random.default_rng(1).permutation(len(whole)), 8):
        assert arrivals.at(some).tolist() == whole[some].tolist()


@pytest.mark.parametrize("text", GOLDEN["refused"])
def test_a_schedule_that_jmeter_refuses_is_refused_with_its_place(text):
    with pytest.raises(ScheduleError, match=r"character \d+"):
        parse_schedule(text)


@given(st.integers(-(2**63), 2**63 - 1), st.lists(st.integers(0, 50), max_size=4))
def test_a_generator_asked_in_pieces_gives_the_same_numbers_as_asked_at_once(seed, sizes):
    pieces = JavaRandom(seed)
    parts = [number for size in sizes for number in pieces.doubles(size)]
    assert parts == JavaRandom(seed).doubles(sum(sizes)).tolist()


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9), st.integers(0, 3 * BLOCK))
def test_numbers_that_are_skipped_are_those_that_would_have_been_drawn(seed, before, skipped):
    whole = JavaRandom(seed).doubles(before + skipped + 3)
    random = JavaRandom(seed)
    random.doubles(before)
    random.skip(skipped)
    fork = random.fork()
    assert random.doubles(3).tolist() == whole[-3:].tolist() == fork.doubles(3).tolist()


def test_a_generator_agrees_with_the_step_by_step_definition_across_blocks():
    state = (99 ^ 0x5DEECE66D) & (2**48 - 1)
    expected = []
    for _ in range(BLOCK + 3):
        halves = []
        for bits in (26, 27):
            state = (state * 0x5DEECE66D + 0xB) & (2**48 - 1)
            halves.append(state >> (48 - bits))
        expected.append(((halves[0] << 27) + halves[1]) * 2.0**-53)
    assert JavaRandom(99).doubles(BLOCK + 3).tolist() == expected


@given(st.integers(1, 2**32 - 1), st.floats(0.01, 200), st.integers(1, 20), st.floats(0.1, 60))
def test_a_window_holds_rate_times_duration_events_rounded_up(seed, rate, duration_s, until_s):
    timer = PreciseThroughput(seed, rate, duration_s)
    events = timer.arrivals(float(duration_s))
    assert len(events) == math.ceil(rate * duration_s)
    assert (np.diff(events) >= 0).all()
    longer = timer.arrivals(duration_s + until_s)
    assert longer[: len(events)].tolist() == events.tolist()
    assert timer.arrivals(duration_s + until_s, limit=2).tolist() == longer[:2].tolist()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seed": 0}, "random seed is 0"),
        ({"seed": 2**32}, "random seed is 0"),
        ({"rate": 0}, "throughput is 0"),
        ({"rate": -3}, "throughput is -3"),
        ({"duration_s": 0}, "duration is 0 s"),
        ({"batch_size": 0}, "batch size of 0"),
        ({"rate": 1e9, "duration_s": 100}, "more events than JMeter"),
    ],
)
def test_a_timer_that_nobody_can_foresee_says_why(changes, reason):
    with pytest.raises(NotReplayableError, match=reason):
        PreciseThroughput(**{"seed": 1, "rate": 10, "duration_s": 5} | changes)


def test_evenly_spaced_arrivals_are_those_of_an_open_model():
    same = open_model_arrivals("pause(16 ms) rate(50/s) even_arrivals(3 s)", 1)
    even = EvenArrivals(16, 20)
    assert even.arrivals(3.016) == pytest.approx(same)
    assert even.rate == 50
    assert even.arrivals(math.inf, limit=3).tolist() == [0.016, 0.036, 0.056]
    assert even.arrivals(3.016, limit=2).tolist() == [0.016, 0.036]


@given(st.integers(0, 10**6), st.integers(1, 10**4), st.integers(-5, 10**6))
@example(0, 1, 2019)
def test_an_even_schedule_holds_all_arrivals_before_its_end(first_ms, period_ms, until_ms):
    events = EvenArrivals(first_ms, period_ms).arrivals(until_ms / 1000)
    end_s = Fraction(until_ms, 1000)
    due_s = (Fraction(due_ms, 1000) for due_ms in itertools.count(first_ms, period_ms))
    wanted = itertools.takewhile(lambda it: it < end_s, due_s)
    assert events.tolist() == [float(it) for it in wanted]


@pytest.mark.parametrize(("first_ms", "period_ms"), [(-1, 18), (0, 0), (0, -18)])
def test_evenly_spaced_arrivals_need_a_distance_and_none_before_the_test(first_ms, period_ms):
    with pytest.raises(NotReplayableError, match="at least 0 and at least 1"):
        EvenArrivals(first_ms, period_ms)


def test_an_open_model_without_a_seed_is_not_replayable_unless_its_arrivals_are_even():
    with pytest.raises(NotReplayableError, match="random seed is 0"):
        open_model_arrivals("rate(5/s) random_arrivals(2 s)", 0)
    assert len(open_model_arrivals("rate(5/s) even_arrivals(2 s)", 0)) == 10


@given(st.floats(0, 50), st.floats(0, 50), st.floats(0, 20), st.integers(1, 99))
def test_a_ramp_stays_inside_its_step_and_holds_the_mean_rate(begin, end, seconds, seed):
    schedule = f"rate({begin:.6f}/s) random_arrivals({seconds:.6f} s) rate({end:.6f}/s)"
    events = open_model_arrivals(schedule, seed)
    assert len(events) == pytest.approx((begin + end) / 2 * seconds, abs=1.001)
    assert ((events >= 0) & (events <= seconds + 1e-6)).all()
