"""How the times of each target are spread: its percentiles on a logarithmic scale. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.report.pages.kit.charts import DASHED, LINE, Axis, Chart, Series
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, numeric
from tollgate.stats.counts import Counts
from tollgate.study.words import number

#: Labels that get a chart, and a row of the table; the ones with most requests.
MOST_CHARTS, MOST_ROWS = 12, 500
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
    """charts: of the busiest of so many labels; is_cut: others have none. rows: of the table of all
    labels, as far as it goes: (label, what of whom, its times); cut: how far that is, empty for
    all."""

    labels: int
    is_cut: bool
    charts: Sequence[Chart]
    rows: Sequence[tuple[str, str, Counts]]
    cut: str


def content(views: Sequence[View]) -> SpreadView | None:
    """None where there are no samples."""
    names = by_size(views)
    if not names:
        return None
    charts = [chart for chart in (_chart(views, name) for name in names[:MOST_CHARTS]) if chart]
    rows = [
        (name, f"{view.name} {what}", counts)
        for name in names[:MOST_ROWS]
        for view in views
        for what, counts in _counts(view, name).items()
    ]
    cut = f", the {MOST_ROWS} busiest of {len(names):,} labels" if names[MOST_ROWS:] else ""
    return SpreadView(len(names), len(names) > MOST_CHARTS, charts, rows, cut)


def by_size(views: Sequence[View]) -> list[str]:
    """All labels but transactions, those with most requests first."""
    sizes: Counter[str] = Counter()
    for it in (it for view in views for it in view.samplers):
        sizes[it.name] += it.service.total
    return [name for name, _ in sizes.most_common()]


def _chart(views: Sequence[View], name: str) -> Chart | None:
    series: list[Series] = []
    slowest: list[str] = []
    rows: list[tuple[str, ...]] = []
    for view in views:
        both = _counts(view, name)
        for what, counts in both.items():
            draw = DASHED if what == "service" and "response" in both else LINE
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
    mine = view.by_name.get(name, [])
    responses = [it.response for it in mine if it.response is not None]
    found = {"service": [it.service for it in mine]}
    if len(responses) == len(mine):  # where two share the name, both may have a schedule or not
        found = {"response": responses} | found
    windows = {
        what: Counts.merged(it.window(*view.window) for it in parts)
        for what, parts in found.items()
    }
    return {what: counts for what, counts in windows.items() if counts.total}


def _series(label: str, counts: Counts, colour: int, draw: str) -> Series:
    x = _POINTS[counts.total >= _POINTS]
    y = [counts.percentile(100 * (1 - 1 / it)) for it in x.tolist()]
    y = [it if it >= _LEAST_MS else _LEAST_MS / 2 for it in y]
    return Series(label, x.tolist(), y, draw=draw, colour=colour)


def _rows(label: str, counts: Counts) -> list[tuple[str, ...]]:
    group = f"{label}, n {counts.total:,}"
    rows = [
        (group, "", name, number(counts.percentile(100 * (1 - 1 / it))))
        for it, name in _NAMED.items()
        if 1 < it <= counts.total
    ]
    return [*rows, (group, "", "all", number(counts.percentile(100)))]
