"""The metrics of a run: what each is called, its unit, and what it is of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tollgate.export.totals import Series, Totals
from tollgate.stats.exponential import Exponential
from tollgate.workers.lines import Line

#: A counter only rises; a sum may fall; a gauge is the value of now.
Kind = Literal["counter", "sum", "gauge", "histogram"]
Point = tuple[Mapping[str, str], float | int | Exponential]
Looks = Mapping[tuple[str, Any], Line]


@dataclass(frozen=True)
class Metric:
    """name, unit: as OpenTelemetry's semantic conventions have them, times in seconds. points:
    attributes and a value each, of what there has been since the run began."""

    name: str
    unit: str
    kind: Kind
    description: str
    points: tuple[Point, ...]


#: Name, unit, kind, description, and the value of a series; None where it has none.
_OF_SERIES: tuple[tuple[str, str, Kind, str, Callable[[Series], Any]], ...] = (
    (
        *("tollgate.requests", "{request}", "counter"),
        "Rows of the JTL: requests, and transactions by another kind.",
        lambda it: it.service.total,
    ),
    (
        *("tollgate.received", "By", "counter"),
        "Bytes of the answers.",
        lambda it: it.bytes,
    ),
    (
        *("tollgate.service_time", "s", "histogram"),
        "From when a request was sent until its response.",
        lambda it: it.service,
    ),
    (
        *("tollgate.response_time", "s", "histogram"),
        "From when a request was due until its response; of labels with a schedule.",
        lambda it: it.response if it.response.total else None,
    ),
    (
        *("tollgate.lateness", "s", "histogram"),
        "From when a request was due until it was sent.",
        lambda it: it.lateness if it.lateness.total else None,
    ),
)
_OF_SCHEDULES = (
    ("tollgate.schedule.due", "Requests that were due by now.", lambda due, _: due),
    ("tollgate.schedule.sent", "Of those, requests whose answer has come.", lambda _, sent: sent),
    (
        "tollgate.schedule.not_sent",
        "The others: not sent, or still under way.",
        lambda due, sent: max(0, due - sent),
    ),
)
#: Name, unit, kind, description, and the value of a line of workers.jsonl.
_OF_WORKERS: tuple[tuple[str, str, Kind, str, Callable[[Line], Any]], ...] = (
    (
        *("tollgate.worker.cpu", "1", "gauge", "CPU time as a share of one core."),
        lambda it: None if it.get("cpu") is None else it["cpu"] / 100,
    ),
    (
        *("tollgate.worker.memory", "By", "gauge", "Resident memory (RSS)."),
        lambda it: it.get("rss"),
    ),
    (
        "tollgate.worker.event_loop_delay.p50",
        *("s", "gauge", "Median event-loop delay of the last second."),
        lambda it: _seconds(it.get("loopDelayP50")),
    ),
    (
        "tollgate.worker.event_loop_delay.p95",
        *("s", "gauge", "95th percentile of the event-loop delay of the last second."),
        lambda it: _seconds(it.get("loopDelayP95")),
    ),
    (
        *("tollgate.worker.restarts", "{restart}", "sum", "Restarts, as PM2 counts them."),
        lambda it: it["restarts"],
    ),
)


def metrics_of(executions: Sequence[Totals], looks: Looks) -> list[Metric]:
    """All of the run that have a point. looks: the last one at each worker."""
    found = [Metric(*about, tuple(_points(executions, value))) for *about, value in _OF_SERIES]
    for name, description, value in _OF_SCHEDULES:
        points = tuple(_of_schedules(executions, value))
        found.append(Metric(name, "{request}", "sum", description, points))
    for *about, value in _OF_WORKERS:
        points = (
            ({"tollgate.target": app, "tollgate.worker": str(worker)}, value(line))
            for (app, worker), line in looks.items()
            if line.get("pid")
        )
        found.append(Metric(*about, tuple(it for it in points if it[1] is not None)))
    return [it for it in found if it.points]


def _points(executions: Iterable[Totals], value: Callable[[Series], Any]) -> Iterator[Point]:
    for totals in executions:
        for series in totals.series:
            if (found := value(series)) is not None:
                yield {"tollgate.execution": totals.name, **series.key.attributes}, found


def _of_schedules(
    executions: Iterable[Totals], value: Callable[[int, int], int]
) -> Iterator[Point]:
    for totals in executions:
        for join in totals.joins:
            labels = ", ".join(it.text for it in join.schedule.labels)
            about = {"tollgate.execution": totals.name, "tollgate.labels": labels}
            yield about, value(join.due(totals.newest_ms), join.sent)


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000
