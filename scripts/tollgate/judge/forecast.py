"""What it means for the verdict that a run left its forecast (forecast/check.py). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from tollgate.base.text import format_number
from tollgate.forecast.check import MISSED
from tollgate.forecast.model import ForecastResult, PartResult
from tollgate.judge.verdicts import GENERATOR, OPERATOR, FaultName, Reason, invalid

Part = TypeVar("Part", bound=PartResult)


def forecast_reasons(result: ForecastResult) -> Iterator[Reason]:
    """One line if the load left the forecast: of its steps, or else in total or in its mix."""
    steps = [it for it in result.steps if it.outcome == MISSED]
    targets = [it for it in result.targets if it.outcome == MISSED]
    part: PartResult
    if steps:
        part = step = worst_part(steps)
        what = f"step {result.steps.index(step) + 1} ({step.name}) "
        so_many = f", {len(steps)} of {len(result.steps)} steps missed"
    elif result.total.outcome == MISSED:
        part, what, so_many = result.total, "", " in all, though every step held"
    elif targets:
        part = target = worst_part(targets)
        what, so_many = (
            f"{target.name} ",
            f", {len(targets)} of {len(result.targets)} targets missed",
        )
    else:
        return
    # Too few: the generator did not get round to them. Too many, or others: they were asked for.
    is_of_total = bool(steps) or part is result.total
    fault: FaultName = GENERATOR if is_of_total and part.sent < part.forecast else OPERATOR
    yield invalid(fault, f"the load left the forecast: {what}{_compared(part, result)}{so_many}")


def worst_part(parts: Sequence[Part]) -> Part:
    """The one with the greatest error; before all, one that was sent and not asked for."""

    def error(part: Part) -> float:
        return math.inf if part.sent and not part.forecast else abs(part.error_percent or 0.0)

    return max(parts, key=error)


def _compared(part: PartResult, result: ForecastResult) -> str:
    error = "" if part.error_percent is None else f"{signed(part.error_percent)} %, "
    ends = "-".join(map(format_number, part.interval or ()))
    interval = f"{100 * result.confidence:g} % CI {ends}"
    return f"{part.sent:,} of {requests(part.forecast)} requests ({error}{interval})"


def signed(percent: float) -> str:
    """An error as `+1.3` or `-21`."""
    return f"{percent:+.0f}" if abs(percent) >= 10 else f"{percent:+.1f}"


def requests(forecast: float) -> str:
    """A number of requests that need not be whole: `1,431`, `3.5`."""
    return f"{forecast:,.0f}" if forecast >= 100 else format_number(forecast)
