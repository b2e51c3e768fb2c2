"""What a chart of a page shows, as data for charts.js and as a table for who can't see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from tollgate.report.table import Table

#: How a series is drawn: marks (with their intervals) joined by lines, a smooth curve without
#: marks, or a cloud of small dots; values over time as a line, or as a thin one in another style
#: beside it. Lines have gaps where nothing is known.
Draw = Literal["joined", "curve", "dots", "line", "dashed", "dotted", "dot-dashed"]
#: What a span of an axis means: a time that does not count, one in which a worker was missing, a
#: reload, which is meant to be, and where the values took another level.
SpanKind = Literal["uncounted", "outage", "reload", "change"]
#: So many x at least, in equal steps, are written as their first, step and count.
_REGULAR = 8


@dataclass(frozen=True)
class Axis:
    """label: with the unit. log: whether to this base. ticks: where to write numbers, if not where
    uPlot would, and names: what to write there instead. low, high: its ends, None for what the data
    need; of lines over time what is zoomed in on needs other ends. is_time: of seconds, which are
    written as 0:45, 1:30:00. least: a smaller value is only known to be smaller, and is written as
    that, wherever it is drawn."""

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    base: int = 2
    names: tuple[str, ...] = ()
    is_time: bool = False
    least: float | None = None


@dataclass(frozen=True)
class Series:
    """x, y: float[N]. low, high: the intervals' ends, float[N] or empty; NaN and None for what is
    not known. colour: 0 to 5, of the page's palette. n: of how many samples each
    y tells, int[N] or empty."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    draw: Draw = "joined"
    colour: int = 0
    n: Sequence[int] = ()


@dataclass(frozen=True)
class ChartSpan:
    """A part of the x axis, or a moment of it. kind: see above. label: what it was."""

    low: float
    high: float
    kind: SpanKind
    label: str


@dataclass(frozen=True)
class Chart:
    """summary: one sentence on what is to be seen. numbers: the same as a table. levels: of y, to
    compare with; limit: one to be seen, with a word. zoom: whether dragging along x shows a part
    of it. sync: charts of the same name share cursor and zoom.
    tone: `wrong` of what went wrong, `unclear` of what is undecided. full_title: is shown by
    pointing at a title that has only a part of it."""

    title: str
    summary: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    numbers: Table | None
    levels: tuple[float, ...] = ()
    zoom: bool = False
    note: str = ""
    limit: float | None = None
    spans: tuple[ChartSpan, ...] = ()
    sync: str = ""
    tone: str = ""
    full_title: str = ""


def data(chart: Chart) -> dict[str, Any]:
    """The chart for charts.js: finite numbers and null only."""
    fields = asdict(replace(chart, numbers=None))  # which stands on the page as a table
    fields["series"] = [{**each, "x": _steps(each["x"])} for each in fields["series"]]
    return {name: _finite(each) for name, each in fields.items()}


def _steps(x: Sequence[float]) -> Sequence[float] | dict[str, float]:
    """x in equal steps as {first, step, count}, which is a hundredth as long."""
    if len(x) < _REGULAR:
        return x
    step = (x[-1] - x[0]) / (len(x) - 1)
    if any(abs(x[0] + step * at - value) > 1e-6 * abs(step) for at, value in enumerate(x)):
        return x
    return {"first": x[0], "step": step, "count": len(x)}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if isinstance(value, float):
        # Seven digits are more than a screen shows, and half as long.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
