"""The processes that stood in a worker's place, and how the memory of each grew. Pure.

A worker that is started again begins with little memory, so that its own series falls at each
restart: a leak that the memory limit restarts again and again would look like none. Each process is
therefore judged by itself, after a warm-up of its own.

What leaks, leaks with the work that is done, and a day's work comes and goes: over time such a leak
is no straight line, and its bends look like noise. So where a process says how many requests it has
answered, its memory is fitted over those, and the growth a request is turned into growth over time
by the mean rate of the process's life (the workload-based estimation of K. Vaidyanathan and
K. S. Trivedi, "A measurement-based model for estimation of resource exhaustion in operational
software systems", ISSRE 1999).

worker_facts sums up what was seen of each worker in an execution's measured time, for reports.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tollgate.base.fields import WRITTEN, Amount, Count, Whole
from tollgate.stats.arrays import Floats
from tollgate.stats.slope import SlopeEstimate, trend
from tollgate.workers.model import Resources, WorkerOutage, WorkerSeries

#: Fewer looks, or in a shorter time, say nothing of a slope.
FEWEST_LOOKS, SHORTEST_S = 20, 20.0


@dataclass(frozen=True)
class Life:
    """One process, warmed up: at each look RSS in bytes and requests answered so far, NaN where
    they are not counted. is_last: no other came after it."""

    pid: int
    second: Floats
    rss: Floats
    requests: Floats
    is_last: bool

    @property
    def length_s(self) -> float:
        return float(self.second[-1] - self.second[0]) if len(self.second) else 0.0


@dataclass(frozen=True)
class Growth:
    """How a process's memory grew: bytes a second. peak: where its highest looks stand at its end,
    in bytes: the trend there, raised until no look lies above it."""

    life: Life
    trend: SlopeEstimate
    peak: float

    def time_left(self, limit: float) -> tuple[float, float, float]:
        """(seconds until RSS reaches the limit in bytes, their interval's ends); inf for never."""
        room = max(0.0, limit - self.peak)
        slopes = (self.trend.slope, self.trend.high, self.trend.low)
        if not room:
            return 0.0, 0.0, 0.0
        value, low, high = (room / slope if slope > 0 else math.inf for slope in slopes)
        return value, low, high

    def slope_to_limit(self, limit: float, within_s: float) -> float:
        """The slope at which the limit is reached in that many seconds."""
        return max(0.0, limit - self.peak) / within_s


def lives(series: WorkerSeries, from_s: float, to_s: float) -> tuple[Life, ...]:
    """The processes whose looks lie in [from_s, to_s). from_s: the warm-up, which a process that
    came later needs as well, counted from the first look at it."""
    is_up = (series.pid > 0) & (series.rss > 0)  # one about to start has no RSS yet
    second, pid, rss = series.second[is_up], series.pid[is_up], series.rss[is_up]
    requests = series.requests[is_up]
    changes = np.flatnonzero(np.diff(pid)) + 1
    bounds = itertools.pairwise([0, *changes, len(pid)]) if len(pid) else ()
    processes = []
    for low, high in bounds:
        begin = from_s if low == 0 else max(from_s, second[low] + from_s)
        kept = np.flatnonzero((second[low:high] >= begin) & (second[low:high] < to_s)) + low
        is_last = high == len(pid)
        life = Life(int(pid[low]), second[kept], rss[kept], requests[kept], is_last=is_last)
        processes.append(life)
    return tuple(processes)


def growth(life: Life, confidence: float) -> Growth | None:
    """How the process grew; None where it was looked at for too short a time."""
    if len(life.second) < FEWEST_LOOKS or life.length_s < SHORTEST_S:
        return None
    by_request = _counts_requests(life)
    axis = life.requests if by_request else life.second
    rise = trend(axis, life.rss, confidence)
    if rise is None:
        return None
    above = life.rss - rise.slope * axis
    peak = float(above.max() + rise.slope * axis[-1])
    if by_request:
        rise = rise.scaled(float(life.requests[-1] - life.requests[0]) / life.length_s)
    return Growth(life, rise, peak)


def _counts_requests(life: Life) -> bool:
    """Whether requests were counted all the time and came for most of it."""
    steps = np.diff(life.requests)
    return bool(np.isfinite(steps).all() and (steps >= 0).all() and (steps > 0).mean() > 1 / 2)


def judged_share(judged: Iterable[Life], series: WorkerSeries, from_s: float, to_s: float) -> float:
    """The part of the looks in [from_s, to_s) that belongs to lives that could be judged."""
    looks = int(((series.second >= from_s) & (series.second < to_s)).sum())
    return sum(len(life.second) for life in judged) / looks if looks else 0.0


def restarts(series: WorkerSeries, outages: Iterable[WorkerOutage], to_s: float) -> int:
    """How often a process was started again, warm-up included and planned reloads left out.

    Looks show it before to_s, and only between two of them. Outages count whenever they were in the
    execution: the verdict excuses each of them because it is counted here."""
    seen = series.second < to_s
    pid, count = series.pid[seen], series.restarts[seen]
    up = pid > 0
    counted = int(np.clip(np.diff(count), 0, None).sum())
    replaced = int(np.count_nonzero(np.diff(pid[up])))
    mine = [it for it in outages if it.worker == series.worker]
    planned = sum(it.planned and it.from_s < to_s for it in mine)
    unplanned = sum(not it.planned and it.to_s is not None for it in mine)
    return max(unplanned, max(counted, replaced) - planned)


@dataclass(frozen=True)
class MemorySlope:
    """How fast RSS grew, with its confidence interval (tollgate/stats/slope.py)."""

    __pydantic_config__ = WRITTEN

    value: float
    """The Theil-Sen slope."""
    low: float | None
    """The interval's lower end; null without one."""
    high: float | None
    """The interval's upper end; null without one."""
    unit: Literal["bytes/s"] = "bytes/s"
    """Unit of the three."""


@dataclass(frozen=True)
class WorkerFacts:
    """One worker over the measured time of the execution. Values are null where PM2 did not tell
    them."""

    __pydantic_config__ = WRITTEN

    worker: str
    """PM2's number of the worker, which a process in its place keeps; where the execution has
    several targets, with its app: `0 of pi-2`."""
    pids: tuple[Whole, ...]
    """Its processes, in the order in which they came."""
    looks: Count
    """Looks at it in the measured time, about one a second."""
    requests: Count | None
    """Requests that it answered in the whole execution, warm-up included."""
    restarts: Count
    """Processes that were started again in the whole execution, planned reloads left out."""
    rss_first_bytes: Amount | None
    """RSS in bytes at the first look."""
    rss_last_bytes: Amount | None
    """RSS in bytes at the last look."""
    rss_max_bytes: Amount | None
    """RSS in bytes at the highest look."""
    rss_slope: MemorySlope | None
    """How fast RSS grew, in the process in which it grew fastest; null with too few looks."""
    time_left_s: Amount | None
    """Seconds from the last look until RSS reaches the memory limit at the last process's slope;
    infinite, in the file null, for never; null without a limit, or where there is no slope."""
    cpu_percent: Amount | None
    """CPU time, in percent of one core, on average."""
    loop_delay_p50_ms: Amount | None
    """Mean over the seconds of the median event-loop delay within each, in ms."""
    loop_delay_p95_ms: Amount | None
    """Mean over the seconds of the 95th percentile of the event-loop delay within each, in ms."""


def worker_facts(
    resources: Resources, confidence: float, from_s: float, to_s: float
) -> tuple[WorkerFacts, ...]:
    """Facts about each worker. Requests and restarts are counted from the execution's start, all
    the rest over the looks of [from_s, to_s) seconds."""
    return tuple(
        _facts(series, resources, confidence, from_s, to_s) for series in resources.workers
    )


def _facts(
    series: WorkerSeries, resources: Resources, confidence: float, from_s: float, to_s: float
) -> WorkerFacts:
    measured = (series.second >= from_s) & (series.second < to_s)
    all_lives = lives(series, from_s, to_s)
    grown = [it for it in (growth(life, confidence) for life in all_lives) if it]
    trends = (each.trend for each in grown)
    fastest = max(trends, key=lambda trend: trend.slope, default=None)
    rss = series.rss[measured & (series.rss > 0)]
    return WorkerFacts(
        worker=series.worker,
        pids=tuple(life.pid for life in all_lives),
        looks=int(measured.sum()),
        requests=_requests(series),
        restarts=restarts(series, resources.outages, to_s),
        rss_first_bytes=float(rss[0]) if len(rss) else None,
        rss_last_bytes=float(rss[-1]) if len(rss) else None,
        rss_max_bytes=float(rss.max()) if len(rss) else None,
        rss_slope=MemorySlope(fastest.slope, fastest.low, fastest.high) if fastest else None,
        time_left_s=_time_left(grown, series.memory_limit),
        cpu_percent=_mean(series.cpu[measured]),
        loop_delay_p50_ms=_mean(series.loop_delay_p50[measured]),
        loop_delay_p95_ms=_mean(series.loop_delay_p95[measured]),
    )


def _time_left(grown: list[Growth], limit: float | None) -> float | None:
    if not grown or not limit or not grown[-1].life.is_last:
        return None
    return grown[-1].time_left(limit)[0]


def _requests(series: WorkerSeries) -> int | None:
    """What the processes answered between the first look and the last: each counts from 0."""
    known = np.isfinite(series.requests) & (series.pid > 0)
    if not known.any():
        return None
    requests, pid = series.requests[known], series.pid[known]
    gained = np.diff(requests)
    # A process that came later began at 0, and what it answered before its first look counts too.
    gained = np.where(np.diff(pid) != 0, requests[1:], np.clip(gained, 0, None))
    return int(gained.sum())


def _mean(values: Floats) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) and math.isfinite(known.sum()) else None
