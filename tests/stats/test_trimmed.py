import numpy as np
import pytest
from scipy import stats

from tollgate.stats.autocorrelation import error_of_steps
from tollgate.stats.trimmed import trimmed_mean


def test_a_fifth_of_wild_values_at_one_end_moves_it_no_further_than_the_ends_of_the_others():
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, 100)
    wild = values.copy()
    wild[:20] = 1e9
    found, influences = trimmed_mean(wild)
    assert found < 1
    assert np.abs(influences).max() < 0.1


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
    weighed, of_weighed = trimmed_mean(
        np.append(values, [-1e9, 1e9]), np.append(np.full(31, 3.0), [0, 0])
    )
    assert weighed == pytest.approx(found)
    assert of_weighed == pytest.approx(np.append(influences, [0, 0]))


def test_the_share_at_the_ends_is_one_of_the_weights():
    values, weights = np.arange(10.0), np.array([2.0, 2, 4, 4, 4, 4, 4, 4, 2, 2])
    found, influences = trimmed_mean(values, weights)
    assert found == pytest.approx(4.5)  # 2 to 7 are left: 6.4 of 32 go at either end
    assert influences[0] == influences[1]
    assert influences[2] == pytest.approx(2 * influences[1])  # both are 2, of half its weight
    assert influences.sum() == pytest.approx(0)


def test_one_value_that_weighs_most_is_the_mean():
    found, influences = trimmed_mean(np.array([1.0, 2.0, 9.0]), np.array([0.1, 9.0, 0.1]))
    assert found == 2.0
    assert influences.tolist() == [0.0, 0.0, 0.0]


def test_without_a_value_there_is_none():
    with pytest.raises(ValueError, match="needs a value"):
        trimmed_mean(np.array([]))


def test_an_error_of_steps_has_the_freedom_that_it_was_told_to_whatever_the_steps():
    rng = np.random.default_rng(3)
    calm, lasting = rng.standard_normal(24), np.repeat(rng.standard_normal(4), 6)
    errors = []
    for steps in (calm, lasting):
        error, freedom = error_of_steps(steps - steps.mean(), 8)
        assert freedom == 8
        errors.append(error / steps.std())
    assert errors[1] > 2 * errors[0]
    assert error_of_steps(np.zeros(24), 1) == (0.0, 3.0)
