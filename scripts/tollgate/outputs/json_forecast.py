"""How a run kept to its forecast, in verdict.json: the models, and the content. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tollgate.base.fields import Amount, Confidence, Count, Positive, ends
from tollgate.forecast.model import ForecastFacts, ForecastResult, PartResult, StepFacts
from tollgate.judge.forecast import NOT_REACHED
from tollgate.outputs.json_model import Model, content

#: Both ends of an interval of requests.
Bounds = Annotated[list[Amount], Field(min_length=2, max_length=2)]
#: forecast/facts.py makes no more.
Points = Annotated[list[Amount], Field(max_length=3600)]


class PartEntry(Model):
    """Requests sent beside requests forecast, of all together."""

    forecast: Amount
    """Requests that the forecast asks for."""
    sent: Count
    """Requests that were sent."""
    error_percent: float | None
    """By how many percent more were sent; null where the forecast asks for none or nothing was
    judged."""
    interval: Bounds | None
    """Interval of what was sent, so wide that all intervals of the execution hold together; null
    where nothing was judged."""
    outcome: Literal["held", "missed", "not reached"]
    """held: within the tolerance, as far as the samples show. missed: beyond it. not reached: the
    run ended before."""


class TargetEntry(PartEntry):
    """The requests of one label."""

    name: str
    """The target, which is the label."""


class StepEntry(PartEntry):
    """One step of the forecast."""

    name: str
    """Its name in the file, e.g. `07:00`."""
    from_s: Amount
    """Where it begins, in seconds since the execution's start."""
    to_s: Amount
    """Where it ends, in seconds since the execution's start."""
    forecast_tps: Amount
    """Requests a second that the forecast asks for."""
    sent_tps: Amount | None
    """Requests a second that were sent, over the whole step; null where the run ended before the
    step did."""


class Timeline(Model):
    """Requests a second, forecast and sent, in pieces of equal length from the first step on; the
    last piece may be shorter."""

    resolution_s: Positive
    """Length of a piece in seconds."""
    forecast: Points
    """Requests a second that the forecast asks for."""
    sent: Points
    """Requests a second that were sent."""


class ForecastEntry(Model):
    """Requests sent beside requests forecast, by their actual start, without the warm-up."""

    file: str
    """The forecast's file."""
    factor: Positive
    """By what the forecast's rates were multiplied."""
    scale: Annotated[float, Field(ge=1)]
    """How many times faster than in production the steps followed one another; rates are never
    scaled."""
    tolerance: Amount
    """How far from the forecast is held, as a share of it; one request always is."""
    confidence: Confidence
    """The confidence that all intervals hold together, as a share of 1."""
    step_s: Positive
    """Length of a step of this run, in seconds."""
    steps: Annotated[list[StepEntry], Field(min_length=1)]
    """The steps in the order of the run."""
    targets: list[TargetEntry]
    """The targets, over all steps that were reached."""
    total: PartEntry
    """All requests of the steps that were reached."""
    timeline: Timeline
    """The course of both rates."""


def forecast_content(
    facts: ForecastFacts | None, result: ForecastResult | None
) -> dict[str, Any] | None:
    """An execution's `forecast` in verdict.json; None where it follows none."""
    if facts is None or result is None:
        return None
    first = facts.steps[0].step
    pairs = zip(facts.steps, result.steps, strict=True)
    return content(
        ForecastEntry,
        result,
        file=facts.path,
        factor=facts.factor,
        scale=facts.scale,
        step_s=round(first.to_s - first.from_s, 3),
        steps=[_step(each, judged) for each, judged in pairs],
        targets=[_part(TargetEntry, each, name=each.name) for each in result.targets],
        total=_part(PartEntry, result.total),
        timeline=content(
            Timeline,
            facts,
            forecast=[asked for asked, _ in facts.timeline],
            sent=[sent for _, sent in facts.timeline],
        ),
    )


def _step(facts: StepFacts, judged: PartResult) -> dict[str, Any]:
    step = facts.step
    # The length of a step in which the run was cut short is not that of its load.
    tps = None if judged.outcome == NOT_REACHED else facts.sent / (step.to_s - step.from_s)
    return _part(
        StepEntry,
        judged,
        from_s=step.from_s,
        to_s=step.to_s,
        forecast_tps=step.tps,
        sent_tps=tps,
    )


def _part(model: type[PartEntry], part: PartResult, **given: Any) -> dict[str, Any]:
    interval = ends(part.low, part.high)
    return content(model, part, forecast=round(part.forecast, 6), interval=interval, **given)
