"""How a run kept to the forecast that it followed: each step, each target and all of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.base.text import one_line
from tollgate.forecast.check import MISSED
from tollgate.forecast.model import ForecastResult, PartResult
from tollgate.judge.verdicts import ExecutionVerdict
from tollgate.report.pages.run.view import View
from tollgate.report.text import forecast_line

#: Rows of steps that are shown; verdict.json has all of them.
MOST_STEPS = 200


@dataclass(frozen=True)
class ExecutionForecast:
    """lines: how it went. steps: those that are shown, and cut: which these are where there are
    more."""

    name: str
    lines: Sequence[str]
    result: ForecastResult
    steps: Sequence[PartResult]
    cut: str


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
        steps, cut = result.steps, ""
        if len(steps) > MOST_STEPS:
            shown = f"the first {MOST_STEPS} of {len(steps):,} steps, missed ones before all others"
            cut = f"; {shown}; verdict.json has all"
            steps = sorted(steps, key=lambda it: it.outcome != MISSED)[:MOST_STEPS]
        found.append(ExecutionForecast(view.name, lines, result, steps, cut))
    return found
