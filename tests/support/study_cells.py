"""Cells of a study whose requests are known one by one, and services whose truth is known."""

import numpy as np

from tollgate.study.model import Cell, CellData


def cell(arm="fork", **changes):
    """A row of the design: sum at 5 users, a second, of which a quarter is left out."""
    row = {"experiment": "sum", "arm": arm, "app": arm.split()[0], "users": 5, "published": 1000}
    row |= {"rounds": 10, "seconds": 1, "lead_s": 0.25, "each": 0}
    row |= {"path": "/sum/500000", "answer": "125000250000"}
    return Cell(**row | changes)


def data(blocks, arm="fork", window_s=1.0, rounds=(), cores=(0.3, 1.0, 0.7), **changes):
    """A cell from the whole milliseconds that each request of each of its blocks took. cores: mean
    cores busy with generator and service, and idle, in every window."""
    several = [np.asarray(block, np.int64) for block in blocks]
    values = np.unique(np.concatenate(several)) if several else np.empty(0, np.int64)
    counts = [np.bincount(np.searchsorted(values, it), minlength=len(values)) for it in several]
    return CellData(
        cell=cell(arm, **changes),
        rounds=np.array(rounds or range(1, len(blocks) + 1), np.int64),
        window_s=np.full(len(blocks), window_s, dtype=np.float64),
        values_ms=values,
        counts=np.array(counts, np.int64).reshape(len(blocks), len(values)),
        failed=np.zeros(len(blocks), np.int64),
        workers={"0": sum(map(len, several))},
        cores=np.repeat(np.array([cores], float).T, len(blocks), axis=1),
    )


def written(times_ms, rng):
    """What JMeter writes of such times: the difference of two clocks cut to milliseconds."""
    return np.floor(rng.random(times_ms.shape) + times_ms).astype(np.int64)


def served(rng, drift, mean_ms, requests, tail):
    """float[rounds, requests]: log-normal times in ms, each of which depends on the one before.
    drift: float[rounds], factors that hit all arms of a round; each block has one of its own too.
    tail: their sigma; 0.3 is mild, 1 has a p99 of ten times the median."""
    noise = rng.normal(size=(len(drift), requests))
    for at in range(1, requests):
        noise[:, at] = 0.6 * noise[:, at - 1] + 0.8 * noise[:, at]
    own = rng.lognormal(0, 0.05, (len(drift), 1))
    return mean_ms * drift[:, None] * own * np.exp(tail * noise - tail**2 / 2)
