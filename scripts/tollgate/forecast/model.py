"""A production forecast, the load that it asks for, and how a run kept to it: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from tollgate.base import records
from tollgate.base.fields import Amount, Confidence, Count, Positive, written

#: forecast/facts.py makes no more.
Points = Annotated[tuple[Amount, ...], Field(max_length=3600)]


@dataclass(frozen=True)
class ForecastStep:
    """One step of a forecast: requests a second, and the share of each target in them (sum 1)."""

    name: str
    tps: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Forecast:
    """A forecast as it was read. step_s: length of each step in production, in seconds."""

    path: str
    step_s: float
    steps: tuple[ForecastStep, ...]


@records.stored
class LoadStep:
    """One step of a run: from_s and to_s are seconds since the execution's start."""

    name: str
    from_s: Amount
    to_s: Amount
    tps: Amount
    shares: Mapping[str, Amount]


@records.stored
class Followed:
    """A forecast's file, the factor of its rates, by how much its time was compressed, its steps
    one after the other. followers: labels of what an arrival sends behind its first request, which
    the forecast does not count.

    run.json keeps it, so that `tollgate judge` needs no forecast file, which may have changed
    since:

        {"path": "data/forecast.csv", "factor": 1.5, "scale": 1440,
         "steps": [{"name": "07:00", "from_s": 5, "to_s": 7.5, "tps": 9.6, "shares": {"sum": 1}}]}
    """

    path: str
    factor: float
    scale: float
    steps: Annotated[tuple[LoadStep, ...], Field(min_length=1)]
    followers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for step in self.steps:
            if step.to_s <= step.from_s:
                raise ValueError(f"the forecast's step {step.name!r} ends before it begins")
        for before, after in pairwise(self.steps):
            if before.to_s != after.from_s:
                raise ValueError(f"the forecast's step {after.name!r} does not follow the last")


@dataclass(frozen=True)
class StepFacts:
    """A step beside what was sent in it: requests that started in [from_s, to_s).

    sent_by_label: counts by label. reached: False where the run ended before the step did.
    """

    step: LoadStep
    sent_by_label: Mapping[str, int]
    reached: bool = True

    @property
    def forecast(self) -> float:
        """Requests that the forecast asks for."""
        return self.step.tps * (self.step.to_s - self.step.from_s)

    @property
    def sent(self) -> int:
        return sum(self.sent_by_label.values())


@dataclass(frozen=True)
class ForecastFacts:
    """What an execution that follows a forecast was asked to send and what it sent.

    path: the forecast's file. factor: of its rates (1.5 for `load`). scale: by how much time was
    compressed. resolution_s: length of each piece of `timeline`, which holds (forecast, sent)
    requests per second, warm-up left out.
    """

    path: str
    factor: float
    scale: float
    steps: tuple[StepFacts, ...]
    resolution_s: float
    timeline: tuple[tuple[float, float], ...]

    def silent_from(self, requests: float = 0.0) -> float:
        """The moment behind which the forecast asks for no more than so many requests, in seconds
        since the execution's start; with 0 the end of the last step that asks for any."""
        left = requests
        for each in reversed(self.steps):
            if each.forecast > left:
                return each.step.to_s - left / each.step.tps
            left -= each.forecast
        return self.steps[0].step.from_s


@written
class PartResult:
    """Requests sent beside requests forecast, of all together."""

    # Described in the annotations: Pydantic reads no docstrings of the fields of a base class.
    forecast: Annotated[Amount, Field(description="Requests that the forecast asks for.")]
    sent: Annotated[Count, Field(description="Requests that were sent.")]
    error_percent: Annotated[
        float | None,
        Field(
            description="By how many percent more were sent; null where the forecast asks for none "
            "or nothing was judged."
        ),
    ]
    interval: Annotated[
        tuple[Amount, Amount] | None,
        Field(
            description="Interval of what was sent, so wide that all intervals of the execution "
            "hold together; null where nothing was judged."
        ),
    ]
    outcome: Annotated[
        Literal["held", "missed", "not reached"],
        Field(
            description="held: within the tolerance, as far as the samples show. missed: beyond "
            "it. not reached: the run ended before."
        ),
    ]


@written
class TargetResult(PartResult):
    """The requests of one label."""

    name: str
    """The target, which is the label."""


@written
class StepResult(PartResult):
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


@written
class Timeline:
    """Requests a second, forecast and sent, in pieces of equal length from the first step on; the
    last piece may be shorter."""

    resolution_s: Positive
    """Length of a piece in seconds."""
    forecast: Points
    """Requests a second that the forecast asks for."""
    sent: Points
    """Requests a second that were sent."""


@written
class ForecastResult:
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
    steps: Annotated[tuple[StepResult, ...], Field(min_length=1)]
    """The steps in the order of the run."""
    targets: tuple[TargetResult, ...]
    """The targets, over all steps that were reached."""
    total: PartResult
    """All requests of the steps that were reached."""
    timeline: Timeline
    """The course of both rates."""
