"""Where the figures of a series of runs moved to another level. Pure.

A change point is found by ranks, so that one wild run is not taken for a change: for each way to
cut the series in two, Pettitt's sum of ranks ("A non-parametric approach to the change-point
problem", Applied Statistics 28, 1979), here divided by its standard deviation, so that a change
near the end is not overlooked. How often pure chance gives as large a maximum is counted over
random orders of as many runs; its place is where two medians fit best. Both sides of a change are
searched again (Vostrikova, "Detecting 'disorder' in multidimensional random processes", 1981), as
is done with other tests at MongoDB (Daly et al., "The use of change point detection to identify
software performance regressions in a continuous integration system", ICPE 2020) and DataStax
(Fleming et al., "Hunter: using change point detection to hunt for performance regressions", ICPE
2023).

A page shows dozens of series, so that the share of false marks among all is what is held down
(Benjamini and Hochberg, 1995), and to less than usual, since the same runs are looked at again
after each further run. The test assumes that chance deals the runs independently. On a shared
machine an hour may be slow as a whole, which no series of runs can tell from a slow commit: a mark
says that figures moved, not why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

#: Runs below which nothing is marked: with fewer no order of them is rare enough.
FEWEST = 10
#: Runs on either side of a change: fewer are outliers.
_SIDE = 4
#: Share of the marks of a page that may be false.
_FALSE = 0.01
#: A level that moved by less than this share of itself is no change that anybody looks for.
LEAST = 0.05
_ORDERS = 20_000
_SEED = 21


@dataclass(frozen=True)
class Change:
    """at: index of the first run on the new level. before, after: medians of the runs since the
    change before, and until the next."""

    at: int
    before: float
    after: float

    @property
    def share(self) -> float | None:
        """By which share of the level before it moved; None from 0."""
        return (self.after - self.before) / abs(self.before) if self.before else None


def changes(series: Sequence[Sequence[float]]) -> list[tuple[Change, ...]]:
    """The changes of each series, oldest first. Series of fewer than FEWEST runs have none."""
    values = [np.asarray(each, float) for each in series]
    chances = [_chance(each) for each in values if len(each) >= FEWEST]
    rare = _threshold(chances)
    return [_told(each, _cuts(each, 0, rare)) for each in values]


def _cuts(values: NDArray[np.float64], start: int, rare: float) -> list[int]:
    """Indices at which a new level begins."""
    if len(values) < FEWEST:
        return []
    if _chance(values) > rare:
        return []
    at = _place(values)
    left, right = _cuts(values[:at], start, rare), _cuts(values[at:], start + at, rare)
    return [*left, start + at, *right]


def _told(values: NDArray[np.float64], cuts: list[int]) -> tuple[Change, ...]:
    """The changes at these cuts, without those between levels that hardly differ."""
    if not cuts:
        return ()
    ends = [0, *cuts, len(values)]
    levels = [float(np.median(values[begin:end])) for begin, end in pairwise(ends)]
    found = [Change(at, *both) for at, both in zip(cuts, pairwise(levels), strict=True)]
    shares = {it.at: abs(it.share) for it in found if it.share is not None}
    least = min(shares, key=shares.__getitem__, default=None)
    if least is not None and shares[least] < LEAST:
        return _told(values, [it for it in cuts if it != least])
    return tuple(found)


def _chance(values: NDArray[np.float64]) -> float:
    """How often a random order of so many runs has a cut as strong as the strongest of these."""
    strongest = _strengths(rankdata(values)[np.newaxis, :]).max()
    reached = _by_chance(len(values))
    # Counted from the upper end; the order that was seen is one of those that there could be.
    above = len(reached) - int(np.searchsorted(reached, strongest - 1e-9))
    return (1 + above) / (1 + len(reached))


def _place(values: NDArray[np.float64]) -> int:
    """Index at which the new level begins: where two medians fit best, by absolute deviations.
    Ranks alone, which know no sizes, would put the larger of two steps between both."""
    cuts = range(_SIDE, len(values) - _SIDE + 1)
    sums = np.array([_spread(values[:at]) + _spread(values[at:]) for at in cuts])
    # Of cuts that fit alike the first, whatever rounding makes of their sums.
    return cuts[int(np.argmax(sums <= sums.min() + 1e-9 * np.abs(values).sum()))]


def _spread(values: NDArray[np.float64]) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _strengths(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """float[series, cut] of ranks float[series, run], for cuts that leave _SIDE runs either way."""
    runs = ranks.shape[1]
    sizes = np.arange(_SIDE, runs - _SIDE + 1)
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


def _threshold(chances: Sequence[float]) -> float:
    """The largest chance at which a cut is kept: Benjamini and Hochberg's step-up procedure."""
    ordered = sorted(chances)
    kept = [it for rank, it in enumerate(ordered, 1) if it <= _FALSE * rank / len(ordered)]
    return max(kept, default=0.0)
