"""What the workers used second by second, which died or were reloaded, and totals. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tollgate.criteria.subjects import MIB
from tollgate.judge.verdicts import ExecutionVerdict
from tollgate.judge.workers import outage_line
from tollgate.report.pages.kit.charts import (
    DASHED,
    DOT_DASHED,
    DOTTED,
    LINE,
    OUTAGE,
    RELOAD,
    UNCOUNTED,
    Chart,
    ChartSpan,
)
from tollgate.report.pages.run.grid import Grid
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart, clock
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, numeric
from tollgate.study.words import number
from tollgate.workers.model import WorkerSeries

#: The workers of an execution share its colour, and differ in these.
_STYLES = (LINE, DASHED, DOTTED, DOT_DASHED)
#: Lines of a chart; of more workers than that the busiest are drawn, the others in the table.
MOST_DRAWN = len(_STYLES)
#: Events that are listed; verdict.json has all of them.
MOST_EVENTS = 20
FILE = "workers.jsonl"
Measure = Callable[[WorkerSeries, Grid], np.ndarray]
#: What a point is of its looks, for the note below the chart.
MEAN, MOST = "of which it is the mean", "of which it is the most"


def spans(views: Sequence[View]) -> list[ChartSpan]:
    """What a chart over time is to show of all executions: what does not count, reloads and
    outages."""
    found = []
    warmup = min((view.execution.warmup_s for view in views), default=0.0)
    if warmup > 0:
        found.append(ChartSpan(-math.inf, warmup, UNCOUNTED, "warm-up"))
    end = max((view.window[1] for view in views), default=math.inf)
    # Without a measured time everything counts, also what was never sent since the generator died.
    has_end = all(view.execution.measured_s is not None for view in views)
    if has_end and any(view.grid and view.grid.end > end for view in views):
        found.append(ChartSpan(end, math.inf, UNCOUNTED, "after the measured time"))
    for view in views:
        for it in view.execution.resources.reloads:
            found.append(ChartSpan(it.from_s, it.to_s, RELOAD, f"{view.name}: reload"))
        for it in view.execution.resources.outages:
            if not it.planned:
                to_s = math.inf if it.to_s is None else max(it.to_s, it.from_s)
                gone = f"{view.name}: worker {it.worker} missing"
                found.append(ChartSpan(it.from_s, to_s, OUTAGE, gone))
    return [_within(span, views) for span in found]


def _within(span: ChartSpan, views: Sequence[View]) -> ChartSpan:
    grids = [view.grid for view in views if view.grid]
    low = min((grid.first for grid in grids), default=0)
    high = max((grid.end for grid in grids), default=0)
    return ChartSpan(max(span.low, low), min(span.high, high), span.kind, span.label)


@dataclass(frozen=True)
class Workers:
    """events: lines on deaths and reloads, in order of time. background: on what others took."""

    events: Sequence[str]
    background: Sequence[str]
    charts: Sequence[Chart]
    table: Table


def content(
    views: Sequence[View], judged: Sequence[ExecutionVerdict], shown: Sequence[ChartSpan]
) -> Workers | None:
    """None where the workers were not watched."""
    if not any(view.execution.resources.workers for view in views):
        return None
    found = [
        _chart(
            views,
            shown,
            ChartText("CPU", "Of one core, by worker.", "%", of_point=MEAN),
            _mean("cpu"),
        ),
        _chart(
            views,
            shown,
            ChartText("Memory", "Resident set size (RSS).", "MB", of_point=MOST),
            _most("rss", 1 / MIB),
        ),
        _chart(
            views,
            shown,
            ChartText("Event-loop delay", _delay(views), "ms", of_point=MOST),
            _most("loop_delay_p95"),
        ),
        _chart(
            views,
            shown,
            ChartText(
                "Requests answered", "By each worker's own count.", "requests/s", of_point=MEAN
            ),
            _answered,
        ),
    ]
    background = [
        f"{view.name}: {line}"
        for view, verdict in zip(views, judged, strict=True)
        for line in verdict.background_lines
    ]
    return Workers(_events(views), background, [it for it in found if it], _figures(views, judged))


def _events(views: Sequence[View]) -> list[str]:
    found = []
    for view in views:
        resources = view.execution.resources
        mine = [(it.from_s, outage_line(it)) for it in resources.outages if not it.planned]
        for it in resources.reloads:
            lost = "" if it.lost is None else f", {it.lost:,} requests lost"
            took = f" in {number(it.to_s - it.from_s)} s" if math.isfinite(it.to_s) else ""
            line = f"{clock(it.from_s)}: all workers were reloaded{took}{lost}"
            mine.append((it.from_s, f"{line}; {it.problem}" if it.problem else line))
        found += [(at, f"{view.name}: {line}") for at, line in mine]
    lines = [line for _, line in sorted(found, key=lambda each: each[0])]
    more = len(lines) - MOST_EVENTS
    rest = [f"and {more:,} more: see verdict.json"] if more > 0 else []
    return [*lines[:MOST_EVENTS], *rest]


def _figures(views: Sequence[View], judged: Sequence[ExecutionVerdict]) -> Table:
    """All workers. Requests and restarts are counted from the execution's start on."""
    rows = [
        (
            f"{view.name} {it.worker}",
            _count(it.requests),
            _count(it.restarts),
            number(it.cpu_percent),
            _memory(it.rss_first_bytes, it.rss_last_bytes, it.rss_max_bytes),
            number(it.loop_delay_p50_ms),
            number(it.loop_delay_p95_ms),
            _count(it.looks),
        )
        for view, verdict in zip(views, judged, strict=True)
        for it in verdict.workers
    ]
    columns = numeric(
        "requests",
        "restarts",
        "CPU, % of a core",
        "RSS first, last, most, MB",
        "loop delay p50, ms",
        "loop delay p95, ms",
        "looks",
    )
    caption = "Each worker in its measured time; requests and restarts with those of the warm-up"
    return Table(caption, (Column("worker"), *columns), rows, kind="cards")


