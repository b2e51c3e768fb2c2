"""A criterion against its samples or looks: the estimate, its interval, the limit, the verdict.

Lateness, rule 1 (validity.py has rule 2). A criterion on response time is judged with all lateness
counted in. One that holds, holds: the generator made it no easier. One that does not is judged
again without the generator's own part of the lateness; only if that changes a FAIL is the generator
to blame, and the run INVALID. (A criterion that fails for too short a time, `p95<5ms`, is the same
the other way round.)

A slope of a percentile, `p95-slope of search>1ms/min`: the run is cut into blocks of time, each
with samples enough for the percentile, and their values are a series like any other (stats/slope).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tollgate.base.fields import ends
from tollgate.base.text import duration, format_number
from tollgate.criteria.grammar import Criterion
from tollgate.criteria.subjects import Condition
from tollgate.judge.facts import JudgeSettings, MeasuredExecution
from tollgate.judge.observe import (
    NOTHING,
    Estimate,
    JudgedSamples,
    Levels,
    Observation,
    observe,
    select,
    with_unsent,
)
from tollgate.judge.verdicts import (
    FAIL,
    GENERATOR,
    INCONCLUSIVE,
    INVALID,
    PASS,
    RESPONSE_TIME,
    Basis,
    CriterionResult,
    FaultName,
    VerdictName,
)
from tollgate.judge.windows import observe_windows
from tollgate.schedule.model import Unanswered
from tollgate.stats.autocorrelation import span
from tollgate.stats.intervals import FEWEST_FOR_MEAN, MIN_SECONDS, Interval, samples_needed
from tollgate.stats.percentiles import percentile_by_block
from tollgate.stats.slope import BLOCKS, FEWEST, trend

# Beyond so many times the samples, "run longer" is no advice.
MOST_TIMES_LONGER = 1000
PER_MIN = 60.0
#: What is said of requests without a sample, by Unsent.waited_for.
_MISSING = {
    False: "scheduled requests were not sent",
    True: "requests of closed loops had no answer yet",
}


@dataclass(frozen=True)
class Judgement:
    """What was seen says of a criterion."""

    verdict: VerdictName
    reason: str
    seen: Observation = NOTHING
    needed: int | None = None
    """Samples that would settle an INCONCLUSIVE."""
    fault: FaultName | None = None
    """Whose fault it is, where the verdict alone does not say."""


def judge_criterion(
    criterion: Criterion, execution: MeasuredExecution, settings: JudgeSettings, levels: Levels
) -> CriterionResult:
    """The result of a criterion on samples."""
    window, labels = execution.window, execution.labels.values()
    part = select(criterion, labels, settings, window)
    judgement = _judged(criterion, part, levels, window)
    if not criterion.is_latency_slope:  # lateness and what was not sent move no slope
        settled = (INVALID, _settled(criterion.condition))
        if part.basis == RESPONSE_TIME and judgement.verdict not in settled:
            punctual = select(criterion, labels, settings, window, without_generator_lateness=True)
            other = _judged(criterion, punctual, levels, window)
            judgement = _by_lateness(criterion, judgement, other)
        if judgement.verdict == PASS and (unanswered := _unanswered(criterion, execution)):
            with_them = with_unsent(criterion, part, (each.counts for each in unanswered))
            other = _judged(criterion, with_them, levels, window)
            judgement = _with_unsent(judgement, other, unanswered)
    errors = part.counts.errors
    if criterion.may_respond and errors and judgement.verdict != INVALID:
        reason = f"{judgement.reason}; {errors} failed samples count too"
        judgement = replace(judgement, reason=reason)
    return result(criterion, judgement, settings.confidence, part.basis)


def result(
    criterion: Criterion,
    judgement: Judgement,
    confidence: float,
    basis: Basis,
    worker: str | None = None,
) -> CriterionResult:
    """The judgement as a result."""
    seen = judgement.seen
    estimate = seen if isinstance(seen, Estimate) else None
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
        low=estimate.interval.low if estimate else None,
        high=estimate.interval.high if estimate else None,
        fail_bound=estimate.fail_bound if estimate else None,
        unadjusted_interval=(
            ends(estimate.unadjusted.low, estimate.unadjusted.high) if estimate else None
        ),
        confidence=confidence,
        samples=seen.samples,
        samples_needed=judgement.needed,
        basis=basis,
        window=seen.window,
        decides=criterion.fail,
        verdict=judgement.verdict,
        reason=judgement.reason,
        worker=worker,
        fault=judgement.fault,
    )


def rule_exactly(criterion: Criterion, counted: Observation) -> Judgement:
    """The judgement on a value that was counted."""
    if criterion.violates(counted.value):
        return Judgement(FAIL, _missed_by(counted.value, criterion.threshold), counted)
    return Judgement(PASS, "holds", counted)


def rule(criterion: Criterion, estimate: Estimate) -> Judgement | None:
    """The judgement on an estimate, by its interval; None where that holds the limit."""
    if estimate.is_beyond(criterion) and criterion.violates(estimate.fail_bound):
        missed_by = _missed_by(estimate.value, criterion.threshold)
        return Judgement(FAIL, f"{missed_by}, beyond doubt", estimate)
    interval = estimate.interval
    if not (criterion.violates(interval.low) or criterion.violates(interval.high)):
        return Judgement(PASS, "holds, and so does the whole interval", estimate)
    return None


def rule_over_time(
    criterion: Criterion, estimate: Estimate, watched_s: float, times_longer: float
) -> Judgement:
    """The judgement on an estimate from watched_s seconds. times_longer: how many times as long a
    measurement would settle on which side of the limit the value is."""
    if judgement := rule(criterion, estimate):
        return judgement
    if times_longer > MOST_TIMES_LONGER:
        return Judgement(INCONCLUSIVE, _open(criterion, estimate), estimate)
    needed = max(estimate.samples + 1, _rounded_up(estimate.samples * times_longer))
    unit, name = duration(watched_s * max(1.0, times_longer))
    time = _rounded_up(watched_s * max(1.0, times_longer) / unit)
    reason = _open(criterion, estimate, f"{time} {name} of measuring")
    return Judgement(INCONCLUSIVE, reason, estimate, needed)


def _settled(condition: Condition) -> VerdictName:
    """The verdict that no lateness can have brought about: it makes times longer."""
    return FAIL if condition.startswith("<") else PASS


def decided_by_lateness(
    condition: Condition, verdict: VerdictName, without: VerdictName
) -> VerdictName | None:
    """Rule 1: the verdict on a criterion, by the one with all lateness counted in and the one
    without the generator's part. None: the generator is to blame."""
    if verdict == _settled(condition):
        return verdict
    if FAIL in (verdict, without) and verdict != without:
        return None
    return without if verdict == PASS else verdict


