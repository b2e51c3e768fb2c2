"""Charts over time, each from a few lines: their points, and the table below them. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.pages.kit.charts import LINE, Axis, Chart, Series, Span
from tollgate.pages.kit.parts import Column, table
from tollgate.pages.run.grid import Grid
from tollgate.pages.run.view import View
from tollgate.study import number

#: All charts over time share cursor and zoom.
SYNC = "time"
TIME = "time since the execution's start"
_NUMBER = "number"
#: More than a screen shows, and half as long as a float.
_DIGITS = 5

#: Values of each bin of a grid (float64, NaN for unknown), and of how many samples each tells.
Values = tuple[np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class Line:
    """label: with the execution's name. of: its values in the bins of any grid."""

    view: View
    label: str
    of: Callable[[Grid], Values]
    draw: str = LINE


@dataclass(frozen=True)
class Told:
    """The words of a chart. numbers_in: which file has all values. of_point: what is told of all
    samples that a point stands for."""

    title: str
    summary: str
    unit: str
    note: str = ""
    numbers_in: str = "kpi.jtl"
    of_point: str = "exactly counted"


def chart(told: Told, lines: Sequence[Line], spans: Sequence[Span], **more: object) -> Chart | None:
    """None where no line has a point."""
    lines = [line for line in lines if line.view.grid is not None]
    series = [_series(line) for line in lines]
    if not any(value is not None for each in series for value in each.y):
        return None
    return Chart(
        title=told.title,
        summary=told.summary,
        x=_axis([line.view.grid for line in lines], series),
        y=Axis(told.unit, high=_highest(lines)),
        series=tuple(series),
        numbers=_numbers(told, lines),
        note=" ".join(it for it in (told.note, _binning(told, lines)) if it),
        zoom=True,
        sync=SYNC,
        wide=True,
        spans=tuple(spans),
        **more,
    )


def _binning(told: Told, lines: Sequence[Line]) -> str:
    """What a point stands for, where that is more than a second."""
    widths = sorted({line.view.grid.width for line in lines})
    if widths == [1]:
        return ""
    return f"A point stands for {' or '.join(map(str, widths))} s, {told.of_point}."


def _axis(grids: Sequence[Grid], series: Sequence[Series]) -> Axis:
    low = min(grid.first for grid in grids)
    # The middle of a last bin that is hardly begun lies behind the end, and is a point as well.
    ends = [*(grid.end for grid in grids), *(each.x[-1] for each in series)]
    return Axis(TIME, low=float(low), high=float(max(ends)), is_time=True)


def _series(line: Line) -> Series:
    grid = line.view.grid
    values, n = line.of(grid)
    # A point stands in the middle of its time: at its beginning it would look early.
    x = (grid.starts + (grid.width / 2 if grid.width > 1 else 0)).tolist()
    return Series(
        label=line.label,
        x=x,
        y=[_short(value) for value in values.tolist()],
        draw=line.draw,
        colour=line.view.colour,
        n=[] if n is None else n.tolist(),
    )


def _highest(lines: Sequence[Line]) -> float | None:
    """Of what is judged, so that a spike of the warm-up does not flatten all the rest; what reaches
    beyond is seen by zooming in. None where nothing is judged."""
    found = []
    for line in lines:
        grid, (low, high) = line.view.grid, line.view.window
        inside = (grid.starts >= low) & (grid.starts < high)
        values = line.of(grid)[0][inside]
        found += [float(values[np.isfinite(values)].max(initial=0.0))]
    return max(found) or None


def _short(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None


def _numbers(told: Told, lines: Sequence[Line]) -> ET.Element:
    """Each line over the same few periods, counted anew; one of them begins where the warm-up ends,
    so that none is judged by half."""
    rows: list[tuple[str, ...]] = []
    for line in lines:
        grid = line.view.grid.coarser()
        values, n = line.of(grid)
        counts = [None] * grid.count if n is None else n.tolist()
        for start, value, count in zip(grid.starts.tolist(), values.tolist(), counts, strict=True):
            said = "-" if count is None else f"{count:,}"
            since = clock(start) + (", warm-up" if start < grid.border else "")
            rows.append((line.label, since, number(value), said))
    columns = (
        *(Column("line"), Column("from", _NUMBER)),
        *(Column(told.unit, _NUMBER), Column("n", _NUMBER)),
    )
    what = f"each value stands for one of a few equal periods, {told.of_point}"
    caption = f"{told.title}: {what}; {told.numbers_in} has all of it."
    return table(caption, columns, rows)


def clock(seconds: float) -> str:
    """`0:45`, `12:00`, `1:30:00`, as the charts tell times."""
    whole = round(abs(seconds))
    minutes, rest = divmod(whole, 60)
    sign = "-" if seconds < 0 and whole else ""
    if minutes < 60:
        return f"{sign}{minutes}:{rest:02d}"
    return f"{sign}{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
