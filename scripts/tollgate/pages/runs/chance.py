"""How often pure chance deals runs so that a cut in two sets them apart as clearly. Pure.

For each way to cut a series in two, Pettitt's sum of ranks ("A non-parametric approach to the
change-point problem", Applied Statistics 28, 1979), here divided by its standard deviation, so that
a change near the end is not overlooked. How often a random order has as strong a strongest cut is
counted over many of them. Where none of them has, many figures together need to know how much rarer
it is: then each cut's chance is counted exactly, over all choices of as many ranks (Mann and
Whitney, "On a test of whether one of two random variables is stochastically larger than the other",
Annals of Mathematical Statistics 18, 1947), and the sum over the cuts is an upper bound.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

#: Runs on either side of a change: fewer are outliers.
SIDE = 4
_ORDERS = 20_000
_SEED = 21
#: Of what rounding makes of equal sums.
_ROUNDING = 1e-9


def chance(values: NDArray[np.float64]) -> float:
    """How often a random order of so many runs has a cut as strong as the strongest of these.
    values: float[N], N >= 2 * SIDE."""
    return _chance_of(len(values), float(_strengths(rankdata(values)[np.newaxis, :]).max()))


@cache
def clear_chance(runs: int, newest: int) -> float:
    """The same of so many runs of which the newest all lie beyond all others, by that cut alone.
    SIDE <= newest <= runs - SIDE."""
    # The order on either side of the cut makes no difference to its sum of ranks.
    ranks = np.arange(1.0, runs + 1)[np.newaxis, :]
    return _chance_of(runs, float(_strengths(ranks)[0, runs - newest - SIDE]))


def _chance_of(runs: int, strength: float) -> float:
    reached = _by_chance(runs)
    # Counted from the upper end; the order that was seen is one of those that there could be.
    above = len(reached) - int(np.searchsorted(reached, strength - _ROUNDING))
    counted = (1 + above) / (1 + len(reached))
    return counted if above else min(counted, _at_most(runs, strength))


def _strengths(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[series, cut] of ranks float[series, run], for cuts that leave SIDE runs either way."""
    runs = ranks.shape[1]
    sizes = np.arange(SIDE, runs - SIDE + 1)
    sums = ranks.cumsum(axis=1)[:, sizes - 1]
    spread = np.sqrt(sizes * (runs - sizes) * (runs + 1) / 3)
    return np.abs(2 * sums - sizes * (runs + 1)) / spread


@cache
def _by_chance(runs: int) -> NDArray[np.float64]:
    """The strongest cut of each of many random orders of so many runs, sorted. Ties would only
    make the sums smaller."""
    orders = np.tile(np.arange(1.0, runs + 1), (_ORDERS, 1))
    np.random.default_rng(_SEED).permuted(orders, axis=1, out=orders)
    return np.sort(_strengths(orders).max(axis=1))


def _at_most(runs: int, strength: float) -> float:
    """No less than the chance of so strong a cut, however small that is."""
    shares = _shares_of_sums(runs)
    sums, total = np.arange(shares.shape[1]), 0.0
    for size in range(SIDE, runs // 2 + 1):
        spread = math.sqrt(size * (runs - size) * (runs + 1) / 3)
        extreme = np.abs(2 * sums - size * (runs + 1)) >= (strength - _ROUNDING) * spread
        # A cut with so many runs after it is as likely to be as strong.
        total += (1 if 2 * size == runs else 2) * float(shares[size] @ extreme)
    return total


@cache
def _shares_of_sums(runs: int) -> NDArray[np.float64]:
    """float[size, sum]: which share of all choices of so many of the ranks 1 to runs has that sum;
    size up to half of them."""
    most = runs // 2
    ways = np.zeros((most + 1, most * (2 * runs - most + 1) // 2 + 1))
    ways[0, 0] = 1
    for rank in range(1, runs + 1):
        # With this rank or without it: NumPy reads all of the right side before it writes.
        ways[1:, rank:] += ways[:-1, :-rank]
    return ways / ways.sum(axis=1, keepdims=True)
