"""Background CPU load by second: the share of the cores that other processes used.

These are all processes but those of a run, and other guests of the host, whose time the kernel
calls stolen. Cores are those that this process may use.
"""

from __future__ import annotations

import logging
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.base.fields import WRITTEN, Amount, Count, Whole
from tollgate.base.text import format_number
from tollgate.workers.cpu import CpuRecorder, ProcessTree, is_recorded, own_cores

#: Seconds between two readings.
PERIOD_S = 0.25
#: Seconds between two readings beyond which what happened in between is not known.
SILENCE_S = 2.0
#: The background CPU load up to which a second is calm.
CALM = 1 / 8


@dataclass(frozen=True)
class BackgroundCpu:
    """Background CPU load: what processes other than those of the run, and other guests of the
    host, used."""

    __pydantic_config__ = WRITTEN

    share: Amount
    """Of the cores that the run could use, in the mean."""
    seconds: Whole
    """Of measuring of which that is known."""
    disturbed_s: Count
    """Of these, the seconds in which it was more than an eighth: they weigh less in p95 and p99 of
    a comparison."""

    @classmethod
    def of(cls, shares: Sequence[float | None]) -> BackgroundCpu | None:
        """None where no second is known."""
        known = [it for it in shares if it is not None]
        if not known:
            return None
        return cls(round(float(np.mean(known)), 4), len(known), sum(it >= CALM for it in known))

    @property
    def line(self) -> str:
        """`Background CPU load: other processes used 25 % of the cores on average, more than 12.5 %
        in 31 of 70 s`."""
        return (
            f"Background CPU load: other processes used {format_number(100 * self.share)} % of the "
            f"cores on average, more than {100 * CALM:g} % "
            f"in {self.disturbed_s} of {self.seconds} s"
        )


class BackgroundCpuRecorder(CpuRecorder):
    """Keeps the CPU time of other processes in memory."""

    def __init__(self, own: Sequence[int], log: logging.Logger) -> None:
        """own: pids of a run's processes, each with all that it starts. Raises psutil.Error."""
        ended_early = "the background CPU load is no longer recorded"
        super().__init__(self._read_others, PERIOD_S, log, ended_early)
        self._trees = [ProcessTree(pid) for pid in own]
        self._readings = array("d")  # in turn, when, and what others had used

    def shares(self, from_s: float, seconds: int) -> tuple[float | None, ...]:
        """Of each of so many seconds from `from_s`, in seconds since the epoch, the share of the
        cores in [0, 1]; None where there is no reading close by."""
        readings = np.array(self._readings).reshape(-1, 2)
        edges = from_s + np.arange(seconds + 1, dtype=np.float64)
        if len(readings) < 2:
            return (None,) * seconds
        when, taken = readings.T
        near = is_recorded(when, edges, SILENCE_S)
        share = np.clip(np.diff(np.interp(edges, when, taken)), 0.0, 1.0)
        is_known = near[:-1] & near[1:]
        pairs = zip(share, is_known, strict=True)
        return tuple(round(float(part), 3) if has_part else None for part, has_part in pairs)

    def used(self, from_s: float, to_s: float) -> BackgroundCpu | None:
        """Of the whole seconds in between, both in seconds since the epoch."""
        return BackgroundCpu.of(self.shares(from_s, max(0, int(to_s - from_s))))

    def _read_others(self) -> None:
        """Note the share of all cores that others have used, in seconds since some moment."""
        cores, idle_s = own_cores()
        own_s = sum(tree.cpu_s() for tree in self._trees)
        self._readings.extend((time.time(), time.monotonic() - (idle_s + own_s) / cores))
