"""What a chart of a page shows, as data for page/charts.js and as a table for who can't see it."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tollgate.page.parts import details, element

#: How a series is drawn: marks joined by lines, marks alone (with their intervals), a smooth curve
#: without marks, or a cloud of small dots.
JOINED, MARKS, CURVE, DOTS = "joined", "marks", "curve", "dots"


@dataclass(frozen=True)
class Axis:
    """label: with the unit. log: to the base of 2. ticks: where to write numbers, if not where
    uPlot would. low, high: its ends, None for what the data need."""

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """x, y: float[N]. low, high: the intervals' ends, float[N] or empty; NaN and None for what is
    not known. colour: 0 to 3, of the page's palette; a curve takes that of its marks."""

    label: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    draw: str = JOINED
    colour: int = 0


@dataclass(frozen=True)
class Chart:
    """summary: one sentence on what is to be seen. numbers: the same as a table. levels: of y, to
    compare with. zoom: whether dragging along x shows a part of it."""

    title: str
    summary: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    numbers: ET.Element
    levels: tuple[float, ...] = ()
    zoom: bool = False
    note: str = ""


def data(chart: Chart) -> dict:
    """The chart for charts.js: finite numbers and null only."""
    told = {name: value for name, value in asdict(_bare(chart)).items() if name != "numbers"}
    return _finite(told)


def figure(chart: Chart, number: int) -> ET.Element:
    """The place of the chart that stands at this position of the page's data."""
    label = f"{chart.title}. {chart.summary} The table below has its numbers."
    plot = element(
        "div", class_="plot", data_chart=number, tabindex=0, role="group", aria_label=label
    )
    note = element("span", chart.note, class_="small") if chart.note else None
    caption = element("figcaption", element("strong", chart.title), " ", chart.summary, note)
    return element(
        *("figure", caption, plot, details("Numbers of this chart", chart.numbers)),
        class_="chart",
    )


def _bare(chart: Chart) -> Chart:
    # asdict copies what it finds, and elements are neither data nor to be copied.
    return Chart(**{**vars(chart), "numbers": None})


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    if isinstance(value, float):
        # Seven digits are more than a screen shows, and half as long.
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
