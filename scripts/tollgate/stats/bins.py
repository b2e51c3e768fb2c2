"""The pieces of time that samples are counted in: a second, or more in a run of many hours.

Counts of a run grow with its pieces of time, not with its samples, once there are many in each. So
a run has at most a fixed number of them, and the memory that judges it has a bound however long it
was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Up to six hours each second is counted by itself: 21,600 pieces.
LONGEST_BY_SECOND_S = 21_600
# A longer run has about this many: 24 s of a day, 48 s of two. Steps of a forecast that divide the
# measured time into 24 parts, or 48, or 100, then begin where a piece does.
MOST_BINS = 3_600


@dataclass(frozen=True)
class Bins:
    """Borders at start_s + k * width_s for whole k, and anew from end_s on: seconds since the
    execution's start. So neither the warm-up's end nor that of the measured time lies in a bin."""

    width_s: int = 1
    start_s: int = 0
    end_s: int = 0

    @classmethod
    def of(cls, warmup_s: float, measured_s: float | None) -> Bins:
        """The bins of an execution; by the second where its length is not known."""
        if measured_s is None or measured_s <= LONGEST_BY_SECOND_S:
            return cls()
        width = math.ceil(measured_s / MOST_BINS)
        return cls(width, math.ceil(warmup_s), math.ceil(warmup_s + measured_s))

    def begin(self, second: np.ndarray) -> np.ndarray:
        """For each whole second (int64) the one that its bin begins with."""
        if self.width_s == 1:
            return second
        down = (self._down(second, border) for border in (self.start_s, self.end_s))
        return np.where(second < self.end_s, *down)

    def _down(self, second: np.ndarray, border: int) -> np.ndarray:
        return (second - border) // self.width_s * self.width_s + border

    def sql(self, second: str) -> str:
        """SQL for the same; `second` is SQL for a whole number of seconds."""
        if self.width_s == 1:
            return second
        regular, anew = (self._down_sql(second, it) for it in (self.start_s, self.end_s))
        return f"CASE WHEN {second} < {self.end_s} THEN {regular} ELSE {anew} END"

    def _down_sql(self, second: str, border: int) -> str:
        # DuckDB's // rounds towards zero: the remainder is made positive by hand.
        width = self.width_s
        since = f"({second} - {border})"
        return f"({second} - (({since} % {width}) + {width}) % {width})"


SECONDS = Bins()
