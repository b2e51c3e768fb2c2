"""The design effect and the long-run variance of samples that are not independent. Pure.

All of it works on one residual a bin, which is a second unless a run takes many hours (bins.py),
or a step of a comparison. error_of_sum takes the larger one of two estimates of the long-run
variance:

- The equal-weighted cosine estimator, used with t critical values (Lazarus, Lewis, Stock and Watson
  2018, "HAR Inference: Recommendations for Practice").
- The sum of autocovariances up to where those of two neighbouring lags are no longer positive
  (Geyer 1992, "Practical Markov chain Monte Carlo", the initial positive sequence), corrected for
  the mean that was taken off. A service can be slow for ten seconds all by itself, and in one
  second this hides below the noise of single requests, so that the autocorrelation of neighbours,
  which the first estimate goes by, misses it. Where this one is the larger by NOTABLE, its degrees
  of freedom are those of a window as long as the lags that it took, blocks / (2 lags + 1).

A mean (error_of_bins) also has few cosines, because a FAIL at 0.03 % needs the far tail of
Student's t. Percentiles (design_effect) do not need it, by simulation.

Tuned on gamma, AR(0.5), half AR(0.8) and bursts (docs/intervals.md has all figures, and where the
promise ends).

A comparison looks again and again, each time at a level of one in ten thousand or so, and in that
tail a choice that goes by the data shows: of noise half of whose variance remembers 0.9 of the
second before, error_of_sum refuses "no difference" 26 and 8 times as often as 0.017 %, one-sided,
with 60 and 300 residuals. error_of_steps therefore takes a given number of cosines, so that
its degrees of freedom don't depend on the data, and the largest of three variances: that, Geyer's,
and the one of a first-order autoregression (Andrews 1991, "Heteroskedasticity and autocorrelation
consistent covariance matrix estimation", the AR(1) plug-in), whose memory is taken WARY standard
errors above its estimate.
What makes a process slow as long as it lives is noticed by no method: other processes must be
started for that.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import fft, special

from tollgate.stats.arrays import Floats

# The bias of the long-run variance that is put up with, as a share of it, in choosing how many
# cosines to average: tuned by simulation, see the module's docstring.
BIAS_SHARE = 0.025
# Lag-one autocorrelation is taken this many standard errors above its estimate: too wide an
# interval says "cannot tell", too narrow a one lies.
CAUTION = 0.5
# The same where a one-sided level of one in ten thousand is to hold.
WARY = 1.25
# An autoregression with a higher coefficient cannot be distinguished from a trend.
LONGEST_MEMORY = 0.97
FEWEST_COSINES = 3
# By chance alone Geyer's estimate is seldom that much larger.
NOTABLE = 1.2
# More cosines than this are never averaged, however independent neighbours look: in half a minute
# that is chance (Lazarus et al. 2018, equation 4).
LAZARUS = 0.4
FEWEST_CAUTIOUS = 5


def design_effect(bins: np.ndarray, n: np.ndarray, hits: np.ndarray, confidence: float) -> float:
    """Variance of the share sum(hits) / sum(n) over that of independent samples, at least 1.

    It includes Korn and Graubard's correction (t / z)^2 for having estimated it from few bins,
    and the floor comes after the correction: a run is never trusted beyond its sample count.
    """
    total = n.sum()
    share = hits.sum() / total
    if not 0 < share < 1:
        return 1.0
    error, freedom = error_of_sum(dense(bins, hits - share * n))
    freedom = min(freedom, max(1.0, len(n) - 1.0))
    quantile = (1 + confidence) / 2
    correction = (special.stdtrit(freedom, quantile) / special.ndtri(quantile)) ** 2
    return float(max(1.0, error**2 / (total * share * (1 - share)) * correction))


def error_of_bins(bins: np.ndarray, residuals: Floats) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom) of one residual for each bin with samples.

    The noise of a run that was measured once: fewer cosines than how_many_cosines may want, and
    no more freedom than those bins have.
    """
    every = dense(bins, residuals)
    size, filled = len(every), len(residuals)
    if filled < 2:
        return 0.0, 1.0
    error, freedom = error_of_sum(every, max(FEWEST_CAUTIOUS, int(LAZARUS * size ** (2 / 3))))
    # One mean was taken off the bins with samples; the empty ones know nothing of it.
    unbiased = math.sqrt((1 - 1 / size) / (1 - 1 / filled))
    return error * unbiased, min(freedom, filled - 1.0)


