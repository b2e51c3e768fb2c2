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
and what can't be told then is better not told.
"""

from __future__ import annotations

import math

# Of the cubic in units of its own share: beyond three it need not rise everywhere (Fritsch and
# Carlson 1980, "Monotone piecewise cubic interpolation").
_STEEPEST = 3.0
# Bound in ms = _BEND |second difference of log densities| + _SLOPE s^2 + _STEEP s^4, s an eighth of
# the difference of the densities at both borders: the error of a straight line.
_BEND, _SLOPE, _STEEP = 0.05, 0.7, 12.0
# A percentile that lies somewhere in a millisecond is told with half of it.
_MOST_MS = 0.5
_HALVINGS = 26

#: Samples in the millisecond below, in its own and in the one above.
Three = tuple[int, int, int]


def inside(around: Three, share: float) -> float:
    """How far inside its millisecond, in [0, 1], the given share of its samples ends."""
    below, above = _borders(around)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        at = (low + high) / 2
        # A cubic of Hermite from 0 to 1.
        rest = 1 - at
        risen = at * at * (3 - 2 * at) + below * at * rest * rest - above * at * at * rest
        low, high = (at, high) if risen < share else (low, at)
    return (low + high) / 2


def doubt_ms(around: Three) -> float:
    """By how much a percentile in this millisecond may be wrong, either way."""
    # Half a sample each, for a millisecond without any has a density as well.
    below, own, above = (count + 0.5 for count in around)
    bend = abs(math.log(own * own / (below * above)))
    ends = _borders(around)
    straight = abs(ends[0] - ends[1]) / 8
    return min(_MOST_MS, _BEND * bend + _SLOPE * straight**2 + _STEEP * straight**4)


def _borders(around: Three) -> tuple[float, float]:
    """The density where the millisecond begins and where it ends, in units of its own."""
    below, own, above = around
    return tuple(min(_STEEPEST, math.sqrt(count / own)) for count in (below, above))
