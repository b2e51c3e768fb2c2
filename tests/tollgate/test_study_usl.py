import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cell_data import ROUNDS, measured
from tollgate.study.usl import CURVE_POINTS, fit, fit_usl, usl

USERS = (1, 2, 5, 10, 20, 50)
FEW = (1, 2, 3, 5, 10)
SEED = 21


def cells(truth, users=USERS, noise=0.0, rounds=ROUNDS, seed=0):
    """One arm whose throughput is the law's, with normal noise relative to it."""
    rng = np.random.default_rng(seed)
    level = usl(users, *truth)
    drawn = level * (1 + noise * rng.standard_normal((rounds, len(users))))
    return [measured(("sum", "cluster", n), drawn[:, index], 5.0) for index, n in enumerate(users)]


@given(
    st.floats(1, 1e5),
    st.floats(0, 1),
    st.floats(0, 0.1),
    st.sampled_from([USERS, (1, 2, 3, 5, 10)]),
)
def test_known_parameters_are_recovered(one, contention, coherency, users):
    found = fit(users, usl(users, one, contention, coherency))[0]
    assert found == pytest.approx([one, contention, coherency], rel=1e-6, abs=1e-9)


def test_a_fit_can_be_had_without_a_measurement_of_one_user():
    users = (2, 4, 8, 16, 32)
    assert fit(users, usl(users, 100, 0.1, 0.001))[0] == pytest.approx([100, 0.1, 0.001])


def test_the_fit_keeps_its_bounds_where_the_samples_leave_them():
    superlinear = np.array([100.0, 220, 600, 1300, 2900, 9000])
    one, contention, coherency = fit(USERS, superlinear)[0]
    assert (one > 0, contention, coherency) == (True, 0, 0)
    falling_from_the_first_user = np.array([100.0, 60, 30, 18, 10, 5])
    one, contention, coherency = fit(USERS, falling_from_the_first_user)[0]
    assert one > 0
    assert 0 <= contention <= 1
    assert coherency > 0


def test_the_best_fit_is_found_whatever_the_start_could_have_been():
    rng = np.random.default_rng(3)
    throughput = usl(USERS, 800, 0.3, 0.002) * (1 + 0.1 * rng.standard_normal(len(USERS)))
    found = fit(USERS, throughput)[0]

    def error(parameters):
        return np.sum((throughput / usl(USERS, *parameters) - 1) ** 2)

    for _ in range(2000):
        other = found * (1 + 0.05 * rng.standard_normal(3))
        if other[1] <= 1:
            assert error(found) <= error(other) + 1e-12


def test_each_resample_is_fitted_by_itself():
    rows = np.array([usl(USERS, 100, 0.1, 0.001), usl(USERS, 7, 0.5, 0)])
    assert fit(USERS, rows) == pytest.approx(np.array([[100, 0.1, 0.001], [7, 0.5, 0]]), abs=1e-9)


def test_nothing_answered_is_no_fit():
    assert np.isnan(fit(USERS, np.zeros(6))).all()
    assert np.isnan(fit(USERS, np.full(6, np.nan))).all()


def test_linear_scaling_ends_at_its_bounds_and_says_so():
    found = fit_usl(cells((100, 0, 0), noise=0.02), SEED)
    assert found.throughput_of_one.low <= 100 <= found.throughput_of_one.high
    assert found.contention.low == found.coherency.low == 0
    assert found.contention.note == "the interval ends at its lower bound, 0"
    assert found.contention.high < 0.05
    assert found.peak_users.low is None or found.peak_users.high is None


def test_without_coherency_there_is_no_peak():
    found = fit_usl(cells((100, 0.1, 0)), SEED)
    assert found.peak_users.value is None
    assert found.peak_users.note == "no peak up to 100 users, twice the most measured"


def test_a_retrograde_arm_peaks_where_the_law_does():
    truth = (100, 0.1, 0.004)  # sqrt(0.9 / 0.004) = 15 users
    found = fit_usl(cells(truth, noise=0.01), SEED)
    assert found.peak_users.low <= 15 <= found.peak_users.high
    assert found.peak_users.high - found.peak_users.low < 5


def test_a_peak_beyond_twice_the_most_users_is_not_told():
    found = fit_usl(cells((100, 0.1, 0.0000225)), SEED)  # at 200 users
    assert found.peak_users.value is None


def test_a_peak_whose_interval_reaches_too_far_has_no_upper_end():
    found = fit_usl(cells((100, 0.1, 0.0003), noise=0.05), SEED)  # at 55 users
    assert found.peak_users.value < 100
    assert found.peak_users.high is None
    assert found.peak_users.note == "no upper end up to 100 users, twice the most measured"


def test_the_curve_ends_at_twice_the_most_users():
    truth = (100, 0.1, 0.004)
    found = fit_usl(cells(truth), SEED)
    users = [n for n, _ in found.curve]
    assert (len(users), users[0], users[-1]) == (CURVE_POINTS, 1, pytest.approx(100))
    along = [value for _, value in found.curve]
    # Windows of whole requests, of which the helper makes exactly those throughputs.
    assert along == pytest.approx(usl(users, *truth).tolist(), rel=1e-6)


def test_four_numbers_of_users_are_too_few():
    found = fit_usl(cells((100, 0.1, 0), users=(1, 2, 5, 10)), SEED)
    assert found.note == "no fit: measured at 4 numbers of users, the law needs 5"
    assert (found.throughput_of_one.value, found.curve) == (None, ())


def test_rounds_without_requests_are_no_fit():
    empty = [
        measured(("sum", "cluster", n), [1.0] * ROUNDS, counts=np.zeros((ROUNDS, 2), np.int64))
        for n in USERS
    ]
    assert "no fit" in fit_usl(empty, SEED).note


def test_too_few_rounds_leave_values_without_intervals():
    found = fit_usl(cells((100, 0.1, 0.004), rounds=3), SEED)
    assert found.contention.value == pytest.approx(0.1)
    assert (found.contention.low, found.peak_users.low) == (None, None)
    assert "3 rounds were measured, 8 are needed" in found.contention.note


def test_the_intervals_hold_the_truth_about_as_often_as_they_say():
    truth = np.array([100, 0.2, 0.002])
    held = np.zeros(3)
    runs = 60
    for run in range(runs):
        found = fit_usl(cells(truth, noise=0.05, seed=run), SEED)
        estimates = (found.throughput_of_one, found.contention, found.coherency)
        held += [it.low <= value <= it.high for it, value in zip(estimates, truth, strict=True)]
    # 95 % of 60 is 57; fewer than 51 would come in 1 of 300 of such tests by chance.
    assert (held >= 51).all()
