"""The design effect and the long-run variance of samples that are not independent. Pure.

Both work on one residual a bin, which is a second unless a run takes many hours (bins.py). The
long-run variance is the equal-weighted cosine estimator, used with t critical values (Lazarus,
Lewis, Stock and Watson 2018, "HAR Inference: Recommendations for Practice").

error_of_sum is about blocks of time whose noise may last longer than a block. Noise common to both
sides of a comparison has cancelled before this; what is left is mostly independent from second to
second, and then nothing may be wasted, or a small regression takes too long to find. Yet a process
can be slow for ten seconds all by itself. In one second this hides below the noise of single
requests, so that the autocorrelation of neighbours, which long_run_variance goes by, misses it.

So a second estimate stands beside it: the sum of autocovariances up to where those of two
neighbouring lags are no longer positive (Geyer 1992, "Practical Markov chain Monte Carlo", the
initial positive sequence), corrected for the mean that was taken off. The larger one counts; and
where Geyer's is the larger by NOTABLE, its degrees of freedom are those of a window as long as the
lags that it took, blocks / (2 lags + 1).

Limits, by simulation of 60 to 600 blocks and tests of "no difference" at 1 %: independent noise
refuses 0.5 to 0.8 %; where half of the variance remembers 0.6 of the second before, 0.8 to 1.4 %;
where half remembers 0.9, 5.7, 3.2, 1.9 and 0.9 % at 60, 120, 300 and 600 blocks, with
long_run_variance alone 8 to 12 %. Noise that stays for half a minute cannot be distinguished from
a regression within a minute or two by any method, and what makes a process slow as long as it lives
in no time at all: other processes must be started for that.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import fft, stats

# The bias of the long-run variance that is put up with, as a share of it, in choosing how many
# cosines to average: tuned by simulation, see the module's docstring.
BIAS_SHARE = 0.05
# Lag-one autocorrelation is taken this many standard errors above its estimate: too wide an
# interval says "cannot tell", too narrow a one lies.
CAUTION = 0.5
FEWEST_COSINES = 3
Floats = NDArray[np.float64]
# By chance alone Geyer's estimate is seldom that much larger.
NOTABLE = 1.5
FEWEST_FREEDOM = 3.0


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


def error_of_sum(residuals: Floats) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom) of one residual a block; they sum to 0."""
    size = len(residuals)
    variance, freedom = long_run_variance(residuals)
    positive, lags = _initial_positive(residuals)
    window = 2 * lags + 1
    positive *= 1 + window / size
    if positive > NOTABLE * variance:
        freedom = max(FEWEST_FREEDOM, min(freedom, size / window))
    return math.sqrt(max(variance, positive) * size), float(freedom)


def _initial_positive(residuals: Floats) -> tuple[float, int]:
    """(long-run variance a block, the lags it took)"""
    size = len(residuals)
    length = fft.next_fast_len(2 * size, real=True)
    spectrum = fft.rfft(residuals, length)
    covariances = fft.irfft(np.square(np.abs(spectrum)), length)[:size] / size
    lagged = covariances[1 : 1 + (size - 1) // 2 * 2]
    pairs = lagged[0::2] + lagged[1::2]
    ended = np.flatnonzero(pairs <= 0)
    taken = int(ended[0]) if len(ended) else len(pairs)
    return float(covariances[0] + 2 * pairs[:taken].sum()), 2 * taken
