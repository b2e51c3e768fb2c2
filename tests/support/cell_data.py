"""Measured cells of known truth, for whatever is computed from them."""

import numpy as np

from support.study_cells import cell
from tollgate.study.model import CellData
from tollgate.study.published import WORK

ROUNDS = 10
#: Requests that a block's histogram holds; the window is as long as these take.
SIZE = 10_000


def cell_of(experiment, arm, users, **changes):
    """A row of the design."""
    fields = {"app": "fork", "published": 0, "seconds": 30, "answer": "."}
    fields |= {"path": WORK.get(experiment, "/"), **changes}
    return cell(arm, experiment=experiment, users=users, **fields)


def measured(key, throughput, mean_ms=10.0, cpu=(0.2, 1.0, 0.8), **changes):
    """A cell that had this throughput (1/s) in each round, and this mean, by requests of the two
    whole milliseconds around it. cpu: mean cores of generator, service and nobody."""
    rounds = len(throughput)
    means = np.broadcast_to(mean_ms, rounds)
    below = np.floor(means).astype(np.int64)
    slower = np.rint(SIZE * (means - below)).astype(np.int64)
    values = np.unique([below, below + 1])
    counts = (values == below[:, None]) * (SIZE - slower)[:, None]
    counts += (values == below[:, None] + 1) * slower[:, None]
    fields = {
        **{"cell": cell_of(*key), "rounds": np.arange(1, rounds + 1)},
        **{"window_s": SIZE / np.asarray(throughput), "values_ms": values, "counts": counts},
        **{"failed": np.zeros(rounds, dtype=np.int64), "workers": {"0": int(counts.sum())}},
    }
    fields["cores"] = np.repeat(np.array([cpu]).T, rounds, axis=1)
    return CellData(**fields | changes)


def by_cell(*data):
    """As study/samples.py gives them."""
    return {each.cell: each for each in data}
