"""The metrics of a run. metrics.csv says what each is called, its unit, kind and description; here
is what each is of."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.criteria.grammar import Criterion
from tollgate.export.totals import Histogram, Totals, exemplar_of
from tollgate.judge.verdicts import CriterionResult, RunVerdict
from tollgate.schedule.growing_samples import SIDES, Key, SampleSeries
from tollgate.workers.latest import Looks
from tollgate.workers.lines import Line

_TABLE = Path(__file__).with_name("metrics.csv")
_ROWS = [*csv.DictReader(_TABLE.read_text(encoding="utf-8").splitlines())]

Attributes = Mapping[str, str]
Value = float | int | Histogram
#: What has the same attributes, by its name; None for what there is nothing of.
Measured = tuple[Attributes, Mapping[str, Value | None]]


@dataclass(frozen=True)
class Metric:
    """name, unit: as OpenTelemetry's semantic conventions have them, times in seconds. kind: a
    counter only rises, a sum may fall, a gauge is the value of now; or a histogram. points:
    attributes and a value each, of what there has been since the run began."""

    name: str
    unit: str
    kind: str
    description: str
    points: tuple[tuple[Attributes, Value], ...]


def metrics_of(
    run: str, executions: Iterable[Totals], looks: Looks, decided: Iterable[Measured] = ()
) -> list[Metric]:
    """All of the run that have a point. run: its name, which each point has, for stores that keep
    no attribute of a resource. looks: the last one at each worker. decided: see `limits` and
    `decisions`."""
    points: dict[str, list[tuple[Attributes, Value]]] = defaultdict(list)
    for attributes, values in (*_measured(executions, looks), *decided):
        for name, value in values.items():
            if value is not None:
                points[name].append(({"tollgate.run": run, **attributes}, value))
    named = [(row, points[row["name"]]) for row in _ROWS]
    return [Metric(**row, points=tuple(points)) for row, points in named if points]


def limits(execution: str, criteria: Iterable[Criterion]) -> Iterator[Measured]:
    """Of each criterion, which are there before the first sample is."""
    for text, criterion in {it.text: it for it in criteria}.items():
        limit = {"tollgate.criterion.limit": criterion.threshold}
        yield _of_criterion(execution, text, criterion), limit


def decisions(verdict: RunVerdict) -> Iterator[Measured]:
    """Of a run that has been judged."""
    yield {"tollgate.verdict": verdict.verdict}, {"tollgate.verdict": 1}
    for execution in verdict.executions:
        for text, result in {it.criterion: it for it in execution.criteria}.items():
            about = _of_criterion(execution.name, text, result)
            yield about, {"tollgate.criterion.observed": result.observed}
            yield {**about, "tollgate.verdict": result.verdict}, {"tollgate.criterion.verdict": 1}


def _of_criterion(
    execution: str, text: str, criterion: Criterion | CriterionResult
) -> dict[str, str]:
    return {
        "tollgate.execution": execution,
        "tollgate.criterion": text,
        "tollgate.label": criterion.label,
        "tollgate.subject": criterion.subject,
        "tollgate.unit": criterion.unit,
    }


def _measured(executions: Iterable[Totals], looks: Looks) -> Iterator[Measured]:
    for totals in executions:
        execution = {"tollgate.execution": totals.name}
        for key in _without_failures(totals):
            yield {**execution, **_attributes(key)}, {"tollgate.requests": 0}
        for series in totals.series:
            yield {**execution, **_attributes(series.key)}, _of_samples(series)
        for labels, due, sent in totals.by_schedule():
            yield (
                {**execution, "tollgate.labels": labels},
                {
                    "tollgate.schedule.due": due,
                    "tollgate.schedule.sent": sent,
                    "tollgate.schedule.not_sent": max(0, due - sent),
                },
            )
    for (app, worker), line in looks.items():
        if line.get("pid"):
            yield {"tollgate.target": app, "tollgate.worker": str(worker)}, _of_worker(line)


def _without_failures(totals: Totals) -> list[Key]:
    """Of labels none of whose requests has failed by now: a store shows no rate of a counter whose
    first value is its last."""
    keys = {series.key for series in totals.series}
    failures = dict.fromkeys(each.key._replace(ok=False, is_cut=False) for each in totals.series)
    return [key for key in failures if key not in keys]


def _attributes(key: Key) -> dict[str, str]:
    """As OpenTelemetry has them, without the execution."""
    side = {"tollgate.side": SIDES[key.side]} if key.side >= 0 else {}
    return {
        "tollgate.label": key.label,
        "tollgate.kind": "transaction" if key.is_transaction else "request",
        "tollgate.result": "ok" if key.ok else "cut" if key.is_cut else "failed",
        **side,
    }


def _of_samples(series: SampleSeries[Histogram]) -> dict[str, Value | None]:
    # Each of the slowest is in one point.
    series.service.exemplar = exemplar_of(*series.slowest) if series.slowest else None
    series.slowest = ()
    return {
        "tollgate.requests": series.service.total,
        "tollgate.received": series.bytes,
        "tollgate.service_time": series.service,
        "tollgate.response_time": series.response if series.response.total else None,
        "tollgate.lateness": series.lateness if series.lateness.total else None,
    }


def _of_worker(line: Line) -> dict[str, Value | None]:
    return {
        "tollgate.worker.cpu": _parts(line.get("cpu"), 100),
        "tollgate.worker.memory": line.get("rss"),
        "tollgate.worker.event_loop_delay.p50": _parts(line.get("loopDelayP50"), 1000),
        "tollgate.worker.event_loop_delay.p95": _parts(line.get("loopDelayP95"), 1000),
        "tollgate.worker.restarts": line.get("restarts"),
    }


def _parts(value: float | None, whole: float) -> float | None:
    return None if value is None else value / whole
