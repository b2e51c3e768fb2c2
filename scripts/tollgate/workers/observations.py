"""What the looks at an app's workers show, one after the other. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollgate.workers.lines import Line, Look
from tollgate.workers.model import WorkerEvent
from tollgate.workers.process_ends import LookedFor, ProcessEnd, Window, event_of, overlaps

#: Seconds after an execution within which the next look still shows how it ended.
LAST_LOOK = 2.0


def around(looks: Iterator[Look], began_s: float, ended_s: float) -> Iterator[Look]:
    """The looks inside, the last one before, which shows what the execution began with, and the
    first one after, which shows what it left."""
    before, is_over = None, False
    for look in looks:  # to the end, which shows whether the clock was set back
        if look[0] <= began_s:
            before = look
        elif not is_over and look[0] <= ended_s + LAST_LOOK:
            is_over = look[0] > ended_s
            if before:
                yield before
                before = None
            yield look
    if before:
        yield before


@dataclass
class _Change:
    """What two looks, one after the other, show of a worker."""

    worker: Any
    pid: int
    earlier: float
    later: float
    text: str


@dataclass
class _Short:
    """A look at which lines of workers did not say online. missing: (worker, pid when last seen
    online, 0 for never) of each."""

    time: float
    online: int
    missing: list[tuple[Any, int]]


@dataclass
class Seen:
    """What the looks show, which come in order."""

    began_s: float
    ended_s: float
    reloads: Sequence[Window]
    looked_for: LookedFor = field(default_factory=LookedFor)
    _changes: list[_Change] = field(default_factory=list)
    _pids: dict[Any, int] = field(default_factory=dict)
    _previous: Look | None = None
    _longest: float = 0.0
    _last: float | None = None
    _fewest: float = math.inf
    _fewest_reloading: float = math.inf
    _fewest_whole: float = math.inf
    _shorts: list[_Short] = field(default_factory=list)
    _online_pids: dict[Any, int] = field(default_factory=dict)

    @property
    def silence(self) -> float:
        """Longest time without a look, in seconds."""
        return self._silence_until(self.ended_s)

    @property
    def fewest(self) -> int | None:
        """Workers online at any look, None without one. Looks during a reload count only where
        there are no others."""
        fewest = self._fewest_reloading if self._fewest == math.inf else self._fewest
        return None if fewest == math.inf else int(fewest)

    def fewest_with_restarting(self, ends: Sequence[ProcessEnd]) -> int | None:
        """The same with the workers counted that were missing for one of these ends, if it was not
        planned and another process came."""
        restarts = [end for end in ends if not end.planned and end.came < math.inf]
        there = [
            short.online
            + sum(
                any(end.is_about(worker, pid, short.time, short.time) for end in restarts)
                for worker, pid in short.missing
            )
            for short in self._shorts
        ]
        fewest = min([self._fewest_whole, *there])
        return self.fewest if fewest == math.inf else int(fewest)

    def take(self, look: Look) -> None:
        """The next look."""
        time = look[0]
        if self.began_s < time <= self.ended_s:
            self._longest, self._last = self._silence_until(time), time
        self._count(look)
        look = (time, {worker: self._with_pid(line) for worker, line in look[1].items()})
        if self._previous:
            self._changes += _changes_between(self._previous, look, self.began_s)
        self._previous = look
        self.looked_for.take(look)

    def _count(self, look: Look) -> None:
        time, lines = look
        missing = []
        for worker, line in lines.items():
            if line["status"] == "online":
                self._online_pids[worker] = line["pid"]
            else:
                missing.append((worker, self._online_pids.get(worker, 0)))
        online = len(lines) - len(missing)
        if overlaps(self.reloads, time, time):
            self._fewest_reloading = min(online, self._fewest_reloading)
            return
        self._fewest = min(online, self._fewest)
        if missing:
            self._shorts.append(_Short(time, online, missing))
        else:
            self._fewest_whole = min(online, self._fewest_whole)

    def _silence_until(self, time: float) -> float:
        return max(self._longest, time - (self.began_s if self._last is None else self._last))

    def _with_pid(self, line: Line) -> Line:
        """Between two processes of a worker PM2 has no pid: it is still that of the first."""
        if line["pid"]:
            self._pids[line["worker"]] = line["pid"]
            return line
        return {**line, "pid": self._pids.get(line["worker"], 0)}

    def events(
        self, heard: Sequence[ProcessEnd], during: Sequence[ProcessEnd]
    ) -> Iterator[WorkerEvent]:
        """What no reload of the timetable brought about, in order.

        heard: the ends that events report. during: all ends that concern the execution.
        """
        placed = [
            (end.went, event_of(end, self.began_s))
            for end in during
            if end.by_pm2 is not None and not end.planned
        ]
        placed += [
            (change.later, WorkerEvent(str(change.worker), change.pid, change.text))
            for change in self._changes
            if not overlaps(self.reloads, change.earlier, change.later)
            and not any(
                end.is_about(change.worker, change.pid, change.earlier, change.later)
                for end in heard
            )
        ]
        return (event for _, event in sorted(placed, key=lambda each: each[0]))


def _changes_between(earlier: Look, later: Look, began_s: float) -> Iterator[_Change]:
    at = f"{max(later[0] - began_s, 0):.0f} s into the execution"
    before, after = earlier[1], later[1]
    for worker in sorted(before.keys() | after.keys(), key=str):
        old, new = before.get(worker), after.get(worker)
        text = _change(worker, old, new, at)
        if text and (line := old or new):
            yield _Change(worker, line["pid"], earlier[0], later[0], text)


def _change(worker: object, old: Line | None, new: Line | None, at: str) -> str:
    if old is None:
        return f"worker {worker} (pid {new['pid']}) came to be {at}" if new else ""
    if new is None:
        return f"worker {worker} (pid {old['pid']}) was gone {at}"
    if new["restarts"] > old["restarts"] or new["pid"] != old["pid"]:
        return f"worker {worker} (pid {old['pid']}) died and was started again {at}"
    if new["status"] != "online" and old["status"] == "online":
        return f"worker {worker} (pid {old['pid']}) was {new['status']} {at}"
    return ""
