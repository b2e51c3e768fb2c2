import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from support.study_cells import data, served, written
from tollgate.study.metrics import COARSE_MS, PERCENTILES
from tollgate.study.model import METRICS, ArmComparison, Estimate
from tollgate.study.stats import (
    MIN_BLOCKS,
    cell_result,
    compare,
    estimate,
    estimates,
    interval,
    multiplicities,
    with_interval,
)

SEED = 21


def ratio(one, other):
    return one["mean"] / other["mean"]


def drifting(rng, factor, drift):
    """A cell whose rounds differ by the drift only, by as much as it tells."""
    blocks = [np.full(400, round(20 * factor * it)) + rng.integers(0, 3, 400) for it in drift]
    return data(blocks, window_s=[block.sum() / 1000 for block in blocks])


def test_the_point_estimate_is_that_of_all_rounds_as_they_were():
    shapes = []

    def noted(one, other):
        shapes.append(one["mean"].shape)
        return ratio(one, other)

    found = estimate(noted, [data([[10]] * 8), data([[4, 6]] * 8)], SEED)
    assert found == Estimate(2.0, 2.0, 2.0)
    assert sorted(shapes) == [(1,), (4000,)]


def test_only_rounds_that_all_cells_have_count():
    one = data([[10]] * 9, rounds=range(1, 10))
    other = data([[99], *[[5]] * 8], rounds=(0, *range(2, 10)))
    found = estimate(ratio, [one, other], SEED)
    assert (found.value, found.low) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("metric", "blocks", "value", "note"),
    [
        *(
            ("throughput", [[1, 2]] * n, 2.0, rf"{n} round.* {MIN_BLOCKS} are needed")
            for n in (1, 2, MIN_BLOCKS - 1)
        ),
        ("mean", [[7], *[[]] * 7], 7.0, "hold no request"),
        ("throughput", [], None, ""),
    ],
)
def test_rounds_that_are_too_few_or_empty_give_a_value_without_an_interval(
    metric, blocks, value, note
):
    found = estimate(lambda it: it[metric], [data(blocks)], SEED)
    assert (found.value, found.low, found.high) == (value, None, None)
    assert re.search(note, found.note)


@pytest.mark.parametrize(
    ("other", "note"),
    [
        (
            data([[1]] * 8, rounds=range(11, 19)),
            "no estimate: no round was measured of all the cells",
        ),
        (data([[0]] * 8), "a divisor is 0"),
    ],
)
def test_cells_without_a_common_round_or_a_divisor_have_no_ratio(other, note):
    found = estimate(ratio, [data([[5]] * 8), other], SEED)
    assert (found.value, found.low, note in found.note) == (None, None, True)


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly_the_same():
    rng = np.random.default_rng(3)
    made = data(rng.integers(10, 60, (10, 300)))
    one, same, other = (estimate(lambda it: it["mean"], [made], seed) for seed in (1, 1, 2))
    assert one == same != other
    assert other.low == pytest.approx(one.low, rel=0.01)


def test_a_drift_of_the_machine_cancels_because_both_arms_share_the_resampled_rounds():
    rng = np.random.default_rng(4)
    drift = np.exp(rng.normal(0, 0.4, 10))
    arm, baseline = drifting(rng, 0.8, drift), drifting(rng, 1.0, drift)
    # The same rounds under other numbers: what would be resampled apart is then set side by side.
    turned = {name: np.roll(getattr(baseline, name), 5, axis=0) for name in ("counts", "window_s")}
    paired, unpaired = (
        compare(arm, it, SEED).ratios["mean"] for it in (baseline, replace(baseline, **turned))
    )
    assert paired.value == unpaired.value
    assert paired.low <= 0.8 <= paired.high
    assert unpaired.high - unpaired.low > 10 * (paired.high - paired.low)


def test_the_interval_of_a_mean_is_students():
    rounds = 12
    values = np.random.default_rng(8).normal(100, 5, rounds)
    low, high = interval(multiplicities(rounds, SEED, 200_000) @ values / rounds, rounds)
    reach = stats.t.ppf(0.975, rounds - 1) * values.std(ddof=1) / np.sqrt(rounds)
    assert (high - low) / 2 == pytest.approx(reach, rel=0.06)
    assert (high + low) / 2 == pytest.approx(values.mean(), rel=0.005)


def test_the_interval_of_a_ratio_is_the_inverse_of_that_of_its_inverse():
    rng = np.random.default_rng(9)
    one, other = (data(rng.integers(20, 90, (9, 50))) for _ in range(2))
    ratio, inverse = compare(one, other, SEED).ratios, compare(other, one, SEED).ratios
    for name in METRICS:
        assert ratio[name].low == pytest.approx(1 / inverse[name].high, rel=1e-3)


def test_resamples_are_whole_draws_of_all_rounds():
    times = multiplicities(9, SEED, 500)
    assert times.shape == (500, 9)
    assert (times.sum(axis=1) == 9).all()
    assert times.mean(axis=0) == pytest.approx(np.ones(9), abs=0.2)
    assert np.array_equal(times, multiplicities(9, SEED, 500))


def test_several_numbers_of_the_same_cells_are_those_that_each_would_be():
    rng = np.random.default_rng(2)
    made = [data(rng.integers(20, 90, (9, 50)))]
    functions = {name: lambda it, name=name: it[name] for name in METRICS}
    together = estimates(functions, made, SEED)
    assert together == {name: estimate(it, made, SEED) for name, it in functions.items()}


