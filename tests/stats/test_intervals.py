import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tollgate.stats.autocorrelation import design_effect
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import mean_interval, samples_needed, share_interval, stdev_interval
from tollgate.stats.percentiles import percentile_interval

RUNS = 500
SHAPES = [(240, 30), (3000, 60)]
PERCENTILES = (50, 90, 95)
# Lognormal latencies around 200 ms, so that JMeter's whole milliseconds hide nothing.
MEDIAN_MS, SIGMA = 200.0, 0.6


def autoregressive(rng, at_s, correlation):
    """Standard normal values in which each remembers the one before; correlation(gap in s)."""
    steps = correlation(np.diff(at_s, prepend=at_s[0]))
    steps[0] = 0.0
    noise = rng.standard_normal(len(at_s)) * np.sqrt(1 - steps**2)
    values = np.empty(len(at_s))
    last = 0.0
    for index, (step, fresh) in enumerate(zip(steps, noise, strict=True)):
        values[index] = last = step * last + fresh
    return values


def shocked(rng, at_s, share, correlation):
    """Standard normal values of which `share` of the variance is common to each second."""
    seconds = autoregressive(rng, np.arange(61.0), lambda gap: np.full(len(gap), correlation))
    own = rng.standard_normal(len(at_s))
    return math.sqrt(share) * seconds[at_s.astype(int)] + math.sqrt(1 - share) * own


THIRD = "a third of the variance is common to a second"
PROCESSES = {
    "independent": lambda rng, at_s: rng.standard_normal(len(at_s)),
    "each request remembers 0.9 of the last": lambda rng, at_s: autoregressive(
        rng, at_s, lambda gap: np.full(len(gap), 0.9)
    ),
    "a disturbance fades in a second": lambda rng, at_s: autoregressive(
        rng, at_s, lambda gap: np.exp(-gap)
    ),
    THIRD: lambda rng, at_s: shocked(rng, at_s, 0.3, 0),
    "two fifths last for some seconds": lambda rng, at_s: shocked(rng, at_s, 0.4, 0.3),
}
THIRD = "a third of the variance is common to a second"


def simulated(rng, process, n, seconds):
    at_s = np.sort(rng.uniform(0, seconds, n))
    latency = MEDIAN_MS * np.exp(SIGMA * PROCESSES[process](rng, at_s))
    return Counts.of(at_s.astype(int), np.rint(latency).astype(int))


def truth(p):
    return round(MEDIAN_MS * math.exp(SIGMA * stats.norm.ppf(p / 100)))


@pytest.mark.statistics
@pytest.mark.parametrize("process", PROCESSES)
def test_of_500_runs_92_to_99_percent_of_the_intervals_hold_the_true_percentile(
    process, repetitions
):
    rng, runs = np.random.default_rng(20240229), repetitions(RUNS)
    held = np.zeros((len(SHAPES), len(PERCENTILES)))
    for shape, (n, seconds) in enumerate(SHAPES):
        for _ in runs:
            counts = simulated(rng, process, n, seconds)
            for index, p in enumerate(PERCENTILES):
                found = percentile_interval(counts, p)
                held[shape, index] += found.low <= truth(p) <= found.high
    of_all, mean = repetitions(RUNS * len(SHAPES)), held.mean(axis=1).sum()
    assert of_all.least(0.92) <= mean <= of_all.most(0.99), held
    # A share of 500 runs has a standard error of one percent.
    assert held.min() >= runs.least(0.91), held
    assert held.max() <= runs.most(0.998), held


@pytest.mark.statistics
def test_of_500_runs_92_to_99_percent_hold_the_true_p99_of_3000_samples(repetitions):
    rng, runs, held = np.random.default_rng(99), repetitions(RUNS), 0
    for _ in runs:
        found = percentile_interval(simulated(rng, "independent", 3000, 60), 99)
        held += found.low <= truth(99) <= found.high
    assert runs.least(0.92) <= held <= runs.most(0.99)


@pytest.mark.statistics
def test_of_500_runs_92_to_99_percent_of_the_intervals_hold_the_true_mean_and_share(repetitions):
    rng, runs, held = np.random.default_rng(3), repetitions(RUNS), np.zeros(2)
    mean, limit = MEDIAN_MS * math.exp(SIGMA**2 / 2), truth(90)
    for _ in runs:
        counts = simulated(rng, THIRD, 3000, 60)
        seconds, n = counts.seconds, counts.sum_by_second()
        found = mean_interval(seconds, n, counts.sum_by_second(counts.elapsed_ms))
        held[0] += found.low <= mean <= found.high
        found = share_interval(seconds, n, counts.sum_by_second(counts.elapsed_ms > limit))
        held[1] += found.low <= 0.1 <= found.high
    assert (held >= runs.least(0.92)).all(), held
    assert (held <= runs.most(0.99)).all(), held


