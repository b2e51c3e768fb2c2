"""Confidence intervals for percentiles of autocorrelated latencies.

Two methods, each where simulation (tests/stats/test_intervals.py) shows that its intervals hold
the truth as often as they say:

- From p25 to p75: Francisco and Fuller (1991, "Quantile Estimation with a Complex Survey Design")
  ask of every value whether the share of samples at or under it is compatible with p, with the
  design effect at that value. A drift of two milliseconds around a median then does not hide that
  every sample was far under the limit.
- Farther out so few samples lie beyond that their autocorrelation is not known, and the first
  method claims too much. Woodruff (1952) takes the design effect at the percentile itself; Korn
  and Graubard (1998) give the exact binomial interval for an effective sample size. In ranks: the
  interval runs from one order statistic to another, and where there is none, it has no end.

Over the course of a run (percentile_by_block) a percentile is the exact one of blocks of time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.autocorrelation import design_effect, span
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import (
    CONFIDENCE,
    MIN_SECONDS,
    UNKNOWN,
    Interval,
    samples_needed,
    share_interval,
)

# A design effect below this, estimated from half a minute, is mostly chance.
NOTABLE_EFFECT = 1.2
# Of the way from a percentile to the end of the distribution, what is left at those beside it.
RUNGS = (0.5, 0.125)
# Percentiles around which both sides hold samples enough to estimate their autocorrelation.
CENTRAL = (25, 75)
# With fewer samples than this the autocorrelation beside the percentile can't be estimated either.
FEWEST_CENTRAL = 200


def percentile_interval(counts: Counts, p: float, confidence: float = CONFIDENCE) -> Interval:
    """Interval for the p-th percentile, p in (0, 100), in ms; UNKNOWN under MIN_SECONDS."""
    if not counts.total or span(counts.bins) < MIN_SECONDS:
        return UNKNOWN
    if counts.total >= FEWEST_CENTRAL and CENTRAL[0] <= p <= CENTRAL[1]:
        return _central_interval(counts, p / 100, confidence)
    return _outer_interval(counts, p, confidence)


def _central_interval(counts: Counts, share: float, confidence: float) -> Interval:
    """The values that a test of their share of samples does not refuse."""
    values = np.unique(counts.elapsed_ms)
    bins, n = counts.bins, counts.sum_by_second()

    def share_of(rows: np.ndarray) -> Interval:
        return share_interval(bins, n, counts.sum_by_second(rows), confidence)

    ms = counts.elapsed_ms
    high = _first(lambda at: share_of(ms <= values[at]).low >= share, len(values))
    low = _first(lambda at: share_of(ms < values[at]).high > share, len(values)) - 1
    middle = counts.order_statistics([max(1, math.ceil(counts.total * share))])[0]
    least = float(values[low]) if low >= 0 else 0.0
    most = float(values[high]) if high < len(values) else math.inf
    return Interval(least, most, share_of(ms <= middle).deff)


def _first(holds: Callable[[int], bool], size: int) -> int:
    """The first index from which on a condition holds, by halving; `size` if it never does."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _outer_interval(counts: Counts, p: float, confidence: float) -> Interval:
    """From the samples around the percentile, and around others still farther out.

    No percentile lies above a higher one, so what bounds a higher one from above bounds this one
    as well, and the other way round.
    """
    own = _own_interval(counts, p, confidence)
    higher = (_own_interval(counts, 100 - (100 - p) * rung, confidence).high for rung in RUNGS)
    lower = (_own_interval(counts, p * rung, confidence).low for rung in RUNGS)
    return Interval(max(own.low, *lower), min(own.high, *higher), own.deff)


def _own_interval(counts: Counts, p: float, confidence: float) -> Interval:
    """Interval for the p-th percentile from the samples around it alone."""
    middle = counts.order_statistics([max(1, math.ceil(counts.total * p / 100))])[0]
    # Both edges of the tie at the percentile: whole milliseconds make large ties, and a burst of
    # slow samples that all share one value shows only in the share of samples under it.
    deff = max(
        design_effect(counts.bins, counts.sum_by_second(), counts.sum_by_second(edge), confidence)
        for edge in (counts.elapsed_ms <= middle, counts.elapsed_ms < middle)
    )
    low, high = _ranks(counts.total, deff, p / 100, 1 - confidence)
    least = 0.0 if low is None else _between(counts, low)
    return Interval(least, math.inf if high is None else _between(counts, high), deff)


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
    low = _least(alpha / 2, size, share)
    high = _least(1 - alpha / 2, size, share) + 1
    return low if low >= 1 else None, high if high <= size else None


def _least(probability: float, size: int, share: float) -> int:
    """The smallest number that a binomial one of so many tries does not exceed with at least this
    probability."""
    number: int = math.ceil(special.bdtrik(probability, size, share))
    lower = number > 0 and special.bdtr(number - 1, size, share) >= probability
    return number - 1 if lower else number


def _fractional_ranks(size: float, share: float, alpha: float) -> tuple[float | None, float | None]:
    def solved(probability: float) -> float:
        # How likely the sample of a rank lies at or under the percentile; it falls with the rank.
        def excess(rank: float) -> float:
            return float(special.betainc(rank, size + 1 - rank, share)) - probability

        if excess(size) >= 0:
            return size
        return 1.0 if excess(1.0) <= 0 else float(optimize.brentq(excess, 1.0, size))

    low = solved(1 - alpha / 2) if (1 - share) ** size <= alpha / 2 else None
    high = solved(alpha / 2) if share**size <= alpha / 2 else None
    return low, high


def _between(counts: Counts, rank: float) -> float:
    below = int(rank)
    low, high = counts.order_statistics([below, min(below + 1, counts.total)])
    return float(low + (rank - below) * (high - low))


def percentile_by_block(
    counts: Counts, percentile: float, from_s: float, to_s: float, blocks: int
) -> tuple[Floats, Floats, Ints]:
    """(middle of each block in s, its percentile in ms, its samples); arrays of equal length.

    The whole bins of [from_s, to_s) make at most `blocks` blocks of equal length, give or take a
    bin. One with fewer samples than an interval for that percentile needs (independent ones, 72
    for p95) is joined with those behind it, the last one with those before it. Without samples
    enough in all of the window the arrays are empty. Raises ValueError if blocks is below 1.
    """
    if blocks < 1:
        raise ValueError(f"a run can't be split into {blocks} blocks")
    first, width = math.ceil(from_s), counts.width
    bins = max(0, math.floor(to_s) - first) // width
    borders = first + width * np.unique(np.arange(blocks + 1) * bins // blocks)
    measured = counts.window(first, borders[-1])
    upto = np.append(0, np.cumsum(measured.n))[np.searchsorted(measured.second, borders)]
    borders = _joined(borders, np.diff(upto), samples_needed(percentile))
    parts = [measured.window(low, high) for low, high in itertools.pairwise(borders)]
    values = np.array([part.percentile(percentile) for part in parts], dtype=np.float64)
    totals = np.array([part.total for part in parts], dtype=np.int64)
    return (borders[:-1] + borders[1:]) / 2, values, totals


def _joined(borders: Ints, samples: Ints, needed: int) -> Ints:
    """The borders that leave at least `needed` samples between any two; one border if none do."""
    kept, held = [0], 0
    for block, count in enumerate(samples):
        held += int(count)
        if held >= needed:
            kept.append(block + 1)
            held = 0
    if len(kept) > 1:
        kept[-1] = len(samples)
    return borders[kept]