def _memory(*values: float | None) -> str:
    return " / ".join("-" if it is None else f"{it / MIB:,.0f}" for it in values)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _delay(views: Sequence[View]) -> str:
    """Whose figure it is: workers that report their requests measure their delay themselves, of the
    others PM2 has a figure of its own (watch-workers.js)."""
    workers = [it for view in views for it in view.execution.resources.workers]
    known = [it for it in workers if np.isfinite(it.loop_delay_p95).any()]
    own = [bool(np.isfinite(it.requests).any()) for it in known]
    if all(own):
        return "p95 of each second, as Node measures it."
    return f"p95, by PM2's own figure{' where a worker tells none of its own' if any(own) else ''}."


def _chart(
    views: Sequence[View], shown: Sequence[ChartSpan], text: ChartText, of: Measure
) -> Chart | None:
    lines, left_out = [], 0
    for view in views:
        workers = sorted(view.execution.resources.workers, key=_busy, reverse=True)
        left_out += len(workers[MOST_DRAWN:])
        drawn = {id(each) for each in workers[:MOST_DRAWN]}
        kept = [each for each in view.execution.resources.workers if id(each) in drawn]
        lines += [line_of(view, each, at, of) for at, each in enumerate(kept)]
    are = "worker is" if left_out == 1 else "workers are"
    note = f"{left_out} more {are} in the table below." if left_out else ""
    return chart(replace(text, note=note, numbers_in=FILE), lines, shown)


def line_of(view: View, series: WorkerSeries, at: int, of: Measure) -> ChartLine:
    """A worker's line; at: its place among those of the execution that are drawn."""

    def values(grid: Grid) -> Values:
        return of(series, grid), None

    return ChartLine(view, f"{view.name} {series.worker}", values, _STYLES[at])


def _busy(series: WorkerSeries) -> float:
    known = series.requests[np.isfinite(series.requests)]
    return float(known.max()) if len(known) else 0.0


def _mean(name: str, factor: float = 1.0) -> Measure:
    return lambda series, grid: grid.means(series.second, getattr(series, name) * factor)


def _most(name: str, factor: float = 1.0) -> Measure:
    return lambda series, grid: grid.maxima(series.second, getattr(series, name) * factor)


def _answered(series: WorkerSeries, grid: Grid) -> np.ndarray:
    """Requests a second; a process that came in another's place counts from 0."""
    known = np.isfinite(series.requests)
    second, requests, pid = series.second[known], series.requests[known], series.pid[known]
    if len(second) < 2:
        return np.full(grid.count, np.nan)
    gained = np.where(np.diff(pid) != 0, requests[1:], np.clip(np.diff(requests), 0, None))
    # Looks come about once a second, and not at its beginning: by the time between them.
    sums = grid.sums(second[1:], gained)
    lengths = grid.sums(second[1:], np.diff(second))
    return np.divide(sums, lengths, out=np.full(grid.count, np.nan), where=lengths > 0)


#: Of each criterion on workers that has a course over time: the unit, what to draw, and what of its
#: looks a point is: what the criterion takes as well, the most of RSS and otherwise the mean.
MEASURES: dict[str, tuple[str, Measure, str]] = {
    "rss": ("MB", _most("rss", 1 / MIB), MOST),
    "rss-slope": ("MB", _mean("rss", 1 / MIB), MEAN),
    "time-left": ("MB", _mean("rss", 1 / MIB), MEAN),
    "cpu": ("%", _mean("cpu"), MEAN),
    "loop-delay-p50": ("ms", _mean("loop_delay_p50"), MEAN),
    "loop-delay-p95": ("ms", _mean("loop_delay_p95"), MEAN),
}
