"""How a run kept to the forecast that it followed: each step, each target and all of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.base.text import one_line
from tollgate.forecast.model import PartResult
from tollgate.judge.forecast import HELD, MISSED, NOT_REACHED, requests, signed
from tollgate.judge.verdicts import ExecutionVerdict
from tollgate.outputs.text import forecast_line
from tollgate.pages.kit.bars import LimitBar
from tollgate.pages.run.view import View, full, readable

#: Rows of steps that are shown; verdict.json has all of them.
MOST_STEPS = 200
_TONES = {HELD: "good", NOT_REACHED: "unsure"}


@dataclass(frozen=True)
class ForecastRow:
    """A step, a target or all of it. title: all of a name that is shown in part. bar: what was sent
    against the forecast."""

    name: str
    title: str
    outcome: str
    tone: str
    sent: int
    forecast: str
    bar: LimitBar
    error: str


@dataclass(frozen=True)
class ExecutionForecast:
    """cut: which steps are shown, where some are not. groups: (heading, rows)."""

    execution: str
    lines: Sequence[str]
    cut: str
    groups: Sequence[tuple[str, Sequence[ForecastRow]]]


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
        groups = [
            ("total", [_row("requests", result.total)]),
            ("by target", [_row(it.name, it) for it in result.targets]),
            ("by step", [_row(it.name, it) for it in shown]),
        ]
        found.append(ExecutionForecast(view.name, lines, cut, groups))
    return found


def _steps(steps: Sequence[PartResult]) -> tuple[Sequence[PartResult], str]:
    """Those that are shown, and which these are where there are more: the missed ones first."""
    if len(steps) <= MOST_STEPS:
        return steps, ""
    ordered = sorted(steps, key=lambda it: it.outcome != MISSED)
    cut = f"the first {MOST_STEPS} of {len(steps):,} steps, missed ones before all others"
    return ordered[:MOST_STEPS], f"; {cut}; verdict.json has all"


def _row(name: str, part: PartResult) -> ForecastRow:
    ends = (part.sent, *(part.interval or (None, None)))
    values = [None if it is None or not part.forecast else it / part.forecast for it in ends]
    tone = _TONES.get(part.outcome, "bad")
    error = part.error_percent
    return ForecastRow(
        name=readable(name),
        title=full(name),
        outcome=part.outcome,
        tone=tone,
        sent=part.sent,
        forecast=requests(part.forecast),
        bar=LimitBar.of(*values, tone=tone),
        error="-" if error is None else f"{signed(error)} %",
    )
