"""What verdict.json has of each engine that sent a share of the load. Pure."""

from __future__ import annotations

from typing import Any

from tollgate.judge.facts import MeasuredExecution
from tollgate.outputs.json_model import Count, Model, Text, content, contents
from tollgate.outputs.json_schedule import ScheduleEntry


class EngineEntry(Model):
    """One engine's share of an execution. Times are of its own samples; the criteria are judged by
    the samples of all engines."""

    name: Text
    """Its number and how many there are, e.g. `2/3`."""
    machine: str
    """CPU model and cores of the machine that it ran on."""
    from_s: float
    """When what is judged of it began, in seconds since the epoch by its machine's clock."""
    to_s: float
    """When that ended, in seconds likewise."""
    requests: Count
    """Requests that it sent in that time."""
    failed: Count
    """Of those, requests that failed."""
    p50_ms: float | None
    """Median of their service times, in ms; null without requests."""
    p95_ms: float | None
    """95th percentile of the same, in ms."""
    p99_ms: float | None
    """99th percentile of the same, in ms."""
    schedules: list[ScheduleEntry]
    """How it kept each schedule of its share."""


def engines_content(execution: MeasuredExecution) -> list[dict[str, Any]]:
    """An entry for each engine, in order; none where one JMeter sent all of the load."""
    return [
        content(EngineEntry, each, schedules=contents(ScheduleEntry, each.execution.schedules))
        for each in execution.engines
    ]
