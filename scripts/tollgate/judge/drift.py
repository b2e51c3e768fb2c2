"""How a percentile changes over a run: `p95-slope of search>1ms/min`. Pure.

The run is cut into blocks of time, each with samples enough for the percentile, and their values
are taken for a series like any other (trend.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tollgate.criteria import Criterion
from tollgate.judge.facts import LabelData, Settings
from tollgate.judge.observe import Part, select
from tollgate.judge.ruling import Estimate, Ruled, result, rule
from tollgate.judge.verdicts import INCONCLUSIVE, INVALID, CriterionResult
from tollgate.stats import BLOCKS, FEWEST, percentile_by_block, samples_needed, trend

PER_MIN = 60.0


def judge_drift(
    criterion: Criterion,
    labels: Iterable[LabelData],
    settings: Settings,
    from_s: float,
    to_s: float,
) -> CriterionResult:
    """The result of a criterion on a percentile's slope over the samples of [from_s, to_s)."""
    part = select(criterion, labels, settings, from_s, to_s)
    ruled = _ruled(criterion, part, settings.confidence, from_s, to_s)
    if part.errors:
        ruled = replace(ruled, reason=f"{ruled.reason}; {part.errors} failed samples count too")
    return result(criterion, ruled, settings.confidence, part.basis, part.counts.total)


def _ruled(
    criterion: Criterion, part: Part, confidence: float, from_s: float, to_s: float
) -> Ruled:
    total = part.counts.total
    if not total:
        return Ruled(INVALID, "gave no samples, so nothing was judged")
    if part.problem:
        return Ruled(INVALID, part.problem)
    p = criterion.percentile
    at_s, values, _ = percentile_by_block(part.counts, p, from_s, to_s, BLOCKS)
    found = trend(at_s, values, confidence)
    if found is None:
        each = samples_needed(p)
        needed = max(total + 1, FEWEST * each)
        reason = (
            f"too few samples for {criterion.subject}: at least {FEWEST} stretches of time with "
            f"{each} each are needed, and there are {len(at_s)}"
        )
        return Ruled(INCONCLUSIVE, reason, None, needed)
    slopes = (slope * PER_MIN for slope in (found.slope, found.low, found.high))
    longer = found.times_longer(criterion.threshold / PER_MIN)
    return rule(criterion, Estimate(*slopes, total), to_s - from_s, longer)
