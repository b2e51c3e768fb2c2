"""95 % confidence intervals for what a run measured, honest about autocorrelation.

Latencies of a run are not independent: a slow moment makes many requests slow together. A
bootstrap of single requests breaks that up and gives intervals several times too narrow. So every
interval here begins with the design effect: how much more a share or a mean varies than it would
over as many independent samples. It is estimated from one residual a second, or a bin of a run of
many hours (bins.py), and the samples are counted as n / deff. `bins` are the numbers of those that
have samples, from any one on.

- Percentiles: see percentiles.py.
- Means are ratio estimators over bins. Their distribution is skewed as their samples are, so that
  Student's interval ends too early on the long side: in 1 of 10 runs of 12 exponential samples the
  truth lies above it. Willink (2005, "A confidence interval and test for the mean of an asymmetric
  distribution", Communications in Statistics 34) inverts a cubic in t, as Johnson (1978) and Hall
  (1992) do. It also draws the other end in; that is left out, for a few samples do not show how
  skewed they are, and a FAIL must not rest on it.
- Shares take Clopper-Pearson on the effective size.

docs/intervals.md says how often they hold the truth, and where that ends; scripts/dev/benchmarks
and tests/stats measure it, on processes that the methods were tuned on and on others. Elapsed times
are whole milliseconds, and ties only widen an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from tollgate.stats.autocorrelation import design_effect, error_of_bins, span
from tollgate.stats.counts import Counts

CONFIDENCE = 0.95
# Below five seconds, or bins of a long run, there is no telling a disturbance from a level.
MIN_SECONDS = 5
#: With values for a smaller part of what was measured the rest may have been worse.
LEAST_KNOWN = 0.9
# Fewer samples than this say nothing of how far their mean may lie beside the truth: two that are
# alike would have an interval without a width. Of lognormal(1) ones, 89 % of intervals hold it with
# five and 93 % with ten.
FEWEST_FOR_MEAN = 10
# One request in so many may take so many times as long as the others, and until there are samples
# enough to have seen one, the upper end of a mean leaves room for it.
TAIL_SHARE, TAIL_TIMES = 1 / 20, 10
# Below it Willink's formula is a difference of nearly equal numbers, and Student's interval.
LEAST_SKEWNESS = 1e-6


@dataclass(frozen=True)
class Interval:
    """[low, high] at CONFIDENCE; high is inf, or low 0, where the samples set no bound.

    deff is the design effect, at least 1; n / deff independent samples are worth as much.
    """

    low: float
    high: float
    deff: float


UNKNOWN = Interval(0.0, math.inf, math.inf)


def share_interval(
    bins: np.ndarray, n: np.ndarray, hits: np.ndarray, confidence: float = CONFIDENCE
) -> Interval:
    """Interval for sum(hits) / sum(n), a share in [0, 1]; arrays of one value a bin."""
    if not len(n) or span(bins) < MIN_SECONDS:
        return Interval(0.0, 1.0, math.inf)
    deff = design_effect(bins, n, hits, confidence)
    size = n.sum() / deff
    k, alpha = hits.sum() / deff, 1 - confidence
    low = special.betaincinv(k, size - k + 1, alpha / 2) if k > 0 else 0.0
    high = special.betaincinv(k + 1, size - k, 1 - alpha / 2) if k < size else 1.0
    return Interval(float(low), float(high), deff)


def samples_needed(p: float, deff: float = 1.0, confidence: float = CONFIDENCE) -> int:
    """The fewest samples whose interval for the p-th percentile has two ends.

    The slowest of n independent samples is under the percentile with probability (p/100)^n, which
    must be at most (1 - confidence) / 2: 72 for p95, 368 for p99, times the design effect.
    """
    farther = max(p, 100 - p) / 100
    independent = math.ceil(math.log((1 - confidence) / 2) / math.log(farther))
    return math.ceil(independent * deff)


def mean_interval(
    bins: np.ndarray,
    n: np.ndarray,
    sums: np.ndarray,
    confidence: float = CONFIDENCE,
    has_tail: bool = True,
) -> Interval:
    """Interval for sum(sums) / sum(n); arrays of one value a bin. deff is not known here.

    has_tail: whether these are times, a few of which may be many times as long as the others.
    """
    if not len(n) or span(bins) < MIN_SECONDS:
        return UNKNOWN
    total = int(n.sum())
    mean = float(sums.sum() / total)
    residuals = sums - mean * n
    error, freedom = error_of_bins(bins, residuals)
    below = above = 0.0
    if error:
        scale = max(error, math.sqrt(residuals @ residuals))
        skewness = float(np.power(residuals / scale, 3).sum())
        below, above = (error / total * it for it in _reach(skewness, freedom, confidence))
    if has_tail and total < samples_needed(100 * (1 - TAIL_SHARE), confidence=confidence):
        above = max(above, below + mean * TAIL_SHARE * (TAIL_TIMES - 1))
    return Interval(max(0.0, mean - below), mean + above, math.nan)


def _reach(skewness: float, freedom: float, confidence: float) -> tuple[float, float]:
    """How many standard errors an interval goes below the mean and above it (Willink 2005), but at
    least as far as Student's. skewness: of the mean's distribution, by its samples."""
    t = float(special.stdtrit(freedom, (1 + confidence) / 2))
    a = skewness / 6
    if abs(a) < LEAST_SKEWNESS:
        return t, t
    below, above = (
        sign * float(np.cbrt(1 + 6 * a * (sign * t - a)) - 1) / (2 * a) for sign in (1, -1)
    )
    return max(t, below), max(t, above)


def stdev_interval(counts: Counts, confidence: float = CONFIDENCE) -> Interval:
    """Interval for the standard deviation, from the mean of the squared deviations, in ms."""
    if not counts.total:
        return UNKNOWN
    squares = counts.sum_by_second((counts.elapsed_ms - counts.mean) ** 2)
    found = mean_interval(counts.bins, counts.sum_by_second(), squares, confidence, False)
    return Interval(math.sqrt(found.low), math.sqrt(found.high), found.deff)


def poisson_interval(count: int, error_rate: float) -> tuple[float, float]:
    """The exact two-sided interval for the mean of a Poisson count (Garwood 1936).

    It misses the mean with at most that probability, half of it on either side.
    """
    low = float(special.gammaincinv(count, error_rate / 2)) if count else 0.0
    return low, float(special.gammainccinv(count + 1, error_rate / 2))
