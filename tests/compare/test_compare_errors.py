import numpy as np
import pytest
from scipy import stats

from tollgate.compare.errors import ShareRise, error_rise
from tollgate.compare.model import Blocks, Side


def blocks_of(base_failed, head_failed, n=40):
    """Blocks of n samples of each side in each second, of which so many failed."""
    sides = (
        Side(np.full((len(failed), 1), n), np.asarray(failed))
        for failed in (base_failed, head_failed)
    )
    return Blocks("a", np.array([10]), *sides)


def test_the_low_end_is_above_zero_exactly_where_the_exact_test_refuses():
    for base in range(4):
        for head in range(1, 25):
            found = ShareRise((base, head), (5000, 4900), 1.0)
            share = 4900 / 9900
            p = stats.binomtest(head, base + head, share, alternative="greater").pvalue
            for level in (0.05, 0.001):
                assert (found.low(level) > 0) == (p < level)


def test_without_a_failure_the_high_end_is_what_so_many_samples_can_hide():
    found = error_rise(blocks_of(np.zeros(120, int), np.zeros(120, int)))
    assert found.value == 0
    # The rule of three: 1 - level^(1/n).
    assert found.high(0.01) == pytest.approx(1 - 0.01 ** (1 / 4800))
    assert found.low(0.01) == pytest.approx(-found.high(0.01))


@pytest.mark.statistics
@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.002, 0.002), (0.01, 0.013), (0.2, 0.25), (1, 1)])
def test_of_2000_intervals_at_least_95_percent_hold_the_true_difference(rates, repetitions):
    rng, runs = np.random.default_rng(11), repetitions(2000)
    held = 0
    for _ in runs:
        found = error_rise(blocks_of(*(rng.binomial(40, rate, 60) for rate in rates)))
        held += found.low(0.025) <= rates[1] - rates[0] <= found.high(0.025)
    assert held >= runs.least(0.945)


@pytest.mark.statistics
def test_failures_that_crowd_together_are_not_taken_for_so_many_proofs(repetitions):
    rng, runs = np.random.default_rng(12), repetitions(1000)
    alarms = naive = 0
    for _ in runs:
        # Either process breaks down now and then, and all it has in that second fails.
        failed = [np.where(rng.random(120) < 0.02, 40, 0) for _ in range(2)]
        found = error_rise(blocks_of(*failed))
        alarms += found.low(0.01) > 0
        naive += ShareRise(found.failed, found.n, 1.0).low(0.01) > 0
    assert alarms <= runs.most(0.015)
    assert naive > runs.least(0.2)


def test_a_single_breakdown_proves_nothing_and_rules_nothing_out():
    failed = np.zeros(120, int)
    failed[50] = 40
    found = error_rise(blocks_of(np.zeros(120, int), failed))
    assert found.low(0.01) < 0
    assert found.high(0.01) > 0.01


def test_a_candidate_that_fails_always_is_worse_beyond_doubt():
    found = error_rise(blocks_of(np.zeros(60, int), np.full(60, 40)))
    assert found.value == 1
    assert found.low(1e-6) > 0.9


def test_too_little_time_is_said():
    note = error_rise(blocks_of(np.zeros(5, int), np.zeros(5, int))).note
    assert note == "5 blocks of time, 20 are needed"
