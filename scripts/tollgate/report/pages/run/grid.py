"""The pieces of time that a chart has a point for, and exact values of the samples in each. Pure.

A chart has no more than about a thousand points, however long the run: a point then stands for
several seconds, and its percentiles are those of all samples in them, never means of percentiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tollgate.stats.counts import Counts

#: Points of a chart over time: about as many as a screen has pixels for it.
MOST_POINTS = 1_200
#: Rows of the table below it.
MOST_ROWS = 12


@dataclass(frozen=True)
class Grid:
    """Bins [first + k * width, first + (k + 1) * width) for k in [0, count), in seconds since the
    execution's start. There are samples in [begin, end), which may begin and end within a bin, or
    some were meant to be sent. border: where the warm-up ends, which is where a bin begins."""

    first: int
    width: int
    count: int
    begin: int
    end: int
    border: int = 0

    @classmethod
    def of(
        cls,
        counts: Iterable[Counts],
        border_s: float,
        most: int = MOST_POINTS,
        meant: tuple[int, int] | None = None,
    ) -> Grid | None:
        """One that holds all of the counts, with a border at border_s, where the warm-up ends; None
        where there are no samples. A bin is a whole number of the counts' own. meant: [from, to) in
        which requests were meant to be sent, and may not have been."""
        filled = [each for each in counts if each.total]
        if not filled:
            return None
        unit = max(each.width for each in filled)
        low = min(int(each.seconds[0]) for each in filled)
        end = max(int(each.seconds[-1]) + each.width for each in filled)
        if meant:
            low, end = min(low, meant[0]), max(end, meant[1])
        # One bin more than fits may be needed, for the border.
        width = unit * math.ceil((end - low) / unit / max(1, most - 1))
        border = math.ceil(border_s)
        first = border - math.ceil((border - low) / width) * width
        return cls(first, width, max(1, math.ceil((end - first) / width)), low, end, border)

    def coarser(self, most: int = MOST_ROWS) -> Grid:
        """The same time in at most so many bins, each of them several of these, with the same
        border."""
        width = self.width * math.ceil(self.count / (most - 1))
        first = self.border - math.ceil((self.border - self.first) / width) * width
        count = math.ceil((self.first + self.count * self.width - first) / width)
        return Grid(first, width, count, self.begin, self.end, self.border)

    def place(self, seconds: np.ndarray) -> np.ndarray:
        """int64: which bin each second lies in; -1 for none."""
        number = np.floor((np.asarray(seconds) - self.first) / self.width).astype(np.int64)
        return np.where((number >= 0) & (number < self.count), number, -1)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where the bins begin (int64)."""
        return self.first + self.width * np.arange(self.count, dtype=np.int64)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Seconds of each bin in which there may be samples (float64)."""
        low, high = np.maximum(self.starts, self.begin), self.starts + self.width
        return np.maximum(np.minimum(high, self.end) - low, 1).astype(float)

    def sums(self, seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float64: the sum of the values whose second lies in each bin."""
        number = self.place(seconds)
        kept = number >= 0
        return np.bincount(number[kept], np.asarray(values)[kept], minlength=self.count)

    def maxima(self, seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float64: the largest of the known values in each bin; NaN where there is none."""
        number = self.place(seconds)
        kept = (number >= 0) & np.isfinite(values)
        largest = np.full(self.count, np.nan)
        np.fmax.at(largest, number[kept], np.asarray(values)[kept])
        return largest

    def means(self, seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
        """float64: the mean of the known values in each bin; NaN where there is none."""
        is_known = np.isfinite(values)
        seconds, values = np.asarray(seconds)[is_known], np.asarray(values)[is_known]
        n = self.sums(seconds, np.ones(len(values)))
        return np.divide(
            self.sums(seconds, values), n, out=np.full(self.count, np.nan), where=n > 0
        )


#: Percentiles of a chart over time; a chart has the highest that its requests bear.
_PERCENTILES = (99, 95, 90)
#: So many requests of a point take longer than its percentile: the p99 of 39 is the slowest one.
BEYOND = 3
#: Points from which it is seen when something was slow.
_FEWEST = 8


def percentile_for(total: int) -> int:
    """The highest percentile that so many requests bear in enough points; of few requests 100, the
    slowest one of each point."""
    return next((p for p in _PERCENTILES if bears(total, p)), 100)


def bears(total: int, p: float) -> bool:
    """Whether so many requests bear the p-th percentile in enough points."""
    return total * (1 - p / 100) >= BEYOND * _FEWEST - 1e-9


def points_for(total: int, p: float, most: int) -> int:
    """Points of a chart of the p-th percentile of so many requests, if they come evenly."""
    points = 2 * _FEWEST if p >= 100 else int(total * (1 - p / 100) / BEYOND + 1e-9)
    return min(max(points, _FEWEST), most)


class Binned:
    """Counts dealt out to the bins of a grid."""

    def __init__(self, counts: Counts, grid: Grid) -> None:
        number = grid.place(counts.second)
        order = np.lexsort((counts.elapsed_ms, number))
        order = order[np.searchsorted(number[order], 0) :]
        self._elapsed = counts.elapsed_ms[order]
        self._upto = np.cumsum(counts.n[order])
        self.n = grid.sums(counts.second, counts.n).astype(np.int64)
        self.errors = grid.sums(counts.second, counts.n * ~counts.ok).astype(np.int64)

    def percentile(self, p: float) -> np.ndarray:
        """float64: the p-th percentile of elapsed in ms in each bin, NaN in one without samples.

        By the definition of Counts.percentile, and so of numpy.percentile."""
        before = np.cumsum(self.n) - self.n
        is_filled = self.n > 0
        position = np.maximum(self.n - 1, 0) * (p / 100)
        below = position.astype(np.int64)
        low = self._order_statistic((before + below + 1)[is_filled])
        high = self._order_statistic((before + np.minimum(below + 2, self.n))[is_filled])
        share, gap = (position - below)[is_filled], high - low
        times_ms = np.full(len(self.n), np.nan)
        times_ms[is_filled] = np.where(share >= 0.5, high - gap * (1 - share), low + gap * share)
        return times_ms

    def _order_statistic(self, ranks: np.ndarray) -> np.ndarray:
        return self._elapsed[np.searchsorted(self._upto, ranks, side="left")].astype(float)
