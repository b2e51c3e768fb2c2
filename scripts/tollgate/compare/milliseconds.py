"""Where inside of JMeter's whole milliseconds a percentile lies, and how wrong that may be. Pure.

JMeter takes both ends of a request in whole milliseconds: elapsed = floor(phase + x) for a phase in
[0, 1) that knows nothing of x. What it counts as m ms or less are exactly those for which
x + 0.5 - phase lies below m + 0.5: the true times, blurred by half a millisecond at most, the same
way on both sides. Known is the distribution of these at every half millisecond, and nothing in
between.

In between lies a cubic, which meets the share of every whole millisecond and, at the border of two,
has the geometric mean of their densities, as exact for an exponential as for a flat shape. A
straight line in its place is wrong by an eighth of the density's relative slope: a p95 of 9.8 ms
with a spread of a quarter, that of `sum`, by up to 0.1 ms, a fifth of a rise of 5 %.

What is left of that error is no noise: no number of samples averages it out. A bound on it goes by
the three milliseconds around the percentile, by how sharply the logarithm of their densities bends
and how steep it is (`doubt_ms`). Its numbers come from normal, log-normal, gamma and shifted
exponential shapes with spreads of 0.05 to 2.5 ms, each at phases all over a millisecond: the error
is at most 0.1 ms at the median and 0.4 ms at a p95, and no larger than the bound, but for shapes
that begin abruptly within a millisecond of the percentile: there by up to 0.04 ms. The bound is
some 0.01 ms for `sum`; for times that vary by 0.3 ms it is a quarter of a millisecond, 3 % of 8 ms,
and what can't be known then is better not said.
"""

from __future__ import annotations

import math

import numpy as np

from tollgate.compare.model import Side
from tollgate.stats.arrays import Floats, Ints

#: JMeter's tick: elapsed 2 stands for 1.5 to 2.5 ms.
HALF_MS = 0.5
# Of the cubic in units of its own share: beyond three it need not rise everywhere (Fritsch and
# Carlson 1980, "Monotone piecewise cubic interpolation").
_STEEPEST = 3.0
# Bound in ms = _BEND |second difference of log densities| + _SLOPE s^2 + _STEEP s^4, s an eighth of
# the difference of the densities at both borders: the error of a straight line.
_BEND, _SLOPE, _STEEP = 0.05, 0.7, 12.0
# A percentile that lies somewhere in a millisecond is reported with half of it.
_MOST_MS = 0.5
_HALVINGS = 26

#: Samples in the millisecond below, in its own and in the one above.
Three = tuple[Ints | int, ...]


def inside(around: Three, share: Floats) -> Floats:
    """How far inside its millisecond, in [0, 1], the given share of its samples ends."""
    below, above = _borders(around)
    # A cubic of Hermite from 0 to 1 that begins and ends as steep as the borders are dense.
    third, second = below + above - 2, 3 - 2 * below - above
    at, step = np.full(np.shape(share), 0.5), 0.25
    for _ in range(_HALVINGS):
        risen = ((third * at + second) * at + below) * at
        at += np.where(risen < share, step, -step)
        step /= 2
    return at


def doubt_ms(around: Three) -> float:
    """By how much a percentile in this millisecond may be wrong, either way."""
    # Half a sample each, for a millisecond without any has a density as well.
    below, own, above = (count + 0.5 for count in around)
    bend = abs(math.log(own * own / (below * above)))
    ends = _borders(around)
    straight = float(abs(ends[0] - ends[1])) / 8
    return min(_MOST_MS, _BEND * bend + _SLOPE * straight**2 + _STEEP * straight**4)


def _borders(around: Three) -> tuple[Floats, Floats]:
    """The density where the millisecond begins and where it ends, in units of its own."""
    below, own, above = around
    begin, end = (np.minimum(_STEEPEST, np.sqrt(np.divide(it, own))) for it in (below, above))
    return begin, end


def percentile(side: Side, values_ms: Ints, share: float) -> float:
    """The percentile of all samples of a side, in ms; NaN without any. values_ms: int[V], the whole
    milliseconds that the side counts. share: in (0, 1]."""
    if not side.total:
        return math.nan
    first_block = np.zeros(1, np.int64)  # one piece of time, which is all of it
    return float(percentiles(side, values_ms, share, first_block)[0])


def percentiles(side: Side, values_ms: Ints, share: float, begins: Ints) -> Floats:
    """float[P]: of each piece of time, in ms; NaN without samples. begins: int[P], the block that
    each piece begins with. How times lie inside of a millisecond goes by all samples of the side.
    """
    below = np.add.reduceat(side.upto, begins, axis=0)
    target = share * below[:, -1]
    piece, place = np.arange(len(begins)), (below[:, 1:] >= target[:, None]).argmax(axis=1)
    low, high = below[piece, place], below[piece, place + 1]
    filled = high > low
    part = np.divide(target - low, high - low, where=filled, out=np.full(len(begins), np.nan))
    counts = np.diff(side.below)
    first, last = np.maximum(values_ms[place] - HALF_MS, 0.0), values_ms[place] + HALF_MS
    around = tuple(np.where(filled, it, 1) for it in _around(counts, values_ms, place))
    return first + inside(around, part) * (last - first)


def doubt_and_place(side: Side, values_ms: Ints, share: float) -> tuple[float, int]:
    """By how many ms a percentile of all samples may be wrong, and its whole millisecond."""
    place = int(np.searchsorted(side.below, share * side.total, side="left")) - 1
    around = _around(np.diff(side.below), values_ms, np.array([place]))
    return doubt_ms(tuple(int(it[0]) for it in around)), int(values_ms[place])


def _around(counts: Ints, values_ms: Ints, place: Ints) -> tuple[Ints, Ints, Ints]:
    """Samples in the millisecond before that of each place, in its own, and in the next."""
    near = []
    for step in (-1, 1):
        at = np.clip(place + step, 0, len(counts) - 1)
        near.append(np.where(values_ms[at] == values_ms[place] + step, counts[at], 0))
    return near[0], counts[place], near[1]
