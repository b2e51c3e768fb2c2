"""What more users, and more processes, make of throughput. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tollgate.stats.arrays import Floats
from tollgate.study.metrics import Metrics
from tollgate.study.model import (
    CROSSCHECK,
    ArmComparison,
    Cell,
    CellData,
    Curve,
    Estimate,
    ScalingPoint,
)
from tollgate.study.stats import compare, estimate

#: The arm of one process that nothing else is done to, of whichever experiment.
BASELINES = ("fork", "in-process", "one server")
#: Which arm is set against which: they differ in one thing.
PAIRS = (
    ("cluster", "fork"),
    ("cluster with logging", "fork with logging"),
    ("fork with logging", "fork"),
    ("cluster with logging", "cluster"),
    ("child per search", "in-process"),
    ("child per carrier", "in-process"),
    ("child per carrier", "child per search"),
    ("three servers", "one server"),
)
_NO_BASELINE = Estimate(
    None, note=f"no estimate: no arm of the experiment is one of {', '.join(BASELINES)}"
)


def concurrency_performance(baseline: Metrics, loaded: Metrics) -> Floats:
    """Baseline time / (test duration / completed requests), as the kittens write-up defines it.

    Both: the metrics of a cell, throughput in 1/s and mean in ms; the baseline's is the cell of one
    process under the fewest users. 1 is what one process gives without a queue; below 1 the server
    bogs down with its users, above 1 it scales.
    """
    return baseline["mean"] / 1000 * loaded["throughput"]


def comparisons(data: Mapping[Cell, CellData], seed: int) -> tuple[ArmComparison, ...]:
    """Each pair of PAIRS at each number of users that both arms were measured at."""
    by_key = {(each.experiment, each.arm, each.users): data[each] for each in data}
    return tuple(
        compare(by_key[experiment, arm, users], by_key[experiment, baseline, users], seed)
        for experiment in dict.fromkeys(each.experiment for each in data)
        for arm, baseline in PAIRS
        for users in sorted({each.users for each in data})
        if {(experiment, arm, users), (experiment, baseline, users)} <= by_key.keys()
    )


def curves(data: Mapping[Cell, CellData], seed: int) -> tuple[Curve, ...]:
    """Throughput and concurrency performance over users, of each arm measured at more than one; the
    cross-check compares no arms of a service. data: ascending by users within each arm."""
    arms: dict[tuple[str, str], list[CellData]] = {}
    baselines: dict[str, CellData] = {}  # of an experiment: one process under the fewest users
    for cell, of_cell in data.items():
        arms.setdefault((cell.experiment, cell.arm), []).append(of_cell)
        if cell.arm in BASELINES:
            baselines.setdefault(cell.experiment, of_cell)
    return tuple(
        Curve(experiment, arm, tuple(_point(it, baselines.get(experiment), seed) for it in cells))
        for (experiment, arm), cells in arms.items()
        if len(cells) > 1 and experiment != CROSSCHECK
    )


def _point(data: CellData, baseline: CellData | None, seed: int) -> ScalingPoint:
    throughput = estimate(lambda metrics: metrics["throughput"], [data], seed)
    performance = _NO_BASELINE
    if baseline is not None:
        performance = estimate(concurrency_performance, [baseline, data], seed)
    return ScalingPoint(data.cell.users, throughput, performance)