def _by_lateness(criterion: Criterion, judgement: Judgement, without: Judgement) -> Judgement:
    """The same after rule 1. without: the judgement without the generator's lateness."""
    verdict = decided_by_lateness(criterion.condition, judgement.verdict, without.verdict)
    if verdict == judgement.verdict:
        return judgement
    if verdict is not None:
        return replace(judgement, verdict=verdict, reason=without.reason, needed=without.needed)
    value = f"{format_number(without.seen.value, criterion.threshold)} {criterion.unit}"
    reason = f"the generator's own lateness decides: without it, it is {value}"
    return replace(judgement, verdict=INVALID, reason=reason, needed=None, fault=GENERATOR)


def _unanswered(criterion: Criterion, execution: MeasuredExecution) -> list[Unanswered]:
    """Requests of the criterion's label that have no sample, as far as there are any."""
    own = (each for each in execution.unanswered if criterion.label in ("", *each.labels))
    measured = (replace(each, counts=each.counts.window(*execution.window)) for each in own)
    return [each for each in measured if each.counts.total]


def _with_unsent(
    judgement: Judgement, other: Judgement, unanswered: Sequence[Unanswered]
) -> Judgement:
    """A pass that would be none if what was not sent had been, and had timed out, is none."""
    if other.verdict == PASS:
        return judgement
    totals = {
        waited_for: sum(each.counts.total for each in unanswered if each.waited_for == waited_for)
        for waited_for in _MISSING
    }
    missing = [f"{total} {_MISSING[waited_for]}" for waited_for, total in totals.items() if total]
    reason = (
        f"holds for what was answered; {' and '.join(missing)}, and counted as failed and as slow "
        "as their timeout they break it"
    )
    return replace(judgement, verdict=INCONCLUSIVE, reason=reason, needed=None)


