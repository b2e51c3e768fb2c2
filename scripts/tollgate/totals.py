"""Sums per second, or bin of a long run: what JMeter reports beside elapsed and success."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

COLUMNS = ("second", "n", "latency_ms", "connect_ms", "bytes", "threads")


@dataclass(frozen=True)
class Totals:
    """Per bin of one label what no histogram needs; arrays of equal length, sorted by second.

    second: where a bin begins, in seconds since the origin; width: seconds in a bin. n: samples.
    latency_ms, connect_ms, bytes: sums over them. threads: the most that JMeter had running
    (allThreads). A column that the JTL lacks sums to 0.
    """

    second: np.ndarray
    n: np.ndarray
    latency_ms: np.ndarray
    connect_ms: np.ndarray
    bytes: np.ndarray
    threads: np.ndarray
    width: int = 1

    def window(self, from_s: float, to_s: float) -> Totals:
        """The bins that begin in [from_s, to_s)."""
        low, high = np.searchsorted(self.second, [from_s, to_s])
        return Totals(*(getattr(self, name)[low:high] for name in COLUMNS), self.width)

    @property
    def bins(self) -> np.ndarray:
        """The numbers of the bins, from 0 for the first."""
        return (self.second - self.second[:1]) // self.width

    @classmethod
    def merged(cls, parts: Iterable[Totals]) -> Totals:
        """All parts as one, sums added up; the parts must share their origin and their bins."""
        parts = [part for part in parts if len(part.second)]
        if not parts:
            return cls(*(np.zeros(0, np.int64) for _ in COLUMNS))
        seconds, place = np.unique(
            np.concatenate([part.second for part in parts]), return_inverse=True
        )

        def gathered(name: str) -> np.ndarray:
            return np.concatenate([np.asarray(getattr(part, name), np.int64) for part in parts])

        sums = []
        for name in ("n", "latency_ms", "connect_ms", "bytes"):
            column = np.zeros(len(seconds), np.int64)
            np.add.at(column, place, gathered(name))
            sums.append(column)
        threads = np.zeros(len(seconds), np.int64)
        np.maximum.at(threads, place, gathered("threads"))
        return cls(seconds, *sums, threads, parts[0].width)
