import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from support.forecasts import SHARES, day, steps_of, target_of
from support.simulated import open_model_arrivals, schedule_duration_s
from tollgate.base.paths import SUITE
from tollgate.forecast.load import (
    ShapeError,
    announce,
    arrival_counts,
    duration_text,
    load_steps,
    mix_text,
    schedule_text,
)
from tollgate.forecast.model import LoadStep
from tollgate.forecast.read import read_forecast

HOURS = tuple(range(24))
RATES = st.lists(st.floats(0, 60) | st.integers(0, 60), min_size=1, max_size=12).filter(
    lambda rates: sum(rates) > 1
)


def test_scale_compresses_time_and_leaves_the_rates():
    steps = load_steps(day(*HOURS), scale=1440, warmup_s=5)
    assert [step.tps for step in steps] == list(HOURS)
    assert (steps[0].from_s, steps[0].to_s, steps[-1].to_s) == (5, 7.5, 65)
    assert load_steps(day(*HOURS), factor=1.5)[4].tps == 6


def test_steps_follow_one_another_without_gap_at_whole_milliseconds():
    steps = load_steps(day(*HOURS), scale=7, warmup_s=5.5)
    assert all(before.to_s == after.from_s for before, after in pairwise(steps))
    assert all(round(step.to_s, 3) == step.to_s for step in steps)
    assert steps[-1].to_s == pytest.approx(5.5 + 86_400 / 7, abs=0.001)


@pytest.mark.parametrize(
    ("rates", "length", "names"),
    [
        # A part of a day is its busiest piece.
        ((1, 2, 9, 1, 8, 8, 1, 1), 0.5, "s2 s3 s4 s5"),
        ((1, 2, 9, 1, 8, 8, 1, 1), 0.25, "s4 s5"),
        # Of equally busy pieces the first is taken, and none runs over midnight.
        ((5, 1, 1, 5), 0.5, "s0 s1"),
        ((0.1, 0.2, 0.3, 0.3, 0.2, 0.1), 1 / 3, "s2 s3"),
        # A longer run repeats the day, and is cut off where it ends.
        ((1, 2, 3), 2, "s0 s1 s2 s0 s1 s2"),
        ((1, 2, 3, 4), 1.5, "s0 s1 s2 s3 s0 s1"),
    ],
)
def test_a_part_of_a_day_is_its_busiest_piece_and_a_longer_run_repeats_it(rates, length, names):
    assert " ".join(step.name for step in load_steps(day(*rates), length=length)) == names


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"factor": 0}, "factor = 0: write a number above 0"),
        ({"factor": float("nan")}, "factor = nan"),
        ({"length": -1}, "length = -1"),
        ({"length": float("inf")}, "length = inf"),
        ({"length": 0.01}, "at least 0.0417 works"),
        ({"scale": 0.5}, "of at least 1"),
        ({"scale": 1e6}, "at most 36000 works"),
        ({"warmup_s": -1}, "warmup = -1"),
        ({"factor": 1e6}, "more than 2147483647 requests"),
        ({"factor": 1e-3, "scale": 36_000}, "leaves no request"),
    ],
)
def test_a_load_that_cannot_be_made_is_refused_with_a_way_out(changes, told):
    with pytest.raises(ShapeError, match=re.escape(told)):
        load_steps(day(*HOURS), **changes)


def counted(steps, drain_s=5.0, seed=21):
    """How many arrivals Tollgate's replay of JMeter finds in the warm-up and in each step."""
    events = open_model_arrivals(schedule_text(steps, drain_s), seed)
    borders = [0, *(step.from_s for step in steps), steps[-1].to_s]
    counts = np.histogram(events, borders)[0]
    assert counts.sum() == len(events)
    return tuple(counts)


def test_the_schedule_of_a_compressed_day_reads_like_this():
    assert schedule_text(steps_of(4, 3.9), 5) == (
        "rate(4/sec) random_arrivals(5 sec) rate(4/sec) "
        "rate(4/sec) random_arrivals(2.5 sec) rate(4/sec) "
        "rate(4/sec) random_arrivals(2.5 sec) rate(4/sec) pause(5 sec)"
    )


def test_fractions_of_requests_are_carried_over_from_step_to_step():
    # 3.9 a step: JMeter would send 3 each time, 24 less than the 31 that are asked for in all.
    steps = steps_of(*[1.56] * 8, from_s=0)
    assert arrival_counts(steps) == (0, 4, 4, 4, 4, 4, 3, 4, 4)
    assert counted(steps)[1:] == arrival_counts(steps)[1:]


