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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tollgate.base.text import duration, format_number
from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import JudgeSettings, LabelData, MeasuredExecution
from tollgate.judge.observe import (
    RESPONSE_TIME,
    JudgedSamples,
    Levels,
    Observation,
    comparison,
    observe,
    select,
    with_unsent,
)
from tollgate.judge.verdicts import FAIL, GENERATOR, INCONCLUSIVE, INVALID, PASS, CriterionResult
from tollgate.judge.windows import observe_windows
from tollgate.schedule.model import Unanswered
from tollgate.stats.autocorrelation import span
from tollgate.stats.intervals import FEWEST_FOR_MEAN, MIN_SECONDS, samples_needed
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
    """What an estimate says of a criterion. needed: samples that would settle an INCONCLUSIVE.
    fault: whose fault it is, where the verdict alone does not say."""

    verdict: str
    reason: str
    estimate: Observation | None = None
    needed: int | None = None
    fault: str | None = None


def judge_criterion(
    criterion: Criterion,
    execution: MeasuredExecution,
    settings: JudgeSettings,
    levels: Levels,
    from_s: float,
    to_s: float,
) -> CriterionResult:
    """The result of a criterion on samples, over those of [from_s, to_s)."""

    def part_of(*, without_generator_lateness: bool) -> JudgedSamples:
        return select(
            criterion, execution.labels.values(), settings, from_s, to_s, without_generator_lateness
        )

    def ruling_on(part: JudgedSamples) -> Judgement:
        return _ruling(criterion, part, levels, from_s, to_s)

    part = part_of(without_generator_lateness=False)
    judgement = ruling_on(part)
    if part.basis == RESPONSE_TIME and judgement.verdict != INVALID:
        judgement = _charged(
            criterion, judgement, lambda: ruling_on(part_of(without_generator_lateness=True))
        )
    unanswered = [
        replace(each, counts=each.counts.window(from_s, to_s))
        for each in execution.unanswered
        if not criterion.label or criterion.label in each.labels
    ]
    if judgement.verdict == PASS and any(each.counts.total for each in unanswered):
        other = ruling_on(with_unsent(criterion, part, (each.counts for each in unanswered)))
        judgement = _with_unsent(judgement, other, unanswered)
    if criterion.is_latency and part.errors and judgement.verdict != INVALID:
        judgement = _noting_errors(judgement, part)
    return result(criterion, judgement, settings.confidence, part.basis, part.counts.total)


def judge_drift(
    criterion: Criterion,
    labels: Iterable[LabelData],
    settings: JudgeSettings,
    levels: Levels,
    from_s: float,
    to_s: float,
) -> CriterionResult:
    """The result of a criterion on a percentile's slope over the samples of [from_s, to_s)."""
    part = select(criterion, labels, settings, from_s, to_s)
    judgement = _ruling_on_slope(criterion, part, levels, from_s, to_s)
    if part.errors:
        judgement = _noting_errors(judgement, part)
    return result(criterion, judgement, settings.confidence, part.basis, part.counts.total)


def result(
    criterion: Criterion,
    judgement: Judgement,
    confidence: float,
    basis: str,
    samples: int,
    worker: str | None = None,
) -> CriterionResult:
    """The ruling as a result. samples: how many there were, where there is no estimate."""
    seen = judgement.estimate or Observation(math.nan, None, None, samples)
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
        low=seen.low,
        high=seen.high,
        fail_bound=seen.fail_bound,
        unadjusted_interval=seen.unadjusted,
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


def rule_exactly(criterion: Criterion, estimate: Observation) -> Judgement:
    """The ruling on a value that was counted."""
    limit = criterion.threshold
    if comparison(criterion.condition)(estimate.value, limit):
        return Judgement(FAIL, _missed_by(estimate.value, limit), estimate)
    return Judgement(PASS, "holds", estimate)


def rule(
    criterion: Criterion, estimate: Observation, unsure: Callable[[], tuple[str, int | None]]
) -> Judgement:
    """The ruling on an estimate, by its interval. unsure: (reason, samples needed) for one that
    holds the limit."""
    violates, limit = comparison(criterion.condition), criterion.threshold
    if estimate.is_beyond(criterion) and violates(estimate.fail_bound, limit):
        return Judgement(FAIL, _missed_by(estimate.value, limit) + ", beyond doubt", estimate)
    if not (violates(estimate.low, limit) or violates(estimate.high, limit)):
        return Judgement(PASS, "holds, and so does the whole interval", estimate)
    reason, needed = unsure()
    return Judgement(INCONCLUSIVE, reason, estimate, needed)


def rule_over_time(
    criterion: Criterion, estimate: Observation, watched_s: float, times_longer: float
) -> Judgement:
    """The ruling on an estimate from watched_s seconds. times_longer: how many times as long a
    measurement would settle on which side of the limit the value is."""

    def unsure() -> tuple[str, int | None]:
        if times_longer > MOST_TIMES_LONGER:
            return _open(criterion, estimate), None
        needed = max(estimate.samples + 1, _rounded_up(estimate.samples * times_longer))
        unit, name = duration(watched_s * max(1.0, times_longer))
        time = _rounded_up(watched_s * max(1.0, times_longer) / unit)
        return _open(criterion, estimate, f"{time} {name} of measuring"), needed

    return rule(criterion, estimate, unsure)


def decided_by_lateness(condition: str, verdict: str, without: Callable[[], str]) -> str | None:
    """Rule 1: the verdict on a criterion, given the one with all lateness counted in. without:
    finds the one without the generator's part. None: the generator is to blame."""
    settled = FAIL if condition.startswith("<") else PASS
    if verdict == settled:
        return verdict
    other = without()
    if FAIL in (verdict, other) and verdict != other:
        return None
    if verdict == PASS:
        return other
    return verdict


