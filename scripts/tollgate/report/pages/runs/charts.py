"""The drawings of a trend: a chart of each figure that varies, and small ones for tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tollgate.base.text import format_number
from tollgate.history.trends import Trend, TrendLine
from tollgate.report.pages.kit.charts import CHANGE, CURVE, JOINED, Axis, Chart, ChartSpan, Series
from tollgate.report.pages.run.view import dealt, wanted
from tollgate.report.pages.runs import texts
from tollgate.report.table import Column, Table, TableCell

#: Charts of a page, so that it stays fast: tables have the lines of all trends shown.
MOST = 12
#: Numbers along the axis of a chart.
_TICKS = 10
#: Executions in a chart.
_MOST_LINES = 4
#: The coordinates of a small drawing; runs.html.jinja has the size in its viewBox.
_WIDTH, _HEIGHT, _MARGIN = 100.0, 37.0, 5.0


def of_all(found: Sequence[Trend]) -> list[list[Chart]]:
    """Those of each trend, as far as the page stays fast."""
    drawn, left = [], MOST
    for trend in found:
        drawn.append(charts(trend)[:left])
        left -= len(drawn[-1])
    return drawn


def charts(trend: Trend) -> list[Chart]:
    """One for each figure that varies over enough runs, its executions overlaid; those that changed
    come first."""
    by_name: dict[tuple[str, str], list[TrendLine]] = {}
    for line in (it for it in trend.lines if it.is_searched):
        by_name.setdefault((line.name, line.unit), []).append(line)
    ordered = sorted(by_name.values(), key=lambda it: not any(line.changes for line in it))
    colours = _colours(trend)
    return [_chart(trend, lines[:_MOST_LINES], colours) for lines in ordered]


def _colours(trend: Trend) -> dict[str, int]:
    """Of each execution, the same in every chart, and that of its mode on the page of a run."""
    modes = {it.execution: it.modes for it in trend.lines}
    return dict(zip(modes, dealt([wanted(*it) for it in modes.items()]), strict=True))


def _chart(trend: Trend, lines: Sequence[TrendLine], colours: Mapping[str, int]) -> Chart:
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


def _series(line: TrendLine, colour: int) -> list[Series]:
    x = [float(it.at + 1) for it in line.points]
    low, high = ([getattr(it, end) for it in line.points] for end in ("low", "high"))
    found = [Series(line.execution, x, line.values, low, high, JOINED, colour)]
    for first, last, level in line.levels:
        ends = [x[first] - 0.5, x[last] + 0.5]
        found.append(Series(line.execution, ends, [level, level], draw=CURVE, colour=colour))
    return found


def _spans(line: TrendLine) -> list[ChartSpan]:
    """Where a new level begins: between its first run and the one before."""
    at = [float(line.points[it.at].at + 1) for it in line.changes]
    what = f"{line.execution}: another level from here on"
    return [ChartSpan(x - 0.5, x, CHANGE, what) for x in at]


def _summary(trend: Trend, lines: Sequence[TrendLine]) -> str:
    found = {line.execution: _in_words(trend, line) for line in lines}
    if len(set(found.values())) == 1:
        first = next(iter(found.values()))
        return f"{first[:1].upper()}{first[1:]}."
    return " ".join(f"{execution}: {text}." for execution, text in found.items())


def _in_words(trend: Trend, line: TrendLine) -> str:
    if not line.changes:
        return texts.unchanged(line)
    since = ((texts.moved(line, it), texts.time_of(trend.first(line, it))) for it in line.changes)
    return "; ".join(f"{moved} since {at}" for moved, at in since)


def _numbers(trend: Trend, lines: Sequence[TrendLine]) -> Table:
    columns = [Column("run"), Column("UTC", "term")]
    columns += [Column(f"{it.execution}, {it.unit}", "number") for it in lines]
    values = [{it.at: format_number(it.value) for it in line.points} for line in lines]
    names = (TableCell(texts.time_of(run), href=run.page or "") for run in trend.runs)
    rows = [(str(at + 1), it, *(of.get(at, "-") for of in values)) for at, it in enumerate(names)]
    return Table(lines[0].name, columns, rows)


def sparkline(line: TrendLine, runs: int) -> list[tuple[str, str]]:
    """The line over all runs of its trend, for the cell of a table: (CSS class, path) of the
    trend, of the levels between changes, of a rule at each change and of a dot at the newest. The
    template stretches the drawing to its cell; it needs no script, so that hundreds stay fast."""
    low, high = min(line.values), max(line.values)

    def x(at: int) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * at / max(runs - 1, 1)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share

    places = [(x(it.at), y(it.value)) for it in line.points]
    drawn = [("trend", _path(places))]
    for first, last, level in line.levels:
        ends = (x(line.points[index].at) for index in (first, last))
        drawn.append(("level", _path([(end, y(level)) for end in ends])))
    for change in line.changes:
        before, after = (x(line.points[index].at) for index in (change.at - 1, change.at))
        middle = (before + after) / 2
        drawn.append(("mark", _path([(middle, 0.0), (middle, _HEIGHT)])))
    # Of no length, with round ends: a dot that is not stretched with the drawing.
    drawn.append(("dot", _path([places[-1], places[-1]])))
    return drawn


def _path(places: Sequence[tuple[float, float]]) -> str:
    first, *others = places
    return "".join([f"M{first[0]:.1f} {first[1]:.1f}", *(f"L{x:.1f} {y:.1f}" for x, y in others)])
