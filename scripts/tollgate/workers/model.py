"""What was seen of an app's workers while an execution ran: plain values, times in seconds since
the execution's start."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from tollgate.base.fields import WRITTEN, Count
from tollgate.stats.arrays import Floats, Ints
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.cpu import is_recorded

#: Seconds between two readings beyond which what was used until a moment in between is not known.
SILENCE_S = 2.5


@dataclass(frozen=True)
class WorkerSeries:
    """One worker of PM2, one entry a look (about one a second), in order of time.

    worker: PM2's number of it; a process that is started again in its place keeps the number.
    Each app has its own numbers: of several targets it is `0 of pi-2`. memory_limit: bytes of RSS
    at which PM2 restarts it, None where there is no limit.
    rss, heap: bytes. cpu: % of one core. loop_delay_p50, loop_delay_p95: event-loop delay in ms
    over the last second. requests: answered so far by the process of that pid. restarts: PM2's
    count. Floats are NaN where PM2 had no value.
    """

    worker: str
    second: Floats
    pid: Ints
    restarts: Ints
    rss: Floats
    heap: Floats
    cpu: Floats
    loop_delay_p50: Floats
    loop_delay_p95: Floats
    requests: Floats
    memory_limit: float | None = None


@dataclass(frozen=True)
class WorkerOutage:
    """A worker's process that ended, and the one that came in its place. Seconds count from the
    execution's start."""

    __pydantic_config__ = WRITTEN

    worker: str
    """The worker, as in `workers`."""
    pid: int
    """The process that ended."""
    from_s: float
    """When it was gone, in seconds."""
    to_s: float | None
    """When the next process was online, in seconds, in a reload even before from_s; null: none
    came."""
    planned: bool = False
    """Whether a reload of the run's own timetable ended it."""
    lost: Count | None = None
    """Requests lost for want of it; null where they were not counted."""


@dataclass(frozen=True)
class Reload:
    """One `pm2 reload` of the run's own timetable. Seconds count from the execution's start."""

    __pydantic_config__ = WRITTEN

    from_s: float
    """When it began, in seconds."""
    to_s: float | None
    """When it ended, in seconds; infinite, in the file null, if it did not."""
    lost: Count | None = None
    """Requests lost while it went on; null where they were not counted."""
    problem: str = ""
    """Why it failed; empty if it did not."""


@dataclass(frozen=True, eq=False)
class WorkerCpu:
    """at_s: float[N], when was read, ascending. used_s: float[N] by pid, cumulative CPU seconds,
    NaN where there was no such worker."""

    at_s: Floats = field(default_factory=lambda: np.zeros(0))
    used_s: dict[int, Floats] = field(default_factory=dict)

    def since(self, began_s: float) -> WorkerCpu:
        """With moments that count from there."""
        return replace(self, at_s=self.at_s - began_s)

    def of_one(self, pid: int, edges_s: Floats) -> Floats:
        """float[E - 1]: CPU seconds of a worker between each two edges; NaN where there is no
        reading close by, and before it came and after it had gone."""
        used = self.used_s.get(pid, np.full(len(self.at_s), np.nan))
        is_read = np.isfinite(used)
        if is_read.sum() < 2:
            return np.full(len(edges_s) - 1, np.nan)
        first, last = self.at_s[is_read][[0, -1]]
        there = is_recorded(self.at_s, edges_s, SILENCE_S) & (edges_s >= first) & (edges_s <= last)
        spent = np.diff(np.interp(edges_s, self.at_s[is_read], used[is_read]))
        return np.where(there[:-1] & there[1:], spent, np.nan)

    def of_all(self, pids: Collection[int], edges_s: Floats) -> Floats:
        """float[E - 1]: the same of workers together, each as long as it was there. One that came
        later has used nothing at the reading before its first."""
        spent = np.zeros(len(edges_s) - 1)
        for pid in pids:
            used = self.used_s.get(pid, np.zeros(0))
            readings = np.flatnonzero(np.isfinite(used))
            if not len(readings):
                continue
            at_s, values = self.at_s[readings], used[readings]
            if readings[0]:
                at_s, values = np.r_[self.at_s[readings[0] - 1], at_s], np.r_[0.0, values]
            spent += np.diff(np.interp(edges_s, at_s, values))
        there = is_recorded(self.at_s, edges_s, SILENCE_S)
        return np.where(there[:-1] & there[1:], spent, np.nan)


@dataclass(frozen=True)
class Resources:
    """Everything about the workers of one execution.

    memory_limit: bytes of RSS at which PM2 restarts a worker, the lowest of several targets', None
    where there is no limit.
    watching_cpu: CPU seconds that the watcher and PM2's daemon took while the run went on, as
    shares of one core: what the watching cost; None where not known.
    background_cpu: what others took of the cores; None where not known.
    cpu: the CPU time of all processes of PM2, by pid; None where it was not recorded.
    """

    workers: tuple[WorkerSeries, ...] = ()
    outages: tuple[WorkerOutage, ...] = ()
    reloads: tuple[Reload, ...] = ()
    memory_limit: float | None = None
    watching_cpu: float | None = None
    background_cpu: BackgroundCpu | None = None
    cpu: WorkerCpu | None = None


@dataclass(frozen=True)
class WorkerEvent:
    """What became of a worker's process, in one line that names both. pid: 0 where not known."""

    worker: str
    pid: int
    text: str


@dataclass(frozen=True)
class WorkerCount:
    """How many workers of a target were asked for and how many were seen, None without a look.

    seen_or_restarting: with those that were missing until PM2 had started them again. app: which
    target, where an execution has several; otherwise empty.
    """

    asked: int
    seen: int | None = None
    seen_or_restarting: int | None = None
    app: str = ""