def test_an_interval_that_ignored_autocorrelation_would_lie():
    rng, held = np.random.default_rng(4), 0
    for _ in range(200):
        elapsed = simulated(rng, THIRD, 3000, 60)
        low, high = elapsed.order_statistics(stats.binom.ppf([0.025, 0.975], elapsed.total, 0.5))
        held += low <= truth(50) <= high
    assert held / 200 < 0.6


def test_independent_samples_give_the_textbook_ranks():
    # 100 samples, p50: the distribution-free 95 % interval lies between ranks 40 and 61. One from
    # either half in each second, so that no second says more than another.
    counts = Counts.of(np.arange(100) // 2, np.arange(100) // 2 + 50 * (np.arange(100) % 2) + 1)
    found = percentile_interval(counts, 50)
    assert found.deff < 1.2
    assert 39 <= found.low <= 41
    assert 60 <= found.high <= 62


@pytest.mark.parametrize(("p", "needed"), [(50, 6), (90, 36), (95, 72), (99, 368), (99.9, 3688)])
def test_the_samples_that_a_percentile_needs_are_known(p, needed):
    assert samples_needed(p) == samples_needed(100 - p) == needed
    assert samples_needed(p, deff=2) == 2 * needed


@settings(max_examples=50)
@given(st.integers(1, 200), st.sampled_from([50, 90, 95, 99]))
def test_with_fewer_samples_than_needed_there_is_no_upper_bound(n, p):
    found = percentile_interval(Counts.of(np.arange(n) % 20, np.arange(n)), p)
    if n < samples_needed(p, found.deff if math.isfinite(found.deff) else 1):
        assert found.high == math.inf


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 500)), min_size=30, max_size=300),
    st.sampled_from([5, 50, 95]),
)
def test_the_interval_holds_what_was_observed(samples, p):
    counts = Counts.of(*zip(*samples, strict=True))
    [value] = counts.order_statistics([-(-counts.total * p // 100)])
    for found, at in (
        (percentile_interval(counts, p), value),
        (stdev_interval(counts), counts.stdev),
    ):
        assert found.low - 1e-6 <= at <= found.high + 1e-6


def test_less_than_five_seconds_tell_nothing():
    counts = Counts.of(np.arange(4000) % 4, np.arange(4000))
    assert percentile_interval(counts, 50).high == math.inf
    seconds, n = counts.seconds, counts.sum_by_second()
    assert mean_interval(seconds, n, n).high == math.inf
    assert share_interval(seconds, n, n) == share_interval([], np.array([]), np.array([]))


def test_no_failures_still_leave_a_possible_share_and_a_steady_run_has_a_mean_without_doubt():
    # The rule of three: with 300 successes the share of failures is below 3.7/300 at 97.5 %.
    found = share_interval(np.arange(30), np.full(30, 10), np.zeros(30))
    assert (found.low, found.high) == (0, pytest.approx(0.0122, abs=1e-4))
    found = mean_interval(np.arange(10), np.full(10, 8), np.full(10, 80))
    assert (found.low, found.high) == (10, 10)


def test_a_mean_leaves_room_for_a_tail_until_there_are_samples_enough_to_see_one():
    # One in 20 ten times slower adds 45 %; of 72 samples 2.5 in 100 runs see none of them.
    seconds = np.arange(72)
    for n, confidence, high in ((71, 0.95, 14.5), (72, 0.95, 10), (72, 0.99, 14.5)):
        found = mean_interval(seconds[:n], np.ones(n), np.full(n, 10.0), confidence)
        assert (found.low, found.high) == pytest.approx((10, high))
        without = mean_interval(seconds[:n], np.ones(n), np.full(n, 10.0), confidence, False)
        assert (without.low, without.high) == (10, 10)


def test_a_mean_has_no_more_freedom_than_seconds_with_samples():
    # Two seconds with samples, 29 s apart, have one degree of freedom: Student's t is 12.7.
    found = mean_interval(np.array([0, 29]), np.array([40, 40]), np.array([398.0, 402.0]))
    assert found.low == pytest.approx(10 - 12.706 * 0.05 / math.sqrt(2) * math.sqrt(2), rel=0.1)


def test_a_burst_of_equal_values_leaves_the_percentile_in_doubt():
    # 8 % of the samples, all 20 ms and all in five of sixty seconds: who knows about the next five?
    second = np.arange(600) // 10
    assert percentile_interval(Counts.of(second, np.where(second >= 55, 20, 10)), 95).low == 10


def test_samples_that_agree_within_a_second_count_for_less():
    together = np.where(np.random.default_rng(2).random(60) < 0.5, 10, 0)
    assert design_effect(np.arange(60), np.full(60, 10), together, 0.95) > 5


def test_seconds_without_samples_do_not_break_an_interval():
    counts = Counts.of(np.repeat([0, 1, 2, 30, 31, 59], 20), np.tile(np.arange(20) + 1, 6))
    found = percentile_interval(counts, 50)
    assert found.low <= 10 <= found.high < math.inf