def error_of_sum(residuals: Floats, most: int | None = None) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom) of one residual a block; they sum to 0.

    most: how many cosines may be averaged, half as many as blocks by default.
    """
    size = len(residuals)
    power = float(residuals @ residuals)
    if power == 0:
        return 0.0, float(size)
    cosines = how_many_cosines(float(residuals[1:] @ residuals[:-1]) / power, size)
    cosines = min(cosines, most or cosines)
    variance = float(np.square(fft.dct(residuals, norm="ortho")[1 : cosines + 1]).mean())
    positive, window = _initial_positive(residuals)
    freedom = float(cosines)
    if positive > NOTABLE * variance:
        freedom = min(freedom, max(FEWEST_COSINES, size / window))
    return math.sqrt(max(variance, positive) * size), freedom


def error_of_steps(residuals: Floats, cosines: int) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom) of one residual a step; they sum to 0.

    For levels far below 1 %. cosines: how many to average, at least FEWEST_COSINES; they are the
    degrees of freedom.
    """
    size = len(residuals)
    cosines = max(FEWEST_COSINES, min(cosines, size - 1))
    power = float(residuals @ residuals)
    if power == 0:
        return 0.0, float(cosines)
    cosine = float(np.square(fft.dct(residuals, norm="ortho")[1 : cosines + 1]).mean())
    memory = _cautious(float(residuals[1:] @ residuals[:-1]) / power, size, WARY)
    memory = min(max(memory, 0.0), LONGEST_MEMORY)
    regression = power / size * (1 + memory) / (1 - memory)
    variance = max(cosine, _initial_positive(residuals)[0], regression)
    return math.sqrt(variance * size), float(cosines)


def how_many_cosines(lag_one: float, size: int) -> int:
    """How many cosines to average: fewer, the longer a disturbance lasts.

    For a first-order autoregression the relative bias with v of S cosines is about
    (pi^2 / 6) (v / S)^2 2 r / (1 - r)^2, solved here for v at BIAS_SHARE.
    """
    most = size // 2
    r = _cautious(lag_one, size, CAUTION)
    if r <= 0:
        return max(FEWEST_COSINES, most)
    if r >= 1:
        return FEWEST_COSINES
    wanted = size * math.sqrt(6 * BIAS_SHARE / math.pi**2) * (1 - r) / math.sqrt(2 * r)
    return max(FEWEST_COSINES, min(most, int(wanted)))


def _cautious(lag_one: float, size: int, caution: float) -> float:
    """The lag-one autocorrelation, corrected for its small-sample bias (Kendall 1954), and so many
    standard errors above that."""
    return lag_one + (1 + 3 * lag_one) / size + caution / math.sqrt(size)


def span(bins: np.ndarray) -> int:
    """How many bins there are from the first to the last."""
    return int(bins[-1] - bins[0]) + 1 if len(bins) else 0


def dense(bins: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One value for every bin from the first to the last, 0 where there were no samples."""
    dense = np.zeros(span(bins))
    dense[bins - bins[0]] = values
    return dense


def _initial_positive(residuals: Floats) -> tuple[float, int]:
    """(long-run variance a bin, the bins in the window of lags that it took)"""
    size = len(residuals)
    length = fft.next_fast_len(2 * size, real=True)
    spectrum = fft.rfft(residuals, length)
    covariances = fft.irfft(np.square(np.abs(spectrum)), length)[:size] / size
    lagged = covariances[1 : 1 + (size - 1) // 2 * 2]
    pairs = lagged[0::2] + lagged[1::2]
    ended = np.flatnonzero(pairs <= 0)
    taken = int(ended[0]) if len(ended) else len(pairs)
    window = 4 * taken + 1
    return float(covariances[0] + 2 * pairs[:taken].sum()) * (1 + window / size), window
