import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from support.cell_data import ROUNDS, by_cell, measured
from support.study_cells import data
from tollgate.study.answers import in_order
from tollgate.study.metrics import PERCENTILES, Metrics
from tollgate.study.model import METRICS
from tollgate.study.scaling import comparisons, concurrency_performance, curves

TIMES = st.integers(0, 40) | st.integers(1000, 1010)
BLOCKS = st.lists(st.lists(TIMES, max_size=12), min_size=1, max_size=5)


def metrics(made, times=None):
    times = np.ones((1, len(made.rounds))) if times is None else np.array(times, float)
    return Metrics(made, made.rounds, times)


def spread(requests):
    """Each request's place within its millisecond, those that share one evenly apart."""
    found = []
    for value in sorted(set(requests)):
        lower, count = max(value - 0.5, 0), requests.count(value)
        width = value + 0.5 - lower
        found += [
            (lower + width * k / count, lower + width * (k + 1) / count) for k in range(count)
        ]
    return found


@settings(max_examples=150)
@given(BLOCKS, st.data())
def test_every_metric_is_that_of_the_requests_written_out_one_by_one(blocks, drawn):
    times = drawn.draw(st.lists(st.integers(0, 3), min_size=len(blocks), max_size=len(blocks)))
    window = np.arange(1, len(blocks) + 1) / 4
    found = metrics(data(blocks, window_s=window), [times])
    pooled = [it for block, n in zip(blocks, times, strict=True) for it in block * n]
    if not pooled:
        assert all(np.isnan(found[name][0]) for name in METRICS if name != "throughput")
        return
    assert found["throughput"][0] == len(pooled) / (times @ window)
    assert found["mean"][0] == sum(pooled) / len(pooled)
    maxima = [max(block) for block, n in zip(blocks, times, strict=True) for _ in range(n) if block]
    assert found["block_max"][0] == pytest.approx(np.mean(maxima))
    for name in PERCENTILES:
        percent = int(name[1:])
        low, high = spread(pooled)[-(-percent * len(pooled) // 100) - 1]
        assert low - 1e-9 <= found[name][0] <= high + 1e-9
        exact = np.percentile(pooled, percent, method="inverted_cdf")
        assert abs(found[name][0] - exact) <= 0.5 + 1e-9


def test_many_choices_at_once_give_what_each_gives_alone():
    rng = np.random.default_rng(5)
    made = data([rng.integers(0, 90, rng.integers(0, 60)) for _ in range(9)], window_s=0.75)
    times = rng.multinomial(9, [1 / 9] * 9, 40)
    together = metrics(made, times)
    for name in METRICS:
        alone = [metrics(made, [row])[name][0] for row in times]
        np.testing.assert_allclose(together[name], alone, rtol=1e-12)


def test_sums_stay_exact_where_single_precision_would_round():
    made = data([[0, 1]], window_s=1.0)
    made.counts[:] = [[2**31 + 1, 2**31 + 3]]
    assert metrics(made)["throughput"][0] == 2**32 + 4
    assert metrics(made)["mean"][0] == (2**31 + 3) / (2**32 + 4)


@pytest.mark.parametrize(("name", "below"), [("p90", 9), ("p95", 19)])
def test_a_percentile_at_a_gap_does_not_jump_over_it(name, below):
    assert metrics(data([[5] * below + [100]]))[name][0] == 5.5


def test_the_maximum_is_that_of_a_block_and_does_not_grow_with_their_number():
    assert metrics(data([[1, 9], [3], [], [6, 6]]))["block_max"][0] == 6
    rng = np.random.default_rng(1)
    few, many = (data(rng.lognormal(3, 1, (n, 100)).astype(int)) for n in (20, 2000))
    assert metrics(many)["block_max"][0] == pytest.approx(metrics(few)["block_max"][0], rel=0.25)
    assert many.values_ms.max() > 1.5 * metrics(many)["block_max"][0]


def test_a_cell_without_any_request_has_a_throughput_of_zero_and_no_other_metrics():
    found = metrics(data([[], []]))
    assert found["throughput"][0] == 0
    assert all(np.isnan(found[name][0]) for name in METRICS if name != "throughput")


def test_rounds_that_were_not_measured_are_refused():
    made = data([[1], [2]], rounds=(1, 3))
    for rounds in ([2], [1, 4]):
        with pytest.raises(ValueError, match="not measured in all of rounds"):
            Metrics(made, np.array(rounds), np.ones((1, len(rounds))))


def as_jmeter_writes(true):
    """A cell with the requests that a clock cut to milliseconds makes of a distribution, exactly:
    P(elapsed <= k) is the mean of the distribution function over [k, k + 1]."""
    edges = np.arange(1000)
    inside = (np.arange(50) + 0.5) / 50
    up_to = np.mean([true.cdf(edges + it) for it in inside], axis=0)
    made = data([edges])
    made.counts[:] = np.round(1e12 * np.diff(up_to, prepend=0)).astype(np.int64)
    return metrics(made)


@pytest.mark.parametrize("median_ms", [0.3, 1.3, 5, 40])
def test_the_mean_of_cut_clocks_is_the_true_one(median_ms):
    true = stats.lognorm(0.4, scale=median_ms)
    assert as_jmeter_writes(true)["mean"][0] == pytest.approx(true.mean(), rel=1e-3)


@pytest.mark.parametrize("median_ms", [10, 10.5, 31.3])
@pytest.mark.parametrize("sigma", [0.2, 0.5])
def test_percentiles_of_cut_clocks_are_the_true_ones_within_a_percent(median_ms, sigma):
    true = stats.lognorm(sigma, scale=median_ms)
    for name in PERCENTILES:
        expected = true.ppf(int(name[1:]) / 100)
        assert as_jmeter_writes(true)[name][0] == pytest.approx(expected, rel=0.01)


SEED = 21


def flat(experiment, arm, users, throughput, mean_ms):
    return measured((experiment, arm, users), [throughput] * ROUNDS, mean_ms)


def test_concurrency_performance_is_that_of_the_kittens_write_up():
    one = {"mean": np.array([30.5]), "throughput": np.array([32.75])}
    ten = {"mean": np.array([33.6]), "throughput": np.array([297.49])}
    assert concurrency_performance(one, one) == pytest.approx([0.999], abs=1e-3)
    assert concurrency_performance(one, ten) == pytest.approx([9.07], abs=1e-2)


def test_its_baseline_is_one_process_under_the_fewest_users_whatever_the_arm():
    throughputs = {("cluster", 10): 64, ("cluster", 1): 30, ("fork", 10): 32, ("fork", 1): 32}
    cells = (
        flat("kittens", *key, throughput, 31.0 if key == ("fork", 1) else 200.0)
        for key, throughput in throughputs.items()
    )
    told = {
        (curve.arm, point.users): point.concurrency_performance.value
        for curve in curves(in_order(by_cell(*cells)), SEED)
        for point in curve.points
    }
    assert told == pytest.approx({key: 0.031 * value for key, value in throughputs.items()})


def test_the_points_of_a_curve_ascend_whatever_the_order_of_the_blocks():
    cells = [flat("sum", "fork", users, 100 + users, 10.0) for users in (50, 1, 20, 5, 100)]
    [curve] = curves(in_order(by_cell(*cells)), SEED)
    assert [it.users for it in curve.points] == [1, 5, 20, 50, 100]
    assert all(it.throughput.value == pytest.approx(100 + it.users) for it in curve.points)


def test_without_a_known_baseline_there_is_throughput_alone():
    data = by_cell(flat("sum", "mine", 1, 100, 10.0), flat("sum", "mine", 2, 150, 12.0))
    [curve] = curves(data, SEED)
    point = curve.points[1]
    assert point.throughput.value == pytest.approx(150)
    assert point.concurrency_performance.value is None
    assert "fork, in-process, one server" in point.concurrency_performance.note


def test_arms_are_compared_with_what_differs_in_one_thing_from_them():
    one, search, carrier = arms = ("in-process", "child per search", "child per carrier")
    data = by_cell(*(flat("search", arm, users, 10, 9.0) for arm in arms for users in (10, 1)))
    assert [(it.arm, it.baseline, it.users) for it in comparisons(data, SEED)] == [
        (*pair, users)
        for pair in ((search, one), (carrier, one), (carrier, search))
        for users in (1, 10)
    ]


def test_what_no_other_cell_shares_its_users_and_experiment_with_is_neither_compared_nor_a_curve():
    keys = (("sum", "fork", 1), ("sum", "cluster", 2), ("kittens", "cluster", 1))
    cells = by_cell(*(flat(*key, 20, 9.0) for key in keys))
    assert (comparisons(cells, SEED), curves(cells, SEED)) == ((), ())


def test_a_ratio_is_arm_over_baseline():
    data = by_cell(flat("sum", "fork", 5, 100, 20.0), flat("sum", "cluster", 5, 180, 10.0))
    (found,) = comparisons(data, SEED)
    assert found.ratios["throughput"].value == pytest.approx(1.8)
    assert found.ratios["mean"].value == pytest.approx(0.5)


def test_the_cross_check_is_no_experiment_of_arms():
    data = by_cell(*(flat("crosscheck", "jmeter", users, 100, 20.0) for users in (10, 20)))
    assert (comparisons(data, SEED), curves(data, SEED)) == ((), ())
