"""Steps of a series that grows by a run a night, found as soon as they are beyond doubt. Pure.

After each run the newest few are held against those before them on the same level, by the exact
chance of their sum of ranks (Mann and Whitney, "On a test of whether one of two random variables is
stochastically larger than the other", Annals of Mathematical Statistics 18, 1947). Ranks alone
count, so that a wild run is not taken for a step. Where a step is found a new level begins, and the
runs before it are not looked at any more. What a night found is therefore never taken back: the
series shows what the gate said.

A search of the series as a whole would have to allow for its many cuts, and would be late: a step
is of interest after four or five runs, and there are few ways to choose the newest ones.

The place is where two medians fit best. Others that fit nearly as well belong to it: their
likelihood under Laplace's law, of which medians are the estimates, is at least a twentieth of the
best one's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

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
    """Where a series took another level. Runs are indices of the series."""

    at: int
    """The first run on the new level."""
    first: int
    """The first run that may be that as well."""
    last: int
    """The last run that may be."""
    seen: int
    """The run with which the step was beyond doubt."""
    before: float
    """The median of the level before."""
    after: float
    """The median of the new level."""

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
            at, first, last = _place(values[start:end])
            places.append((start + at, start + first, start + last, end - 1))
            start += at
    if not places:
        return []
    borders = [0, *(at for at, *_ in places), len(values)]
    levels = [float(np.median(values[begin:end])) for begin, end in pairwise(borders)]
    return [
        Step(at, first, last, seen, before, after)
        for (at, first, last, seen), (before, after) in zip(places, pairwise(levels), strict=True)
    ]


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
    recent = level[-BEFORE - NEWEST[-1] :]
    # 1 where a run lies above an earlier one, -1 where below, 0 between equal values.
    signs = np.sign(recent - recent[:, np.newaxis])
    for newest in (size for size in NEWEST if 2 * size <= len(level)):
        before, after = level[-newest - BEFORE : -newest], level[-newest:]
        balance = int(signs[-newest - len(before) : -newest, -newest:].sum())
        if _chance(len(before), newest, balance) > false_alarm / len(NEWEST):
            continue
        middle = float(np.median(before))
        if abs(float(np.median(after)) - middle) >= least * abs(middle):
            return True
    return False


@cache
def _chance(before: int, newest: int, balance: int) -> float:
    """How often chance alone gives the newest runs so low or so high a sum of ranks. balance: how
    many more pairs of an earlier and a newer run rise than fall. Between equal values it takes the
    less clear sum."""
    total = (balance + before * newest) / 2 + newest * (newest + 1) / 2
    runs = before + newest
    shares = _shares_of_sums(runs, min(runs, NEWEST[-1]))[newest]
    upper, lower = shares[math.floor(total) :].sum(), shares[: math.ceil(total) + 1].sum()
    return min(1.0, 2 * float(min(upper, lower)))


@cache
def _shares_of_sums(runs: int, most: int) -> NDArray[np.float64]:
    """float[size, sum]: which share of all choices of so many of the ranks 1 to runs has that sum;
    size up to `most`."""
    ways = np.zeros((most + 1, most * (2 * runs - most + 1) // 2 + 1))
    ways[0, 0] = 1
    for rank in range(1, runs + 1):
        # With this rank or without it: NumPy reads all of the right side before it writes.
        ways[1:, rank:] += ways[:-1, :-rank]
    shares: NDArray[np.float64] = ways / ways.sum(axis=1, keepdims=True)
    return shares


def _place(level: NDArray[np.float64]) -> tuple[int, int, int]:
    """The best place, and the first and last of the plausible ones."""
    skipped = max(0, len(level) - BEFORE - NEWEST[-1])
    recent = level[skipped:]
    places = range(_SIDE, len(recent) - _SIDE + 1)
    sums = np.array([_deviation(recent[:at]) + _deviation(recent[at:]) for at in places])
    best = int(np.argmin(sums))
    scale = sums[best] / len(recent)
    near = np.flatnonzero(sums - sums[best] <= scale * -math.log(_PLAUSIBLE))
    first = skipped + _SIDE
    return first + best, first + int(near[0]), first + int(near[-1])


def _deviation(values: NDArray[np.float64]) -> float:
    """The sum of absolute deviations from the median."""
    return float(np.abs(values - np.median(values)).sum())
