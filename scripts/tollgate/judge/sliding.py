"""Values of windows that slide over bins, in time that grows with the bins and not their square.

A histogram of the window's elapsed times takes in the bin that comes and lets go of the one that
leaves, so a window costs as much as one bin, however long it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tollgate.stats import Counts


def sliding_percentiles(
    counts: Counts, bins: np.ndarray, size: int, window: int, percentile: float
) -> np.ndarray:
    """The percentile in ms of each `window` bins in a row of `size`; NaN where it has no samples.

    bins: the number of each row's bin, sorted, in [0, size). The values are Counts.percentile's.
    """
    return _sliding(counts, bins, size, window, lambda each: each.percentile(percentile))


def sliding_stdevs(counts: Counts, bins: np.ndarray, size: int, window: int) -> np.ndarray:
    """The same for the standard deviation."""
    return _sliding(counts, bins, size, window, lambda each: each.stdev)


def _sliding(counts: Counts, bins: np.ndarray, size: int, window: int, value_of: Callable):
    values, place = np.unique(counts.elapsed_ms, return_inverse=True)
    border = np.searchsorted(bins, np.arange(size + 1))
    histogram = np.zeros(len(values), np.int64)
    found = np.full(max(0, size - window + 1), math.nan)
    for end in range(size):
        _shift(histogram, place, counts.n, border[end], border[end + 1], 1)
        start = end - window + 1
        if start < 0:
            continue
        held = np.flatnonzero(histogram)
        if len(held):
            found[start] = value_of(_of_histogram(values[held], histogram[held]))
        _shift(histogram, place, counts.n, border[start], border[start + 1], -1)
    return found


def _shift(histogram, place, n, low: int, high: int, sign: int) -> None:
    """Take the rows in [low, high) in, or let them go."""
    np.add.at(histogram, place[low:high], sign * n[low:high])


def _of_histogram(elapsed_ms: np.ndarray, n: np.ndarray) -> Counts:
    """Counts of values that are sorted and unlike, whatever else is known of them."""
    none = np.zeros(len(n), np.int64)
    return Counts(none, elapsed_ms, np.ones(len(n), bool), none, n)
