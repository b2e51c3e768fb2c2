"""What was seen of each worker in an execution's measured time, for the reports. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tollgate.workers.model import Floats, Resources, WorkerSeries
from tollgate.workers.processes import Growth, growth, lives, restarts


@dataclass(frozen=True)
class WorkerFacts:
    """One worker. None: not known, or not to be told from so few looks.

    pids: its processes, in order. requests: answered in all of the execution. restarts: without
    planned reloads. rss_*: bytes. slope: bytes a second, (value, low, high), of the process that
    grew fastest. time_left_s: from the last look to the memory limit, at the last process's slope;
    inf for never. cpu: mean, % of a core. loop_delay_*: means of the seconds' percentiles, ms.
    """

    worker: str
    pids: tuple[int, ...]
    looks: int
    requests: int | None
    restarts: int
    rss_first: float | None
    rss_last: float | None
    rss_max: float | None
    slope: tuple[float, float, float] | None
    time_left_s: float | None
    cpu: float | None
    loop_delay_p50: float | None
    loop_delay_p95: float | None


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
    fastest = max(grown, key=lambda each: each.trend.slope, default=None)
    rss = series.rss[measured & (series.rss > 0)]
    return WorkerFacts(
        worker=series.worker,
        pids=tuple(life.pid for life in all_lives),
        looks=int(measured.sum()),
        requests=_requests(series),
        restarts=restarts(series, resources.outages, to_s),
        rss_first=float(rss[0]) if len(rss) else None,
        rss_last=float(rss[-1]) if len(rss) else None,
        rss_max=float(rss.max()) if len(rss) else None,
        slope=fastest and (fastest.trend.slope, fastest.trend.low, fastest.trend.high),
        time_left_s=_time_left(grown, series.memory_limit),
        cpu=_mean(series.cpu[measured]),
        loop_delay_p50=_mean(series.loop_delay_p50[measured]),
        loop_delay_p95=_mean(series.loop_delay_p95[measured]),
    )


def _time_left(grown: list[Growth], limit: float | None) -> float | None:
    if not grown or not limit or not grown[-1].life.is_last:
        return None
    return grown[-1].time_left(limit)[0]


def _requests(series: WorkerSeries) -> int | None:
    """What the processes answered between the first look and the last: each counts from 0."""
    told = np.isfinite(series.requests) & (series.pid > 0)
    if not told.any():
        return None
    requests, pid = series.requests[told], series.pid[told]
    gained = np.diff(requests)
    # A process that came later began at 0, and what it answered before its first look counts too.
    gained = np.where(np.diff(pid) != 0, requests[1:], np.clip(gained, 0, None))
    return int(gained.sum())


def _mean(values: Floats) -> float | None:
    told = values[np.isfinite(values)]
    return float(told.mean()) if len(told) and math.isfinite(told.sum()) else None
