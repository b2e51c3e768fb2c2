import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.capacity import Service, answers
from tollgate.capacity.growth import grew

SECONDS = 10.0


def trial(rate_s, random, rise_ms_s=0.0, noise_ms=20.0):
    due = np.sort(random.random(int(rate_s * SECONDS))) * SECONDS
    return due, 50 + rise_ms_s * due + random.exponential(noise_ms, len(due))


def test_a_queue_that_gains_100_ms_a_second_grows_in_whatever_order_it_is_told():
    random = np.random.default_rng(1)
    due, ms = trial(50, random, rise_ms_s=100)
    assert grew(due, ms, SECONDS)
    order = random.permutation(len(due))
    assert grew(due[order], ms[order], SECONDS)
    assert not grew(due, ms[::-1], SECONDS)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 300))
def test_noise_around_a_level_is_no_growth(seed, noise_ms):
    assert not grew(*trial(60, np.random.default_rng(seed), noise_ms=noise_ms), SECONDS)


def test_a_rise_that_does_not_double_the_response_time_is_none():
    assert not grew(*trial(200, np.random.default_rng(1), rise_ms_s=3, noise_ms=1), SECONDS)


def test_answers_that_stop_coming_are_growth_and_answers_that_never_came_are_not():
    due, ms = trial(50, np.random.default_rng(1))
    assert grew(due, np.where(due > SECONDS / 2, np.inf, ms), SECONDS)
    assert not grew(due, np.full(len(due), np.inf), SECONDS)


@pytest.mark.parametrize("n", [0, 1, 40])
def test_too_few_answers_tell_nothing(n):
    due = np.linspace(0, SECONDS, n, endpoint=False)
    assert not grew(due, 100 * due, SECONDS)


def grown(load, seconds, random, runs):
    """How many queues of a service under this load are said to grow."""
    service = Service(ms=7.0)
    return sum(
        grew(*answers(service, load * service.most, seconds, 0.0, np.ones_like, random), seconds)
        for _ in runs
    )


@pytest.mark.statistics
@pytest.mark.parametrize("seconds", [10, 60])
@pytest.mark.parametrize("load", [0.5, 0.8, 0.95])
def test_of_100_queues_that_do_not_grow_at_most_one_is_said_to(load, seconds, repetitions):
    random, runs = np.random.default_rng([seconds, int(100 * load)]), repetitions(3000)
    assert grown(load, seconds, random, runs) <= runs.most(0.01)


@pytest.mark.statistics
def test_of_queues_that_get_a_fifth_too_much_nearly_all_are_seen(repetitions):
    runs = repetitions(1000)
    assert grown(1.2, SECONDS, np.random.default_rng(1), runs) >= runs.least(0.95)
