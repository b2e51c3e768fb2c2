"""What the workers used second by second, and which died or were reloaded. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tollgate.criteria.subjects import MIB
from tollgate.judge.workers import outage_line
from tollgate.report.pages.kit.charts import Chart, ChartSpan
from tollgate.report.pages.run.grid import Grid
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart, clock
from tollgate.report.pages.run.view import View
from tollgate.study.words import number
from tollgate.workers.model import WorkerSeries

#: The workers of an execution share its colour, and differ in these.
_STYLES = ("line", "dashed", "dotted", "dot-dashed")
#: Lines of a chart; of more workers than that the busiest are drawn, the others in the table.
MOST_DRAWN = len(_STYLES)
#: Workers that report their requests measure their delay themselves (watch-workers.js).
_DELAY = "p95, as Node measures it; by PM2's own figure where a worker reports no requests."
#: Events that are listed; verdict.json has all of them.
MOST_EVENTS = 20
FILE = "workers.jsonl"


@dataclass(frozen=True)
class Measure:
    """What is drawn of a worker. of_point: what a point is of its looks, for the note below the
    chart. values: in each bin of a grid."""

    unit: str
    of_point: str
    values: Callable[[WorkerSeries, Grid], np.ndarray]


def _mean(
    unit: str,
    name: str,
    factor: float = 1.0,
    gather: Callable[..., np.ndarray] = Grid.means,
    kind: str = "mean",
) -> Measure:
    def values(series: WorkerSeries, grid: Grid) -> np.ndarray:
        return gather(grid, series.second, getattr(series, name) * factor)

    return Measure(unit, f"of which it is the {kind}", values)


_most = partial(_mean, gather=Grid.maxima, kind="most")


def _answered(series: WorkerSeries, grid: Grid) -> np.ndarray:
    """Requests a second; a process that came in another's place counts from 0."""
    is_known = np.isfinite(series.requests)
    second, requests, pid = series.second[is_known], series.requests[is_known], series.pid[is_known]
    if len(second) < 2:
        return np.full(grid.count, np.nan)
    gained = np.where(np.diff(pid) != 0, requests[1:], np.clip(np.diff(requests), 0, None))
    # Looks come about once a second, and not at its beginning: by the time between them.
    sums = grid.sums(second[1:], gained)
    lengths = grid.sums(second[1:], np.diff(second))
    return np.divide(sums, lengths, out=np.full(grid.count, np.nan), where=lengths > 0)


_CPU, _RSS = _mean("%", "cpu"), _most("MB", "rss", 1 / MIB)
_ANSWERED = Measure("requests/s", _CPU.of_point, _answered)
#: What is drawn of each criterion on workers that has a course over time: of its looks a point
#: takes what the criterion takes as well, the most of RSS and otherwise the mean.
MEASURES = {
    "rss": _RSS,
    "rss-slope": _mean("MB", "rss", 1 / MIB),
    "time-left": _mean("MB", "rss", 1 / MIB),
    "cpu": _CPU,
    "loop-delay-p50": _mean("ms", "loop_delay_p50"),
    "loop-delay-p95": _mean("ms", "loop_delay_p95"),
}


def spans(views: Sequence[View]) -> list[ChartSpan]:
    """What a chart over time is to show of all executions: what does not count, reloads and
    outages."""
    parts = []
    warmup = min((view.execution.warmup_s for view in views), default=0.0)
    if warmup > 0:
        parts.append(ChartSpan(-math.inf, warmup, "uncounted", "warm-up"))
    end = max((view.window[1] for view in views), default=math.inf)
    # Without a measured time everything counts, also what was never sent since the generator died.
    has_end = all(view.execution.measured_s is not None for view in views)
    if has_end and any(view.grid and view.grid.end > end for view in views):
        parts.append(ChartSpan(end, math.inf, "uncounted", "after the measured time"))
    for view in views:
        for reload in view.execution.resources.reloads:
            parts.append(ChartSpan(reload.from_s, reload.to_s, "reload", f"{view.name}: reload"))
        for outage in view.execution.resources.outages:
            if not outage.planned:
                to_s = math.inf if outage.to_s is None else max(outage.to_s, outage.from_s)
                gone = f"{view.name}: worker {outage.worker} missing"
                parts.append(ChartSpan(outage.from_s, to_s, "outage", gone))
    return [_within(span, views) for span in parts]


