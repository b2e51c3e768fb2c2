"""Intervals from rounds that are resampled, for all that the study says. Pure.

The rounds are the experiment's independent repetitions; requests of one block are not independent,
and the machine drifts from round to round. So whole rounds are drawn with replacement, a block
bootstrap whose blocks are the design's own, and the same rounds for every cell that goes into a
number: what a round did to all arms cancels in their ratio.

A percentile interval from n rounds is too narrow, as if the normal distribution held with a
variance divided by n. The expanded percentile interval takes the quantiles of the replicates
farther out, at Phi(-sqrt(n / (n - 1)) t) with Student's t of n - 1 degrees of freedom
(T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69(4),
2015, section 4.4 of the full text, arXiv:1411.5279); it is the same for a ratio and its inverse.

Limits, by simulation (tests/tollgate/test_study_coverage.py): with 8 to 12 rounds 93 to 96 % of the
intervals hold a ratio of throughputs or means, also with a drift common to all arms, requests that
depend on each other, and heavy tails; 94 to 98.5 % hold a ratio of medians, most of them where
rounds differ by factors. Where one block in ten of each arm is slow by half, some 93 % do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tollgate.stats import CONFIDENCE
from tollgate.study.model import Estimate

Floats = NDArray[np.float64]
#: With fewer rounds the resampled ones are too few different ones for an interval at 95 %.
MIN_BLOCKS = 8
#: The outermost quantile, 0.57 % with 8 rounds, then lies at the 23rd replicate.
RESAMPLES = 4000


def multiplicities(rounds: int, seed: int, resamples: int = RESAMPLES) -> Floats:
    """float[resamples, rounds]: how often each resample has each round; every row sums to rounds.

    Equal for equal arguments, so that numbers with the same rounds share their resamples. Raises
    ValueError without rounds.
    """
    if rounds < 1:
        raise ValueError("there are no rounds to resample")
    rng = np.random.default_rng(seed)
    return rng.multinomial(rounds, np.full(rounds, 1 / rounds), resamples).astype(np.float64)


def interval(replicates: Floats, rounds: int, confidence: float = CONFIDENCE) -> tuple:
    """(low, high), the expanded percentile interval from the replicates of `rounds` rounds, at
    least two. The replicates must be finite."""
    reach = math.sqrt(rounds / (rounds - 1)) * stats.t.ppf((1 + confidence) / 2, rounds - 1)
    share = float(stats.norm.cdf(-reach))
    low, high = np.quantile(replicates, [share, 1 - share])
    return float(low), float(high)


def told(value: float, replicates: Floats, rounds: int) -> Estimate:
    """A value with its interval, or with the reason why it has none.

    value: from all rounds as they were. replicates: float[B] from the resampled ones; they may be
    empty where there are fewer than MIN_BLOCKS rounds.
    """
    if not math.isfinite(value):
        return Estimate(None, note="not to be told: no request was measured, or a divisor is 0")
    if rounds < MIN_BLOCKS:
        were = "round was" if rounds == 1 else "rounds were"
        note = f"no interval: {rounds} {were} measured, {MIN_BLOCKS} are needed"
        return Estimate(float(value), note=note)
    lost = int(np.count_nonzero(~np.isfinite(replicates)))
    if lost:
        note = f"no interval: {lost} of {len(replicates)} resamples hold no request or divide by 0"
        return Estimate(float(value), note=note)
    return Estimate(float(value), *interval(replicates, rounds))
