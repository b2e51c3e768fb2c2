"""How often intervals of means hold the truth, on processes that the method was not tuned on."""

import math

import numpy as np
import pytest
from scipy import signal

from tollgate.stats.intervals import mean_interval

RUNS = 1000
# Rare requests of a default run, frequent ones, and rare ones at the end of its budget.
SHAPES = [(12, 30), (17, 30), (90, 30), (100, 240)]
#: One-sided levels at which a look may FAIL, and how many times as often it may do so wrongly.
LEVELS, MOST_TIMES = (0.025, 0.003), 1.5


def lasting(memory):
    """Half of the variance is the second's, which remembers so much of the one before."""

    def noise(rng, at_s):
        fresh = rng.standard_normal(int(at_s[-1]) + 201)
        seconds = signal.lfilter([math.sqrt(1 - memory**2)], [1, -memory], fresh)[200:]
        own = rng.standard_normal(len(at_s))
        return math.sqrt(0.5) * (seconds[at_s.astype(int)] + own)

    return noise


def contaminated(rng, at_s):
    times = np.where(rng.random(len(at_s)) < 1 / 20, 10, 1)
    return rng.normal(1, 0.1, len(at_s)) * times


CHECKED = {
    "normal": (lambda rng, at_s: rng.normal(10, 1, len(at_s)), 10),
    "exponential": (lambda rng, at_s: rng.exponential(1, len(at_s)), 1),
    "lognormal(1)": (lambda rng, at_s: rng.lognormal(0, 1, len(at_s)), math.exp(0.5)),
    "half AR(0.6)": (lambda rng, at_s: 10 + lasting(0.6)(rng, at_s), 10),
    "lognormal(0.6) of half AR(0.6)": (
        lambda rng, at_s: np.exp(0.6 * lasting(0.6)(rng, at_s)),
        math.exp(0.18),
    ),
}
AR9 = (lambda rng, at_s: 10 + lasting(0.9)(rng, at_s), 10)
RARE = (contaminated, 1.45)


def ends(process, shape, level, runs, has_tail=False):
    """(how often the low end lay above the truth, how often the high end below it)"""
    (draw, truth), (n, seconds) = process, shape
    rng, low, high = np.random.default_rng(20240229), 0, 0
    for _ in runs:
        at_s = np.sort(rng.uniform(0, seconds, n))
        bins, place = np.unique(at_s.astype(int), return_inverse=True)
        sums = np.bincount(place, weights=draw(rng, at_s))
        found = mean_interval(bins, np.bincount(place), sums, 1 - 2 * level, has_tail)
        low, high = low + (found.low > truth), high + (found.high < truth)
    return low, high


@pytest.mark.statistics
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CHECKED)
def test_at_least_93_of_100_intervals_hold_the_true_mean(name, shape, repetitions):
    runs = repetitions(RUNS)
    missed = sum(ends(CHECKED[name], shape, 0.025, runs))
    # A share of 1000 runs has a standard error of 0.7 percent.
    assert runs.made - missed >= runs.least(0.93 - 0.01)


@pytest.mark.statistics
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("name", CHECKED)
def test_a_mean_is_not_called_too_large_more_often_than_the_level_allows(
    name, shape, level, repetitions
):
    runs = repetitions(3 * RUNS)
    assert ends(CHECKED[name], shape, level, runs)[0] <= runs.most(MOST_TIMES * level)


@pytest.mark.statistics
@pytest.mark.parametrize("shape", [*SHAPES, (30, 60), (72, 180)])
def test_the_room_for_a_tail_holds_one_that_most_runs_never_see(shape, repetitions):
    runs = repetitions(RUNS)
    missed = sum(ends(RARE, shape, 0.025, runs, has_tail=True))
    assert runs.made - missed >= runs.least(0.93)


LIMITS = {
    "noise that lasts for ten seconds, in half a minute": (AR9, (90, 30), 0.80, 0.90),
    "the same in four minutes": (AR9, (100, 240), 0.90, 0.96),
    "a tail that half of the runs never see, without room for it": (RARE, (12, 30), 0.35, 0.60),
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_the_documentation_says_of_its_limits_is_so(name):
    process, shape, low, high = LIMITS[name]
    assert low <= 1 - sum(ends(process, shape, 0.025, range(400))) / 400 <= high
