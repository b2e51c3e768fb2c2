"""The drawings of a trend: a chart of each figure that varies, and small ones for tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tollgate.base.text import format_number
from tollgate.history.model import POINTS, RATIO
from tollgate.history.trends import Line, Trend
from tollgate.report.pages.kit.charts import Axis, Chart, ChartSpan, Series
from tollgate.report.pages.run.view import dealt, wanted
from tollgate.report.pages.runs import texts
from tollgate.report.table import Column, Table, TableCell

#: Charts of a page, so that it stays fast: tables have the lines of all trends shown.
MOST = 12
#: Runs from which on a figure has a chart.
_FEWEST = 10
#: Numbers along the axis of a chart.
_TICKS = 10
#: Executions in a chart.
_MOST_LINES = 4
#: Units of a chart's axis, where they are not those of the series.
_UNITS = {RATIO: "%", POINTS: "points"}
#: The coordinates of a small drawing; runs.html.jinja has the size in its viewBox.
_WIDTH, _HEIGHT, _MARGIN = 100.0, 37.0, 5.0


def of_all(trends: Sequence[Trend]) -> list[list[Chart]]:
    """Those of each trend, as far as the page stays fast."""
    drawn: list[list[Chart]] = []
    left = MOST
    for trend in trends:
        drawn.append(charts(trend)[:left])
        left -= len(drawn[-1])
    return drawn


def charts(trend: Trend) -> list[Chart]:
    """One for each figure that varies over enough runs, its executions overlaid; those that changed
    come first."""
    by_name: dict[tuple[str, str], list[Line]] = {}
    for line in trend.lines:
        if len(line.at) >= _FEWEST and not line.series.is_constant:
            by_name.setdefault((line.name, line.series.unit), []).append(line)
    ordered = sorted(by_name.values(), key=lambda lines: not any(it.series.steps for it in lines))
    names = [each.name for each in trend.executions]
    colours = dict(zip(names, dealt([wanted(name, ()) for name in names]), strict=True))
    return [_chart(trend, lines[:_MOST_LINES], colours) for lines in ordered]


def _chart(trend: Trend, lines: Sequence[Line], colours: Mapping[str, int]) -> Chart:
    step = -(-len(trend.runs) // _TICKS)
    numbers = range(1, len(trend.runs) + 1)
    drawn = [each for line in lines for each in _series(line, colours[line.execution.name])]
    lowest = min(_height(line, it.value) for line in lines for it in line.series.measures)
    unit = lines[0].series.unit
    return Chart(
        title=lines[0].name,
        summary=_summary(trend, lines),
        x=Axis("run, oldest first", ticks=tuple(map(float, numbers[::step]))),
        y=Axis(_UNITS.get(unit, unit), low=min(0.0, lowest)),
        series=tuple(drawn),
        numbers=_numbers(trend, lines),
        spans=tuple(each for line in lines for each in _spans(line)),
    )


def _height(line: Line, value: float | None) -> float | None:
    """Where a value of a Measure stands on its chart."""
    return value if value is None or line.series.effect is None else 100 * value


def _series(line: Line, colour: int) -> list[Series]:
    name, measures = line.execution.name, line.series.measures
    x = [float(at + 1) for at in line.at]
    y, low, high = (
        [_height(line, getattr(measure, end)) for measure in measures]
        for end in ("value", "low", "high")
    )
    drawn = [Series(name, x, y, low, high, "joined", colour)]
    for first, last, level in line.series.levels:
        height = _height(line, line.series.value_of(level))
        edges = [x[first] - 0.5, x[last] + 0.5]
        drawn.append(Series(name, edges, [height, height], draw="curve", colour=colour))
    return drawn


def _spans(line: Line) -> list[ChartSpan]:
    """Where a new level begins: between its first run and the one before."""
    starts = [float(line.at[step.at] + 1) for step in line.series.steps]
    what = f"{line.execution.name}: another level from here on"
    return [ChartSpan(x - 0.5, x, "change", what) for x in starts]


def _summary(trend: Trend, lines: Sequence[Line]) -> str:
    by_execution = {line.execution.name: _in_words(trend, line) for line in lines}
    if len(set(by_execution.values())) == 1:
        first = next(iter(by_execution.values()))
        return f"{first[:1].upper()}{first[1:]}."
    return " ".join(f"{execution}: {text}." for execution, text in by_execution.items())


def _in_words(trend: Trend, line: Line) -> str:
    if not line.series.steps:
        return texts.unchanged(line)
    steps = [(step, texts.first(trend, line, step)) for step in line.series.steps]
    return "; ".join(
        f"{texts.moved(line.series, step)} since {texts.time_of(run)}" for step, run in steps
    )


def _numbers(trend: Trend, lines: Sequence[Line]) -> Table:
    columns = [Column("run"), Column("UTC", "term")]
    values = []
    for line in lines:
        unit = _UNITS.get(line.series.unit, line.series.unit)
        columns.append(Column(f"{line.execution.name}, {unit}", "number"))
        heights = (format_number(_height(line, it.value)) for it in line.series.measures)
        values.append(dict(zip(line.at, heights, strict=True)))
    names = (TableCell(texts.time_of(run), href=run.page or "") for run in trend.runs)
    rows = [
        (str(at + 1), name, *(each.get(at, "-") for each in values))
        for at, name in enumerate(names)
    ]
    return Table(lines[0].name, columns, rows)


def sparkline(line: Line, runs: int) -> list[tuple[str, str]]:
    """The line over all runs of its trend, for the cell of a table: (CSS class, path) of the
    trend, of the levels between changes, of a rule at each change and of a dot at the newest. The
    template stretches the drawing to its cell; it needs no script, so that hundreds stay fast."""
    values = line.series.values
    low, high = min(values), max(values)

    def x(at: int) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * at / max(runs - 1, 1)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share

    places = [(x(at), y(value)) for at, value in zip(line.at, values, strict=True)]
    drawn = [("trend", _path(places))]
    for first, last, level in line.series.levels:
        drawn.append(("level", _path([(places[at][0], y(level)) for at in (first, last)])))
    for step in line.series.steps:
        middle = (places[step.at - 1][0] + places[step.at][0]) / 2
        drawn.append(("mark", _path([(middle, 0.0), (middle, _HEIGHT)])))
    # Of no length, with round ends: a dot that is not stretched with the drawing.
    drawn.append(("dot", _path([places[-1], places[-1]])))
    return drawn


def _path(places: Sequence[tuple[float, float]]) -> str:
    first, *others = places
    return "".join([f"M{first[0]:.1f} {first[1]:.1f}", *(f"L{x:.1f} {y:.1f}" for x, y in others)])
