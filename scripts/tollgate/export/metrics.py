"""The metrics of a run: what each is called, its unit, and what it is of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tollgate.export.totals import Totals
from tollgate.schedule.growing_samples import SIDES, Key, SampleSeries
from tollgate.stats.exponential import Exponential
from tollgate.workers.latest import Looks
from tollgate.workers.lines import Line

#: A counter only rises; a sum may fall; a gauge is the value of now.
Kind = Literal["counter", "sum", "gauge", "histogram"]
Point = tuple[Mapping[str, str], float | int | Exponential]


@dataclass(frozen=True)
class Metric:
    """name, unit: as OpenTelemetry's semantic conventions have them, times in seconds. points:
    attributes and a value each, of what there has been since the run began."""

    name: str
    unit: str
    kind: Kind
    description: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class _Metric:
    """value: of a series, a line of workers.jsonl, or of the arrivals that were due and those that
    were sent; None where there is none."""

    name: str
    unit: str
    kind: Kind
    description: str
    value: Callable[..., float | int | Exponential | None]

    def of(self, points: Iterable[Point]) -> Metric:
        known = tuple(it for it in points if it[1] is not None)
        return Metric(self.name, self.unit, self.kind, self.description, known)


_OF_SERIES = (
    _Metric(
        "tollgate.requests",
        "{request}",
        "counter",
        "Rows of the JTL: requests, and transactions by another kind.",
        lambda it: it.service.total,
    ),
    _Metric("tollgate.received", "By", "counter", "Bytes of the answers.", lambda it: it.bytes),
    _Metric(
        "tollgate.service_time",
        "s",
        "histogram",
        "From when a request was sent until its response.",
        lambda it: it.service,
    ),
    _Metric(
        "tollgate.response_time",
        "s",
        "histogram",
        "From when a request was due until its response; of labels with a schedule.",
        lambda it: it.response if it.response.total else None,
    ),
    _Metric(
        "tollgate.lateness",
        "s",
        "histogram",
        "From when a request was due until it was sent.",
        lambda it: it.lateness if it.lateness.total else None,
    ),
)
_OF_SCHEDULES = (
    _Metric(
        "tollgate.schedule.due",
        "{request}",
        "sum",
        "Requests that were due by now.",
        lambda due, _: due,
    ),
    _Metric(
        "tollgate.schedule.sent",
        "{request}",
        "sum",
        "Of those, requests that have been answered.",
        lambda _, sent: sent,
    ),
    _Metric(
        "tollgate.schedule.not_sent",
        "{request}",
        "sum",
        "The others: not sent, or still under way.",
        lambda due, sent: max(0, due - sent),
    ),
)
_OF_WORKERS = (
    _Metric(
        "tollgate.worker.cpu",
        "1",
        "gauge",
        "CPU time as a share of one core.",
        lambda it: _parts(it.get("cpu"), 100),
    ),
    _Metric("tollgate.worker.memory", "By", "gauge", "Resident memory.", lambda it: it.get("rss")),
    _Metric(
        "tollgate.worker.event_loop_delay.p50",
        "s",
        "gauge",
        "Median event-loop delay of the last second.",
        lambda it: _parts(it.get("loopDelayP50"), 1000),
    ),
    _Metric(
        "tollgate.worker.event_loop_delay.p95",
        "s",
        "gauge",
        "95th percentile of the event-loop delay of the last second.",
        lambda it: _parts(it.get("loopDelayP95"), 1000),
    ),
    _Metric(
        "tollgate.worker.restarts",
        "{restart}",
        "sum",
        "Restarts, as PM2 counts them.",
        lambda it: it.get("restarts"),
    ),
)


def metrics_of(executions: Sequence[Totals], looks: Looks) -> list[Metric]:
    """All of the run that have a point. looks: the last one at each worker."""
    found = [it.of(_of_series(executions, it.value)) for it in _OF_SERIES]
    found += [it.of(_of_schedules(executions, it.value)) for it in _OF_SCHEDULES]
    found += [it.of(_of_workers(looks, it.value)) for it in _OF_WORKERS]
    return [it for it in found if it.points]


def _of_series(
    executions: Iterable[Totals], value: Callable[[SampleSeries], Any]
) -> Iterator[Point]:
    for totals in executions:
        for series in totals.series:
            yield {"tollgate.execution": totals.name, **_attributes(series.key)}, value(series)


def _attributes(key: Key) -> dict[str, str]:
    """As OpenTelemetry has them, without the execution."""
    side = {"tollgate.side": SIDES[key.side]} if key.side >= 0 else {}
    return {
        "tollgate.label": key.label,
        "tollgate.kind": "transaction" if key.is_transaction else "request",
        "tollgate.result": "ok" if key.ok else "failed",
        **side,
    }


def _of_schedules(
    executions: Iterable[Totals], value: Callable[[int, int], int]
) -> Iterator[Point]:
    for totals in executions:
        for labels, due, sent in totals.by_schedule():
            yield {"tollgate.execution": totals.name, "tollgate.labels": labels}, value(due, sent)


def _of_workers(looks: Looks, value: Callable[[Line], Any]) -> Iterator[Point]:
    for (app, worker), line in looks.items():
        if line.get("pid"):
            yield {"tollgate.target": app, "tollgate.worker": str(worker)}, value(line)


def _parts(value: float | None, of: float) -> float | None:
    return None if value is None else value / of
