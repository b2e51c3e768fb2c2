"""95 % confidence intervals for what a run measured, honest about autocorrelation.

Latencies of a run are not independent: a slow moment makes many requests slow together. A
bootstrap of single requests breaks that up and gives intervals several times too narrow. So every
interval here begins with the design effect: how much more a share or a mean varies than it would
over as many independent samples. It is estimated from one residual a second, or a bin of a run of
many hours (bins.py), and the samples are counted as n / deff. `bins` are the numbers of those that
have samples, from any one on.

- Percentiles: see percentiles.py.
- Means are ratio estimators over bins; shares take Clopper-Pearson on the effective size.

Limits, measured over simulated runs of 30 to 60 s (tests/stats/test_intervals.py): 92 to 98 %
of the intervals hold the truth if a disturbance dies out within a second or two. Where one lasts
for several seconds and makes up half of the variance, 91 to 94 % do for p90 and above: half a
minute holds too few such episodes. Elapsed times are whole milliseconds, and ties only widen an
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special, stats

from tollgate.stats.autocorrelation import dense, design_effect, long_run_variance, span
from tollgate.stats.counts import Counts

CONFIDENCE = 0.95
# Below five seconds, or bins of a long run, there is no telling a disturbance from a level.
MIN_SECONDS = 5
# Fewer samples than this say nothing of how far their mean may lie beside the truth: two that are
# alike would have an interval without a width. With ten exponential ones 90 % of intervals hold it.
FEWEST_FOR_MEAN = 10


@dataclass(frozen=True)
class Interval:
    """[low, high] at CONFIDENCE; high is inf, or low 0, where the samples set no bound.

    deff is the design effect, at least 1; n / deff independent samples are worth as much.
    """

    low: float
    high: float
    deff: float


UNKNOWN = Interval(0.0, math.inf, math.inf)


def share_interval(bins, n, hits, confidence: float = CONFIDENCE) -> Interval:
    """Interval for sum(hits) / sum(n), a share in [0, 1]; arrays of one value a bin."""
    if not len(n) or span(bins) < MIN_SECONDS:
        return Interval(0.0, 1.0, math.inf)
    deff = design_effect(bins, n, hits, confidence)
    size = n.sum() / deff
    k, alpha = hits.sum() / deff, 1 - confidence
    low = special.betaincinv(k, size - k + 1, alpha / 2) if k > 0 else 0.0
    high = special.betaincinv(k + 1, size - k, 1 - alpha / 2) if k < size else 1.0
    return Interval(float(low), float(high), deff)


def mean_interval(bins, n, sums, confidence: float = CONFIDENCE) -> Interval:
    """Interval for sum(sums) / sum(n); arrays of one value a bin. deff is not known here."""
    if not len(n) or span(bins) < MIN_SECONDS:
        return UNKNOWN
    mean = sums.sum() / n.sum()
    residuals = dense(bins, sums - mean * n)
    variance, freedom = long_run_variance(residuals)
    error = math.sqrt(variance * len(residuals)) / n.sum()
    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    return Interval(max(0.0, float(mean) - reach), float(mean) + reach, math.nan)


def stdev_interval(counts: Counts, confidence: float = CONFIDENCE) -> Interval:
    """Interval for the standard deviation, from the mean of the squared deviations, in ms."""
    if not counts.total:
        return UNKNOWN
    squares = counts.sum_by_second((counts.elapsed_ms - counts.mean) ** 2)
    found = mean_interval(counts.bins, counts.sum_by_second(), squares, confidence)
    return Interval(math.sqrt(found.low), math.sqrt(found.high), found.deff)
