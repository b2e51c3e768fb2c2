"""Measured cells of known truth, for whatever is computed from them."""

import numpy as np

from tollgate.study.model import Cell, CellData
from tollgate.study.published import WORK

ROUNDS = 10
#: Requests that a block's histogram holds; the window is as long as these take.
SIZE = 10_000


def cell_of(experiment, arm, users, **changes):
    """A row of the design."""
    fields = {"app": "fork", "published": 0, "rounds": ROUNDS, "seconds": 30, "lead_s": 0.25}
    fields |= {"each": 0, "path": WORK.get(experiment, "/"), "answer": "."} | changes
    return Cell(experiment=experiment, arm=arm, users=users, **fields)


def measured(key, throughput, mean_ms=10.0, cpu=(0.2, 1.0, 0.8), **changes):
    """A cell that had this throughput (1/s) in each round, and this mean.

    The requests of a round took either of the two whole milliseconds around its mean, in the shares
    that make it. cpu: mean cores of generator, service and nobody.
    """
    throughput = np.asarray(throughput, dtype=np.float64)
    rounds = len(throughput)
    means = np.broadcast_to(mean_ms, rounds)
    values = np.unique(np.concatenate([np.floor(means), np.floor(means) + 1])).astype(np.int64)
    counts = np.zeros((rounds, len(values)), dtype=np.int64)
    for row, mean in zip(counts, means, strict=True):
        slower = round(SIZE * (mean - np.floor(mean)))
        row[np.searchsorted(values, np.floor(mean))] += SIZE - slower
        row[np.searchsorted(values, np.floor(mean) + 1)] += slower
    fields = {
        "cell": cell_of(*key),
        "rounds": np.arange(1, rounds + 1),
        "window_s": SIZE / throughput,
        "values_ms": values,
        "counts": counts,
        "failed": np.zeros(rounds, dtype=np.int64),
        "workers": {"0": int(counts.sum())},
    }
    names = ("generator_cores", "service_cores", "idle_cores")
    fields |= {name: np.full(rounds, value) for name, value in zip(names, cpu, strict=True)}
    return CellData(**fields | changes)


def by_cell(*data):
    """As study/samples.py gives them."""
    return {each.cell: each for each in data}
