"""How a run kept to the forecast that it followed: each step, each target and all of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.base import one_line
from tollgate.forecast import PartResult
from tollgate.judge import HELD, MISSED, NOT_REACHED, ExecutionVerdict, requests, signed
from tollgate.outputs import forecast_line
from tollgate.pages.kit.bars import limit_bar, limit_head
from tollgate.pages.kit.parts import Child, Column, Group, Row, badge, details, table
from tollgate.pages.run.view import View, named

#: Rows of steps that are shown; verdict.json has all of them.
MOST_STEPS = 200
_NUMBER = "number"


def content(views: Sequence[View], judged: Sequence[ExecutionVerdict]) -> list[Child]:
    """A sentence and a table for each execution that follows a forecast."""
    found: list[Child] = []
    for view, verdict in zip(views, judged, strict=True):
        facts, result = view.execution.forecast, verdict.forecast
        if facts is None or result is None:
            continue
        scaled = "" if facts.scale == 1 else f", its time compressed {facts.scale:g} times"
        factor = "" if facts.factor == 1 else f" at {facts.factor:g} times its rates"
        found.append(f"{view.name} follows {one_line(facts.path)}{factor}{scaled}.")
        found.append(f"{view.name}, {one_line(forecast_line(result))}.")
        rows: list[Row] = [Group(("in all",)), _row("requests", result.total)]
        rows += [Group(("by target",)), *(_row(named(it.name), it) for it in result.targets)]
        shown, cut = _steps(result.steps)
        rows.append(Group(("by step",)))
        rows += [_row(named(it.name), it) for it in shown]
        caption = f"{view.name}: requests sent, and forecast{cut}"
        which = "every target and step" if not cut else f"every target{cut}"
        found.append(details(f"{view.name}: {which}", table(caption, _columns(), rows, "cards")))
    return found


def _steps(steps: Sequence[PartResult]) -> tuple[Sequence[PartResult], str]:
    """Those that are shown, and what is to be said of it; of many those first that were missed."""
    if len(steps) <= MOST_STEPS:
        return steps, ""
    ordered = sorted(steps, key=lambda it: it.outcome != MISSED)
    cut = f"the first {MOST_STEPS} of {len(steps):,} steps, missed ones before all others"
    return ordered[:MOST_STEPS], f"; {cut}; verdict.json has all"


def _columns() -> tuple[Column, ...]:
    return (
        *(Column("part"), Column("outcome"), Column("sent", _NUMBER), Column("forecast", _NUMBER)),
        *(
            Column("of the forecast", "bar narrow", limit_head("forecast")),
            Column("error", _NUMBER),
        ),
    )


def _row(name: Child, part: PartResult) -> Sequence[Child]:
    tone = {HELD: "good", NOT_REACHED: "unsure"}.get(part.outcome, "bad")
    error = part.error_percent
    values = [None if it is None or not part.forecast else it / part.forecast for it in _ends(part)]
    return (
        *(name, badge(part.outcome, tone), f"{part.sent:,}", requests(part.forecast)),
        *(limit_bar(*values, tone), "-" if error is None else f"{signed(error)} %"),
    )


def _ends(part: PartResult) -> tuple[float | None, ...]:
    return part.sent, part.low, part.high
