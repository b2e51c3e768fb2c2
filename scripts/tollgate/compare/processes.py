"""How much the processes of a side differ, and what that leaves of a change. Pure.

A process is often some per cent faster or slower than others of the same code for as long as it
lives: where its code and data lie in memory, and what the compiler made of it, are chance. No time
of measuring averages that out, and a standard error over time does not contain it. So each side has
several processes, and head is worse only where every one of its processes is slower than every one
of base's: if both sides are alike, whichever process is slow, the N slowest of 2 N are all head's
in one of (2 N over N) cases, one of 70 for four a side (a permutation test, Fisher 1935; Kalibera
and Jones 2013, "Rigorous benchmarking in reasonable time", on levels of repetition). In the same
way it has improved only where every one is faster.

A process's level is the log ratio of its samples to those of all of base's, by the estimators of
estimates.py. Errors are counted over all processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tollgate.base.fields import WRITTEN
from tollgate.compare.change import as_share, change_of
from tollgate.compare.model import PERCENTILES, STALLS, TAIL, TYPICAL, Blocks, Metric

#: NaN where a process has too few samples.
Levels = tuple[float | None, ...]


@dataclass(frozen=True)
class ProcessSpread:
    """How much the processes of each side differ in the typical request of a label, or in the CPU
    time of an answered request: of each process the ratio to all of base's, less 1; null where it
    has too few samples."""

    __pydantic_config__ = WRITTEN

    label: str
    """The label."""
    metric: Metric
    """`typical` or `cpu` in a result; an interim decision asks for others, too, and of `stalls` a
    level is a difference of shares."""
    base: Levels
    """Of base's processes."""
    head: Levels
    """Of head's processes."""

    def __str__(self) -> str:
        """Against all of base's: `base -0.6 to +0.5 %, head +1.2 to +4.4 %`."""
        return f"base {_range(self.base)}, head {_range(self.head)}"

    @property
    def is_slower(self) -> bool:
        """Whether every process of head is slower than every one of base."""
        return bool(np.min(self.head) > np.max(self.base))  # never with a NaN

    @property
    def is_faster(self) -> bool:
        """Whether every process of head is faster than every one of base."""
        return bool(np.max(self.head) < np.min(self.base))


def spread(blocks: Blocks, metric: str) -> ProcessSpread | None:
    """Of a response time or of stalls; None of a single process a side, and of other metrics."""
    if metric not in (TYPICAL, *PERCENTILES, TAIL, STALLS) or (processes := blocks.processes) == 1:
        return None
    sides = (
        tuple(
            as_share(metric, change_of(of_one, metric, is_tossed=False).value)
            for number in range(processes)
            for of_one in [blocks.against_base(side, number)]
        )
        for side in (0, 1)
    )
    return ProcessSpread(blocks.label, metric, *sides)


def _range(levels: Levels) -> str:
    known = [100 * it for it in levels if not math.isnan(it)]
    if len(known) < len(levels):
        return "not known of all"
    return f"{min(known):+.1f} to {max(known):+.1f} %"
