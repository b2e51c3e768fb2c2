import math

import numpy as np
import pytest
from scipy import signal, stats

from tollgate.stats.autocorrelation import error_of_steps
from tollgate.stats.intervals import mean_interval
from tollgate.stats.trimmed import trimmed_mean

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


half_ar6 = lasting(0.6)


def contaminated(rng, at_s):
    return rng.normal(1, 0.1, len(at_s)) * np.where(rng.random(len(at_s)) < 1 / 20, 10, 1)


CHECKED = {
    "normal": (lambda rng, at_s: rng.normal(10, 1, len(at_s)), 10),
    "exponential": (lambda rng, at_s: rng.exponential(1, len(at_s)), 1),
    "lognormal(1)": (lambda rng, at_s: rng.lognormal(0, 1, len(at_s)), math.exp(0.5)),
    "half AR(0.6)": (lambda rng, at_s: 10 + half_ar6(rng, at_s), 10),
    "lognormal of it": (lambda rng, at_s: np.exp(0.6 * half_ar6(rng, at_s)), math.exp(0.18)),
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


def test_a_fifth_of_wild_values_at_one_end_moves_it_no_further_than_the_ends_of_the_others():
    wild = np.random.default_rng(1).normal(0, 1, 100)
    wild[:20] = 1e9
    found, influences = trimmed_mean(wild)
    assert (found < 1, np.abs(influences).max() < 0.1) == (True, True)


def test_its_value_and_error_are_those_of_tukey_and_mclaughlin():
    values = np.random.default_rng(2).standard_t(3, 50)
    found, influences = trimmed_mean(values)
    assert found == pytest.approx(stats.trim_mean(values, 0.2))
    winsorised = np.asarray(stats.mstats.winsorize(values, (0.2, 0.2)))
    assert influences.sum() == pytest.approx(0)
    error = winsorised.std() / (0.6 * np.sqrt(50))
    assert np.sqrt(np.square(influences).sum()) == pytest.approx(error)


def test_equal_weights_are_none_and_a_weight_of_0_leaves_a_value_out():
    values = np.random.default_rng(4).standard_t(3, 31)
    found, influences = trimmed_mean(values)
    more, weights = np.append(values, [-1e9, 1e9]), np.append(np.full(31, 3.0), [0, 0])
    weighed, of_weighed = trimmed_mean(more, weights)
    assert weighed == pytest.approx(found)
    assert of_weighed == pytest.approx(np.append(influences, [0, 0]))


def test_the_share_at_the_ends_is_one_of_the_weights():
    values, weights = np.arange(10.0), np.array([2.0, 2, 4, 4, 4, 4, 4, 4, 2, 2])
    found, influences = trimmed_mean(values, weights)
    assert found == pytest.approx(4.5)  # 2 to 7 are left: 6.4 of 32 go at either end
    assert influences[0] == influences[1]
    assert influences[2] == pytest.approx(2 * influences[1])  # both are 2, of half its weight
    assert influences.sum() == pytest.approx(0)


def test_one_value_that_weighs_most_is_the_mean_and_without_a_value_there_is_none():
    found, influences = trimmed_mean(np.array([1.0, 2.0, 9.0]), np.array([0.1, 9.0, 0.1]))
    assert (found, influences.tolist()) == (2.0, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="needs a value"):
        trimmed_mean(np.array([]))


def test_an_error_of_steps_has_the_freedom_that_it_was_told_to_whatever_the_steps():
    rng = np.random.default_rng(3)
    steps = np.stack([rng.standard_normal(24), np.repeat(rng.standard_normal(4), 6)])
    (calm, of_calm), (lasting, of_lasting) = (error_of_steps(it - it.mean(), 8) for it in steps)
    assert of_calm == of_lasting == 8
    assert lasting / steps[1].std() > 2 * calm / steps[0].std()
    assert error_of_steps(np.zeros(24), 1) == (0.0, 3.0)
