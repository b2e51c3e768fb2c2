import math
from dataclasses import replace

import numpy as np
import pytest

from tollgate.capacity.model import Ask, CapacitySettings, Limit, Trial
from tollgate.capacity.posterior import _DISTANCE, NODES, _nodes, counted, posterior, queue_share

LATENCY, FAILURES = Limit("p95", 250.0, 0.05), Limit("fail", None, 0.001)
SETTINGS = CapacitySettings((LATENCY,))


def trial(rate, share, at_s=100.0, grew=False, sound=True):
    n = round(rate * (10.0 - SETTINGS.lead_s))
    ask = Ask(1, "search", rate, 10.0)
    return Trial(ask, rate, n, (round(share * n),), 1.0, 2.0, 3.0, grew, 0.1, sound, at_s)


@pytest.mark.parametrize("slope", [10, 60, 150])
def test_a_queue_that_has_been_there_for_long_has_an_exponential_tail(slope):
    # Harrison 1985, section 3.6: the stationary distribution of the reflected motion.
    loads = np.array([0.9, 0.95, 0.99])
    found = queue_share(loads, slope, 250.0, (1e6, 1e6 + 1))
    assert found == pytest.approx(np.exp(slope * (loads - 1)), rel=1e-3)


def test_a_queue_that_began_empty_has_fewer_over_the_limit_and_more_with_load():
    loads = np.linspace(0.5, 2, 40)
    early, late = (queue_share(loads, 60, 250.0, (2, end)) for end in (10, 60))
    assert (np.diff(early) >= 0).all()
    assert (early[loads < 1] <= late[loads < 1]).all()
    assert early[loads < 0.98][-1] < 0.7 * late[loads < 0.98][-1]
    assert early[-1] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("spread", "states"), [(0.02, 1), (0.05, 4), (0.1, 7)])
def test_the_nodes_of_a_minute_are_quantiles_of_the_mean_of_its_states(spread, states):
    shares = np.minimum(0.05 * np.exp(40 * _DISTANCE), 1)
    drawn = 0.05 * np.exp(40 * np.random.default_rng(1).normal(-0.05, spread, (20_000, states)))
    means = np.minimum(drawn, 1).mean(axis=1)
    at = np.searchsorted(_DISTANCE, 0)
    found = _nodes(shares, spread, states, -0.05)[at]
    for node in (3, NODES // 2, NODES - 4):
        assert found[node] == pytest.approx(np.quantile(means, (node + 0.5) / NODES), rel=0.25)


def test_trials_that_disagree_leave_more_possible_and_a_lower_rate():
    rates = np.geomspace(90, 110, 20)
    shares = 0.05 * np.exp(60 * np.log(rates / 100))
    alike = [trial(*each) for each in zip(rates, np.minimum(shares, 1), rates, strict=True)]
    unlike = [trial(each, 0.5 if n % 3 == 0 else 0.0, each) for n, each in enumerate(rates)]
    one, other = (posterior(SETTINGS, 0, 60.0, 140.0, tuple(it)) for it in (alike, unlike))
    width_one, width_other = (it.quantile(0.975) - it.quantile(0.025) for it in (one, other))
    assert width_other > 2 * width_one
    assert other.quantile(0.5) < one.quantile(0.5) - 0.03


def test_many_trials_of_known_shares_leave_their_critical_rate_alone():
    # The share doubles with each 2 % in the rate, and is 5 % at 100/s.
    rates = np.geomspace(94, 104, 40)
    trials = tuple(
        trial(rate, 0.05 * 2 ** (math.log(rate / 100) / 0.02), at_s)
        for rate, at_s in zip(rates, np.random.default_rng(1).uniform(40, 230, 40), strict=True)
    )
    found = posterior(SETTINGS, 0, 80.0, 125.0, trials)
    assert found.critical.sum() == pytest.approx(1)
    assert math.exp(found.quantile(0.5)) == pytest.approx(100, rel=0.02)
    assert found.quantile(0.975) - found.quantile(0.025) < 0.04


def test_a_service_that_gets_slower_is_seen_to_drift_and_known_for_the_middle_of_its_trials():
    at_s = np.linspace(35, 235, 40)
    critical = 100 * np.exp(-0.2 * (at_s / SETTINGS.budget_s - 0.45))
    rates = np.tile(np.geomspace(90, 110, 8), 5)
    shares = 0.05 * np.exp(40 * np.log(rates / critical))
    trials = tuple(trial(*each) for each in zip(rates, np.minimum(shares, 1), at_s, strict=True))
    found = posterior(SETTINGS, 0, 80.0, 125.0, trials)
    assert found.drift == pytest.approx(-0.2, abs=0.03)
    assert math.exp(found.quantile(0.5)) == pytest.approx(100, rel=0.02)


def test_a_trial_that_is_not_sound_says_nothing():
    known = (trial(90, 0.0), trial(110, 0.9))
    told = (*known, trial(95, 1.0, sound=False))
    before, after = (posterior(SETTINGS, 0, 80.0, 125.0, each).weights for each in (known, told))
    assert np.array_equal(before, after)


def test_far_above_the_limit_only_that_counts_and_so_does_a_queue_that_grew():
    one = trial(100, 0.0, grew=True)
    found = [counted(SETTINGS, 0, it) for it in (trial(100, 0.1), trial(100, 0.4), one)]
    assert found == [80, None, None]
    both, two = CapacitySettings((LATENCY, FAILURES)), replace(one, over=(0, 0))
    assert [counted(both, place, two) for place in (0, 1)] == [None, 0]
    assert counted(CapacitySettings((FAILURES,)), 0, one) is None
