"""What a search for capacity is made of: what is asked of the generator, what came, the answer.

Capacity is the arrival rate at which a minute of load keeps the limits half of the time, averaged
over the search. Times are seconds since the search began unless their names say milliseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, computed_field

from tollgate.base import records
from tollgate.base.fields import (
    Amount,
    Count,
    Inlined,
    Interval,
    Positive,
    Text,
    Unwritten,
    ends,
    written,
)

Purpose = Literal["ceiling", "bracket", "search", "anchor", "holdout"]
Status = Literal["found", "below", "unsaturated", "generator", "open"]
#: Of the generator's ceiling: what the generator is trusted with.
TRUSTED = 0.8
#: Of searching trials that are sound, for an interval.
FEWEST = 6


@dataclass(frozen=True)
class Limit:
    """What most answers must keep.

    subject: `p50`, `p95`, ... or `fail`. threshold: in ms, none for `fail`. share: of the answers
    that may be over it. p95>250ms is Limit("p95", 250, 0.05), fail>0.1% is Limit("fail", None,
    0.001).
    """

    subject: str
    threshold: float | None
    share: float

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            step = "give a share between 0 and 1, as 0.05 for p95"
            raise ValueError(f"limit {self.subject}: share {self.share:g} cannot be kept; {step}")


@records.stored
class CapacitySettings:
    """What is asked of a search.

    budget_s: of a mode, bracket and holdout included. trial_s, bracket_s, holdout_s: seconds of
    sending in a trial. lead_s: the first of these, in which queues fill; what was due in them is
    not judged. drain_s: the longest time after a trial in which its last responses arrive; the next
    trial may begin sooner. seed: of all that is drawn. start_rate, least_rate: arrivals a second
    of the first trial, and of the slowest.
    """

    limits: tuple[Limit, ...]
    budget_s: float = 300.0
    trial_s: float = 10.0
    bracket_s: float = 5.0
    holdout_s: float = 60.0
    lead_s: float = 2.0
    drain_s: float = 2.0
    seed: int = 1
    start_rate: float = 10.0
    least_rate: float = 1.0

    def __post_init__(self) -> None:
        if not self.limits:
            raise ValueError("no limits; give at least one, as p95>250ms")
        if not 0 < self.least_rate <= self.start_rate:
            problem = f"start_rate {self.start_rate:g} is not above least_rate {self.least_rate:g}"
            raise ValueError(f"{problem}; give both in arrivals a second")
        if not 0 <= self.lead_s < min(self.bracket_s, self.trial_s, self.holdout_s):
            problem = f"lead_s {self.lead_s:g} leaves nothing of a trial"
            raise ValueError(f"{problem}; give fewer seconds")
        if self.budget_s < self.least_budget_s:
            problem = f"budget {self.budget_s:g} s is too short"
            raise ValueError(f"{problem}; give at least {self.least_budget_s:g} s")

    @property
    def least_budget_s(self) -> float:
        """In which a bracket, an interval and a holdout fit."""
        parts = ((8, self.bracket_s), (FEWEST, self.trial_s), (1, self.holdout_s))
        return sum(number * (each + self.drain_s) for number, each in parts)


@written
class Ask:
    """What to send next."""

    number: Unwritten[int]
    """1 for the first of a search. The same trials always lead to the same ask."""
    purpose: Purpose
    """ceiling: of the generator, against a server that does nothing. bracket: doubled rates.
    search: near the capacity. anchor: one rate that recurs. holdout: a minute just below the
    interval."""
    rate: Positive
    """Arrivals a second that were asked for."""
    seconds: Positive
    """Seconds that were asked for."""


@written
class Trial:
    """What came of an ask. Requests are those that were due after the lead; one that failed or was
    never answered is over every limit. Percentiles are inf or NaN where nothing came back."""

    ask: Inlined[Ask]
    achieved: Amount
    """Arrivals a second that were sent."""
    n: Count
    """Requests that are judged."""
    over: tuple[Count, ...]
    """How many of them were over each of the limits, failed ones included."""
    p50_ms: Amount | None
    """Median response time in ms, from when a request was due; null where no answer came."""
    p95_ms: Amount | None
    """Its 95th percentile, in ms."""
    p99_ms: Amount | None
    """Its 99th percentile, in ms."""
    grew: bool
    """Whether a queue grew through the trial, or the service was overrun so that it was cut."""
    generator_cpu: Amount
    """CPU time of the generator, in cores."""
    sound: bool
    """Whether the schedule was kept; if not, the trial says nothing of the service."""
    began_s: float
    """When it began, in seconds since the search did."""

    def keeps(self, limits: tuple[Limit, ...]) -> bool:
        """Whether no limit has more answers over it than it allows, and no queue grew."""
        shares = [limit.share * self.n for limit in limits]
        return not self.grew and all(map(float.__le__, map(float, self.over), shares))


@dataclass(frozen=True)
class CurvePoint:
    """Of the picture of response time over rate: the median of neighbouring trials, and a band of
    about 94 % confidence."""

    rate: float
    ms: float
    low_ms: float
    high_ms: float


@written
class Result:
    """The answer of a search, in arrivals a second."""

    status: Status
    """found: an interval, and a minute just below it that kept the limits. below: the limits fail
    at the lowest rate. unsaturated: they hold at the highest rate that the generator is trusted
    with. generator: the answer lies within a fifth of the generator's ceiling. open: no answer."""
    reason: str
    """Why there is no answer; empty for `found`."""
    estimate: Amount | None = None
    """The capacity; null where there is none."""
    low: Unwritten[float | None] = None
    """Lower end of `interval`, which may be known where the status is not `found`."""
    high: Unwritten[float | None] = None
    """Upper end of it."""
    drift: float | None = None
    """Of the capacity, from the beginning of the search to its end, as a share."""
    holdout: Unwritten[Trial | None] = None
    """The last trial; None where there was none."""
    last_pass: Amount | None = None
    """The highest rate of a trial that kept the limits."""
    first_fail: Amount | None = None
    """The lowest rate of a trial that did not."""
    curves: Unwritten[dict[str, tuple[CurvePoint, ...]] | None] = None
    """By `p50`, `p95`, `p99`, by rate."""

    @computed_field
    @property
    def interval(self) -> Interval | None:
        """Its 95 % interval."""
        return ends(self.low, self.high)

    @property
    def half_width(self) -> float | None:
        """Of the interval, as a share of the estimate."""
        if self.estimate is None or self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2 / self.estimate


