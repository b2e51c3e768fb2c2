"""How many requests the schedules of a plan meant to send, by time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.judge.facts import MeasuredExecution
from tollgate.plan.read import read_plan
from tollgate.record import manifest
from tollgate.report.pages.run.grid import Grid
from tollgate.samples.layout import peek_test_start
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.queues import Queue, queues_of


@dataclass(frozen=True)
class Intended:
    """seconds: whole ones since the execution's start, in order, each with how many requests were
    meant to start in it (int64[N] each). What was sent and what was not are both in it."""

    seconds: np.ndarray
    n: np.ndarray

    @property
    def span(self) -> tuple[int, int] | None:
        """[from, to) in seconds; None where nothing was meant to be sent."""
        return (int(self.seconds[0]), int(self.seconds[-1]) + 1) if len(self.seconds) else None

    def rates(self, grid: Grid) -> np.ndarray:
        """Requests per second in each bin."""
        return grid.sums(self.seconds, self.n) / grid.lengths


def intended(
    run: Path, planned: manifest.Execution, execution: MeasuredExecution
) -> Intended | None:
    """From the plan that the run kept; None where it has no schedule, or its zero is not known.

    An open model's arrivals are gone through a step at a time, so that memory has a bound.
    """
    if not execution.labels or peek_test_start(run / planned.jtl) is None:
        return None
    plan = read_plan(run / planned.plan, planned.properties)
    samplers = [data.name for data in execution.labels.values() if not data.is_transaction]
    parts = []
    for each in queues_of(plan, samplers)[0]:
        # Seconds count from JMeter's own start, which is the zero of its timers as well.
        queue = each.until(_until_s(execution), 0, 0)
        parts += [_counted(events_s) for events_s in _events(queue, execution)]
    return _together(parts)


def of_engines(
    run: Path, record: manifest.Manifest, place: int, execution: MeasuredExecution
) -> Intended | None:
    """Of the execution at a place of a merged run, what all of its engines meant to send, each by
    the seconds since its own start."""
    parts = []
    for each, engine in zip(record.engines, execution.engines, strict=True):
        folder = run / each["folder"]
        planned = manifest.read(folder).executions[place]
        parts.append(intended(folder, planned, engine.execution))
    return _together([it for it in parts if it])


def _together(parts: Sequence[Intended]) -> Intended | None:
    if not parts:
        return None
    seconds, place = np.unique(np.concatenate([it.seconds for it in parts]), return_inverse=True)
    n = np.bincount(place, np.concatenate([it.n for it in parts]), minlength=len(seconds))
    return Intended(seconds, n.astype(np.int64))


def _until_s(execution: MeasuredExecution) -> float | None:
    """When the load was ended before its schedule was through: it was cut short, or a comparison
    had found all it could; None where it was not."""
    ends = [execution.facts.ended_s]
    if execution.comparison is not None and execution.measured_s is not None:
        ends.append(execution.warmup_s + execution.measured_s)
    return min((end for end in ends if end is not None), default=None)


def _counted(events_s: np.ndarray) -> Intended:
    n = np.bincount(np.floor(events_s).astype(np.int64))
    seconds = np.flatnonzero(n)
    return Intended(seconds, n[seconds])


def _events(queue: Queue, execution: MeasuredExecution) -> Iterator[np.ndarray]:
    """Moments in seconds since the test start, up to when they had to be sent."""
    schedule = queue.schedule
    until = math.inf if schedule.end_s is None else schedule.end_s
    if isinstance(schedule.replay, OpenModelArrivals):
        for step in schedule.replay.by_step():
            yield step[: np.searchsorted(step, until)]
        return
    if until == math.inf and schedule.limit is None:
        # Nothing says when the group ends, so what was sent last is taken for the end.
        until = execution.facts.last_start_s or 0.0
    yield schedule.arrivals(until)
