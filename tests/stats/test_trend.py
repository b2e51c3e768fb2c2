import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal, stats

from tollgate.stats.slope import FEWEST, trend

CONFIDENCE = 0.95
RUNS = 300
LOOKS = (60, 120, 600, 3600)


def autoregressive(remembered):
    return lambda rng, size: signal.lfilter(
        [1], [1, -remembered], rng.standard_normal(size + 2000)
    )[-size:]


def sawtooth(period):
    """A collector's: cycles of that many seconds, give or take a fifth, from 0 to 1."""

    def noise(rng, size):
        lengths = period * rng.uniform(0.8, 1.2, 2 * size // period + 10)
        ends = np.cumsum(lengths) - rng.uniform(0, period)
        cycle = np.searchsorted(ends, np.arange(size))
        return 1 - (ends[cycle] - np.arange(size)) / lengths[cycle] + rng.normal(0, 0.1, size)

    return noise


def levels(rng, size):
    """A level that is replaced by an unrelated one every 20 seconds or so."""
    return np.repeat(rng.standard_normal(size), rng.geometric(1 / 20, size))[:size]


def walk(rng, size):
    return np.cumsum(rng.standard_normal(size))


def arrivals(per_s):
    """A leak of 1 MB a request, with requests at random: what is left beside its slope."""
    return lambda rng, size: np.cumsum(rng.poisson(per_s, size)) - per_s * np.arange(size)


def spiked(rng, size):
    return 0.3 * rng.standard_normal(size) + 20 * (rng.random(size) < 0.02)


NOISES = {
    "white": autoregressive(0.0),
    "AR(1) of 0.5": autoregressive(0.5),
    "AR(1) of 0.9": autoregressive(0.9),
    "AR(1) of 0.97": autoregressive(0.97),
    "AR(1) of 0.99": autoregressive(0.99),
    "sawtooth of 10 s": sawtooth(10),
    "sawtooth of 20 s": sawtooth(20),
    "levels that come and go": levels,
    "random walk": walk,
    "a leak of two requests a second": arrivals(2),
    "white with spikes": spiked,
}


def held(noise, size, runs, slope=0.37):
    """In how many of these runs the interval holds the slope that was put in."""
    rng, at = np.random.default_rng(20240229), np.arange(size) + 0.5
    found = (trend(at, slope * at + noise(rng, size), CONFIDENCE) for _ in runs)
    return sum(it.low <= slope <= it.high for it in found)


TWENTY = [(name, 20) for name in ("white", "random walk", "AR(1) of 0.9", "white with spikes")]


@pytest.mark.statistics
@pytest.mark.parametrize(("name", "size"), [*itertools.product(NOISES, LOOKS), *TWENTY])
def test_at_least_90_percent_of_the_intervals_hold_the_true_slope(name, size, repetitions):
    runs = repetitions(RUNS)
    # A share of 300 runs has a standard error of at most two percent.
    assert held(NOISES[name], size, runs) >= runs.least(0.90)


LIMITS = {
    "a sawtooth longer than the run is a slope to anyone": (sawtooth(200), 60, 0.0, 0.9),
    "few steps tell little of how often they come": (arrivals(0.05), 60, 0.7, 1.0),
    "a sawtooth hides a random walk in a short run": (
        lambda rng, size: arrivals(1)(rng, size) + 8 * sawtooth(15)(rng, size),
        *(120, 0.7, 1.0),
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_the_documentation_says_of_its_limits_is_so(name):
    noise, size, low, high = LIMITS[name]
    assert low <= held(noise, size, range(RUNS)) / RUNS <= high


def test_sens_own_interval_would_miss_the_slope_of_most_walks():
    rng, count = np.random.default_rng(1), 0
    for _ in range(RUNS):
        low, high = stats.theilslopes(walk(rng, 120), np.arange(120.0), CONFIDENCE)[2:]
        count += low <= 0 <= high
    assert count / RUNS < 0.4


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_the_slope_is_that_of_scipy_where_there_are_few_enough_looks(seed):
    at, values = np.arange(30.0), np.random.default_rng(seed).standard_normal(30)
    expected = stats.theilslopes(values, at).slope
    assert trend(at, values, CONFIDENCE).slope == pytest.approx(expected, abs=1e-12)


def test_a_clear_leak_is_found_and_none_is_not():
    rng, at = np.random.default_rng(3), np.arange(120.0)
    for _ in range(50):
        saw = 12 * sawtooth(15)(rng, 120)
        leak, none = trend(at, saw + at, CONFIDENCE), trend(at, saw, CONFIDENCE)
        assert leak.low > 0.5
        assert none.low < 0 < none.high < 0.5


def test_a_warm_up_of_a_quarter_of_the_run_does_not_carry_the_slope_away():
    at = np.arange(200.0)
    values = 100 - 60 * np.exp(-at / 8) + np.random.default_rng(5).normal(0, 0.5, 200)
    found = trend(at, values, CONFIDENCE)
    assert found.slope < np.polyfit(at, values, 1)[0] / 4
    assert found.low < 0.02


def test_a_line_without_noise_has_its_slope_and_no_doubt():
    at = np.arange(100.0)
    for values, slope in ((3 + 0.25 * at, 0.25), (np.full(100, 7.0), 0)):
        found = trend(at, values, CONFIDENCE)
        assert (found.slope, found.low, found.high) == pytest.approx((slope,) * 3)
    at = np.repeat(np.arange(15.0), 2)  # two looks at one moment are no slope of their own
    assert trend(at, 2 * at, CONFIDENCE).slope == pytest.approx(2)


@pytest.mark.parametrize("points", [0, FEWEST - 1, FEWEST])
def test_too_few_points_have_no_slope(points):
    found = trend(np.arange(float(points)), np.ones(points), CONFIDENCE)
    assert (found is None) == (points < FEWEST)


@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=FEWEST, max_size=80),
    st.floats(-50, 50),
    st.sampled_from([0.5, 0.9, 0.99]),
)
def test_an_interval_holds_its_slope_and_grows_with_confidence_and_moves_with_a_line(
    values, slope, confidence
):
    at, values = np.arange(len(values)) * 1.0, np.array(values)
    found = trend(at, values, confidence)
    assert found.low <= found.slope <= found.high
    wider = trend(at, values, 0.999)
    assert wider.low <= found.low
    assert found.high <= wider.high
    tilted = trend(at, values + slope * at, confidence)
    assert tilted.slope == pytest.approx(found.slope + slope, abs=1e-6)


def test_medians_of_stretches_of_unequal_length_move_with_a_line():
    # 70 looks make stretches of two and of three: the middle one of three values beside a steep
    # line is another than that of the values.
    at, rng = np.arange(70.0), np.random.default_rng(1)
    for _ in range(20):
        values = rng.standard_normal(70)
        tilted = trend(at, values + at, CONFIDENCE)
        assert tilted.slope == pytest.approx(trend(at, values, CONFIDENCE).slope + 1)


@pytest.mark.parametrize(
    ("noise", "wanders", "power"), [(autoregressive(0), False, 2 / 3), (walk, True, 2)]
)
def test_longer_runs_are_asked_for_by_how_the_noise_behaves(noise, wanders, power):
    found = trend(np.arange(120.0), noise(np.random.default_rng(9), 120), CONFIDENCE)
    assert found.wanders == wanders
    limit = found.slope + (found.high - found.slope) / 8
    assert found.times_longer(limit) == pytest.approx(8**power)
    assert math.isinf(found.times_longer(found.slope))
