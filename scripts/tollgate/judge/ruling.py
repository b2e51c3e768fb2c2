"""A value and its interval against a criterion's limit, and what would settle it. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tollgate.base import duration, figure
from tollgate.criteria import Criterion
from tollgate.judge.observe import comparison
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, PASS, CriterionResult

# Beyond so many times the samples, "run longer" is no advice.
MOST_TIMES_LONGER = 1000


@dataclass(frozen=True)
class Estimate:
    """A value in the criterion's unit and its interval, None for what was counted. samples: looks
    at a worker, or requests."""

    value: float
    low: float | None
    high: float | None
    samples: int

    def times_longer(self, criterion: Criterion) -> float:
        """How many times the samples would settle it, if the interval narrows by their root."""
        distance = abs(self.value - criterion.threshold)
        inner = self.high if self.value <= criterion.threshold else self.low
        return (abs(inner - self.value) / distance) ** 2 if distance else math.inf


@dataclass(frozen=True)
class Ruled:
    """What an estimate says of a criterion. needed: samples that would settle an INCONCLUSIVE."""

    verdict: str
    reason: str
    estimate: Estimate | None = None
    needed: int | None = None


def result(
    criterion: Criterion,
    ruled: Ruled,
    confidence: float,
    basis: str,
    samples: int,
    worker: str | None = None,
) -> CriterionResult:
    """The ruling as a result of the whole run, not of a window of it."""
    estimate = ruled.estimate
    return CriterionResult(
        criterion=criterion.text,
        message=criterion.message,
        label=criterion.label,
        subject=criterion.subject,
        unit=criterion.unit,
        condition=criterion.condition,
        limit=criterion.threshold,
        observed=estimate.value if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        confidence=confidence,
        samples=samples,
        samples_needed=ruled.needed,
        basis=basis,
        window=None,
        decides=criterion.fail,
        verdict=ruled.verdict,
        reason=ruled.reason,
        worker=worker,
    )


def rule_exactly(criterion: Criterion, estimate: Estimate) -> Ruled:
    """The ruling on a value that was counted."""
    limit = criterion.threshold
    if comparison(criterion.condition)(estimate.value, limit):
        return Ruled(FAIL, missed_by(estimate.value, limit), estimate)
    return Ruled(PASS, "holds", estimate)


def rule(criterion: Criterion, estimate: Estimate, watched_s: float, times_longer: float) -> Ruled:
    """The ruling on an estimate: its interval decides, as in judge.py.

    times_longer: how many times the watched_s seconds would settle which side the value is on.
    """
    violates, limit = comparison(criterion.condition), criterion.threshold
    ends = violates(estimate.low, limit), violates(estimate.high, limit)
    if all(ends):
        return Ruled(FAIL, missed_by(estimate.value, limit) + ", beyond doubt", estimate)
    if not any(ends):
        return Ruled(PASS, "holds, and so does the whole interval", estimate)
    if times_longer > MOST_TIMES_LONGER:
        return Ruled(INCONCLUSIVE, "too near to the limit to tell", estimate)
    needed = max(estimate.samples + 1, rounded_up(estimate.samples * times_longer))
    unit, name = duration(watched_s * max(1.0, times_longer))
    time = rounded_up(watched_s * max(1.0, times_longer) / unit)
    reason = f"the interval holds the limit: about {time} {name} of measuring would settle it"
    return Ruled(INCONCLUSIVE, reason, estimate, needed)


def missed_by(observed: float, limit: float) -> str:
    """`over the limit by 12 %`."""
    if observed == limit:
        return "at the limit"
    side = "over" if observed > limit else "under"
    if limit == 0:
        return f"{side} the limit"
    return f"{side} the limit by {figure(100 * abs(observed - limit) / limit)} %"


def rounded_up(number: float) -> int:
    """To two digits: an extrapolation is no better than that."""
    step = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
