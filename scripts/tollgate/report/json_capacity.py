"""A search for capacity in verdict.json: its models and its content. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tollgate.base.fields import Amount, Count, Interval, Positive, Text, ends
from tollgate.capacity.model import Searched, Trial
from tollgate.judge.verdicts import ExecutionVerdict
from tollgate.report import capacity
from tollgate.report.json_model import Model, content


class TrialEntry(Model):
    """One rate, sent for some seconds."""

    purpose: Literal["ceiling", "bracket", "search", "anchor", "holdout"]
    """ceiling: of the generator, against a server that does nothing. bracket: doubled rates.
    search: near the capacity. anchor: one rate that recurs. holdout: a minute just below the
    interval."""
    rate: Positive
    """Arrivals a second that were asked for."""
    seconds: Positive
    """Seconds that were asked for."""
    achieved: Amount
    """Arrivals a second that were sent."""
    n: Count
    """Requests that are judged."""
    over: list[Count]
    """How many of them were over each of the limits, failed ones included."""
    p50_ms: Amount | None
    """Median response time in ms, from when a request was due; null where no answer came."""
    p95_ms: Amount | None
    """Its 95th percentile, in ms."""
    p99_ms: Amount | None
    """Its 99th percentile, in ms."""
    grew: bool
    """Whether a queue grew through the trial, or the service was overrun so that it was cut."""
    keeps: bool
    """Whether all limits held."""
    sound: bool
    """Whether the schedule was kept; if not, the trial says nothing of the service."""
    generator_cpu: Amount
    """CPU time of the generator, in cores."""
    began_s: float
    """When it began, in seconds since the search did."""


class CapacityEntry(Model):
    """The highest rate of arrivals at which the limits hold. Rates are arrivals a second."""

    of: list[Text]
    """What was asked."""
    limits: list[Text]
    """What must not happen in a trial."""
    status: Literal["found", "below", "unsaturated", "generator", "open"]
    """found: an interval, and a minute just below it that kept the limits. below: the limits fail
    at the lowest rate. unsaturated: they hold at the highest rate that the generator is trusted
    with. generator: the answer lies within a fifth of the generator's ceiling. open: no answer."""
    reason: str
    """Why there is no answer; empty for `found`."""
    estimate: Amount | None
    """The capacity; null where there is none."""
    interval: Interval | None
    """Its 95 % interval."""
    drift: float | None
    """Of the capacity, from the beginning of the search to its end, as a share."""
    last_pass: Amount | None
    """The highest rate of a trial that kept the limits."""
    first_fail: Amount | None
    """The lowest rate of a trial that did not."""
    ceiling: Amount
    """The generator's own, against a server that does nothing."""
    complete: bool
    """Whether the search came to its end."""
    trials: list[TrialEntry]
    """Every trial, in its order, those of the ceiling first."""


class ScalingEntry(Model):
    """How many times as much one execution can take as the other."""

    of: Text
    """The one."""
    to: Text
    """The other."""
    value: Positive
    """Capacity of the one / capacity of the other."""
    interval: Interval
    """Its 95 % interval."""


def capacity_content(searched: Searched | None) -> dict[str, Any] | None:
    """An execution's `capacity` in verdict.json; None where none was searched for."""
    if searched is None:
        return None
    found = searched.result
    return content(
        CapacityEntry,
        searched,
        **{name: getattr(found, name) for name in ("status", "reason", "estimate", "drift")},
        interval=ends(found.low, found.high),
        last_pass=found.last_pass,
        first_fail=found.first_fail,
        complete=searched.is_over,
        trials=[_trial(each, searched) for each in (*searched.ceiling_trials, *searched.trials)],
    )


def _trial(trial: Trial, searched: Searched) -> dict[str, Any]:
    pairs = zip(trial.over, searched.shares, strict=True)
    keeps = not trial.grew and all(n <= share * trial.n for n, share in pairs)
    asked = {name: getattr(trial.ask, name) for name in ("purpose", "rate", "seconds")}
    return content(TrialEntry, trial, **asked, keeps=keeps)


def scaling_content(executions: Sequence[ExecutionVerdict]) -> dict[str, Any] | None:
    """The run's `scaling` in verdict.json."""
    found = capacity.scaling(executions)
    if found is None:
        return None
    one, other, factor = found
    interval = ends(factor.low, factor.high)
    return content(ScalingEntry, factor, of=one, to=other, value=factor.estimate, interval=interval)
