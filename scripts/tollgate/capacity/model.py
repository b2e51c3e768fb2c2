"""What a search for capacity is made of: what is asked of the generator, what came, the answer.

Capacity is the arrival rate at which a minute of load keeps the limits half of the time, averaged
over the search. Times are seconds since the search began unless their names say milliseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tollgate.base import records

#: ceiling: of the generator, against a server that does nothing. bracket: doubled rates, to find
#: where to look. search: near the critical rate. anchor: one rate that recurs, to see drift.
#: holdout: a minute just below the interval.
Purpose = Literal["ceiling", "bracket", "search", "anchor", "holdout"]
#: found: an interval, and a minute just below it that kept the limits. below: the limits fail at
#: the lowest rate. unsaturated: they hold at the highest rate that the generator is trusted with.
#: generator: the answer lies within a fifth of the generator's ceiling, or above. open: no answer.
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


@dataclass(frozen=True)
class CapacitySettings:
    """What is asked of a search.

    budget_s: of a mode, bracket and holdout included. trial_s, bracket_s, holdout_s: seconds of
    sending in a trial. lead_s: the first of these, in which queues fill; what was due in them is
    not judged. drain_s: what a trial takes besides at most, while its last answers come: trials may
    follow each other sooner. seed: of all that is drawn. start_rate, least_rate: arrivals a second
    of the first trial, and of the slowest.
    """

    __pydantic_config__ = records.STRICT

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
            raise ValueError("capacity: no limits; give at least one, as p95>250ms")
        if not 0 < self.least_rate <= self.start_rate:
            problem = f"start_rate {self.start_rate:g} is not above least_rate {self.least_rate:g}"
            raise ValueError(f"capacity: {problem}; give both in arrivals a second")
        if not 0 <= self.lead_s < min(self.bracket_s, self.trial_s, self.holdout_s):
            problem = f"lead_s {self.lead_s:g} leaves nothing of a trial"
            raise ValueError(f"capacity: {problem}; give fewer seconds")
        if self.budget_s < self.least_budget_s:
            problem = f"budget {self.budget_s:g} s is too short"
            raise ValueError(f"capacity: {problem}; give at least {self.least_budget_s:g} s")

    @property
    def least_budget_s(self) -> float:
        """In which a bracket, an interval and a holdout fit."""
        parts = ((8, self.bracket_s), (FEWEST, self.trial_s), (1, self.holdout_s))
        return sum(number * (each + self.drain_s) for number, each in parts)


@dataclass(frozen=True)
class Ask:
    """What to send next. rate: arrivals a second. seconds: of sending, the lead of
    Settings.lead_s included; draining comes on top.

    number: 1 for the first of a search. The same trials always lead to the same ask.
    """

    number: int
    purpose: Purpose
    rate: float
    seconds: float


@dataclass(frozen=True)
class Trial:
    """What came of an ask.

    achieved: arrivals a second that were really sent. n: requests that were due after the lead,
    failed and unanswered ones included; over and percentiles are of these alone. over: for each of
    Settings.limits how many of them were over it; one that failed or was never answered is over
    every limit. p50_ms, p95_ms, p99_ms: response times, from when a request was due, inf or NaN
    where nothing came back. grew: see `grew` in capacity/growth.py, of the whole trial.
    generator_cpu: in cores. sound: whether the schedule is proven and lateness in bounds; a trial
    that isn't says nothing of the service. began_s: since the search began.
    """

    ask: Ask
    achieved: float
    n: int
    over: tuple[int, ...]
    p50_ms: float
    p95_ms: float
    p99_ms: float
    grew: bool
    generator_cpu: float
    sound: bool
    began_s: float

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


@dataclass(frozen=True)
class Result:
    """The answer of a search, in arrivals a second.

    estimate, low, high: None where there is none; low and high are the ends of the 95 % interval,
    and may be known where the status is not `found`. drift: of the capacity, from the beginning of
    the search to its end, as a share; None without an interval. holdout: the last trial, None where
    there was none. last_pass, first_fail: the highest achieved rate of a trial that kept the
    limits, and the lowest of one that didn't. reason: why there is no answer, empty for `found`.
    curves: by `p50`, `p95`, `p99`, by rate.
    """

    status: Status
    reason: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    drift: float | None = None
    holdout: Trial | None = None
    last_pass: float | None = None
    first_fail: float | None = None
    curves: dict[str, tuple[CurvePoint, ...]] | None = None

    @property
    def half_width(self) -> float | None:
        """Of the interval, as a share of the estimate."""
        if self.estimate is None or self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2 / self.estimate


@dataclass(frozen=True)
class Searched:
    """What a search for capacity found."""

    limits: tuple[str, ...]
    """As they were written."""
    shares: tuple[float, ...]
    """Of the answers that may be over each limit."""
    thresholds_ms: tuple[float | None, ...]
    """Of each limit; None for one on failures."""
    of: tuple[str, ...]
    """What was asked."""
    ceiling: float
    """Of the generator, in arrivals a second, from `ceiling_trials`."""
    ceiling_trials: tuple[Trial, ...]
    trials: tuple[Trial, ...]
    result: Result
    is_over: bool
    """Whether the search came to its end."""
    problem: str = ""
    """What ended the search before; empty for nothing."""


@dataclass(frozen=True)
class Ratio:
    """How many times as much, with its 95 % interval."""

    estimate: float
    low: float
    high: float


def ratio(one: Result, other: Result) -> Ratio | None:
    """one / other, such as cluster / fork; None where either has no interval.

    The distances of the ends, in logarithms, add like independent errors (G. Zou and A. Donner
    2008, "Construction of confidence limits about effect measures", MOVER).
    """
    if None in (one.low, one.estimate, one.high, other.low, other.estimate, other.high):
        return None
    down = math.hypot(math.log(one.estimate / one.low), math.log(other.high / other.estimate))
    up = math.hypot(math.log(one.high / one.estimate), math.log(other.estimate / other.low))
    value = one.estimate / other.estimate
    return Ratio(value, value * math.exp(-down), value * math.exp(up))
