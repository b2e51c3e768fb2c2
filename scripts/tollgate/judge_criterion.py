"""One criterion against the samples it is about."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tollgate.autocorrelation import span
from tollgate.criteria import Criterion
from tollgate.facts import LabelData, Settings
from tollgate.intervals import MIN_SECONDS
from tollgate.observe import Observation, Part, comparison, observe, select
from tollgate.percentiles import samples_needed
from tollgate.ruling import MOST_TIMES_LONGER, missed_by, rounded_up
from tollgate.verdicts import FAIL, INCONCLUSIVE, INVALID, PASS, CriterionResult
from tollgate.windows import observe_windows


def judge_criterion(
    criterion: Criterion,
    labels: Iterable[LabelData],
    settings: Settings,
    from_s: float,
    to_s: float,
) -> CriterionResult:
    """The criterion's result over the samples of [from_s, to_s)."""
    part = select(criterion, labels, settings, from_s, to_s)
    if part.problem:
        seen = Observation(math.nan, None, False, part.counts.total)
    elif criterion.timeframe_s is None:
        seen = observe(criterion, part, settings.confidence)
    else:
        seen = observe_windows(criterion, part, from_s, to_s)
    verdict, reason, needed = _judged(criterion, part, seen, settings.confidence)
    if criterion.is_latency and part.errors and verdict != INVALID:
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
        confidence=settings.confidence,
        samples=seen.samples,
        samples_needed=needed,
        basis=part.basis,
        window=seen.window,
        decides=criterion.fail,
        verdict=verdict,
        reason=reason,
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
    distance = abs(seen.value - criterion.threshold)
    inner = interval.high if seen.value <= criterion.threshold else interval.low
    times = (abs(inner - seen.value) / distance) ** 2 if distance else math.inf
    if times > MOST_TIMES_LONGER:
        return "too near to the limit to tell", None
    needed = max(n + 1, rounded_up(n * times))
    return f"the interval holds the limit: about {needed} samples would settle it", needed
