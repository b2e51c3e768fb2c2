"""Rows of a JTL that go backwards in time, by the order in which JMeter wrote them. Pure arrays.

JMeter writes a row when its sample has ended and all post-processors and assertions are done, and
only then does its thread go on. So a thread never begins a request before the end of any row that
stands in the file no later than its own last one: not with slow post-processors, think times,
garbage collection or a stopped machine. Where it does by the timestamps, the clock was set back.
Source: JMeter 5.6.3, JMeterThread.executeSamplePackage, ResultCollector.sampleOccurred.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: JMeter corrects its clock every five seconds, by some milliseconds.
TOLERANCE_MS = 1000
# What held back a row that no later one of its thread vouches for may have been a post-processor.
# So many in a row, that far behind, in order among themselves and spread over half of the lag at
# least: a post-processor would have to hold all of them back, and for as long.
_FEWEST, _FARTHEST_MS, _SPREAD = 20, 3000, 0.5


@dataclass(frozen=True)
class Step:
    """A clock that was set back, by back_ms at least, when it had shown at_ms (epoch ms).

    is_proven: a thread shows it; otherwise only rows that no thread vouches for."""

    at_ms: int
    back_ms: int
    is_proven: bool = True


def latest_ends(end_ms: Ints, before_ms: int) -> Ints:
    """The latest end of the rows up to each one, itself included; before_ms: of earlier ones."""
    return np.maximum(np.maximum.accumulate(end_ms), before_ms)


def is_suspicious(start_ms: Ints, latest_ms: Ints) -> bool:
    """Whether any row begins so far before the end of rows that stand before it, that its thread
    has to be looked at. latest_ms: the latest end of those."""
    return bool(np.any(start_ms < latest_ms - TOLERANCE_MS))


def has_successor(thread: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """For each row but the last, sorted by thread: whether the next is of the same thread."""
    return thread[1:] == thread[:-1]


def proven_step(
    row: Ints, start_ms: Ints, end_ms: Ints, follows: NDArray[np.bool_], latest_ms: Ints
) -> Step | None:
    """The largest step that threads prove, None for none.

    row: numbers of rows, sorted by thread and then by place in the file; follows: has_successor of
    them; latest_ms: latest_ends of all rows of the file, by number.
    """
    if len(row) < 2:
        return None
    due = latest_ms[row[:-1]]
    asked = follows & ~_is_part(start_ms, end_ms, follows)
    back = np.where(asked, due - start_ms[1:], 0)
    worst = int(np.argmax(back))
    return Step(int(due[worst]), int(back[worst])) if back[worst] > TOLERANCE_MS else None


def _is_part(start_ms: Ints, end_ms: Ints, follows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each row but the first: whether it is a part of an earlier one of its thread, such as an
    embedded resource, which JMeter writes behind the whole if it is told to save subresults."""
    thread = np.cumsum(np.append(False, ~follows))
    length = int(end_ms.max() - end_ms.min()) + 1
    # Threads one after another, so that none goes on below the ends of the one before it.
    ends = thread * length + (end_ms - end_ms.min())
    goes_on = np.diff(np.maximum.accumulate(ends), prepend=-1) > 0
    whole = np.maximum.accumulate(np.where(goes_on, np.arange(len(ends)), 0))[:-1]
    return (start_ms[1:] >= start_ms[whole]) & (end_ms[1:] <= end_ms[whole])


def unexplained_step(place: Ints, end_ms: Ints, behind_ms: Ints) -> Step | None:
    """The largest step that rows show of which no thread's next row tells anything.

    Of such rows those that lie more than the tolerance behind: place counts all such rows,
    behind_ms is the latest end before a row less its own.
    """
    if not len(place):
        return None
    first = np.flatnonzero(np.diff(place, prepend=-2) != 1)
    after = np.append(first[1:], len(place))
    farthest = np.maximum.reduceat(behind_ms, first)
    spread = np.maximum.reduceat(end_ms, first) - np.minimum.reduceat(end_ms, first)
    long = (after - first >= _FEWEST) & (farthest >= _FARTHEST_MS) & (spread >= _SPREAD * farthest)
    return largest(
        _step(end_ms[low:high], behind_ms[low:high])
        for low, high in zip(first[long], after[long], strict=True)
        if _in_order(end_ms[low:high])
    )


def early_step(due_ms: NDArray[np.float64], lateness_ms: NDArray[np.float64]) -> Step | None:
    """The largest step that arrivals of an open model prove, None for none: each thread begins
    when its arrival is due, in epoch ms, and none before."""
    if not len(due_ms):
        return None
    worst = int(np.argmin(lateness_ms))
    back_ms = -float(lateness_ms[worst])
    return Step(int(due_ms[worst]), int(back_ms)) if back_ms > TOLERANCE_MS else None


def largest(steps: Iterable[Step | None]) -> Step | None:
    """The one by which the clock was set back farthest, None if there is none."""
    return max((it for it in steps if it), key=lambda step: step.back_ms, default=None)


def _in_order(end_ms: Ints) -> bool:
    return bool(np.all(np.maximum.accumulate(end_ms) - end_ms <= TOLERANCE_MS))


def _step(end_ms: Ints, behind_ms: Ints) -> Step:
    worst = int(np.argmax(behind_ms))
    return Step(int(end_ms[worst] + behind_ms[worst]), int(behind_ms[worst]), is_proven=False)
