"""Each label's times: when it was slow, and how its times are spread, its percentiles on a
logarithmic scale. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tollgate.report.pages.kit.charts import Axis, Chart, ChartSpan, Series
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.run.grid import Binned, Grid, percentile_for, points_for
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart, clock
from tollgate.report.pages.run.over_time import name_of
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, numeric
from tollgate.stats.counts import Counts
from tollgate.study.words import number

#: Labels that get two charts, and a row of the table; the ones with most requests.
MOST_CHARTS, MOST_ROWS = 12, 500
#: Points of a chart over time.
MOST_POINTS = 120
#: What is written along the axis: so many of a hundred are faster.
_NAMED = {1: "0", 2: "50 %", 10: "90 %", 20: "95 %", 100: "99 %", 1_000: "99.9 %"}
_NAMED |= {10_000: "99.99 %", 100_000: "99.999 %"}
#: Points of a line: evenly along the logarithmic axis, with the named ones among them.
_POINTS = np.unique(np.concatenate([np.geomspace(1, 1e5, 61), np.array([*_NAMED], float)]))
#: JMeter writes whole milliseconds: 0 means less than one, and has no place on this scale. It is
#: drawn at half of that.
_LEAST_MS = 1.0
_BELOW = "What took less than 1 ms is drawn at 0.5: JMeter counts whole milliseconds."


@dataclass(frozen=True)
class SpreadView:
    """charts: of the busiest of so many labels, the slowest first; drawn: of how many. rows:
    of the table of all labels, as far as it goes: (label, what of whom, its times); cut: how far
    that is, empty for all."""

    labels: int
    drawn: int
    charts: Sequence[Chart]
    rows: Sequence[tuple[str, str, Counts]]
    cut: str


def content(views: Sequence[View], spans: Sequence[ChartSpan] = ()) -> SpreadView | None:
    """None where there are no samples."""
    names = by_size(views)
    if not names:
        return None
    drawn = slowest_first(views, names[:MOST_CHARTS])
    pairs = ((_over_time(views, name, spans), _chart(views, name)) for name in drawn)
    charts = [chart for pair in pairs for chart in pair if chart]
    rows = [
        (name, f"{view.name} {what}", counts)
        for name in names[:MOST_ROWS]
        for view in views
        for what, counts in _counts(view, name).items()
    ]
    cut = f", the {MOST_ROWS} busiest of {len(names):,} labels" if names[MOST_ROWS:] else ""
    return SpreadView(len(names), len(drawn), charts, rows, cut)


def by_size(views: Sequence[View]) -> list[str]:
    """All labels but transactions, those with most requests first."""
    sizes: Counter[str] = Counter()
    for sampler in (each for view in views for each in view.samplers):
        sizes[sampler.name] += sampler.service.total
    return [name for name, _ in sizes.most_common()]


def slowest_first(views: Sequence[View], names: Sequence[str]) -> list[str]:
    """By the p95 of the execution that has most trouble with a label."""

    def p95(name: str) -> float:
        both = (_counts(view, name) for view in views)
        return max((next(iter(it.values())).percentile(95) for it in both if it), default=0.0)

    return sorted(names, key=p95, reverse=True)


def _over_time(views: Sequence[View], name: str, spans: Sequence[ChartSpan]) -> Chart | None:
    """A label's times as they came."""
    lines = lines_over_time(views, name)
    summary = "No request is in the measured time."
    if slowest := worst(lines):
        value, start, line = slowest
        summary = f"Slowest from {clock(start)} on: {line.label} {number(value)} ms."
    text = ChartText(f"{readable(name)}, over time", summary, "ms")
    return chart(text, lines, spans, full_title=full(name))


def lines_over_time(views: Sequence[View], name: str) -> list[ChartLine]:
    """The highest percentile of a label that its requests bear in each execution alike, or the
    slowest of each point, and the median."""
    times = [(view, *own) for view in views if (own := view.times(name))]
    total = min((counts.total for *_, counts in times), default=0)
    high, lines = percentile_for(total), []
    for view, what, counts in times:
        bins = view.grid.coarser(points_for(total, high, MOST_POINTS))
        for p, draw in ((high, "line"), (50, "dashed")):
            label = f"{view.name} {name_of(p)} {what}"
            lines.append(ChartLine(view, label, _percentile(counts, p), draw, bins))
    return lines


def worst(lines: Sequence[ChartLine]) -> tuple[float, int, ChartLine] | None:
    """(ms, second, line) of the slowest point that is judged; None where none is."""
    points = (
        (value, start, line)
        for line in lines
        if line.draw == "line"
        for start, value in zip(*line.judged(), strict=True)
    )
    return max(points, key=lambda point: point[0], default=None)


def _percentile(counts: Counts, p: int) -> Callable[[Grid], Values]:
    def values(grid: Grid) -> Values:
        binned = Binned(counts, grid)
        return binned.percentile(p), binned.n

    return cache(values)  # a chart asks for its points more than once


def _chart(views: Sequence[View], name: str) -> Chart | None:
    series: list[Series] = []
    slowest: list[str] = []
    rows: list[tuple[str, ...]] = []
    for view in views:
        both = _counts(view, name)
        for what, counts in both.items():
            draw = "dashed" if what == "service" and "response" in both else "line"
            series.append(_series(f"{view.name} {what}", counts, view.colour, draw))
            rows += _rows(f"{view.name} {what}", counts)
        if both:
            slowest.append(f"{view.name} {number(next(iter(both.values())).percentile(99))} ms")
    if not series:
        return None
    columns = (Column("times"), Column("line"), *numeric("of all requests", "ms at most"))
    most = max(each.x[-1] for each in series)
    named = {float(it): name for it, name in _NAMED.items() if it <= most}
    return Chart(
        title=readable(name),
        full_title=full(name),
        summary=f"p99: {', '.join(slowest)}.",
        x=Axis(
            "of all requests", log=True, base=10, ticks=tuple(named), names=tuple(named.values())
        ),
        y=Axis("ms", log=True, base=10, least=_LEAST_MS),
        series=tuple(series),
        note=_BELOW if any(min(each.y) < _LEAST_MS for each in series) else "",
        numbers=Table(readable(name), columns, rows, is_grouped=True),
    )


def _counts(view: View, name: str) -> dict[str, Counts]:
    """Response and service times in the measured time, those that there are."""
    windows = {what: it.window(*view.window) for what, it in view.both_times(name).items()}
    return {what: counts for what, counts in windows.items() if counts.total}


def _series(label: str, counts: Counts, colour: int, draw: str) -> Series:
    x = _POINTS[counts.total >= _POINTS]
    y = [counts.percentile(100 * (1 - 1 / it)) for it in x.tolist()]
    y = [it if it >= _LEAST_MS else _LEAST_MS / 2 for it in y]
    return Series(label, x.tolist(), y, draw=draw, colour=colour)


def _rows(label: str, counts: Counts) -> list[tuple[str, ...]]:
    group = f"{label}, n {counts.total:,}"
    rows = [
        (group, "", name, number(counts.percentile(100 * (1 - 1 / one_of))))
        for one_of, name in _NAMED.items()
        if 1 < one_of <= counts.total
    ]
    return [*rows, (group, "", "all", number(counts.percentile(100)))]
