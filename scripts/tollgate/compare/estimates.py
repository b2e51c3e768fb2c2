"""How much longer head takes than base: log ratios of percentiles and means. Pure.

A percentile lies inside JMeter's whole milliseconds: samples of m ms lie between m - 0.5 and
m + 0.5, on a smooth curve through the counts of their neighbours (below), so that
a p95 of 2 ms does not change in steps of 50 %. By how much such a curve may be wrong is added to
both ends of the interval, for more samples would not make it better: where nearly all times lie
within the same millisecond or two, only large changes can be seen.

The error of a ratio comes from one residual a block of time. By the delta method a percentile q of
share p errs by (p - F(q)) / f(q) (Bahadur 1966; Francisco and Fuller 1991 for samples in clusters),
so that a block adds to log head - log base

    sum over its samples of head of (p - [x <= q]) / (n f(q) q), less the same of base,

and noise that slows both sides within a block cancels before anything is squared. What is left may
still last longer than a block: its long-run variance and degrees of freedom come from
compare/noise.py. 1 / (f(q) q), by how much the percentile's logarithm grows with p, is the slope
between the percentiles Hall and Sheather's distance (1988, "On the distribution of a Studentized
quantile") below and above. A ratio of means goes the same way, with (x - mean) / mean. The mean is
the plain one of what JMeter tells: of floor(phase + x), with a phase that is uniform in [0, 1), the
expectation is x, also of an x below a millisecond.

A bootstrap over blocks (the stationary one of Politis and Romano 1994, say) would do as much, but
here some twenty looks at far ends of the distribution are wanted, one in 100,000 and beyond, for
which it would need millions of resamples.

Where inside of a whole millisecond a percentile lies, and how wrong that may be:

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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.compare.model import PERCENTILES, Blocks, Side
from tollgate.stats import error_of_sum

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


Floats = NDArray[np.float64]

# With fewer blocks of time there is no telling what a block is worth.
FEWEST_BLOCKS = 20
# So many samples must lie on either side of a percentile: with fewer, its slope is mostly chance.
FEWEST_BEYOND = 20
# Standard deviations of a fair coin; beyond them samples of one side are missing, and the missing
# ones may be the slow ones (Fabijan et al. 2019, "Diagnosing sample ratio mismatch").
UNFAIR = 5.0
# JMeter's tick: elapsed 2 stands for 1.5 to 2.5 ms.
HALF_MS = 0.5
_NO_TIME = "all answers of one side took 0 ms by JMeter's clock, and nothing has a ratio to 0"


@dataclass(frozen=True)
class LogRatio:
    """A `Change` of response times: value is log(head / base), error its standard error, freedom
    the degrees of freedom of that. NaN and a note where there are too few samples. among: between
    which whole milliseconds the value lies, for people."""

    metric: str
    base: float
    head: float
    value: float = math.nan
    error: float = math.nan
    freedom: float = math.nan
    note: str = ""
    coarse: float = 0.0
    among: str = ""

    def low(self, level: float) -> float:
        return self.value - self._reach(level) - self.coarse

    def high(self, level: float) -> float:
        return self.value + self._reach(level) + self.coarse

    def _reach(self, level: float) -> float:
        return -float(special.stdtrit(self.freedom, level)) * self.error


def percentile_ratio(blocks: Blocks, metric: str) -> LogRatio:
    """Of `p50`, `p95` or `p99`."""
    share = PERCENTILES[metric] / 100
    needed = math.ceil(FEWEST_BEYOND / min(share, 1 - share))
    sides = (blocks.base, blocks.head)
    levels = [percentile(side, blocks.values_ms, share) for side in sides]
    if note := cannot_tell(blocks, metric, needed):
        return LogRatio(metric, *levels, note=note)
    found = _log_ratio(
        metric, levels, [_percentile_errors(side, blocks.values_ms, share) for side in sides]
    )
    places = [_place(side, share)[0] for side in sides]
    doubts = [
        doubt_ms(_around(side, blocks.values_ms, place))
        for side, place in zip(sides, places, strict=True)
    ]
    coarse = sum(doubt / level for doubt, level in zip(doubts, levels, strict=True))
    first, last = (int(blocks.values_ms[of(places)]) for of in (min, max))
    return replace(found, coarse=coarse, among=f"{first} to {last + 1} ms")


def mean_ratio(blocks: Blocks) -> LogRatio:
    """Of the mean."""
    sides = (blocks.base, blocks.head)
    sums = [side.counts @ blocks.values_ms for side in sides]
    levels = [
        float(total.sum()) / side.total if side.total else math.nan
        for side, total in zip(sides, sums, strict=True)
    ]
    if note := cannot_tell(blocks, "mean", 2 * FEWEST_BEYOND):
        return LogRatio("mean", *levels, note=note)
    if not all(levels):
        return LogRatio("mean", *levels, note=_NO_TIME)
    errors = [
        (total - mean * side.n) / (side.total * mean)
        for side, total, mean in zip(sides, sums, levels, strict=True)
    ]
    return _log_ratio("mean", levels, errors)


def cannot_tell(blocks: Blocks, metric: str, needed: int) -> str:
    """Why nothing can be said, or nothing. needed: samples of each side."""
    seconds, base, head = len(blocks.base.n), blocks.base.total, blocks.head.total
    if seconds < FEWEST_BLOCKS:
        return f"{seconds} blocks of time, {FEWEST_BLOCKS} are needed"
    if min(base, head) < needed:
        return f"{min(base, head)} samples on one side, {metric} needs {needed}"
    return unfair(base, head)


def unfair(base: int, head: int) -> str:
    """Why so many samples of each side can't be a fair coin's, or nothing."""
    if abs(head - base) > UNFAIR * math.sqrt(base + head):
        return f"{base} samples of base and {head} of head are no fair coin: some were lost"
    return ""


def _log_ratio(metric: str, levels: list[float], errors: list[Floats]) -> LogRatio:
    """errors: of the logarithm of base and of head, what each block adds."""
    base, head = levels
    error, freedom = error_of_sum(errors[1] - errors[0])
    return LogRatio(metric, base, head, math.log(head / base), error, freedom)


def percentile(side: Side, values_ms: NDArray[np.int64], share: float) -> float:
    """In ms, of a share in (0, 1]; NaN without samples."""
    if not side.total:
        return math.nan
    place, part = _place(side, share)
    low, high = _edges(values_ms[place : place + 1])[:, 0]
    return float(low + inside(_around(side, values_ms, place), part) * (high - low))


def _percentile_errors(side: Side, values_ms: NDArray[np.int64], share: float) -> Floats:
    """float[B]: what each block adds to the error of the percentile's logarithm."""
    place, part = _place(side, share)
    below = side.upto[:, place] + part * side.counts[:, place]
    wide = min(_hall_sheather(share, side.total), 0.8 * min(share, 1 - share))
    ends = [percentile(side, values_ms, share + way * wide) for way in (-1, 1)]
    slope = math.log(ends[1] / ends[0]) / (2 * wide)
    return (share * side.n - below) * (slope / side.total)