def _judged(
    criterion: Criterion, part: JudgedSamples, levels: Levels, window: tuple[float, float]
) -> Judgement:
    """What the samples alone say of the criterion."""
    if not part.counts.total or part.problem:
        reason = part.problem if part.counts.total else "gave no samples, so nothing was judged"
        return Judgement(INVALID, reason, Observation(math.nan, part.counts.total))
    if criterion.is_latency_slope and criterion.percentile is not None:
        return _judged_slope(criterion, criterion.percentile, part, levels, window)
    if criterion.timeframe_s is None:
        seen = observe(criterion, part, levels)
    else:
        seen = observe_windows(criterion, part, *window)
    if math.isnan(seen.value):
        reason = f"no window of {criterion.timeframe_s} s had samples from end to end"
        return Judgement(INCONCLUSIVE, reason, seen)
    if not isinstance(seen, Estimate):
        return rule_exactly(criterion, seen)
    judgement = rule(criterion, seen)
    if judgement and not (judgement.verdict == PASS and math.isinf(seen.interval.high)):
        return judgement
    reason, needed = _why_unsure(criterion, part, seen, 1 - 2 * levels.hold)
    return Judgement(INCONCLUSIVE, reason, seen, needed)


def _judged_slope(
    criterion: Criterion,
    percentile: float,
    part: JudgedSamples,
    levels: Levels,
    window: tuple[float, float],
) -> Judgement:
    total = part.counts.total
    at_s, values, _ = percentile_by_block(part.counts, percentile, *window, BLOCKS)
    per_second = trend(at_s, values, 1 - 2 * levels.hold)
    if per_second is None:
        block = samples_needed(percentile)
        reason = (
            f"too few samples for {criterion.subject}: at least {FEWEST} stretches of time with "
            f"{block} each are needed, and there are {len(at_s)}"
        )
        needed = max(total + 1, FEWEST * block)
        return Judgement(INCONCLUSIVE, reason, Observation(math.nan, total), needed)

    def interval(confidence: float) -> Interval:
        per_minute = (trend(at_s, values, confidence) or per_second).scaled(PER_MIN)
        return Interval(per_minute.low, per_minute.high, math.nan)

    longer = per_second.times_longer(criterion.threshold / PER_MIN)
    estimate = levels.estimate(criterion, per_second.slope * PER_MIN, total, interval)
    return rule_over_time(criterion, estimate, window[1] - window[0], longer)


def _why_unsure(
    criterion: Criterion, part: JudgedSamples, estimate: Estimate, confidence: float
) -> tuple[str, int | None]:
    """(reason, samples needed): too short, too few, or too near to the limit."""
    bins, width, n = part.counts.bins, part.counts.width, estimate.samples
    if span(bins) < MIN_SECONDS:
        needed_s = MIN_SECONDS * width
        return f"{span(bins) * width} s of samples: at least {needed_s} s are needed", None
    is_beyond = estimate.is_beyond(criterion)
    if criterion.percentile is not None and math.isinf(estimate.interval.high) and not is_beyond:
        needed = samples_needed(criterion.percentile, estimate.interval.deff, confidence)
        # The ranks are whole, so that at the border a sample more can be needed than in theory.
        needed = max(needed, n + 1)
        return f"too few samples for {criterion.subject}: at least {needed} would do", needed
    if n < FEWEST_FOR_MEAN and criterion.percentile is None:
        needed = FEWEST_FOR_MEAN
        return f"too few samples for a mean: at least {needed} are needed", needed
    times = estimate.times_longer(criterion)
    if times > MOST_TIMES_LONGER:
        return _open(criterion, estimate), None
    needed = max(n + 1, _rounded_up(n * times))
    return _open(criterion, estimate, f"{needed} samples"), needed


def _open(criterion: Criterion, estimate: Estimate, needed: str = "") -> str:
    """Why an estimate decides nothing. needed: what would settle it, where that is any advice."""
    step = f": about {needed} would settle it" if needed else ""
    if estimate.is_beyond(criterion):
        bound = f"{format_number(estimate.fail_bound, criterion.threshold)} {criterion.unit}"
        return f"the interval violates the limit, and the bound for a FAIL, {bound}, does not{step}"
    return f"the interval holds the limit{step}" if needed else "too near to the limit to tell"


def _missed_by(observed: float, limit: float) -> str:
    """`over the limit by 12 %`."""
    if observed == limit:
        return "at the limit"
    side = "over" if observed > limit else "under"
    if limit == 0:
        return f"{side} the limit"
    return f"{side} the limit by {format_number(100 * abs(observed - limit) / limit)} %"


def _rounded_up(number: float) -> int:
    """To two digits: an extrapolation is no better than that."""
    step: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