def _charged(
    criterion: Criterion, judgement: Judgement, find: Callable[[], Judgement]
) -> Judgement:
    """The same after rule 1. find: finds the ruling without the generator's lateness."""
    without: list[Judgement] = []

    def verdict_without() -> str:
        without.append(find())
        return without[0].verdict

    verdict = decided_by_lateness(criterion.condition, judgement.verdict, verdict_without)
    if verdict == judgement.verdict:
        return judgement
    if verdict is not None:
        return replace(
            judgement, verdict=verdict, reason=without[0].reason, needed=without[0].needed
        )
    value = f"{format_number(without[0].estimate.value, criterion.threshold)} {criterion.unit}"
    reason = f"the generator's own lateness decides: without it, it is {value}"
    return replace(judgement, verdict=INVALID, reason=reason, needed=None, fault=GENERATOR)


def _with_unsent(
    judgement: Judgement, other: Judgement, unanswered: Sequence[Unanswered]
) -> Judgement:
    """A pass that would be none if what was not sent had been, and had timed out, is none."""
    if other.verdict == PASS:
        return judgement
    missing = [
        f"{total} {what}"
        for waited_for, what in _MISSING.items()
        if (total := sum(it.counts.total for it in unanswered if it.waited_for == waited_for))
    ]
    reason = (
        f"holds for what was answered; {' and '.join(missing)}, and counted as failed and as slow "
        "as their timeout they break it"
    )
    return replace(judgement, verdict=INCONCLUSIVE, reason=reason, needed=None)


def _noting_errors(judgement: Judgement, part: JudgedSamples) -> Judgement:
    return replace(judgement, reason=f"{judgement.reason}; {part.errors} failed samples count too")


def _ruling(
    criterion: Criterion, part: JudgedSamples, levels: Levels, from_s: float, to_s: float
) -> Judgement:
    nothing = Observation(math.nan, None, None, part.counts.total)
    if unjudgeable := _unjudgeable(part):
        return replace(unjudgeable, estimate=nothing)
    if criterion.timeframe_s is None:
        estimate = observe(criterion, part, levels)
    else:
        estimate = observe_windows(criterion, part, from_s, to_s)
    if math.isnan(estimate.value):
        window = f"{criterion.timeframe_s} s"
        reason = f"no window of {window} had samples from end to end"
        return Judgement(INCONCLUSIVE, reason, estimate)
    if estimate.low is None:
        return rule_exactly(criterion, estimate)

    def unsure() -> tuple[str, int | None]:
        return _why_unsure(criterion, part, estimate, 1 - 2 * levels.hold)

    judgement = rule(criterion, estimate, unsure)
    if judgement.verdict == PASS and math.isinf(estimate.high):
        reason, needed = unsure()
        return Judgement(INCONCLUSIVE, reason, estimate, needed)
    return judgement


def _ruling_on_slope(
    criterion: Criterion, part: JudgedSamples, levels: Levels, from_s: float, to_s: float
) -> Judgement:
    if unjudgeable := _unjudgeable(part):
        return unjudgeable
    total, p = part.counts.total, criterion.percentile
    at_s, values, _ = percentile_by_block(part.counts, p, from_s, to_s, BLOCKS)
    found = trend(at_s, values, 1 - 2 * levels.hold)
    if found is None:
        each = samples_needed(p)
        needed = max(total + 1, FEWEST * each)
        reason = (
            f"too few samples for {criterion.subject}: at least {FEWEST} stretches of time with "
            f"{each} each are needed, and there are {len(at_s)}"
        )
        return Judgement(INCONCLUSIVE, reason, None, needed)

    def slope(confidence: float) -> Observation:
        each = trend(at_s, values, confidence).scaled(PER_MIN)
        return Observation(each.slope, each.low, each.high, total)

    estimate = levels.between(criterion.condition, slope)
    longer = found.times_longer(criterion.threshold / PER_MIN)
    return rule_over_time(criterion, estimate, to_s - from_s, longer)


def _unjudgeable(part: JudgedSamples) -> Judgement | None:
    if not part.counts.total:
        return Judgement(INVALID, "gave no samples, so nothing was judged")
    return Judgement(INVALID, part.problem) if part.problem else None


def _why_unsure(
    criterion: Criterion, part: JudgedSamples, estimate: Observation, confidence: float
) -> tuple[str, int | None]:
    """(reason, samples needed): too short, too few, or too near to the limit."""
    bins, width, n = part.counts.bins, part.counts.width, estimate.samples
    if span(bins) < MIN_SECONDS:
        needed_s = MIN_SECONDS * width
        return f"{span(bins) * width} s of samples: at least {needed_s} s are needed", None
    is_beyond = estimate.is_beyond(criterion)
    if criterion.percentile is not None and math.isinf(estimate.high) and not is_beyond:
        needed = samples_needed(criterion.percentile, estimate.deff, confidence)
        # The ranks are whole, so that at the border a sample more can be needed than in theory.
        needed = max(needed, n + 1)
        return f"too few samples for {criterion.subject}: at least {needed} would do", needed
    if n < FEWEST_FOR_MEAN and criterion.percentile is None:
        reason = f"too few samples for a mean: at least {FEWEST_FOR_MEAN} are needed"
        return reason, FEWEST_FOR_MEAN
    times = estimate.times_longer(criterion)
    if times > MOST_TIMES_LONGER:
        return _open(criterion, estimate), None
    needed = max(n + 1, _rounded_up(n * times))
    return _open(criterion, estimate, f"{needed} samples"), needed


def _open(criterion: Criterion, estimate: Observation, needed: str = "") -> str:
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
    step = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
