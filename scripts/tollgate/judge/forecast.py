"""What it means for the verdict that a run left its forecast (forecast/check.py). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tollgate.base.text import format_number
from tollgate.forecast.check import MISSED
from tollgate.forecast.model import ForecastResult, PartResult
from tollgate.judge.verdicts import GENERATOR, OPERATOR, Reason, invalid


def forecast_reasons(result: ForecastResult) -> Iterator[Reason]:
    """One line if the load left the forecast: of its steps, or else in total or in its mix."""
    steps, targets = (
        [it for it in parts if it.outcome == MISSED] for parts in (result.steps, result.targets)
    )
    if steps:
        part = worst_part(steps)
        what = f"step {result.steps.index(part) + 1} ({part.name}) "
        so_many = f", {len(steps)} of {len(result.steps)} steps missed"
    elif result.total.outcome == MISSED:
        part, what, so_many = result.total, "", " in all, though every step held"
    elif targets:
        part = worst_part(targets)
        what, so_many = f"{part.name} ", f", {len(targets)} of {len(result.targets)} targets missed"
    else:
        return
    # Too few: the generator did not get round to them. Too many, or others: they were asked for.
    is_of_total = bool(steps) or part is result.total
    fault = GENERATOR if is_of_total and part.sent < part.forecast else OPERATOR
    yield invalid(fault, f"the load left the forecast: {what}{_compared(part, result)}{so_many}")


def worst_part(parts: list[PartResult]) -> PartResult:
    """The one with the greatest error; before all, one that was sent and not asked for."""
    return max(
        parts,
        key=lambda it: math.inf if it.sent and not it.forecast else abs(it.error_percent or 0.0),
    )


def _compared(part: PartResult, result: ForecastResult) -> str:
    error = "" if part.error_percent is None else f"{signed(part.error_percent)} %, "
    low, high = map(format_number, part.interval)
    interval = f"{100 * result.confidence:g} % CI {low}-{high}"
    return f"{part.sent:,} of {requests(part.forecast)} requests ({error}{interval})"


def signed(percent: float) -> str:
    """An error as `+1.3` or `-21`."""
    return f"{percent:+.0f}" if abs(percent) >= 10 else f"{percent:+.1f}"


def requests(forecast: float) -> str:
    """A number of requests that need not be whole: `1,431`, `3.5`."""
    return f"{forecast:,.0f}" if forecast >= 100 else format_number(forecast)
