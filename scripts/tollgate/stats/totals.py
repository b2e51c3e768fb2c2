"""Sums per second, or bin of a long run: what JMeter reports beside elapsed and success."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tollgate.stats.counts import Counts

COLUMNS = ("second", "n", "latency_ms", "connect_ms", "bytes", "threads")
#: What each is read from: the column of the JTL, and Taurus's flag for it in `csv-jtl-flags`.
SOURCES = {
    "latency_ms": ("Latency", "latency"),
    "connect_ms": ("Connect", "connectTime"),
    "bytes": ("bytes", "bytes"),
    "threads": ("allThreads", "threadCounts"),
}


@dataclass(frozen=True)
class Totals:
    """Per bin of one label what no histogram needs; arrays of equal length, sorted by second.

    second: where a bin begins, in seconds since the origin; width: seconds in a bin. n: samples.
    latency_ms, connect_ms, bytes: sums over them. threads: the most that JMeter had running
    (allThreads). None for what the JTL has no column of, which is not known to be 0.
    """

    second: np.ndarray
    n: np.ndarray
    latency_ms: np.ndarray | None
    connect_ms: np.ndarray | None
    bytes: np.ndarray | None
    threads: np.ndarray | None
    width: int = 1

    @classmethod
    def unanswered(cls, counts: Counts) -> Totals:
        """Those of requests without an answer: their first byte is as late as the end of their
        wait, and nothing came of them."""
        seconds = counts.seconds
        n, waited_ms = counts.sum_by_second(), counts.sum_by_second(counts.elapsed_ms)
        nothing = np.zeros(len(seconds), np.int64)
        n, waited_ms = n.astype(np.int64), waited_ms.astype(np.int64)
        return cls(seconds, n, waited_ms, nothing, nothing, nothing, counts.width)

    def window(self, from_s: float, to_s: float) -> Totals:
        """The bins that begin in [from_s, to_s)."""
        low, high = np.searchsorted(self.second, [from_s, to_s])
        columns = (getattr(self, name) for name in COLUMNS)
        return Totals(*(None if it is None else it[low:high] for it in columns), self.width)

    @property
    def bins(self) -> np.ndarray:
        """The numbers of the bins, from 0 for the first."""
        return (self.second - self.second[:1]) // self.width

    @classmethod
    def merged(cls, parts: Iterable[Totals]) -> Totals:
        """All parts as one, sums added up; the parts must share their origin and their bins. What
        one of them lacks is not known of the whole."""
        parts = [part for part in parts if len(part.second)]
        if not parts:
            return cls(*(np.zeros(0, np.int64) for _ in COLUMNS))
        seconds, place = np.unique(np.concatenate([it.second for it in parts]), return_inverse=True)

        def together(name: str, operation: np.ufunc) -> np.ndarray | None:
            found = [getattr(part, name) for part in parts]
            if any(values is None for values in found):
                return None
            column = np.zeros(len(seconds), np.int64)
            operation.at(column, place, np.concatenate(found).astype(np.int64))
            return column

        sums = (together(name, np.add) for name in ("n", "latency_ms", "connect_ms", "bytes"))
        return cls(seconds, *sums, together("threads", np.maximum), parts[0].width)
