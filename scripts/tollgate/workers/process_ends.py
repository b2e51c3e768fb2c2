"""Which processes of an app's workers ended, and when another one was there in their place. Pure.

PM2's events show it to the millisecond. Where there are none the looks do, to about a second: a
process was there at the last look that saw it online, its successor at the first one that did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollgate.workers.lines import Line, Look
from tollgate.workers.model import WorkerEvent, WorkerOutage

#: PM2 says `online` of a process that dies before it was ready, and in the same breath `exit`.
STILLBORN = 0.05
#: Seconds after the end of `pm2 reload` for which an ended process is still its doing.
RELOAD_GRACE = 1.0
#: Seconds by which a look may lie beside the event that it shows.
LOOK_SLACK = 1.0

#: A reload of the run's own timetable: when it began and ended, seconds since the epoch.
Window = tuple[float, float]


@dataclass
class ProcessEnd:
    """The end of one process; times in seconds since the epoch.

    came: when its successor was online, infinite if none came; went, if it was there before.
    by_pm2: whether PM2 ended it. None: only looks show it, and `went` and `came` are those
    between which it happened. planned: whether a reload of the timetable did (mark_planned).
    """

    worker: Any
    pid: int
    went: float
    came: float = math.inf
    by_pm2: bool | None = None
    planned: bool = False

    def may_be_of(self, reload: Window) -> bool:
        """Whether a reload may have brought it about."""
        if self.by_pm2 is None:
            return overlaps([reload], self.went, self.came)
        return self.by_pm2 and overlaps([reload], self.went, self.went)

    def is_about(self, worker: Any, pid: int, earlier: float, later: float) -> bool:
        """Whether what two looks at a worker show is this end."""
        is_then = self.went <= later + LOOK_SLACK and self.came >= earlier - LOOK_SLACK
        return self.worker == worker and (is_then or self.pid == pid != 0)

    def outage(self, began_s: float) -> WorkerOutage:
        """The same as the judge wants it, in seconds since began_s."""
        to_s = None if self.came == math.inf else self.came - began_s
        return WorkerOutage(str(self.worker), self.pid, self.went - began_s, to_s, self.planned)


def mark_planned(ends: Iterable[ProcessEnd], reloads: Sequence[Window]) -> None:
    """Mark the ends, which come in order of time, that reloads of the timetable brought about: of
    each worker one a reload. PM2 also ends a worker by itself, for its memory, in such a time."""
    used: set[tuple[Any, int]] = set()
    for end in ends:
        for number, reload in enumerate(reloads):
            if (end.worker, number) not in used and end.may_be_of(reload):
                used.add((end.worker, number))
                end.planned = True
                break


def overlaps(reloads: Sequence[Window], earlier: float, later: float) -> bool:
    """Whether any of the time from earlier to later belongs to a reload."""
    return any(began <= later and earlier <= ended + RELOAD_GRACE for began, ended in reloads)


def ends_by_events(events: Iterable[Line]) -> list[ProcessEnd]:
    """From PM2's events, in any order."""
    ends: list[ProcessEnd] = []
    last: dict[Any, ProcessEnd] = {}
    online: dict[Any, Line] = {}
    for event in sorted(events, key=lambda each: each["time"]):
        worker, time = event["worker"], event["time"] / 1000
        end = last.get(worker)
        if event["event"] == "online":
            online[worker] = event
            if end and end.came == math.inf:
                end.came = time
        elif event["event"] == "exit" and not (end and end.came == math.inf):
            newest = online.get(worker, event)
            if newest["pid"] not in (event["pid"], 0):  # a reload: the successor is there already
                last[worker] = _ended(event, came=time)
            elif end and end.came == newest["time"] / 1000 >= time - STILLBORN:
                end.came = math.inf
                continue
            else:
                last[worker] = _ended(event)
            ends.append(last[worker])
    return ends


def _ended(event: Line, came: float = math.inf) -> ProcessEnd:
    time = event["time"] / 1000
    return ProcessEnd(event["worker"], event["pid"], time, came, event.get("byPm2", True))


@dataclass
class LookedFor:
    """The same from looks, which come in order."""

    found: list[ProcessEnd] = field(default_factory=list)
    _alive: dict[Any, tuple[float, Line]] = field(default_factory=dict)
    _out: dict[Any, ProcessEnd] = field(default_factory=dict)

    def take(self, look: Look) -> None:
        time, lines = look
        for worker, (seen, line) in list(self._alive.items()):
            if worker not in self._out and not _is_same(line, lines.get(worker)):
                self._out[worker] = ProcessEnd(worker, line["pid"], seen)
                self.found.append(self._out[worker])
        for worker, line in lines.items():
            if line["status"] == "online" and line["pid"]:
                self._alive[worker] = (time, line)
                if worker in self._out:
                    self._out.pop(worker).came = time


def _is_same(old: Line, new: Line | None) -> bool:
    return (
        new is not None
        and new["status"] == "online"
        and new["pid"] == old["pid"]
        and new["restarts"] <= old["restarts"]
    )


def merged(heard: Sequence[ProcessEnd], seen: Sequence[ProcessEnd]) -> list[ProcessEnd]:
    """All ends that events report, and those that only looks show, in order of time."""
    unheard = [
        end
        for end in seen
        if not any(each.is_about(end.worker, end.pid, end.went, end.came) for each in heard)
    ]
    return sorted([*heard, *unheard], key=lambda end: end.went)


def event_of(end: ProcessEnd, began_s: float) -> WorkerEvent:
    """What PM2's events say of a process that should not have ended."""
    who = f"worker {end.worker} (pid {end.pid}) died"
    at = f"{max(end.went - began_s, 0):.0f} s into the execution"
    text = f"{who} and was started again {at}: its successor was online before"
    if end.came == math.inf:
        text = f"{who} {at} and did not come back"
    elif end.came > end.went:
        gone = end.came - end.went
        text = f"{who} and was started again {at}: service degraded for {gone:.2f} s"
    return WorkerEvent(str(end.worker), end.pid, text)
