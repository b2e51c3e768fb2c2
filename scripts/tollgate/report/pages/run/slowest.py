"""The slowest requests, one by one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tollgate.base.text import format_number
from tollgate.report.pages.kit.names import full, readable
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, TableCell, numeric
from tollgate.samples.slowest import MOST, OF_LABEL, SlowRequest
from tollgate.schedule.growing_samples import SIDES
from tollgate.stats.response_codes import short_code


def table(views: Sequence[View]) -> Table | None:
    """None without samples."""
    every = [(view, request) for view in views for request in view.execution.slowest]
    if not every:
        return None
    slowest = sorted(every, key=lambda each: -each[1].elapsed_ms)[:MOST]
    is_traced = any(request.trace for _, request in slowest)
    caption = f"The slowest requests of the measured time, at most {OF_LABEL} of a label"
    columns = (Column("request"), *numeric("ms"), Column("sent, UTC"), Column("answer"))
    traces = (Column("trace id"),) if is_traced else ()
    rows = [
        (*_cells(view.name, request), *([request.trace or "-"] if is_traced else []))
        for view, request in slowest
    ]
    return Table(caption, (*columns, *traces), rows, "cards")


def _cells(execution: str, request: SlowRequest) -> tuple[str | TableCell, ...]:
    side = f", {SIDES[request.side]}" if request.side >= 0 else ""
    sent = datetime.fromtimestamp(request.start_ms / 1000, UTC)
    return (
        TableCell(f"{execution}{side}: {readable(request.label)}", title=full(request.label)),
        format_number(request.elapsed_ms),
        sent.strftime("%H:%M:%S.") + f"{request.start_ms % 1000:03d}",
        short_code(request.code) + ("" if request.ok else ", failed"),
    )
