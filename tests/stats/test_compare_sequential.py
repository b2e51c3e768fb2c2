import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from support.compared import remembering
from tollgate.stats import sequential
from tollgate.stats.autocorrelation import error_of_steps, error_of_sum
from tollgate.stats.sequential import boundaries, nominal_level, spent

BATCH = 5000
TWENTY = tuple(np.arange(1, 21) / 20)


def motions(rng, many, fractions, drift=0.0):
    """float[many, looks]: the standardised statistic at each look."""
    steps = np.diff(fractions, prepend=0)
    walks = np.cumsum(rng.standard_normal((many, len(steps))) * np.sqrt(steps), axis=1)
    return (walks + drift * np.array(fractions)) / np.sqrt(fractions)


def test_the_boundaries_are_those_that_are_published_for_pocock_spending(monkeypatch):
    # Jennison and Turnbull 2000; the same as gsDesign's sfLDPocock, five looks, one-sided 2.5 %.
    monkeypatch.setattr(sequential, "spent", lambda t, level, _: level * np.log1p((np.e - 1) * t))
    boundaries.cache_clear()
    found = boundaries((0.2, 0.4, 0.6, 0.8, 1.0), 0.025)
    boundaries.cache_clear()
    assert found == pytest.approx((2.438, 2.427, 2.410, 2.397, 2.386), abs=0.001)


def test_a_single_look_at_the_end_is_an_ordinary_test():
    assert boundaries((1.0,), 0.025)[0] == pytest.approx(1.95996, abs=1e-4)
    assert nominal_level((1.0,), 0.001) == pytest.approx(0.001, rel=1e-6)


@pytest.mark.statistics
@pytest.mark.parametrize("level", [0.05, 0.01, 0.001])
@pytest.mark.parametrize("fractions", [TWENTY, (0.1, 0.12, 0.5, 0.9, 1.0), (0.005, 0.01, 1.0)])
def test_of_400000_sequences_without_a_change_as_many_cross_as_the_level_says(
    level, fractions, repetitions
):
    rng, batches = np.random.default_rng(1), repetitions(80)
    most = boundaries(fractions, level)
    crossed = sum((motions(rng, BATCH, fractions) > most).any(axis=1).sum() for _ in batches)
    sequences = BATCH * batches.made
    error = np.sqrt(level * (1 - level) / sequences)
    assert abs(crossed / sequences - level) < 4 * error


def test_looking_20_times_at_1_percent_without_spending_would_alarm_five_times_as_often():
    crossed = motions(np.random.default_rng(2), 20_000, TWENTY) > special.ndtri(0.99)
    assert crossed.any(axis=1).mean() > 0.05


def test_a_look_depends_on_none_after_it_and_an_exponent_below_one_gives_the_first_looks_more():
    assert boundaries(TWENTY[:7], 0.01) == pytest.approx(boundaries(TWENTY, 0.01)[:7], rel=1e-9)
    fractions = (0.125, 0.5, 1.0)
    even, early = (boundaries(fractions, 0.01, exponent) for exponent in (1.0, 0.25))
    assert early[0] < even[0]
    assert early[-1] > even[-1]
    assert nominal_level(fractions[:1], 0.01, 0.25) == pytest.approx(0.01 * 0.125**0.25, rel=1e-6)


def test_an_effect_for_a_single_test_of_95_percent_power_is_found_in_90_and_in_less_time():
    level = 0.001
    drift = special.ndtri(1 - level) + special.ndtri(0.95)
    crossed = motions(np.random.default_rng(3), 20_000, TWENTY, drift) > boundaries(TWENTY, level)
    assert crossed.any(axis=1).mean() > 0.9
    stopped = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, 20)
    assert stopped.mean() / 20 < 0.65


@settings(max_examples=25)
@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=8, unique=True),
    st.sampled_from([1e-5, 1e-3, 0.02]),
)
def test_no_look_is_laxer_than_the_whole_and_a_smaller_error_is_stricter(places, level):
    fractions = tuple(np.sort(places) / 200)
    found = boundaries(fractions, level)
    assert all(-special.ndtri(level) <= each + 1e-6 for each in found)
    assert np.greater(boundaries(fractions, level / 2), found).all()
    assert spent(fractions[-1], level) <= level


@pytest.mark.parametrize(
    "fractions", [(), (0.5, 0.5), (0.5, 0.4), (0.0, 1.0), (0.5, 1.1), (0.001,)]
)
def test_looks_out_of_order_or_time_are_refused(fractions):
    with pytest.raises(ValueError, match="looks must"):
        nominal_level(fractions, 0.01)


def noises(rng, runs, seconds, memory, share):
    """Noise of each run, of whose variance this share remembers so much of the second before."""
    for _ in runs:
        own = np.sqrt(share) * remembering(rng, seconds, memory)
        yield own + np.sqrt(1 - share) * rng.standard_normal(seconds)


def refused(memory, share, seconds, level, runs):
    """How often "no difference" is refused at this two-sided level, though there is none."""
    count = 0
    for noise in noises(np.random.default_rng(5), runs, seconds, memory, share):
        error, freedom = error_of_sum(noise - noise.mean())
        count += 2 * special.stdtr(freedom, -abs(noise.sum()) / error) < level
    return count


@pytest.mark.statistics
@pytest.mark.parametrize("seconds", [60, 300])
def test_independent_noise_is_not_refused_more_often_than_it_may(seconds, repetitions):
    runs = repetitions(3000)
    assert runs.least(0.02) <= refused(0, 0, seconds, 0.05, runs) <= runs.most(0.05)
    assert error_of_sum(np.zeros(seconds))[0] == 0


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("memory", "share", "most"), [(0.6, 0.5, 0.02), (0.9, 0.5, 0.03), (0.9, 0.2, 0.045)]
)
def test_noise_that_lasts_is_mostly_noticed_within_300_seconds(memory, share, most, repetitions):
    runs = repetitions(3000)
    assert refused(memory, share, 300, 0.01, runs) <= runs.most(most)


@pytest.mark.statistics
@pytest.mark.parametrize(("memory", "share"), [(0.0, 0.0), (0.6, 0.5), (0.9, 0.5), (0.9, 0.2)])
@pytest.mark.parametrize("seconds", [60, 120, 300])
def test_the_tail_that_looks_ask_for_holds_also_for_noise_that_lasts(
    memory, share, seconds, repetitions
):
    """At one in a thousand, one-sided: at most 1.5 times as often, steps of 5 s, a cosine in 15."""
    runs, count = repetitions(20_000), 0
    for noise in noises(np.random.default_rng(6), runs, seconds, memory, share):
        steps = noise.reshape(-1, 5).mean(axis=1)
        error, freedom = error_of_steps(steps - steps.mean(), seconds // 15)
        count += special.stdtr(freedom, -abs(steps.sum()) / error) < 0.001
    assert count <= runs.most(2 * 0.0015)
