"""Charts of a trend: each figure that varies, its executions overlaid. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

from tollgate.base import figure
from tollgate.pages.kit.charts import CHANGE, CURVE, JOINED, Axis, Chart, Series, Span
from tollgate.pages.kit.parts import Column, table
from tollgate.pages.run.view import dealt, wanted
from tollgate.pages.runs import words
from tollgate.pages.runs.rows import link
from tollgate.pages.runs.trends import Line, Point, Trend

#: Numbers along the axis of a chart.
_TICKS = 10
#: Executions in a chart.
_MOST_LINES = 4


def charts(trend: Trend) -> list[Chart]:
    """One for each figure that varies over enough runs, its executions overlaid; those that changed
    come first."""
    by_name: dict[tuple[str, str], list[Line]] = {}
    for line in (it for it in trend.lines if it.is_searched):
        by_name.setdefault((line.name, line.unit), []).append(line)
    ordered = sorted(by_name.values(), key=lambda it: not any(line.changes for line in it))
    colours = _colours(trend)
    return [_chart(trend, lines[:_MOST_LINES], colours) for lines in ordered]


def _colours(trend: Trend) -> dict[str, int]:
    """Of each execution, the same in every chart, and that of its mode on the page of a run."""
    modes = {it.execution: it.modes for it in trend.lines}
    return dict(zip(modes, dealt([wanted(*it) for it in modes.items()]), strict=True))


def _chart(trend: Trend, lines: Sequence[Line], colours: Mapping[str, int]) -> Chart:
    runs = len(trend.runs)
    step = -(-runs // _TICKS)
    numbers = range(1, runs + 1)
    series = [it for line in lines for it in _series(line, colours[line.execution])]
    return Chart(
        title=lines[0].name,
        summary=_summary(trend, lines),
        x=Axis("run, oldest first", ticks=tuple(map(float, numbers[::step]))),
        y=Axis(lines[0].unit, low=min(0.0, *(it for line in lines for it in line.values))),
        series=tuple(series),
        numbers=_numbers(trend, lines),
        spans=tuple(it for line in lines for it in _spans(line)),
    )


def _series(line: Line, colour: int) -> list[Series]:
    x = [float(it.at + 1) for it in line.points]
    low, high = ([getattr(it, end) for it in line.points] for end in ("low", "high"))
    found = [Series(line.execution, x, line.values, low, high, JOINED, colour)]
    for first, last, level in line.levels:
        ends = [x[first] - 0.5, x[last] + 0.5]
        found.append(Series(line.execution, ends, [level, level], draw=CURVE, colour=colour))
    return found


def _spans(line: Line) -> list[Span]:
    """Where a new level begins: between its first run and the one before."""
    at = [float(line.points[it.at].at + 1) for it in line.changes]
    return [Span(x - 0.5, x, CHANGE, f"{line.execution}: another level from here on") for x in at]


def _summary(trend: Trend, lines: Sequence[Line]) -> str:
    found = {line.execution: _in_words(trend, line) for line in lines}
    if len(set(found.values())) == 1:
        first = next(iter(found.values()))
        return f"{first[:1].upper()}{first[1:]}."
    return " ".join(f"{execution}: {text}." for execution, text in found.items())


def _in_words(trend: Trend, line: Line) -> str:
    if not line.changes:
        return words.unchanged(line)
    at = [trend.runs[line.points[it.at].at] for it in line.changes]
    pairs = zip(line.changes, at, strict=True)
    return "; ".join(f"{words.moved(line, it)} since {words.time_of(run)}" for it, run in pairs)


def _numbers(trend: Trend, lines: Sequence[Line]) -> ET.Element:
    columns = [Column("run"), Column("UTC", "term")]
    columns += [Column(f"{it.execution}, {it.unit}", "number") for it in lines]
    points = [{it.at: it for it in line.points} for line in lines]
    rows = [
        (str(at + 1), link(run, words.time_of(run)), *(_cell(it.get(at)) for it in points))
        for at, run in enumerate(trend.runs)
    ]
    return table(lines[0].name, columns, rows)


def _cell(point: Point | None) -> str:
    return "-" if point is None else figure(point.value)
