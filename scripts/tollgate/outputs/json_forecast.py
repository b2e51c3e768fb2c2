"""How a run kept to its forecast, for programs and for people; a load as a table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tollgate.forecast import (
    ForecastFacts,
    ForecastResult,
    LoadStep,
    PartResult,
    StepFacts,
    arrival_counts,
)
from tollgate.judge import HELD, NOT_REACHED, requests, signed, worst_part


def forecast_dict(
    facts: ForecastFacts | None, result: ForecastResult | None
) -> dict[str, Any] | None:
    """An execution's `forecast` in verdict.json; None where it follows none."""
    if facts is None or result is None:
        return None
    first = facts.steps[0].step
    return {
        "file": facts.path,
        "factor": facts.factor,
        "scale": facts.scale,
        "tolerance": result.tolerance,
        "confidence": result.confidence,
        "step_s": round(first.to_s - first.from_s, 3),
        "steps": [
            {
                "name": judged.name,
                "from_s": each.step.from_s,
                "to_s": each.step.to_s,
                "forecast_tps": each.step.tps,
                "sent_tps": _sent_tps(each, judged),
                **_part(judged),
            }
            for each, judged in zip(facts.steps, result.steps, strict=True)
        ],
        "targets": [{"name": each.name, **_part(each)} for each in result.targets],
        "total": _part(result.total),
        "timeline": {
            "resolution_s": facts.resolution_s,
            "forecast": [asked for asked, _ in facts.timeline],
            "sent": [sent for _, sent in facts.timeline],
        },
    }


def _sent_tps(facts: StepFacts, judged: PartResult) -> float | None:
    """None for a step in which the run was cut short: its length is not that of its load."""
    if judged.outcome == NOT_REACHED:
        return None
    return facts.sent / (facts.step.to_s - facts.step.from_s)


def _part(part: PartResult) -> dict[str, Any]:
    return {
        "forecast": round(part.forecast, 6),
        "sent": part.sent,
        "error_percent": part.error_percent,
        "interval": None if part.low is None else [part.low, part.high],
        "outcome": part.outcome,
    }


def forecast_line(result: ForecastResult) -> str:
    """`forecast: 24 of 24 steps held, 1,432 of 1,431 requests, worst step 8 (07:00) +1.3 %`."""
    judged = [each for each in result.steps if each.outcome != NOT_REACHED]
    held = sum(each.outcome == HELD for each in judged)
    said = [f"forecast: {held} of {len(judged)} steps held"]
    if len(judged) < len(result.steps):
        said.append(f"{len(result.steps) - len(judged)} not reached")
    if judged:
        said.append(f"{result.total.sent:,} of {requests(result.total.forecast)} requests")
        worst = worst_part(judged)
        error = worst.error_percent
        by = f" {signed(error)} %" if error is not None else ""
        counts = f"{worst.sent:,} of {requests(worst.forecast)}"
        said.append(f"worst step {result.steps.index(worst) + 1} ({worst.name}){by}: {counts}")
    return ", ".join(said)


def steps_table(steps: Sequence[LoadStep]) -> str:
    """The steps of a load with their rates, requests and targets, in aligned columns."""
    rows = [*_rows(steps)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
    return "\n".join(lines)


def _rows(steps: Sequence[LoadStep]) -> Iterator[tuple[str, ...]]:
    targets = list(steps[0].shares)
    yield "step", "from s", "to s", "TPS", "requests", *(f"{name} %" for name in targets)
    for step, count in zip(steps, arrival_counts(steps)[1:], strict=True):
        shares = (f"{100 * step.shares[name]:.4g}" for name in targets)
        times = (f"{step.from_s:.10g}", f"{step.to_s:.10g}")
        yield step.name, *times, f"{step.tps:.6g}", f"{count:,}", *shares
