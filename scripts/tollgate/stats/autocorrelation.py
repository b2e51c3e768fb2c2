"""How much less than independent samples a run's samples tell: design effect, long-run variance.

Both work on one residual a bin, which is a second unless a run takes many hours (bins.py). The
long-run variance is the equal-weighted cosine estimator, used with t critical values (Lazarus,
Lewis, Stock and Watson 2018, "HAR Inference: Recommendations for Practice").
"""

from __future__ import annotations

import math

import numpy as np
from scipy import fft, stats

# The bias of the long-run variance that is put up with, as a share of it, in choosing how many
# cosines to average: tuned by simulation, see the module's docstring.
BIAS_SHARE = 0.05
# Lag-one autocorrelation is taken this many standard errors above its estimate: too wide an
# interval says "cannot tell", too narrow a one lies.
CAUTION = 0.5
FEWEST_COSINES = 3


def design_effect(bins, n, hits, confidence: float) -> float:
    """Variance of the share sum(hits) / sum(n) over that of independent samples, at least 1.

    It includes Korn and Graubard's correction (t / z)^2 for having estimated it from few bins,
    and the floor comes after the correction: a run is never trusted beyond its sample count.
    """
    total = n.sum()
    share = hits.sum() / total
    if not 0 < share < 1:
        return 1.0
    residuals = dense(bins, hits - share * n)
    variance, freedom = long_run_variance(residuals)
    deff = variance * len(residuals) / (total * share * (1 - share))
    quantile = (1 + confidence) / 2
    correction = (stats.t.ppf(quantile, freedom) / stats.norm.ppf(quantile)) ** 2
    return float(max(1.0, deff * correction))


def long_run_variance(residuals: np.ndarray) -> tuple[float, int]:
    """(variance a bin, degrees of freedom) of residuals that sum to zero, one a bin."""
    size = len(residuals)
    power = float(residuals @ residuals)
    if power == 0:
        return 0.0, size
    cosines = how_many_cosines(float(residuals[1:] @ residuals[:-1]) / power, size)
    weights = fft.dct(residuals, type=2, norm="ortho")[1 : cosines + 1]
    return float(np.square(weights).mean()), cosines


def how_many_cosines(lag_one: float, size: int) -> int:
    """How many cosines to average: fewer, the longer a disturbance lasts.

    For a first-order autoregression the relative bias with v of S cosines is about
    (pi^2 / 6) (v / S)^2 2 r / (1 - r)^2, solved here for v at BIAS_SHARE. The estimate of r is
    corrected for its small-sample bias (Kendall 1954).
    """
    most = size // 2
    r = lag_one + (1 + 3 * lag_one) / size + CAUTION / math.sqrt(size)
    if r <= 0:
        return max(FEWEST_COSINES, most)
    if r >= 1:
        return FEWEST_COSINES
    wanted = size * math.sqrt(6 * BIAS_SHARE / math.pi**2) * (1 - r) / math.sqrt(2 * r)
    return max(FEWEST_COSINES, min(most, int(wanted)))


def span(bins) -> int:
    """How many bins there are from the first to the last."""
    return int(bins[-1] - bins[0]) + 1 if len(bins) else 0


def dense(bins, values) -> np.ndarray:
    """One value for every bin from the first to the last, 0 where there were no samples."""
    dense = np.zeros(span(bins))
    dense[bins - bins[0]] = values
    return dense
