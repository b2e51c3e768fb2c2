"""Charts over time, each from a few lines: their points, and the table below them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.report.pages.kit.charts import Axis, Chart, ChartSpan, Draw, Series
from tollgate.report.pages.run.grid import Grid
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, numeric
from tollgate.study.words import number

#: All charts over time share cursor and zoom.
SYNC = "time"
TIME = "time since the execution's start"

#: Values of each bin of a grid (float64, NaN for unknown), and from how many samples each is.
Values = tuple[np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class ChartLine:
    """label: with the execution's name. values: in the bins of any grid. coarser: bins in place of
    the view's."""

    view: View
    label: str
    values: Callable[[Grid], Values]
    draw: Draw = "line"
    coarser: Grid | None = None

    @property
    def grid(self) -> Grid:
        """The bins of its points; those of the view where it has no coarser ones."""
        return self.coarser or self.view.grid

    def judged(self) -> tuple[list[int], list[float]]:
        """When each point begins that is judged and has a value, and the values."""
        values, _ = self.values(self.grid)
        (low, high), starts = self.view.window, self.grid.starts
        inside = (starts >= low) & (starts < high) & np.isfinite(values)
        return starts[inside].tolist(), values[inside].tolist()


@dataclass(frozen=True)
class ChartText:
    """The text of a chart. numbers_in: which file has all values. of_point: how the samples that a
    point stands for make its value."""

    title: str
    summary: str
    unit: str
    note: str = ""
    numbers_in: str = "kpi.jtl"
    of_point: str = "exactly counted"


def chart(
    text: ChartText, lines: Sequence[ChartLine], spans: Sequence[ChartSpan], **more: object
) -> Chart | None:
    """None where no line has a point."""
    lines = [line for line in lines if line.view.grid is not None]
    series = [_series(line) for line in lines]
    if not any(np.isfinite(each.y).any() for each in series):
        return None
    return Chart(
        title=text.title,
        summary=text.summary,
        x=_axis([line.grid for line in lines], series),
        y=Axis(text.unit, high=_highest(lines)),
        series=tuple(series),
        numbers=_numbers(text, lines),
        note=" ".join(it for it in (text.note, _binning(text, lines)) if it),
        zoom=True,
        sync=SYNC,
        spans=tuple(spans),
        **more,
    )


def _binning(text: ChartText, lines: Sequence[ChartLine]) -> str:
    """What a point stands for, where that is more than a second."""
    widths = sorted({line.grid.width for line in lines})
    if widths == [1]:
        return ""
    return f"A point stands for {' or '.join(map(str, widths))} s, {text.of_point}."


def _axis(grids: Sequence[Grid], series: Sequence[Series]) -> Axis:
    low = min(grid.first for grid in grids)
    # The middle of a last bin that is hardly begun lies behind the end, and is a point as well.
    ends = [*(grid.end for grid in grids), *(each.x[-1] for each in series)]
    return Axis(TIME, low=float(low), high=float(max(ends)), is_time=True)


def _series(line: ChartLine) -> Series:
    grid = line.grid
    values, n = line.values(grid)
    # A point stands in the middle of its time: at its beginning it would look early.
    x = (grid.starts + (grid.width / 2 if grid.width > 1 else 0)).tolist()
    return Series(
        label=line.label,
        x=x,
        y=values.tolist(),
        draw=line.draw,
        colour=line.view.colour,
        n=[] if n is None else n.tolist(),
    )


def _highest(lines: Sequence[ChartLine]) -> float | None:
    """Of what is judged, so that a spike of the warm-up does not flatten all the rest; what reaches
    beyond is seen by zooming in. None where nothing is judged."""
    return max(max([0.0, *line.judged()[1]]) for line in lines) or None


def _numbers(text: ChartText, lines: Sequence[ChartLine]) -> Table:
    """Each line over the same few periods, counted anew; one of them begins where the warm-up ends,
    so that none is judged by half."""
    rows: list[tuple[str, ...]] = []
    for line in lines:
        grid = line.view.grid.coarser()
        values, n = line.values(grid)
        counts = [None] * grid.count if n is None else n.tolist()
        for start, value, count in zip(grid.starts.tolist(), values.tolist(), counts, strict=True):
            since = clock(start) + (", warm-up" if start < grid.border else "")
            samples = "-" if count is None else f"{count:,}"
            rows.append((line.label, since, number(value), samples))
    what = f"each value stands for one of a few equal periods, {text.of_point}"
    caption = f"{text.title}: {what}; {text.numbers_in} has all of it."
    columns = (Column("line"), *numeric("from", text.unit, "n"))
    return Table(caption, columns, rows, is_grouped=True)


def clock(seconds: float) -> str:
    """`0:45`, `12:00`, `1:30:00`, as the charts write times."""
    whole = round(abs(seconds))
    minutes, rest = divmod(whole, 60)
    sign = "-" if seconds < 0 and whole else ""
    if minutes < 60:
        return f"{sign}{minutes}:{rest:02d}"
    return f"{sign}{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
