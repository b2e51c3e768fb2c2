"""A schedule joined with samples that come while JMeter writes them: when each was due. Pure.

What a verdict says comes of all samples at once (replay.py). Here each sample is joined once, with
what came before it, and keeps the arrival that it got. An open model's has it by the number of its
thread. Of a timer the k-th arrival belongs to the k-th sample by its start, so samples wait until
those that began before them are there too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.schedule.join import EARLY_TOLERANCE_MS, NO_EVENT, align
from tollgate.schedule.model import Schedule
from tollgate.schedule.open_model import OpenModelArrivals, first_of_arrivals
from tollgate.stats.arrays import Floats, Ints

#: An answer without a timeout, or with a longer one, is waited for so long.
LONGEST_MS = 60_000.0
#: How far back all that was due may have come in, the shortest first: most answers are fast.
_BACK_MS = (100.0, 300.0, 1000.0, 3000.0, 10_000.0)
#: A row stands in the file some moments after its answer came.
_WRITTEN_MS = 2000.0
#: Arrivals that are counted at a time.
_AHEAD = 4096
#: Samples of a timer that wait at most: then the oldest are joined as they are.
MOST_WAITING = 200_000


@dataclass(frozen=True)
class Arrived:
    """Samples in any order, one entry each."""

    start_ms: Ints
    """When they began (epoch ms)."""
    thread: Ints
    """The number of the thread."""
    key: Ints
    """A number of the caller's own."""

    def at(self, rows: Ints) -> Arrived:
        """Those of some rows."""
        return Arrived(self.start_ms[rows], self.thread[rows], self.key[rows])


@dataclass(frozen=True)
class Joined(Arrived):
    """Samples whose arrivals are known."""

    due_ms: Floats
    """When they were due (epoch ms), NaN where no arrival was theirs."""

    @property
    def lateness_ms(self) -> Ints:
        """From when they were due until they began, in whole milliseconds rounded up and never
        less than 0; 0 where no arrival was theirs."""
        late = np.nan_to_num(self.start_ms - np.floor(self.due_ms))
        whole: Ints = np.maximum(late, 0).astype(np.int64)
        return whole


_NONE = np.zeros(0, np.int64)
NOBODY = Arrived(_NONE, _NONE, _NONE)


def gathered(parts: Sequence[Arrived]) -> Arrived:
    """All of them together."""
    every = (NOBODY, *parts)
    return Arrived(
        np.concatenate([it.start_ms for it in every]),
        np.concatenate([it.thread for it in every]),
        np.concatenate([it.key for it in every]),
    )


class GrowingJoin:
    """One schedule. sent: arrivals before its end that a sample was joined with."""

    def __init__(self, schedule: Schedule, test_start_ms: int) -> None:
        """test_start_ms: TESTSTART.MS."""
        self.schedule, self._origin_ms = schedule, test_start_ms
        self.sent = 0
        self._waiting, self._taken, self._passed = NOBODY, 0, 0
        self._events_ms, self._known_s = np.zeros(0), -1.0
        replay = schedule.replay
        self._open = replay if isinstance(replay, OpenModelArrivals) else None
        self._is_seen = np.zeros(self._open.count if self._open else 0, bool)

    def due(self, now_ms: float) -> int:
        """How many arrivals had been due by then (epoch ms), inf for all before the schedule's end.
        Where nothing says when that is, what was sent last is taken for it."""
        schedule = self.schedule
        until_s = (now_ms - self._origin_ms) / 1000
        if schedule.end_s is not None:
            until_s = min(until_s, schedule.end_s)
        if self._open:
            return self._arrivals_before(self._open, until_s)
        if schedule.end_s is None and schedule.limit is None:
            return self._taken
        return int(np.searchsorted(self._events(until_s), until_s * 1000))

    def _arrivals_before(self, replay: OpenModelArrivals, until_s: float) -> int:
        """Goes on from where it was asked last: of a long schedule only the step under way is
        drawn."""
        while self._passed < replay.count:
            numbers = np.arange(self._passed, min(self._passed + _AHEAD, replay.count))
            passed = int(np.searchsorted(replay.at(numbers), until_s))
            self._passed += passed
            if passed < len(numbers):
                break
        return self._passed

    def add(self, new: Arrived, newest_ms: float) -> Joined:
        """Those of the new samples, and of those that waited, whose arrival is known by now.
        newest_ms: when the answer came that was written last; inf once nothing more is written."""
        if self._open:
            return self._by_thread(self._open, new)
        waiting = gathered([self._waiting, new])
        waiting = waiting.at(np.argsort(waiting.start_ms, kind="stable"))
        begun = waiting.start_ms - self._origin_ms
        settled = int(np.searchsorted(begun, self._settled_ms(begun, newest_ms - self._origin_ms)))
        settled = max(settled, len(begun) - MOST_WAITING)
        self._waiting = waiting.at(np.arange(settled, len(begun)))
        return self._by_order(waiting.at(np.arange(settled)))

    def _by_thread(self, replay: OpenModelArrivals, new: Arrived) -> Joined:
        new = new.at(np.argsort(new.start_ms, kind="stable"))
        rows, numbers = first_of_arrivals(new.thread, self._is_seen)
        due_ms = np.full(len(new.start_ms), np.nan)
        due_ms[rows] = replay.at(numbers) * 1000 + self._origin_ms
        return self._joined(new, due_ms)

    def _settled_ms(self, begun: Ints, newest_ms: float) -> float:
        """Up to which start all samples have come in: where there are as many as were due, or else
        where the slowest answers are behind. Both in ms since the test's start."""
        if newest_ms == math.inf:
            return math.inf
        events = self._events(newest_ms / 1000)
        for back_ms in _BACK_MS:
            until_ms = newest_ms - back_ms
            owed = int(np.searchsorted(events, until_ms)) - self._taken
            if owed <= np.searchsorted(begun, until_ms):
                return until_ms
        timeout_ms = self.schedule.timeout_ms
        longest_ms = LONGEST_MS if timeout_ms is None else min(timeout_ms, LONGEST_MS)
        return newest_ms - longest_ms - _WRITTEN_MS

    def _by_order(self, settled: Arrived) -> Joined:
        begun = (settled.start_ms - self._origin_ms).astype(np.float64)
        due_ms = np.full(len(begun), np.nan)
        if len(begun):
            last_s = (float(begun[-1]) + EARLY_TOLERANCE_MS) / 1000
            events = self._events(last_s)[self._taken :]
            events = events[: np.searchsorted(events, 1000 * last_s, side="right")]
            event = align(events, begun)
            has_event = event != NO_EVENT
            due_ms[has_event] = events[event[has_event]] + self._origin_ms
            self._taken += int(event.max(initial=NO_EVENT)) + 1
        return self._joined(settled, due_ms)

    def _joined(self, samples: Arrived, due_ms: Floats) -> Joined:
        end_s = math.inf if self.schedule.end_s is None else self.schedule.end_s
        self.sent += int(np.count_nonzero(due_ms - self._origin_ms < 1000 * end_s))
        return Joined(samples.start_ms, samples.thread, samples.key, due_ms)

    def _events(self, until_s: float) -> Floats:
        """At least the arrivals before then, in ms since the test's start."""
        if until_s > self._known_s:
            # A timer draws all of them anew whenever it is asked.
            self._known_s = 2 * until_s + 60
            self._events_ms = self.schedule.arrivals(self._known_s) * 1000
        return self._events_ms