@written
class Searched:
    """What a search for capacity found."""

    limits: tuple[Text, ...]
    """What must not happen in a trial."""
    parsed_limits: Unwritten[tuple[Limit, ...]]
    """The same limits."""
    of: tuple[Text, ...]
    """What was asked."""
    ceiling: Amount
    """The generator's own, against a server that does nothing."""
    ceiling_trials: Unwritten[tuple[Trial, ...]]
    trials: Unwritten[tuple[Trial, ...]]
    result: Inlined[Result]
    is_over: Annotated[bool, Field(serialization_alias="complete")]
    """Whether the search came to its end."""
    problem: Unwritten[str] = ""
    """What ended the search before; empty for nothing."""

    def broken(self, trial: Trial) -> list[str]:
        """The limits, as they were written, that more answers of a trial were over than may be."""
        found = zip(self.limits, self.parsed_limits, trial.over, strict=True)
        return [text for text, limit, over in found if over > limit.share * trial.n]


@written
class Scaling:
    """How many times as much one execution can take as the other."""

    of: Text
    """The one."""
    to: Text
    """The other."""
    value: Positive
    """Capacity of the one / capacity of the other."""
    interval: Interval
    """Its 95 % interval."""


def scaling(name: str, one: Result, other_name: str, other: Result) -> Scaling | None:
    """one / other, such as cluster / fork; None where either has no interval.

    The distances of the ends, in logarithms, add like independent errors (G. Zou and A. Donner
    2008, "Construction of confidence limits about effect measures", MOVER).
    """
    if one.low is None or one.estimate is None or one.high is None:
        return None
    if other.low is None or other.estimate is None or other.high is None:
        return None
    down = math.hypot(math.log(one.estimate / one.low), math.log(other.high / other.estimate))
    up = math.hypot(math.log(one.high / one.estimate), math.log(other.estimate / other.low))
    value = one.estimate / other.estimate
    return Scaling(name, other_name, value, [value * math.exp(-down), value * math.exp(up)])
