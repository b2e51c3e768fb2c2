"""Numbers of cells with their intervals: single metrics, ratios of arms, anything else. Pure.

Intervals: study/resampling.py. What the metrics are: study/metrics.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from tollgate.study.bottleneck import bottleneck, mean_cores
from tollgate.study.metrics import COARSE_MS, PERCENTILES, Floats, Metrics
from tollgate.study.model import METRICS, CellData, CellResult, Comparison, Estimate
from tollgate.study.resampling import MIN_BLOCKS, RESAMPLES, multiplicities, told

_NO_ROUND = "not to be told: no round was measured"


def estimate(
    function: Callable[..., Floats],
    cells: Sequence[CellData],
    seed: int,
    resamples: int = RESAMPLES,
) -> Estimate:
    """A number that is computed from the metrics of cells, with its 95 % interval.

    function(*metrics) gets for each cell a mapping of METRICS to float[B] and returns float[B], one
    number for each of B choices of rounds; it is called with B = 1 for all rounds as they were, and
    with B = resamples. Only rounds that all of the cells have count, so that pairs stay pairs.
    Fewer than MIN_BLOCKS of these give a value without an interval, none gives no value; the note
    says so.
    """
    return estimates({"": function}, cells, seed, resamples)[""]


def estimates(
    functions: dict[str, Callable[..., Floats]],
    cells: Sequence[CellData],
    seed: int,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """The same for several numbers of the same cells, from the same resamples."""
    rounds = common_rounds(cells)
    if not len(rounds):
        return dict.fromkeys(functions, Estimate(None, note=_NO_ROUND + _of_all(cells)))
    # Too few rounds have no interval that would be worth the work.
    wanted = resamples if len(rounds) >= MIN_BLOCKS else 0
    once = [Metrics(data, rounds, np.ones((1, len(rounds)))) for data in cells]
    times = multiplicities(len(rounds), seed, wanted)
    resampled = [Metrics(data, rounds, times) for data in cells]
    found = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, function in functions.items():
            again = function(*resampled) if wanted else np.empty(0)
            found[name] = told(float(function(*once)[0]), again, len(rounds))
    return found


def common_rounds(cells: Sequence[CellData]) -> np.ndarray:
    """int[R], ascending: the rounds in which each of the cells was measured."""
    return reduce(np.intersect1d, (data.rounds for data in cells))


def compare(arm: CellData, baseline: CellData, seed: int) -> Comparison:
    """arm / baseline for all METRICS. Raises ValueError for cells of different experiments or
    numbers of users."""
    one, other = arm.cell, baseline.cell
    if (one.experiment, one.users) != (other.experiment, other.users):
        raise ValueError(
            f"{one.experiment}, {one.arm} at {one.users} users can't be compared with "
            f"{other.experiment}, {other.arm} at {other.users}"
        )
    ratios = {name: _ratio(name) for name in METRICS}
    found = _resolved(estimates(ratios, [arm, baseline], seed), [arm, baseline])
    return Comparison(one.experiment, one.users, one.arm, other.arm, found)


def cell_result(data: CellData, cores: int, usable_cores: int, seed: int) -> CellResult:
    """A cell, told. cores, usable_cores: see study/bottleneck.py."""
    metrics = estimates({name: _metric(name) for name in METRICS}, [data], seed)
    return CellResult(
        cell=data.cell,
        blocks=len(data.rounds),
        requests=int(data.counts.sum()),
        failed=int(data.failed.sum()),
        metrics={**_resolved(metrics, [data]), "max": _max(data)},
        workers=data.workers,
        cpu={name: None if np.isnan(it) else it for name, it in mean_cores(data).items()},
        bottleneck=bottleneck(data, cores, usable_cores),
        left_out=data.left_out,
        busiest=float(data.busiest.mean()) if len(data.busiest) else None,
    )


def _max(data: CellData) -> Estimate:
    slowest = data.values_ms[data.counts.any(axis=0)]
    note = "the slowest of all requests has no interval"
    return Estimate(float(slowest.max()) if len(slowest) else None, note=note)


def _resolved(found: dict[str, Estimate], cells: Sequence[CellData]) -> dict[str, Estimate]:
    """Without the percentiles for which JMeter's milliseconds are too coarse, and without the
    intervals of those for which there are too few requests."""
    for name in PERCENTILES:
        if any(_all_rounds(it)[name] < COARSE_MS for it in cells):
            note = f"below {COARSE_MS:g} ms, for which JMeter's whole milliseconds are too coarse"
            found[name] = Estimate(None, note=note)
            continue
        requests, needed = min(int(it.counts.sum()) for it in cells), _requests_for(name)
        if found[name].low is not None and requests < needed:
            note = f"no interval: {requests} requests, and a {name} needs {needed}"
            found[name] = Estimate(found[name].value, note=note)
    return found


def _requests_for(percentile: str) -> int:
    """How many independent requests give an upper end of 95 %: with fewer the largest of them lies
    below the percentile in more than 2.5 of 100 tries."""
    return math.ceil(math.log(0.025) / math.log(int(percentile.removeprefix("p")) / 100))


def _all_rounds(data: CellData) -> Metrics:
    return Metrics(data, data.rounds, np.ones((1, len(data.rounds))))


def _metric(name: str) -> Callable[[Metrics], Floats]:
    return lambda metrics: metrics[name]


def _ratio(name: str) -> Callable[[Metrics, Metrics], Floats]:
    return lambda arm, baseline: arm[name] / baseline[name]


def _of_all(cells: Sequence[CellData]) -> str:
    return " of all the cells" if len(cells) > 1 else ""
