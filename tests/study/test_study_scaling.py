import numpy as np
import pytest

from cell_data import ROUNDS, by_cell, measured
from tollgate.study.scaling import comparisons, concurrency_performance, curves, experiments_of

SEED = 21


def flat(experiment, arm, users, throughput, mean_ms):
    return measured((experiment, arm, users), [throughput] * ROUNDS, mean_ms)


def test_concurrency_performance_is_that_of_the_kittens_write_up():
    one = {"mean": np.array([30.5]), "throughput": np.array([32.75])}
    ten = {"mean": np.array([33.6]), "throughput": np.array([297.49])}
    assert concurrency_performance(one, one) == pytest.approx([0.999], abs=1e-3)
    assert concurrency_performance(one, ten) == pytest.approx([9.07], abs=1e-2)


def test_its_baseline_is_one_process_under_the_fewest_users_whatever_the_arm():
    data = by_cell(
        flat("kittens", "cluster", 10, 64, 156.0),
        flat("kittens", "cluster", 1, 30, 33.0),
        flat("kittens", "fork", 10, 32, 312.0),
        flat("kittens", "fork", 1, 32, 31.0),
    )
    told = {
        (curve.arm, point.users): point.concurrency_performance.value
        for curve in curves(data, SEED)
        for point in curve.points
    }
    assert told == pytest.approx(
        {
            ("cluster", 1): 0.031 * 30,
            ("cluster", 10): 0.031 * 64,
            ("fork", 1): 0.031 * 32,
            ("fork", 10): 0.031 * 32,
        }
    )


def test_the_points_of_a_curve_ascend_whatever_the_order_of_the_blocks():
    cells = [flat("sum", "fork", users, 100 + users, 10.0) for users in (50, 1, 20, 5, 100)]
    (curve,) = curves(by_cell(*cells), SEED)
    assert [(it.users, it.throughput.value) for it in curve.points] == [
        (users, pytest.approx(100 + users)) for users in (1, 5, 20, 50, 100)
    ]


def test_an_arm_at_one_number_of_users_has_no_curve():
    assert curves(by_cell(flat("sum", "fork", 5, 100, 10.0)), SEED) == ()


def test_without_a_known_baseline_there_is_throughput_alone():
    data = by_cell(flat("sum", "mine", 1, 100, 10.0), flat("sum", "mine", 2, 150, 12.0))
    (curve,) = curves(data, SEED)
    assert curve.points[1].throughput.value == pytest.approx(150)
    assert curve.points[1].concurrency_performance.value is None
    assert "fork, in-process, one server" in curve.points[1].concurrency_performance.note


def test_arms_are_compared_with_what_differs_in_one_thing_from_them():
    arms = ("in-process", "child per search", "child per carrier")
    data = by_cell(*(flat("search", arm, users, 10, 9.0) for arm in arms for users in (10, 1)))
    assert [(it.arm, it.baseline, it.users) for it in comparisons(data, SEED)] == [
        (arm, baseline, users)
        for arm, baseline in (
            ("child per search", "in-process"),
            ("child per carrier", "in-process"),
            ("child per carrier", "child per search"),
        )
        for users in (1, 10)
    ]


def test_arms_are_compared_only_at_users_and_in_experiments_that_they_share():
    data = by_cell(
        flat("sum", "fork", 1, 10, 9.0),
        flat("sum", "cluster", 2, 20, 9.0),
        flat("kittens", "cluster", 1, 20, 9.0),
    )
    assert comparisons(data, SEED) == ()


def test_a_ratio_is_arm_over_baseline():
    data = by_cell(flat("sum", "fork", 5, 100, 20.0), flat("sum", "cluster", 5, 180, 10.0))
    (found,) = comparisons(data, SEED)
    assert found.ratios["throughput"].value == pytest.approx(1.8)
    assert found.ratios["mean"].value == pytest.approx(0.5)


def test_the_cross_check_is_no_experiment_of_arms():
    data = by_cell(flat("crosscheck", "jmeter", 20, 100, 20.0), flat("sum", "fork", 20, 100, 20.0))
    assert experiments_of(data) == ["sum"]
