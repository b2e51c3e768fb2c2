"""95 % confidence intervals for what a run measured, honest about autocorrelation.

Latencies of a run are not independent: a slow moment makes many requests slow together. A
bootstrap of single requests breaks that up and gives intervals several times too narrow. So every
interval here begins with the design effect: how much more a share or a mean varies than it would
over as many independent samples. It is estimated from one residual a second, and the samples are
counted as n / deff.

- Percentiles: Woodruff (1952) turns an interval for the share of samples at or under q into one
  for q; Korn and Graubard (1998) give the exact binomial interval for an effective sample size
  with a small-sample correction. In ranks: the interval runs from one order statistic to another.
- Means are ratio estimators over seconds; shares take Clopper-Pearson on the effective size.

Limits, measured over simulated runs of 30 to 60 s (tests/tollgate/test_intervals.py): 92 to 98 %
of the intervals hold the truth if a disturbance dies out within a second or two. Where one lasts
for several seconds and makes up half of the variance, 91 to 94 % do for p90 and above: half a
minute holds too few such episodes. Elapsed times are whole milliseconds, and ties only widen an
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import optimize, special, stats

from tollgate.autocorrelation import dense, design_effect, long_run_variance, span
from tollgate.counts import Counts

CONFIDENCE = 0.95
# Below five seconds there is no telling a disturbance from a level.
MIN_SECONDS = 5
# A design effect below this, estimated from half a minute, is mostly chance.
NOTABLE_EFFECT = 1.2
# Of the way from a percentile to the end of the distribution, what is left at those beside it.
RUNGS = (0.5, 0.125)


@dataclass(frozen=True)
class Interval:
    """[low, high] at CONFIDENCE; high is inf, or low 0, where the samples set no bound.

    deff is the design effect, at least 1; n / deff independent samples would tell as much.
    """

    low: float
    high: float
    deff: float


UNKNOWN = Interval(0.0, math.inf, math.inf)


def percentile_interval(counts: Counts, p: float, confidence: float = CONFIDENCE) -> Interval:
    """Interval for the p-th percentile, p in (0, 100), in ms; UNKNOWN under MIN_SECONDS.

    No percentile lies above a higher one, so what bounds a higher one from above bounds this one
    as well, and the other way round. That helps where a slow drift around the percentile itself
    leaves it without a bound, while all is calm a little above it.
    """
    if not counts.total or span(counts.seconds) < MIN_SECONDS:
        return UNKNOWN
    own = _own_interval(counts, p, confidence)
    higher = (_own_interval(counts, 100 - (100 - p) * rung, confidence) for rung in RUNGS)
    lower = (_own_interval(counts, p * rung, confidence) for rung in RUNGS)
    return Interval(
        max(own.low, *(each.low for each in lower)),
        min(own.high, *(each.high for each in higher)),
        own.deff,
    )


def _own_interval(counts: Counts, p: float, confidence: float) -> Interval:
    """Interval for the p-th percentile from the samples around it alone."""
    middle = counts.order_statistics([max(1, math.ceil(counts.total * p / 100))])[0]
    # Both edges of the tie at the percentile: whole milliseconds make large ties, and a burst of
    # slow samples that all share one value shows only in the share of samples under it.
    deff = max(
        design_effect(
            counts.seconds, counts.sum_by_second(), counts.sum_by_second(edge), confidence
        )
        for edge in (counts.elapsed_ms <= middle, counts.elapsed_ms < middle)
    )
    low, high = _ranks(counts.total, deff, p / 100, 1 - confidence)
    return Interval(
        0.0 if low is None else _between(counts, low),
        math.inf if high is None else _between(counts, high),
        deff,
    )


def share_interval(seconds, n, hits, confidence: float = CONFIDENCE) -> Interval:
    """Interval for sum(hits) / sum(n), a share in [0, 1]; arrays of one value a second."""
    if not len(n) or span(seconds) < MIN_SECONDS:
        return Interval(0.0, 1.0, math.inf)
    deff = design_effect(seconds, n, hits, confidence)
    size = n.sum() / deff
    k, alpha = hits.sum() / deff, 1 - confidence
    low = special.betaincinv(k, size - k + 1, alpha / 2) if k > 0 else 0.0
    high = special.betaincinv(k + 1, size - k, 1 - alpha / 2) if k < size else 1.0
    return Interval(float(low), float(high), deff)


def mean_interval(seconds, n, sums, confidence: float = CONFIDENCE) -> Interval:
    """Interval for sum(sums) / sum(n); arrays of one value a second. deff is not known here."""
    if not len(n) or span(seconds) < MIN_SECONDS:
        return UNKNOWN
    mean = sums.sum() / n.sum()
    residuals = dense(seconds, sums - mean * n)
    variance, freedom = long_run_variance(residuals)
    error = math.sqrt(variance * len(residuals)) / n.sum()
    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    return Interval(max(0.0, float(mean) - reach), float(mean) + reach, math.nan)


def stdev_interval(counts: Counts, confidence: float = CONFIDENCE) -> Interval:
    """Interval for the standard deviation, from the mean of the squared deviations, in ms."""
    if not counts.total:
        return UNKNOWN
    squares = counts.sum_by_second((counts.elapsed_ms - counts.mean) ** 2)
    found = mean_interval(counts.seconds, counts.sum_by_second(), squares, confidence)
    return Interval(math.sqrt(found.low), math.sqrt(found.high), found.deff)


def samples_needed(p: float, deff: float = 1.0, confidence: float = CONFIDENCE) -> int:
    """The fewest samples whose interval for the p-th percentile has two ends.

    The slowest of n independent samples is under the percentile with probability (p/100)^n, which
    must be at most (1 - confidence) / 2: 72 for p95, 368 for p99, times the design effect.
    """
    farther = max(p, 100 - p) / 100
    independent = math.ceil(math.log((1 - confidence) / 2) / math.log(farther))
    return math.ceil(independent * deff)


def _ranks(n: int, deff: float, share: float, alpha: float) -> tuple[float | None, float | None]:
    """Ranks in 1..n whose order statistics hold the percentile; None where there is none.

    Ranks are fractional (Hutson 1999) up to NOTABLE_EFFECT, since the binomial's steps would make
    small samples too cautious. Above it they are whole and rounded outwards: n / deff is then
    itself an uncertain estimate.
    """
    if deff < NOTABLE_EFFECT:
        size = n / deff
        low, high = _fractional_ranks(size, share, alpha)
        scale = (n + 1) / (size + 1)
        return low and max(1.0, low * scale), high and min(float(n), high * scale)
    size = max(1, int(n / deff))
    low, high = _whole_ranks(size, share, alpha)
    scale = (n + 1) / (size + 1)
    return low and max(1, math.floor(low * scale)), high and min(n, math.ceil(high * scale))


def _whole_ranks(size: int, share: float, alpha: float) -> tuple[int | None, int | None]:
    low = int(stats.binom.ppf(alpha / 2, size, share))
    if stats.binom.cdf(low - 1, size, share) > alpha / 2:
        low -= 1
    high = int(stats.binom.ppf(1 - alpha / 2, size, share)) + 1
    return low if low >= 1 else None, high if high <= size else None


def _fractional_ranks(size: float, share: float, alpha: float):
    def solved(probability: float) -> float:
        # How likely the sample of a rank lies at or under the percentile; it falls with the rank.
        def excess(rank: float) -> float:
            return special.betainc(rank, size + 1 - rank, share) - probability

        if excess(size) >= 0:
            return size
        return 1.0 if excess(1.0) <= 0 else optimize.brentq(excess, 1.0, size)

    low = solved(1 - alpha / 2) if (1 - share) ** size <= alpha / 2 else None
    high = solved(alpha / 2) if share**size <= alpha / 2 else None
    return low, high


def _between(counts: Counts, rank: float) -> float:
    below = int(rank)
    low, high = counts.order_statistics([below, min(below + 1, counts.total)])
    return float(low + (rank - below) * (high - low))
