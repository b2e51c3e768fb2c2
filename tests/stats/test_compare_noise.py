import numpy as np
import pytest
from scipy import special

from support.compared import remembering
from tollgate.stats.autocorrelation import error_of_steps, error_of_sum

RUNS = 3000


def refused(memory, share, seconds, level, runs):
    """How often "no difference" is refused at this two-sided level, though there is none."""
    rng = np.random.default_rng(5)
    count = 0
    for _ in runs:
        own = remembering(rng, seconds, memory)
        noise = np.sqrt(share) * own + np.sqrt(1 - share) * rng.standard_normal(seconds)
        error, freedom = error_of_sum(noise - noise.mean())
        count += 2 * special.stdtr(freedom, -abs(noise.sum()) / error) < level
    return count


@pytest.mark.statistics
@pytest.mark.parametrize("seconds", [60, 300])
def test_independent_noise_is_not_refused_more_often_than_it_may(seconds, repetitions):
    runs = repetitions(RUNS)
    assert runs.least(0.02) <= refused(0, 0, seconds, 0.05, runs) <= runs.most(0.05)


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("memory", "share", "most"), [(0.6, 0.5, 0.02), (0.9, 0.5, 0.03), (0.9, 0.2, 0.045)]
)
def test_noise_that_lasts_is_mostly_noticed_within_300_seconds(memory, share, most, repetitions):
    runs = repetitions(RUNS)
    assert refused(memory, share, 300, 0.01, runs) <= runs.most(most)


def test_a_sum_without_noise_has_no_error():
    assert error_of_sum(np.zeros(60))[0] == 0


@pytest.mark.statistics
@pytest.mark.parametrize(("memory", "share"), [(0.0, 0.0), (0.6, 0.5), (0.9, 0.5), (0.9, 0.2)])
@pytest.mark.parametrize("seconds", [60, 120, 300])
def test_the_tail_that_looks_ask_for_holds_also_for_noise_that_lasts(
    memory, share, seconds, repetitions
):
    """At one in a thousand, one-sided: at most 1.5 times as often, steps of 5 s, a cosine in 15."""
    rng, runs = np.random.default_rng(6), repetitions(20_000)
    count = 0
    for _ in runs:
        noise = np.sqrt(share) * remembering(rng, seconds, memory)
        noise += np.sqrt(1 - share) * rng.standard_normal(seconds)
        steps = noise.reshape(-1, 5).mean(axis=1)
        error, freedom = error_of_steps(steps - steps.mean(), seconds // 15)
        count += special.stdtr(freedom, -abs(steps.sum()) / error) < 0.001
    assert count <= runs.most(2 * 0.0015)
