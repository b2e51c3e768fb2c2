"""Base-2 exponential histograms, as OpenTelemetry and Prometheus keep them. Pure.

Bucket i of scale s holds the values in (b^i, b^(i+1)] with b = 2^(2^-s). A scale less joins buckets
2i and 2i+1, so that histograms merge without another loss than that of their scale.
Source: OpenTelemetry's specification, "Metrics Data Model", ExponentialHistogram.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tollgate.stats.arrays import Floats
from tollgate.stats.counts import sorted_rows

#: Buckets at most. With 1,000 of them, times from 1 ms to 50 s lie in buckets 1.1 % wide, with the
#: 160 that OpenTelemetry's SDKs have 9 %.
MOST_BUCKETS = 1000
#: The scale of 1,000 buckets from 1 ms to 50 s, from the first value on. A store that keeps each
#: bucket as a series of its own, as VictoriaMetrics does, would count those of a finer scale, sent
#: before, along with those that they were joined to.
FINEST = 6


class Exponential:
    """Values from 0 on, in memory that has a bound.

    total, sum, least, most: of all values; least and most are 0 without any. zeros: how many are 0.
    index, n: the buckets that hold values, ascending, and how many.
    """

    def __init__(self) -> None:
        self.scale = FINEST
        self.total = self.zeros = 0
        self.sum = self.least = self.most = 0.0
        self.index = np.zeros(0, np.int64)
        self.n = np.zeros(0, np.int64)

    def add(self, values: Iterable[float], n: Iterable[int] | None = None) -> None:
        """Take in values, each so many times, by default once."""
        values = np.asarray(values, np.float64)
        n = np.ones(len(values), np.int64) if n is None else np.asarray(n, np.int64)
        if not len(values):
            return
        least, most = float(values.min()), float(values.max())
        self.least = min(self.least, least) if self.total else least
        self.most = max(self.most, most)
        self.total += int(n.sum())
        self.sum += float(values @ n)
        positive = values > 0
        self.zeros += int(n[~positive].sum())
        index = np.ceil(np.log2(values[positive]) * 2.0**self.scale).astype(np.int64) - 1
        index, n = np.append(self.index, index), np.append(self.n, n[positive])
        while len(index) and index.max() - index.min() >= MOST_BUCKETS:
            index, self.scale = index >> 1, self.scale - 1
        order, first = sorted_rows([index])
        self.index = index[order][first]
        self.n = np.add.reduceat(n[order], np.flatnonzero(first)) if len(n) else n

    @property
    def bounds(self) -> Floats:
        """The upper ends of the buckets that hold values."""
        return 2.0 ** ((self.index + 1) / 2.0**self.scale)

    def dense(self) -> tuple[int, list[int]]:
        """The first bucket that holds values, and how many each holds from there on."""
        if not len(self.index):
            return 0, []
        counts = np.zeros(self.index[-1] - self.index[0] + 1, np.int64)
        counts[self.index - self.index[0]] = self.n
        return int(self.index[0]), counts.tolist()
