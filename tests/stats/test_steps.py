"""A step of a growing series is found within a few runs, where it happened, and for good."""

import math

import numpy as np
import pytest
from scipy import stats

from support.histories import noise, stepped
from tollgate.stats.steps import NEWEST, is_above, steps

FALSE_ALARM, LEAST = 0.005, 0.01


def series(seed, level, **more):
    rng = np.random.default_rng(seed)
    return np.exp(level + noise(rng, len(level), **more))


def found(values, false_alarm=FALSE_ALARM, least=LEAST):
    return steps(values, false_alarm, least)


@pytest.mark.parametrize("rise", [0.05, -0.05])
def test_a_step_is_found_where_it_happened_and_how_large_it_is(rise):
    (step,) = found(series(1, stepped(80, (40, rise)), wild=0))
    assert step.at == 40
    assert step.first <= 40 <= step.last
    assert 40 + 2 <= step.seen <= 40 + 4
    assert step.rise == pytest.approx(rise, abs=0.01)
    assert (step.before, step.after) == pytest.approx((1, 1 + rise), abs=0.01)


def test_what_one_night_found_no_later_night_takes_back():
    values = series(2, stepped(150, (40, 0.04), (80, -0.03), (110, 0.05)))
    whole = [(it.at, it.first, it.last, it.seen) for it in found(values)]
    assert len(whole) == 3
    for night in range(len(values) + 1):
        then = [(it.at, it.first, it.last, it.seen) for it in found(values[:night])]
        assert then == [it for it in whole if it[-1] < night]


def test_the_place_of_a_small_step_is_a_range_that_mostly_holds_it():
    made = [found(series(seed, stepped(90, (40, 0.02)))) for seed in range(60)]
    upward = [it for each in made for it in each if it.rise > 0]
    assert len(upward) >= 55
    assert sum(it.first <= 40 <= it.last for it in upward) >= 0.8 * len(upward)


@pytest.mark.parametrize("wild", [[50], [20, 50], [58, 59]])
def test_single_wild_runs_are_no_step(wild):
    values = series(3, np.zeros(60), wild=0)
    values[wild] *= 1.5
    assert found(values) == []


def test_a_step_below_the_least_that_counts_is_none():
    values = series(4, stepped(80, (40, 0.04)), spread=0.001)
    assert [it.at for it in found(values, least=0.03)] == [40]
    assert found(values, least=0.05) == []


def test_a_series_that_never_changes_and_one_of_zeros_have_no_step():
    assert found([]) == []
    assert found([1.0]) == []
    assert found(np.ones(100)) == []
    assert found(np.zeros(100)) == []


def test_from_nothing_to_something_is_a_step_without_end():
    (step,) = found(np.r_[np.zeros(40), np.full(10, 0.3)])
    assert (step.at, step.before, step.after, step.rise) == (40, 0.0, 0.3, math.inf)


@pytest.mark.parametrize(("before", "newest"), [(31, 4), (32, 4), (20, 5), (21, 5)])
def test_the_chance_of_a_clear_step_is_counted_exactly(before, newest):
    # Up and down, so that no longer piece at the end is as clear.
    values = np.r_[1 + 0.01 * (np.arange(before)[::-1] % 7), np.full(newest, 2.0)]
    values += 1e-6 * np.arange(len(values))
    chance = stats.mannwhitneyu(values[:before], values[before:], method="exact").pvalue
    assert chance == pytest.approx(2 / math.comb(before + newest, newest))
    a_little = 1e-9
    assert len(found(values, len(NEWEST) * chance * (1 + a_little))) == 1
    assert found(values, len(NEWEST) * chance * (1 - a_little)) == []


def test_a_level_is_above_a_limit_if_its_newest_seven_runs_are_and_no_fewer():
    assert is_above([1.06] * 3 + [1.07] * 4, 1.05)
    assert not is_above([1.07] * 6, 1.05)
    assert not is_above([], 1.05)
    assert not is_above([1.05] * 20, 1.05)
    assert is_above([1.0] * 50 + [1.07 + 0.001 * it for it in range(10)], 1.05)


@pytest.mark.parametrize("seed", range(20))
def test_the_newest_ten_runs_are_held_against_a_limit_as_by_wilcoxon(seed):
    level = np.random.default_rng(seed).normal(1.055, 0.01, 10)
    chance = stats.wilcoxon(level - 1.05, alternative="greater", method="exact").pvalue
    assert is_above([1.0] * 5 + [*level], 1.05) == (chance <= 0.01)


@pytest.mark.statistics
def test_a_night_without_a_step_finds_one_no_more_often_than_it_may(repetitions):
    runs, nights = repetitions(1000), 120
    # 120 nights with so small a chance each: many look at the same runs, so it is fewer.
    alarms = sum(bool(found(series(seed, np.zeros(nights)))) for seed in runs)
    assert alarms <= runs.most(1 - (1 - FALSE_ALARM) ** nights)


@pytest.mark.statistics
def test_a_level_at_the_limit_is_rarely_said_to_be_above_it(repetitions):
    runs = repetitions(10_000)
    rng = np.random.default_rng(5)
    above = sum(is_above(1.05 + rng.normal(0, 0.01, 10), 1.05) for _ in runs)
    assert above <= runs.most(0.01)
