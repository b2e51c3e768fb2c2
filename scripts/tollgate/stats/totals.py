"""Sums per second, or bin of a long run: what JMeter reports beside elapsed and success."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tollgate.stats.arrays import Ints
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

    second: Ints
    n: Ints
    latency_ms: Ints | None
    connect_ms: Ints | None
    bytes: Ints | None
    threads: Ints | None
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
        columns = {name: getattr(self, name) for name in COLUMNS}
        kept: dict[str, Any] = {
            name: column if column is None else column[low:high] for name, column in columns.items()
        }
        return Totals(**kept, width=self.width)

    @property
    def bins(self) -> Ints:
        """The numbers of the bins, from 0 for the first."""
        return (self.second - self.second[:1]) // self.width

    @classmethod
    def merged(cls, parts: Iterable[Totals]) -> Totals:
        """All parts as one, sums added up; the parts must share their origin and their bins. What
        one of them lacks is not known of the whole."""
        parts = [part for part in parts if len(part.second)]
        if not parts:
            none: dict[str, Any] = dict.fromkeys(COLUMNS, np.zeros(0, np.int64))
            return cls(**none)
        seconds, place = np.unique(np.concatenate([it.second for it in parts]), return_inverse=True)

        def together(name: str) -> Ints | None:
            columns = [getattr(part, name) for part in parts]
            if any(column is None for column in columns):
                return None
            operation = np.maximum if name == "threads" else np.add
            total = np.zeros(len(seconds), np.int64)
            operation.at(total, place, np.concatenate(columns).astype(np.int64))
            return total

        sums: dict[str, Any] = {name: together(name) for name in COLUMNS[1:]}
        return cls(seconds, **sums, width=parts[0].width)
