"""What each label did, in the head of the page: requests a second, p95, and when it was slowest.
Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base.text import format_number
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.run import spread
from tollgate.report.pages.run.lines import clock
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, TableCell, numeric

#: Labels in the head; the section of all labels has the others.
MOST_ROWS = 8
#: Executions beside each other; of more than these each has rows of its own.
_BESIDE = 2
#: Of fewer requests the p95 is the slowest one.
_FEWEST = 20


def table(views: Sequence[View]) -> Table | None:
    """The slowest first; None without samples."""
    names = spread.slowest_first(views, spread.by_size(views))
    sets = [[view] for view in views] if len(views) > _BESIDE else [views]
    pairs = [(name, own) for name in names for own in sets if any(view.times(name) for view in own)]
    if not pairs:
        return None
    whose = [f"{view.name}, " for view in views] if len(sets) == 1 < len(views) else [""]
    columns = [it for who in whose for it in numeric(f"{who}requests/s", f"{who}p95")]
    columns.append(Column("slowest from", "number"))
    has_failed = any(view.sent.errors for view in views)
    failed = numeric("failed") if has_failed else ()
    rows = [
        [
            _name(name, own, len(sets)),
            *(it for view in own for it in _figures(view, name)),
            _slowest(name, own),
            *([_failed(name, own)] if has_failed else []),
        ]
        for name, own in pairs[:MOST_ROWS]
    ]
    more = len(pairs) - len(rows)
    rest = f"; {more:,} more below" if more else ""
    caption = f"Requests in the measured time, the slowest first{rest}"
    return Table(caption, (Column("request"), *columns, *failed), rows, "headline")


def _name(name: str, own: Sequence[View], sets: int) -> TableCell:
    whose = f"{own[0].name}: " if sets > 1 else ""
    return TableCell(f"{whose}{readable(name)}", title=full(name))


def _figures(view: View, name: str) -> tuple[str, str | TableCell]:
    """By when requests were due, as far as that is known."""
    times = view.times(name)
    counts = times[1].window(*view.window) if times else None
    low, high = view.window
    if not counts or not counts.total:
        return "-", "-"
    rate = format_number(counts.total / max(high - low, 1.0))
    if counts.total < _FEWEST:
        slowest = f"{format_number(counts.percentile(100))} ms"
        return rate, TableCell(slowest, small=f"slowest of {counts.total}")
    return rate, f"{format_number(counts.percentile(95))} ms"


def _slowest(name: str, own: Sequence[View]) -> str:
    """`0:45`, `0:45 in fork`: the worst point of its chart over time."""
    point = spread.worst(spread.lines_over_time(own, name))
    if not point:
        return "-"
    _, start, line = point
    return clock(start) + (f" in {line.view.name}" if len(own) > 1 else "")


def _failed(name: str, own: Sequence[View]) -> str:
    counted = ((view, view.both_times(name).get("service")) for view in own)
    failed = sum(counts.window(*view.window).errors for view, counts in counted if counts)
    return f"{failed:,}" if failed else "-"
