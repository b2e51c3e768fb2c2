"""Steps of a series that grows by a run a night, found as soon as they are beyond doubt. Pure.

After each run the newest few are held against those before them on the same level, by the exact
chance of their sum of ranks (Mann and Whitney, "On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18, 1947). Ranks alone
count, so that a wild run is not taken for a step. Where a step is found a new level begins, and the
runs before it are not looked at any more. What a night found is therefore never taken back: the
series shows what the gate said.

`stats/changes.py` looks for changes in a series as a whole, and gives room for its many cuts. That
makes it late: a step is of interest here after four or five runs, and there are few ways to choose
the newest ones.

The place is where two medians fit best. Others that fit nearly as well belong to it: their
likelihood under Laplace's law, of which medians are the estimates, is at least a twentieth of the
best one's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tollgate.stats.changes import deviations, shares_of_sums

#: How many of the newest runs are held against those before them: few for a large step, more for a
#: small one and for a creep.
NEWEST = (3, 4, 5, 6, 8, 10, 14, 20)
#: Runs of a level that they are held against at most.
BEFORE = 60
#: Runs on either side of a place.
_SIDE = 3
#: Of the likelihood of a place: less than this share of the best one's is none.
_PLAUSIBLE = 1 / 20
#: Runs of a level that say where it lies, and how rarely all say so falsely.
_RECENT, _RARELY = 10, 0.01


@dataclass(frozen=True)
class Step:
    """at: index of the first run on the new level, which may be first to last. seen: index of the
    run with which it was beyond doubt. before, after: medians of the levels."""

    at: int
    first: int
    last: int
    seen: int
    before: float
    after: float

    @property
    def rise(self) -> float:
        """As a share of the level before, without its sign; infinite from 0."""
        moved = self.after - self.before
        return moved / abs(self.before) if self.before else math.copysign(math.inf, moved)


def steps(series: Sequence[float], false_alarm: float, least: float) -> list[Step]:
    """All steps, oldest first. series: none below 0, oldest first. false_alarm: how often a night
    finds a step, of either direction, where there is none. least: by which share a level moves at
    least."""
    values = np.asarray(series, float)
    places: list[tuple[int, int, int, int]] = []
    start = 0
    for end in range(1, len(values) + 1):
        if _moved(values[start:end], false_alarm, least):
            at, first, last = (start + it for it in _place(values[start:end]))
            places.append((at, first, last, end - 1))
            start = at
    if not places:
        return []
    borders = [0, *(it[0] for it in places), len(values)]
    levels = [float(np.median(values[begin:end])) for begin, end in pairwise(borders)]
    return [Step(*it, *both) for it, both in zip(places, pairwise(levels), strict=True)]


def is_above(level: Sequence[float], limit: float) -> bool:
    """Whether the newest runs of a level lie above a limit beyond doubt, by the exact chance of
    signed ranks (Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1,
    1945). Fewer than seven runs never do."""
    beyond = np.asarray(level[-_RECENT:], float) - limit
    # In the order of their sizes, so that the place of each is its rank.
    ordered = beyond[np.argsort(np.abs(beyond), kind="stable")]
    ways = np.ones(1)
    for rank in range(1, len(beyond) + 1):
        ways = np.convolve(ways, [1, *[0] * (rank - 1), 1])
    positive = int((np.flatnonzero(ordered > 0) + 1).sum())
    return bool(ways[positive:].sum() / ways.sum() <= _RARELY)


def _moved(level: NDArray[np.float64], false_alarm: float, least: float) -> bool:
    """Whether the newest runs of a level have left it."""
    for newest in (it for it in NEWEST if 2 * it <= len(level)):
        before, after = level[-newest - BEFORE : -newest], level[-newest:]
        middle = float(np.median(before))
        if abs(float(np.median(after)) - middle) < least * abs(middle):
            continue
        if _chance(before, after) <= false_alarm / len(NEWEST):
            return True
    return False


def _chance(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """How often chance alone gives the later runs so low or so high a sum of ranks. Between equal
    values it takes the less clear sum."""
    ordered, size = np.sort(before), len(after)
    pairs = np.searchsorted(ordered, after, "left") + np.searchsorted(ordered, after, "right")
    total = float(pairs.sum()) / 2 + size * (size + 1) / 2
    runs = len(before) + size
    shares = shares_of_sums(runs, min(runs, NEWEST[-1]))[size]
    upper, lower = shares[math.floor(total) :].sum(), shares[: math.ceil(total) + 1].sum()
    return min(1.0, 2 * float(min(upper, lower)))


def _place(level: NDArray[np.float64]) -> tuple[int, int, int]:
    """The best place, and the first and last of the plausible ones."""
    skipped = max(0, len(level) - BEFORE - NEWEST[-1])
    recent = level[skipped:]
    cuts, sums = deviations(recent, _SIDE)
    best = int(np.argmin(sums))
    scale = sums[best] / len(recent)
    near = np.flatnonzero(sums - sums[best] <= scale * -math.log(_PLAUSIBLE))
    return tuple(skipped + cuts[int(it)] for it in (best, near[0], near[-1]))