def _place(side: Side, share: float) -> tuple[int, float]:
    """(index of the value, which part of its samples, in (0, 1], lies below) of a percentile."""
    target = share * side.total
    place = int(np.searchsorted(side.below, target, side="left")) - 1
    low, high = side.below[place], side.below[place + 1]
    return place, float((target - low) / (high - low))


def _around(side: Side, values_ms: NDArray[np.int64], place: int) -> Three:
    """Samples in the millisecond before that of the place, in its own, and in the next."""
    own = values_ms[place]
    before, after = (
        int(side.below[at + 1] - side.below[at])
        if 0 <= at < len(values_ms) and values_ms[at] == own + step
        else 0
        for at, step in ((place - 1, -1), (place + 1, 1))
    )
    return before, int(side.below[place + 1] - side.below[place]), after


def _edges(values_ms: NDArray[np.int64]) -> Floats:
    """float[2, V]: between which times, in ms, the samples of each value lie."""
    return np.stack([np.maximum(values_ms - HALF_MS, 0.0), values_ms + HALF_MS])


def _hall_sheather(share: float, n: int, level: float = 0.05) -> float:
    """How far below and above a percentile its slope is best taken, as a share."""
    normal = float(special.ndtri(share))
    density = math.exp(-(normal**2) / 2) / math.sqrt(2 * math.pi)
    shape = 1.5 * density**2 / (2 * normal**2 + 1)
    return float((special.ndtri(1 - level / 2) ** 2 * shape / n) ** (1 / 3))
