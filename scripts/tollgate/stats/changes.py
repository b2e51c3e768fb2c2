"""Where the figures of a series of runs moved to another level. Pure.

A change point is found by ranks, so that one wild run is not taken for a change. For each way to
cut a series in two, Pettitt's sum of ranks ("A non-parametric approach to the change-point
problem", Applied Statistics 28, 1979) is divided here by its standard deviation, so that a change
near the end is not overlooked. How often a random order has as strong a strongest cut is counted
over many of them. Where none of them has, each cut's chance is counted exactly, over all choices of
as many ranks (Mann and Whitney, "On a test of whether one of two random variables is stochastically
larger than the other", Annals of Mathematical Statistics 18, 1947); the sum over the cuts is an
upper bound, which many figures together need.

The place of a change is where two medians fit best. Both sides of it are searched again
(Vostrikova, "Detecting 'disorder' in multidimensional random processes", 1981), as is done with
other tests at MongoDB (Daly et al., "The use of change point detection to identify software
performance regressions in a continuous integration system", ICPE 2020) and DataStax (Fleming et
al., "Hunter: using change point detection to hunt for performance regressions", ICPE 2023).

A page shows dozens of series, so the share of false marks among all marks is limited (Benjamini and
Hochberg, 1995), and to less than usual, since the same runs are looked at again after each further
run. The test assumes that chance deals the runs independently. On a shared machine an hour may be
slow as a whole, and a series of runs can't distinguish that from a slow commit: a mark says that
figures moved, not why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from tollgate.stats.slope import ranked
from tollgate.stats.steps import _shares_of_sums

#: Runs on either side of a change: fewer are outliers.
SIDE = 4
#: Runs below which nothing is marked: with fewer no order of them is rare enough.
FEWEST = 10
#: Share of the marks of a page that may be false.
_FALSE = 0.01
#: A level that moved by less than this share of itself is no change worth a mark.
LEAST = 0.05
#: Random orders that a chance is counted over, and their seed.
_ORDERS = 20_000
_SEED = 21
#: What rounding makes of equal sums.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TrendChange:
    """at: index of the first run on the new level. before, after: medians of the runs since the
    change before, and until the next."""

    at: int
    before: float
    after: float

    @property
    def share(self) -> float | None:
        """By which share of the level before it moved; None from 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None


def changes(series: Sequence[Sequence[float]]) -> list[tuple[TrendChange, ...]]:
    """The changes of each series, oldest first. Series of fewer than FEWEST runs have none."""
    values = [np.asarray(each, float) for each in series]
    chances = [chance(each) for each in values if len(each) >= FEWEST]
    rare = _threshold(chances)
    return [_moved(each, _cuts(each, 0, rare)) for each in values]


@cache
def runs_needed(figures: int, moved: int = 0) -> int:
    """How many runs it takes until a figure can be marked at all, if half of them lie beyond all
    the others. figures: how many are looked at together, this one among them, of which so many
    moved too."""
    # The chance that one figure more than those which moved has to reach, see _threshold.
    rare = _FALSE * min(moved + 1, figures) / figures
    return next(runs for runs in count(FEWEST) if clear_chance(runs, runs // 2) <= rare)


def _cuts(values: NDArray[np.float64], start: int, rare: float) -> list[int]:
    """Indices at which a new level begins. rare: the largest chance at which a cut is kept."""
    if len(values) < FEWEST or chance(values) > rare:
        return []
    at = _place(values)
    # So that both sides together are wrong less often than this cut: its place was chosen from
    # the same runs, which makes chances on either side a little too small.
    rare /= 4
    left, right = _cuts(values[:at], start, rare), _cuts(values[at:], start + at, rare)
    return [*left, start + at, *right]


def _moved(values: NDArray[np.float64], cuts: list[int]) -> tuple[TrendChange, ...]:
    """The changes at these cuts, without those between levels that hardly differ."""
    if not cuts:
        return ()
    ends = [0, *cuts, len(values)]
    levels = [float(np.median(values[begin:end])) for begin, end in pairwise(ends)]
    found = [TrendChange(at, *both) for at, both in zip(cuts, pairwise(levels), strict=True)]
    shares = {it.at: abs(it.share) for it in found if it.share is not None}
    least = min(shares, key=shares.__getitem__, default=None)
    if least is not None and shares[least] < LEAST:
        return _moved(values, [it for it in cuts if it != least])
    return tuple(found)


def _place(values: NDArray[np.float64]) -> int:
    """Index at which the new level begins: where two medians fit best, by absolute deviations.
    Ranks alone, which know no sizes, would put the larger of two steps between both."""
    cuts, sums = deviations(values, SIDE)
    # Of cuts that fit alike the first, whatever rounding makes of their sums.
    return cuts[int(np.argmax(sums <= sums.min() + 1e-9 * np.abs(values).sum()))]


def deviations(values: NDArray[np.float64], side: int) -> tuple[range, NDArray[np.float64]]:
    """The cuts that leave so many runs on either side, and for each the sum of absolute deviations
    from the two medians."""
    cuts = range(side, len(values) - side + 1)
    return cuts, np.array([_spread(values[:at]) + _spread(values[at:]) for at in cuts])


def _spread(values: NDArray[np.float64]) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _threshold(chances: Sequence[float]) -> float:
    """The largest chance at which a cut is kept: Benjamini and Hochberg's step-up procedure."""
    ordered = sorted(chances)
    levels = [_FALSE * rank / len(ordered) for rank in range(1, len(ordered) + 1)]
    kept = [level for each, level in zip(ordered, levels, strict=True) if each <= level]
    return max(kept, default=0.0)


def chance(values: NDArray[np.float64]) -> float:
    """How often a random order of so many runs has a cut as strong as the strongest of these.
    values: float[N], N >= 2 * SIDE."""
    return _chance_of(len(values), float(_strengths(ranked(values)[np.newaxis, :]).max()))


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
    shares = _shares_of_sums(runs, runs // 2)
    sums, total = np.arange(shares.shape[1]), 0.0
    for size in range(SIDE, runs // 2 + 1):
        spread = math.sqrt(size * (runs - size) * (runs + 1) / 3)
        extreme = np.abs(2 * sums - size * (runs + 1)) >= (strength - _ROUNDING) * spread
        # A cut with so many runs after it is as likely to be as strong.
        total += (1 if 2 * size == runs else 2) * float(shares[size] @ extreme)
    return total
