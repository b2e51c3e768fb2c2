"""One criterion against the samples it is about."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tollgate.base import figure
from tollgate.criteria import Criterion
from tollgate.judge.facts import Execution, Settings
from tollgate.judge.observe import (
    RESPONSE_TIME,
    Observation,
    Part,
    comparison,
    observe,
    select,
    with_unsent,
)
from tollgate.judge.punctuality import decided_by_lateness
from tollgate.judge.ruling import MOST_TIMES_LONGER, missed_by, rounded_up
from tollgate.judge.verdicts import FAIL, GENERATOR, INCONCLUSIVE, INVALID, PASS, CriterionResult
from tollgate.judge.windows import observe_windows
from tollgate.stats import FEWEST_FOR_MEAN, MIN_SECONDS, samples_needed, span


@dataclass(frozen=True)
class _Found:
    """What the samples of a part say of a criterion. needed: samples that would settle it."""

    part: Part
    seen: Observation
    verdict: str
    reason: str
    needed: int | None
    fault: str | None = None


def judge_criterion(
    criterion: Criterion, execution: Execution, settings: Settings, from_s: float, to_s: float
) -> CriterionResult:
    """The criterion's result over the samples of [from_s, to_s)."""

    def found(part: Part) -> _Found:
        return _found(criterion, part, settings.confidence, from_s, to_s)

    def part_of(*, punctual: bool) -> Part:
        return select(criterion, execution.labels.values(), settings, from_s, to_s, punctual)

    told = found(part_of(punctual=False))
    if told.part.basis == RESPONSE_TIME and told.verdict != INVALID:
        told = _charged(criterion, told, lambda: found(part_of(punctual=True)))
    unsent = [
        each.counts.window(from_s, to_s)
        for each in execution.unsent
        if not criterion.label or criterion.label in each.labels
    ]
    if told.verdict == PASS and any(each.total for each in unsent):
        told = _with_unsent(told, found(with_unsent(criterion, told.part, unsent)))
    return _result(criterion, told, settings.confidence)


def _charged(criterion: Criterion, told: _Found, find: Callable[[], _Found]) -> _Found:
    """The same after punctuality.py's rule. find: finds it without the generator's lateness."""
    without: list[_Found] = []

    def verdict_without() -> str:
        without.append(find())
        return without[0].verdict

    verdict = decided_by_lateness(criterion.condition, told.verdict, verdict_without)
    if verdict == told.verdict:
        return told
    if verdict is not None:
        return replace(told, verdict=verdict, reason=without[0].reason, needed=without[0].needed)
    value = f"{figure(without[0].seen.value, criterion.threshold)} {criterion.unit}"
    reason = f"the generator's own lateness decides: without it, it is {value}"
    return replace(told, verdict=INVALID, reason=reason, needed=None, fault=GENERATOR)


def _with_unsent(told: _Found, other: _Found) -> _Found:
    """A pass that would be none if what was not sent had been, and had timed out, is none."""
    if other.verdict == PASS:
        return told
    unsent = other.part.counts.total - told.part.counts.total
    reason = (
        f"holds for what was sent; {unsent} scheduled requests were not sent, and counted as "
        "failed and as slow as their timeout they break it"
    )
    return replace(told, verdict=INCONCLUSIVE, reason=reason, needed=None)


def _found(
    criterion: Criterion, part: Part, confidence: float, from_s: float, to_s: float
) -> _Found:
    if part.problem:
        seen = Observation(math.nan, None, False, part.counts.total)
    elif criterion.timeframe_s is None:
        seen = observe(criterion, part, confidence)
    else:
        seen = observe_windows(criterion, part, from_s, to_s)
    verdict, reason, needed = _judged(criterion, part, seen, confidence)
    return _Found(part, seen, verdict, reason, needed)


def _result(criterion: Criterion, found: _Found, confidence: float) -> CriterionResult:
    part, seen, reason = found.part, found.seen, found.reason
    if criterion.is_latency and part.errors and found.verdict != INVALID:
        reason += f"; {part.errors} failed samples count too"
    window = f" {criterion.logic} {criterion.timeframe_s}s" if criterion.timeframe_s else ""
    return CriterionResult(
        criterion=criterion.text,
        message=criterion.message,
        label=criterion.label,
        subject=criterion.subject + (window if not criterion.label else ""),
        unit=criterion.unit,
        condition=criterion.condition,
        limit=criterion.threshold,
        observed=None if math.isnan(seen.value) else seen.value,
        low=seen.interval.low if seen.interval else None,
        high=seen.interval.high if seen.interval else None,
        confidence=confidence,
        samples=seen.samples,
        samples_needed=found.needed,
        basis=part.basis,
        window=seen.window,
        decides=criterion.fail,
        verdict=found.verdict,
        reason=reason,
        fault=found.fault,
    )


def _judged(
    criterion: Criterion, part: Part, seen: Observation, confidence: float
) -> tuple[str, str, int | None]:
    """(verdict, reason, samples needed)."""
    if not part.counts.total:
        return INVALID, "gave no samples, so nothing was judged", None
    if part.problem:
        return INVALID, part.problem, None
    if math.isnan(seen.value):
        window = f"{criterion.timeframe_s} s"
        return INCONCLUSIVE, f"no window of {window} had samples from end to end", None
    violates, limit = comparison(criterion.condition), criterion.threshold
    if not seen.estimates or seen.interval is None:
        broken = violates(seen.value, limit)
        return (FAIL, missed_by(seen.value, limit), None) if broken else (PASS, "holds", None)
    ends = violates(seen.interval.low, limit), violates(seen.interval.high, limit)
    if all(ends):
        return FAIL, missed_by(seen.value, limit) + ", beyond doubt", None
    if not any(ends) and math.isfinite(seen.interval.high):
        return PASS, "holds, and so does the whole interval", None
    return INCONCLUSIVE, *_why_unsure(criterion, part, seen, confidence)


def _why_unsure(
    criterion: Criterion, part: Part, seen: Observation, confidence: float
) -> tuple[str, int | None]:
    """(reason, samples needed): too short, too few, or too near to the limit."""
    bins, width, interval, n = part.counts.bins, part.counts.width, seen.interval, seen.samples
    if span(bins) < MIN_SECONDS:
        needed_s = MIN_SECONDS * width
        return f"{span(bins) * width} s of samples: at least {needed_s} s are needed", None
    if criterion.percentile is not None and math.isinf(interval.high):
        needed = samples_needed(criterion.percentile, interval.deff, confidence)
        # The ranks are whole, so that at the border a sample more can be needed than in theory.
        needed = max(needed, n + 1)
        return f"too few samples for {criterion.subject}: at least {needed} would do", needed
    if n < FEWEST_FOR_MEAN and criterion.percentile is None:
        reason = f"too few samples for a mean: at least {FEWEST_FOR_MEAN} are needed"
        return reason, FEWEST_FOR_MEAN
    distance = abs(seen.value - criterion.threshold)
    inner = interval.high if seen.value <= criterion.threshold else interval.low
    times = (abs(inner - seen.value) / distance) ** 2 if distance else math.inf
    if times > MOST_TIMES_LONGER:
        return "too near to the limit to tell", None
    needed = max(n + 1, rounded_up(n * times))
    return f"the interval holds the limit: about {needed} samples would settle it", needed
