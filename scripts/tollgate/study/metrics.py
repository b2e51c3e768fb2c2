"""The METRICS of a cell over any choice of its rounds: exact sums and percentiles. Pure.

JMeter's `elapsed` is the difference of two readings of a clock that were cut to whole milliseconds
(SampleResult.currentTimeInMillis of JMeter 5.6.3: System.nanoTime() / 1000000). A request that took
t is so written down as one of the two whole numbers beside t, on average as t: the mean of many is
right without a correction, and e stands for the times around e alike. Inside its millisecond a
percentile is therefore interpolated over [e - 0.5, e + 0.5), or [0, 0.5) for 0, with e's requests
spread evenly. [e, e + 1) would put every percentile half a millisecond too high. Without any of
this a ratio of medians of 4 ms could only be 0.75, 1 or 1.25, and no interval would hold what lies
between. `Counts.percentile` answers in the values as they were written, which is right for limits.

Writing and interpolating together act like a noise of 0.5 ms (standard deviation) on each time. It
leaves the mean alone, but it moves a percentile away from the median of times that differ by less
than a millisecond, by up to 0.6 ms for p95; below COARSE_MS that is much of the value.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tollgate.stats.arrays import Floats, Ints
from tollgate.study.model import METRICS, CellData

_HALF_MS = 0.5
#: A percentile below it is shown without an interval, which would only show how well it repeats.
COARSE_MS = 3.0
PERCENTILES = tuple(name for name in METRICS if name.startswith("p"))


class Metrics:
    """A cell's METRICS over B choices of rounds, each a float[B]; computed when first asked for.

    throughput: requests that ended in the windows, by the windows' seconds, failed ones included.
    mean and percentiles: of all requests of the choice together, in ms. block_max: the mean over
    its blocks of each block's slowest request, in ms. A maximum grows with the number of requests;
    a block is the published experiment done once, and pooled rounds would be a longer one. And a
    bootstrap can't tell how much the largest value of a sample varies (Efron and Tibshirani, "An
    Introduction to the Bootstrap", 1993, section 7.4), but well how much a mean does.

    NaN, or infinite, where a choice has no requests or no time.
    """

    def __init__(self, data: CellData, rounds: Ints, times: Floats) -> None:
        """rounds: int[R], which of the cell's rounds; times: float[B, R], how often each.

        Raises ValueError for a round that the cell doesn't have.
        """
        rows = np.searchsorted(data.rounds, rounds)
        if not np.array_equal(data.rounds[rows[rows < len(data.rounds)]], rounds):
            raise ValueError(f"{data.cell.arm} was not measured in all of rounds {rounds.tolist()}")
        self.times = times
        self.window_s = data.window_s[rows]
        # Floats hold sums exactly up to 2^53, and multiply far faster than whole numbers.
        self.values = data.values_ms.astype(np.float64)
        self.counts = data.counts[rows].astype(np.float64)
        self._known: dict[str, Floats] = {}

    def __getitem__(self, metric: str) -> Floats:
        if metric not in self._known:
            with np.errstate(divide="ignore", invalid="ignore"):
                self._known[metric] = self._computed(metric)
        return self._known[metric]

    def _computed(self, metric: str) -> Floats:
        if metric == "throughput":
            return self._requests / (self.times @ self.window_s)
        if not len(self.values):
            return np.full(len(self.times), np.nan)
        if metric == "mean":
            return self.times @ (self.counts @ self.values) / self._requests
        if metric == "block_max":
            return self._mean_of_maxima()
        return self._percentile(int(metric.removeprefix("p")))

    @cached_property
    def _requests(self) -> Floats:
        return self.times @ self.counts.sum(axis=1)

    @cached_property
    def _up_to(self) -> Floats:
        """float[V + 1, R]: requests of each round that took less than the v-th value."""
        none = np.zeros((1, len(self.counts)))
        return np.concatenate([none, np.cumsum(self.counts.T, axis=0)])

    def _mean_of_maxima(self) -> Floats:
        """Over the blocks that have a request."""
        some = self.counts.any(axis=1).astype(np.float64)
        slowest = np.where(self.counts > 0, self.values, 0).max(axis=1)
        return (self.times @ slowest) / (self.times @ some)

    def _percentile(self, percent: int) -> Floats:
        """By halving, for all choices at once: a table of choices by values would need gigabytes
        for long tails."""
        # Multiplied first: a whole rank stays one, and at a gap the next one is another value.
        rank = percent * self._requests / 100
        low = np.zeros(len(self.times), np.int64)
        high = np.full(len(self.times), len(self.values) - 1)
        while (low < high).any():
            middle = (low + high) // 2
            enough = self._below(middle + 1) >= rank
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        before = self._below(low)
        share = (rank - before) / (self._below(low + 1) - before)
        lower = np.maximum(self.values[low] - _HALF_MS, 0)
        return lower + share * (self.values[low] + _HALF_MS - lower)

    def _below(self, index: Ints) -> Floats:
        """float[B]: requests of each choice that took less than its index-th value."""
        return np.einsum("br,br->b", self.times, self._up_to[index])