def _within(span: ChartSpan, views: Sequence[View]) -> ChartSpan:
    grids = [view.grid for view in views if view.grid]
    low = min((grid.first for grid in grids), default=0)
    high = max((grid.end for grid in grids), default=0)
    return ChartSpan(max(span.low, low), min(span.high, high), span.kind, span.label)


@dataclass(frozen=True)
class Workers:
    """events: which workers died or were reloaded, one line each."""

    events: Sequence[str]
    charts: Sequence[Chart]


def content(views: Sequence[View], shown: Sequence[ChartSpan]) -> Workers | None:
    """None where the workers were not watched."""
    if not any(view.execution.resources.workers for view in views):
        return None
    measures = [
        ("CPU", "Of one core, by worker.", _CPU),
        ("Memory", "Resident set size (RSS).", _RSS),
        ("Event-loop delay", _DELAY, _most("ms", "loop_delay_p95")),
        ("Requests answered", "By each worker's own count.", _ANSWERED),
    ]
    charts = [_chart(views, shown, *each) for each in measures]
    return Workers(_events(views), [it for it in charts if it])


def _events(views: Sequence[View]) -> list[str]:
    events = []
    for view in views:
        resources = view.execution.resources
        mine = [(it.from_s, outage_line(it)) for it in resources.outages if not it.planned]
        for reload in resources.reloads:
            lost = "" if reload.lost is None else f", {reload.lost:,} requests lost"
            took = (
                f" in {number(reload.to_s - reload.from_s)} s" if math.isfinite(reload.to_s) else ""
            )
            line = f"{clock(reload.from_s)}: all workers were reloaded{took}{lost}"
            mine.append((reload.from_s, f"{line}; {reload.problem}" if reload.problem else line))
        events += [(at, f"{view.name}: {line}") for at, line in mine]
    lines = [line for _, line in sorted(events, key=lambda each: each[0])]
    more = len(lines) - MOST_EVENTS
    rest = [f"and {more:,} more: see verdict.json"] if more > 0 else []
    return [*lines[:MOST_EVENTS], *rest]


def _chart(
    views: Sequence[View], shown: Sequence[ChartSpan], title: str, summary: str, measure: Measure
) -> Chart | None:
    lines, left_out = [], 0
    for view in views:
        workers = view.execution.resources.workers
        busiest = {it.worker for it in sorted(workers, key=_busy, reverse=True)[:MOST_DRAWN]}
        left_out += len(workers) - len(busiest)
        lines += lines_of(view, [it for it in workers if it.worker in busiest], measure)
    are = "worker is" if left_out == 1 else "workers are"
    note = f"{left_out} more {are} in the table below." if left_out else ""
    text = ChartText(title, summary, measure.unit, note, FILE, measure.of_point)
    return chart(text, lines, shown)


def lines_of(view: View, drawn: Sequence[WorkerSeries], measure: Measure) -> list[ChartLine]:
    """A line of each worker, at most MOST_DRAWN."""

    def values(series: WorkerSeries, grid: Grid) -> Values:
        return measure.values(series, grid), None

    return [
        ChartLine(view, f"{view.name} {series.worker}", partial(values, series), style)
        for series, style in zip(drawn, _STYLES, strict=False)
    ]


def _busy(series: WorkerSeries) -> float:
    requests = series.requests[np.isfinite(series.requests)]
    return float(requests.max()) if len(requests) else 0.0
