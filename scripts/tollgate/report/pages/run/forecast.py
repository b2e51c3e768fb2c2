"""How a run kept to the forecast that it followed: each step, each target and all of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.base.text import one_line
from tollgate.forecast.model import PartResult
from tollgate.judge.forecast import MISSED, requests, signed
from tollgate.judge.verdicts import ExecutionVerdict
from tollgate.report.pages.run.view import View, full, readable
from tollgate.report.table import Bar, Cell, Column, Table, numeric
from tollgate.report.text import forecast_line

#: Rows of steps that are shown; verdict.json has all of them.
MOST_STEPS = 200
_COLUMNS = (
    *(Column("group"), Column("part"), Column("outcome")),
    *numeric("sent", "forecast"),
    Column("of the forecast", "bar narrow", "forecast"),
    *numeric("error"),
)


@dataclass(frozen=True)
class ExecutionForecast:
    """lines: how it went. title: of the table of every part, which is to be unfolded."""

    lines: Sequence[str]
    title: str
    table: Table


def content(views: Sequence[View], judged: Sequence[ExecutionVerdict]) -> list[ExecutionForecast]:
    """One for each execution that follows a forecast."""
    found = []
    for view, verdict in zip(views, judged, strict=True):
        facts, result = view.execution.forecast, verdict.forecast
        if facts is None or result is None:
            continue
        scaled = "" if facts.scale == 1 else f", its time compressed {facts.scale:g} times"
        factor = "" if facts.factor == 1 else f" at {facts.factor:g} times its rates"
        lines = [
            f"{view.name} follows {one_line(facts.path)}{factor}{scaled}.",
            f"{view.name}, {one_line(forecast_line(result))}.",
        ]
        shown, cut = _steps(result.steps)
        parts = [
            ("total", [("requests", result.total)]),
            ("by target", [(it.name, it) for it in result.targets]),
            ("by step", [(it.name, it) for it in shown]),
        ]
        rows = [_row(group, name, part) for group, each in parts for name, part in each]
        caption = f"{view.name}: requests sent, and forecast{cut}"
        title = f"{view.name}: every target{cut or ' and step'}"
        found.append(ExecutionForecast(lines, title, Table(caption, _COLUMNS, rows, "cards", True)))
    return found


def _steps(steps: Sequence[PartResult]) -> tuple[Sequence[PartResult], str]:
    """Those that are shown, and which these are where there are more: the missed ones first."""
    if len(steps) <= MOST_STEPS:
        return steps, ""
    ordered = sorted(steps, key=lambda it: it.outcome != MISSED)
    cut = f"the first {MOST_STEPS} of {len(steps):,} steps, missed ones before all others"
    return ordered[:MOST_STEPS], f"; {cut}; verdict.json has all"


def _row(group: str, name: str, part: PartResult) -> tuple[str | Cell, ...]:
    ends = (part.sent, *(part.interval or (None, None)))
    values = [None if it is None or not part.forecast else it / part.forecast for it in ends]
    error = part.error_percent
    return (
        group,
        Cell(readable(name), title=full(name)),
        Cell(badge=part.outcome),
        f"{part.sent:,}",
        requests(part.forecast),
        Cell(bar=Bar(*values, part.outcome)),
        "-" if error is None else f"{signed(error)} %",
    )
