"""The workers of an execution in verdict.json, and in a line each for people. Pure."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from tollgate.base import duration, figure, short, spanned
from tollgate.criteria import MIB
from tollgate.judge import MB_PER_MIN, Execution, ExecutionVerdict
from tollgate.workers import WorkerFacts


def section(judged: ExecutionVerdict, execution: Execution) -> dict[str, Any]:
    """The entries of an execution in verdict.json that are about the target's workers."""
    resources = execution.resources
    return {
        "workers": [_entry(worker) for worker in judged.workers],
        "memory_limit_bytes": resources.memory_limit,
        "watching": resources.watching_cpu,
        "outages": [asdict(outage) for outage in resources.outages],
        "reloads": [asdict(reload) for reload in resources.reloads],
    }


def _entry(worker: WorkerFacts) -> dict[str, Any]:
    slope = worker.slope
    names = ("value", "low", "high")
    return {
        "worker": worker.worker,
        "pids": list(worker.pids),
        "looks": worker.looks,
        "requests": worker.requests,
        "restarts": worker.restarts,
        "rss_first_bytes": worker.rss_first,
        "rss_last_bytes": worker.rss_last,
        "rss_max_bytes": worker.rss_max,
        "rss_slope": slope and {**dict(zip(names, slope, strict=True)), "unit": "bytes/s"},
        "time_left_s": worker.time_left_s,
        "cpu_percent": worker.cpu,
        "loop_delay_p50_ms": worker.loop_delay_p50,
        "loop_delay_p95_ms": worker.loop_delay_p95,
    }


def lines(judged: ExecutionVerdict) -> list[str]:
    """A line on each worker, where a criterion or a change of processes makes them of interest."""
    is_judged = any(result.worker is not None for result in judged.criteria)
    has_changed = any(len(worker.pids) > 1 for worker in judged.workers)
    return [_line(worker) for worker in judged.workers] if is_judged or has_changed else []


def _line(worker: WorkerFacts) -> str:
    """`worker 1: RSS 66 to 124 MB, 0.2 MB/min (-1 to 1.4); cpu 12 %; loop delay p95 31 ms`."""
    return f"worker {worker.worker}: {'; '.join([*_memory(worker), *_others(worker)])}"


def _memory(worker: WorkerFacts) -> list[str]:
    if worker.rss_first is None or worker.rss_last is None:
        return ["RSS not told"]
    text = f"RSS {worker.rss_first / MIB:.0f} to {worker.rss_last / MIB:.0f} MB"
    if worker.slope is None:
        return [f"{text}, too few looks for a slope"]
    value, low, high = (each * MB_PER_MIN for each in worker.slope)
    text += f", {figure(value)} MB/min ({spanned(low, high)})"
    if worker.time_left_s is not None and math.isfinite(worker.time_left_s):
        unit, name = duration(worker.time_left_s)
        text += f", {short(worker.time_left_s / unit)} {name} to its limit"
    return [text]


def _others(worker: WorkerFacts) -> list[str]:
    means = {"cpu": worker.cpu, "loop delay p50": worker.loop_delay_p50}
    means["loop delay p95"] = worker.loop_delay_p95
    found = [
        f"{name} {figure(value)} {'%' if name == 'cpu' else 'ms'}"
        for name, value in means.items()
        if value is not None
    ]
    if worker.requests is not None:
        found.append(f"{worker.requests} requests")
    if len(worker.pids) > 1:
        found.append(f"{len(worker.pids)} processes, {worker.restarts} restarts")
    return found
