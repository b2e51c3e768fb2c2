"""What more users, and more processes, make of throughput. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tollgate.study.metrics import Floats, Metrics
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
        for experiment in experiments_of(data)
        for arm, baseline in PAIRS
        for users in sorted({each.users for each in data})
        if {(experiment, arm, users), (experiment, baseline, users)} <= by_key.keys()
    )


def curves(data: Mapping[Cell, CellData], seed: int) -> tuple[Curve, ...]:
    """Throughput and concurrency performance over users, of each arm measured at more than one."""
    return tuple(
        Curve(experiment, cells[0].cell.arm, tuple(_point(it, baseline, seed) for it in cells))
        for experiment in experiments_of(data)
        for baseline in [_baseline(experiment, data)]
        for cells in _arms(experiment, data)
        if len(cells) > 1
    )


def experiments_of(cells: Iterable[Cell]) -> list[str]:
    """Their names in order, but for the cross-check, which compares no arms of a service."""
    names = dict.fromkeys(cell.experiment for cell in cells)
    return [name for name in names if name != CROSSCHECK]


def _arms(experiment: str, data: Mapping[Cell, CellData]) -> Iterator[list[CellData]]:
    """The cells of each arm by users."""
    mine = [found for cell, found in data.items() if cell.experiment == experiment]
    for arm in dict.fromkeys(found.cell.arm for found in mine):
        of_arm = (found for found in mine if found.cell.arm == arm)
        yield sorted(of_arm, key=lambda found: found.cell.users)


def _baseline(experiment: str, data: Mapping[Cell, CellData]) -> CellData | None:
    """One process under the fewest users; None where no arm is known to be that."""
    for cells in _arms(experiment, data):
        if cells[0].cell.arm in BASELINES:
            return cells[0]
    return None


def _point(found: CellData, baseline: CellData | None, seed: int) -> ScalingPoint:
    throughput = estimate(lambda metrics: metrics["throughput"], [found], seed)
    performance = _NO_BASELINE
    if baseline is not None:
        performance = estimate(concurrency_performance, [baseline, found], seed)
    return ScalingPoint(found.cell.users, throughput, performance)
