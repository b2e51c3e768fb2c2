"""A percentile over the course of a run: exact values of blocks of time."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from tollgate.stats.counts import Counts
from tollgate.stats.percentiles import samples_needed

Floats = NDArray[np.float64]


def percentile_by_block(
    counts: Counts, percentile: float, from_s: float, to_s: float, blocks: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """(middle of each block in s, its percentile in ms, its samples); arrays of equal length.

    The whole bins of [from_s, to_s) make at most `blocks` blocks of equal length, give or take a
    bin. One with fewer samples than an interval for that percentile needs (independent ones, 72
    for p95) is joined with those behind it, the last one with those before it. Without samples
    enough in all of the window the arrays are empty. Raises ValueError if blocks is below 1.
    """
    if blocks < 1:
        raise ValueError(f"a run can't be split into {blocks} blocks")
    first, width = math.ceil(from_s), counts.width
    bins = max(0, math.floor(to_s) - first) // width
    borders = first + width * np.unique(np.arange(blocks + 1) * bins // blocks)
    measured = counts.window(first, borders[-1])
    upto = np.append(0, np.cumsum(measured.n))[np.searchsorted(measured.second, borders)]
    borders = _joined(borders, np.diff(upto), samples_needed(percentile))
    parts = [measured.window(low, high) for low, high in itertools.pairwise(borders)]
    return (
        (borders[:-1] + borders[1:]) / 2,
        np.array([part.percentile(percentile) for part in parts], dtype=np.float64),
        np.array([part.total for part in parts], dtype=np.int64),
    )


def _joined(borders: NDArray[np.int64], samples: NDArray[np.int64], needed: int):
    """The borders that leave at least `needed` samples between any two; one border if none do."""
    kept, held = [0], 0
    for block, count in enumerate(samples):
        held += int(count)
        if held >= needed:
            kept.append(block + 1)
            held = 0
    if len(kept) > 1:
        kept[-1] = len(samples)
    return borders[kept]
