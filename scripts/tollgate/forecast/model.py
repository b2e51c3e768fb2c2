"""A production forecast, the load that it asks for, and how a run kept to it: plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tollgate.base import records


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


@dataclass(frozen=True)
class LoadStep:
    """One step of a run: from_s and to_s are seconds since the execution's start."""

    __pydantic_config__ = records.STRICT

    name: str
    from_s: float
    to_s: float
    tps: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class Followed:
    """A forecast's file, the factor of its rates, by how much its time was compressed, its steps
    one after the other.

    run.json keeps it, so that `tollgate judge` needs no forecast file, which may have changed
    since:

        {"path": "data/forecast.csv", "factor": 1.5, "scale": 1440,
         "steps": [{"name": "07:00", "from_s": 5, "to_s": 7.5, "tps": 9.6, "shares": {"sum": 1}}]}
    """

    __pydantic_config__ = records.STRICT

    path: str
    factor: float
    scale: float
    steps: tuple[LoadStep, ...]


def to_record(followed: Followed) -> dict[str, Any]:
    """Plain values, ready for JSON."""
    return asdict(followed) | {"steps": [asdict(step) for step in followed.steps]}


def from_record(record: Mapping[str, Any]) -> Followed:
    """The forecast of a record. Raises ValueError, with what is wrong, for anything else."""
    try:
        followed = records.parse(Followed, record)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the forecast is not one that a run wrote: {error}") from None
    _check(followed.steps)
    return followed


def _check(steps: tuple[LoadStep, ...]) -> None:
    if not steps:
        raise ValueError("the forecast has no steps")
    for step in steps:
        values = (step.from_s, step.to_s, step.tps, *step.shares.values())
        if not all(math.isfinite(value) and value >= 0 for value in values):
            raise ValueError(f"the forecast's step {step.name!r} holds what is no rate or time")
        if step.to_s <= step.from_s:
            raise ValueError(f"the forecast's step {step.name!r} ends before it begins")
    for before, after in pairwise(steps):
        if before.to_s != after.from_s:
            raise ValueError(f"the forecast's step {after.name!r} does not follow the one before")


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


@dataclass(frozen=True)
class PartResult:
    """Requests of one step, of one target, or of all, beside the forecast of them.

    low and high: the interval of what was sent; None where the part is not judged, because the
    run ended before it did. outcome: held, missed or not reached.
    """

    name: str
    forecast: float
    sent: int
    low: float | None
    high: float | None
    outcome: str

    @property
    def error_percent(self) -> float | None:
        """By how much more was sent; None where there is nothing to compare."""
        if not self.forecast or self.low is None:
            return None
        return 100 * (self.sent / self.forecast - 1)


@dataclass(frozen=True)
class ForecastResult:
    """How a run kept to its forecast. tolerance: as a share. confidence: of all intervals together.

    steps stand in the order of the run; targets and total are of the steps that were reached.
    """

    tolerance: float
    confidence: float
    steps: tuple[PartResult, ...]
    targets: tuple[PartResult, ...]
    total: PartResult
