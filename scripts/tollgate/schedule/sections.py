"""When requests had a Critical Section, for which others wait: one thread is in it at a time. Pure.

While somebody has it, nobody else's request can begin, whatever the generator does. So of a wait
the plan brought about what lies under requests that had it, and the generator the rest. Source:
JMeter 5.6.3, CriticalSectionController: a lock is the same in all thread groups, and an empty name
locks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tollgate.samples.single import Samples
from tollgate.stats.arrays import Flags, Floats


@dataclass(frozen=True)
class Held:
    """begins_ms, ends_ms: of the times in which somebody had it, apart and in order, from the
    test's start. usual_ms: how long a request in it takes."""

    begins_ms: Floats
    ends_ms: Floats
    usual_ms: float

    def within(self, from_ms: Floats, to_ms: Floats) -> Floats:
        """How long somebody had it between two moments of each, in ms."""
        return np.maximum(self._until(to_ms) - self._until(from_ms), 0)

    def leaves_no_room(self, from_ms: Floats, to_ms: float) -> Flags:
        """Whether it was free between these moments for less than a request takes, beside one that
        the end cut off."""
        until_ms = np.full(len(from_ms), to_ms)
        free_ms = until_ms - from_ms - self.within(from_ms, until_ms)
        no_room: Flags = free_ms < 2 * self.usual_ms
        return no_room

    def _until(self, moments_ms: Floats) -> Floats:
        """How long somebody had had it by then."""
        lengths = np.append(0.0, np.cumsum(self.ends_ms - self.begins_ms))
        begun = np.searchsorted(self.begins_ms, moments_ms, side="right")
        over = np.append(0.0, self.ends_ms)[begun] - moments_ms
        had_ms: Floats = lengths[begun] - np.where(begun > 0, np.maximum(over, 0), 0)
        return had_ms


def held_by(requests: Iterable[Samples], origin_ms: float) -> Held | None:
    """origin_ms: the test's start; None for no requests."""
    each = [it for it in requests if len(it)]
    if not each:
        return None
    begins = np.concatenate([it.start_ms for it in each]) - origin_ms
    lengths = np.concatenate([it.elapsed_ms for it in each])
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate((begins + lengths)[order])
    is_new = np.append(True, begins[1:] > ends[:-1])
    last = np.append(np.flatnonzero(is_new)[1:] - 1, len(ends) - 1)
    return Held(begins[is_new], ends[last], float(np.median(lengths)))