def test_what_is_not_finite_is_never_told():
    for value in (float("nan"), float("inf")):
        assert with_interval(value, np.ones(9), 9).value is None
    found = with_interval(1.0, np.array([1.0, np.nan, np.inf]), 9)
    assert (found.value, found.low, "2 of 3 resamples" in found.note) == (1.0, None, True)


def test_a_comparison_has_all_metrics_and_names_its_arms():
    arm, baseline = data([[30, 40]] * 8, "cluster"), data([[60, 80]] * 8, "fork")
    found = compare(arm, baseline, SEED)
    assert found == ArmComparison("sum", 5, "cluster", "fork", found.ratios)
    assert tuple(found.ratios) == METRICS
    assert found.ratios["mean"] == Estimate(0.5, 0.5, 0.5)


def test_percentiles_under_the_clocks_resolution_are_not_told():
    rng = np.random.default_rng(6)
    quick, slow = (data(rng.integers(low, low + 4, (8, 50))) for low in (0, 40))
    for found in (cell_result(quick, 2, 1, SEED).metrics, compare(slow, quick, SEED).ratios):
        assert (found["p50"].value, found["mean"].low is None) == (None, False)
        assert f"below {COARSE_MS:g} ms" in found["p50"].note
    assert None not in {cell_result(slow, 2, 1, SEED).metrics[it].low for it in PERCENTILES}


@pytest.mark.parametrize(("name", "needed"), [("p90", 36), ("p95", 72), ("p99", 368)])
def test_a_percentile_of_too_few_requests_has_no_interval(name, needed):
    rng = np.random.default_rng(7)
    for requests, has_interval in ((needed - 4, False), (needed + 4, True)):
        rows = np.array_split(rng.integers(40, 90, requests), 8)
        found = cell_result(data([row.tolist() for row in rows]), 2, 1, SEED).metrics[name]
        assert found.value is not None
        assert (found.low is not None) == has_interval, found
        assert has_interval or f"a {name} needs {needed}" in found.note


def test_the_busiest_worker_of_a_block_is_told_as_the_mean_of_the_blocks():
    made = replace(data([[30]] * 2), busiest=np.array([1.0, 0.5]))
    assert cell_result(made, 2, 1, SEED).busiest == 0.75
    assert cell_result(data([[30]] * 2), 2, 1, SEED).busiest is None


def test_a_cells_result_tells_its_sums():
    changes = {"failed": np.array([0, 1] * 4), "workers": {"0": 9, "1": 7}, "left_out": ("x",)}
    found = cell_result(replace(data([[30, 40]] * 8), **changes), 2, 1, SEED)
    assert (found.blocks, found.requests, found.failed) == (8, 16, 4)
    assert (found.workers, found.left_out) == ({"0": 9, "1": 7}, ("x",))
    assert found.metrics["throughput"] == Estimate(2.0, 2.0, 2.0)
    assert found.cpu == pytest.approx({"generator": 0.3, "service": 1.0, "idle": 0.7})
    assert found.bottleneck.who == "service"


def test_a_cell_that_was_never_measured_is_told_as_such():
    found = cell_result(data([]), 2, 1, SEED)
    assert (found.blocks, found.requests, found.bottleneck.who) == (0, 0, "unknown")
    assert all(it.value is None and it.note for it in found.metrics.values())
    assert found.cpu == dict.fromkeys(("generator", "service", "idle"))


REPETITIONS, RESAMPLES, REQUESTS = 1500, 1000, 150
FASTER = 0.8
TRUTH = {"throughput": 1 / FASTER, "mean": FASTER, "p50": FASTER}
RATIOS = {name: lambda arm, baseline, name=name: arm[name] / baseline[name] for name in TRUTH}


def arms(rng, drift, mean_ms, tail):
    """A cell of one user for each row of drift, whose blocks last as long as their requests."""
    times = served(rng, drift.ravel(), mean_ms, REQUESTS, tail)
    elapsed = written(times, rng).reshape(*drift.shape, REQUESTS)
    window_s = times.sum(axis=1).reshape(drift.shape) / 1000
    return [data(*one) for one in zip(elapsed, ["fork"] * len(drift), window_s, strict=True)]


@pytest.mark.statistics
@pytest.mark.parametrize("rounds", [8, 10, 12])
@pytest.mark.parametrize(("drift", "tail"), [(0.15, 0.3), (0.15, 1.0), (0.5, 0.3)])
def test_intervals_hold_a_known_ratio_as_often_as_they_say(
    rounds, drift, tail, repetitions, monkeypatch
):
    monkeypatch.setattr("tollgate.study.stats.RESAMPLES", RESAMPLES)
    rng = np.random.default_rng([rounds, int(10 * tail), int(100 * drift)])
    runs = repetitions(REPETITIONS)
    common = rng.lognormal(0, drift, (runs.made, rounds))
    pairs = zip(*(arms(rng, common, 50 * it, tail) for it in (FASTER, 1)), strict=True)
    held = dict.fromkeys(TRUTH, 0)
    for repetition, pair in enumerate(pairs):
        for name, found in estimates(RATIOS, pair, repetition).items():
            held[name] += found.low <= TRUTH[name] <= found.high
    assert runs.least(0.92) <= min(held.values()), held
    assert max(held["throughput"], held["mean"]) <= runs.most(0.985), held
    # Where rounds differ by factors, the median of all of them is cautious.
    assert held["p50"] <= runs.most(0.99), held