@settings(deadline=None)
@given(
    RATES,
    st.sampled_from([0.0, 0.5, 5.0, 7.3]),
    st.sampled_from([1, 1.5, 2, 0.37]),
    st.floats(500, 5000),
    st.integers(1, 2**62),
)
@example([0, 60], 0.0, 1, 1440, 1)
@example([1e-9, 2], 5.0, 1, 1440, 1)
def test_jmeter_sends_exactly_the_requests_of_each_step(rates, warmup_s, factor, scale, seed):
    forecast = day(*rates, step_s=3600)
    assume(sum(rates) * factor * 3600 / scale >= 1)  # less leaves nothing to send, and is refused
    steps = load_steps(forecast, factor, 1, scale, warmup_s)
    counts = arrival_counts(steps)
    assert counted(steps, seed=seed) == counts
    asked = np.cumsum([step.tps * (step.to_s - step.from_s) for step in steps])
    assert np.all(np.abs(np.cumsum(counts[1:]) - asked) < 0.5 + 1e-6)


@given(RATES, st.floats(1, 20_000), st.sampled_from([0.0, 0.25, 5.0]))
def test_a_schedule_has_plain_numbers_and_lasts_as_long_as_its_steps(rates, scale, warmup_s):
    assume(sum(rates) * 9 * 3600 / scale >= 1)
    steps = load_steps(day(*rates, step_s=3600), factor=9, scale=scale, warmup_s=warmup_s)
    text = schedule_text(steps, 2.5)
    assert not re.search(r"[\d.]e|nan|inf\b", text)
    assert schedule_duration_s(text) == pytest.approx(steps[-1].to_s + 2.5, abs=0.002)


def test_a_full_day_asks_for_what_the_forecast_adds_up_to():
    forecast = read_forecast(SUITE / "data" / "forecast.csv")
    steps = load_steps(forecast, warmup_s=5)
    assert arrival_counts(steps)[1:] == tuple(round(step.tps * 3600) for step in forecast.steps)
    assert counted(steps) == arrival_counts(steps)


def test_the_mix_names_the_last_arrival_of_each_entry_and_cumulated_shares():
    steps = steps_of(4, 8, from_s=5)
    assert mix_text(steps) == "50 search:0.75 pi:1"
    changed = steps_of(8, from_s=7.5, shares={"search": 0, "pi": 0.2, "sum": 0.8})
    assert mix_text((steps[0], *changed)) == "30 search:0.75 pi:1;50 pi:0.2 sum:1"
    # Steps without arrivals have no entry.
    silent = steps_of(0, from_s=5, shares={"search": 0.5, "pi": 0.5})
    assert mix_text((*steps_of(0, 4, from_s=0), *silent)) == "10 search:0.75 pi:1"


def test_a_visitor_asks_the_first_target_whose_share_exceeds_his_place():
    text = mix_text(steps_of(4, from_s=0))
    # Fractional parts of n times the golden ratio: 0.618, 0.236, 0.854, 0.472.
    asked = [target_of(n, text) for n in (1, 2, 3, 4, 11)]
    assert asked == ["search", "search", "pi", "search", None]


WEIGHTS = st.lists(st.integers(0, 100), min_size=1, max_size=6).filter(any)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), WEIGHTS), min_size=1, max_size=6))
def test_in_any_step_each_target_gets_its_share_but_for_a_few(steps):
    made = []
    for number, (tps, weights) in enumerate(steps):
        shares = {f"t{i}": weight / sum(weights) for i, weight in enumerate(weights)}
        made += steps_of(tps, length_s=5, from_s=5 + 5 * number, shares=shares)
    text = mix_text(made)
    number = arrival_counts(made)[0]
    for step, count in zip(made, arrival_counts(made)[1:], strict=True):
        asked = [target_of(n, text) for n in range(number + 1, number + count + 1)]
        for target, share in step.shares.items():
            assert abs(asked.count(target) - share * count) < 4
        number += count


def test_each_share_is_dealt_out_evenly_over_a_million_visitors():
    place = np.arange(1, 1_000_001) * 0.6180339887498949 % 1
    for share in (0.015, 0.32, 0.985):
        ahead = np.cumsum(place < share) - share * np.arange(1, 1_000_001)
        assert np.ptp(ahead) < 6


def test_a_load_is_announced_with_its_length():
    steps = load_steps(day(*HOURS, shares=SHARES), scale=1440, warmup_s=5)
    assert announce(steps, 5, 1440) == (
        "24 steps from s0 on in time compressed 1440 times: 690 requests at 0 to 23 a second in "
        "1 min 10 s"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0 s"), (2.5, "2.5 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (70, "1 min 10 s")),
        *((3599.6, "1 h 0 min"), (86_400, "24 h 0 min")),
        *((172_829, "48 h 0 min"), (172_831, "48 h 1 min")),
    ],
)
def test_a_length_is_told_in_two_units(seconds, text):
    assert duration_text(seconds) == text


def test_a_rate_whose_product_lies_a_hair_below_the_count_is_written_with_a_unit_more():
    step = LoadStep("0", 0.0, 3600.0, 1854837 / 3600, {"sum": 1.0})
    assert int(1854837 / 3600 * 3600) == 1854836, "the case that is meant"
    assert len(open_model_arrivals(schedule_text([step], 1.0), 1)) == 1854837
