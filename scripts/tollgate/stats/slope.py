"""The slope of a series over time with a confidence interval that autocorrelation doesn't fool.

The slope is Theil and Sen's: the median of the slopes between any two points (Theil 1950, Sen
1968), which a warm-up or spikes that make up less than 29 % of the points can't carry away. Its
points are medians of BLOCKS equal stretches of time, so that a garbage collector's sawtooth mostly
vanishes inside of them, and a run of 48 hours takes no longer than one of a minute.

Sen's own interval takes points for independent; of the memory of a process it holds the truth in
15 to 40 % of cases instead of 95, and with the correction of Hamed and Rao (1998) in 40 to 80 %.
Here the kind of noise is asked first (Dickey and Fuller's test for a unit root around a trend,
Fuller 1976), since no one interval suits both:

- Noise that returns to the trend: Sen's interval, with the variance of Kendall's S from the
  low-frequency cosines of the residuals' ranks, and Student's t with as many degrees of freedom as
  there are cosines (Sun 2011, "Robust trend inference with series variance estimator and
  testing-optimal smoothing parameter", on ranks).
- Noise that stays (a random walk: what requests leave in memory adds up; a unit root can't be
  excluded): the increments decide, since a line through a walk of n steps errs by 6/5 of their
  long-run variance / n.

Limits, by simulation (tests/stats/test_trend.py): from 60 looks on at least 91 % of the
intervals hold the slope for white and autoregressive noise, sawteeth of three cycles and more,
levels that come and go, random walks, and leaks that arrive at random; mostly 95 to 99 %. Fewer do
where steps are rare (80 % with three in a run) or where a sawtooth hides a random walk in a run of
a minute or two (80 %). A rise that comes once, such as a sawtooth longer than the run, is a slope
to any method: only a longer run shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tollgate.stats.arrays import Floats
from tollgate.stats.autocorrelation import error_of_sum, how_many_cosines

# More points add nothing but the noise of short moments, which then hides what is slow.
BLOCKS = 30
# With fewer, neither the kind of noise is known nor its strength.
FEWEST = 10
# Fuller 1976, table 8.5.1: below it a unit root is refused at 5 %; the denominator is fitted to the
# table's values for 25 to 500 points.
UNIT_ROOT, UNIT_ROOT_SMALL = -21.8, 5.4


@dataclass(frozen=True)
class SlopeEstimate:
    """A slope per second, in units of the values, and its interval; high may be inf, low -inf.

    wanders: the noise may be a random walk.
    """

    slope: float
    low: float
    high: float
    wanders: bool

    def scaled(self, factor: float) -> SlopeEstimate:
        """The same slope a second, from one a request of which there are `factor` a second."""
        low, high = self.low * factor, self.high * factor
        return replace(self, slope=self.slope * factor, low=low, high=high)

    def times_longer(self, limit: float) -> float:
        """How many times as long a run would settle on which side of the limit the slope is.

        The interval narrows with the square root of the time where the noise wanders, with its
        power of 3/2 where it does not. inf if the slope is the limit.
        """
        distance = abs(self.slope - limit)
        inner = self.high if self.slope <= limit else self.low
        if not distance or math.isinf(inner):
            return math.inf
        return float((abs(inner - self.slope) / distance) ** (2 if self.wanders else 2 / 3))


def trend(at_s: Floats, values: Floats, confidence: float) -> SlopeEstimate | None:
    """The slope of values over time in seconds, or anything else that grows; None with fewer than
    FEWEST points."""
    at_s, values = _by_block(np.asarray(at_s, float), np.asarray(values, float))
    if len(at_s) < FEWEST:
        return None
    slopes = _pairwise(at_s, values)
    slope = float(np.median(slopes))
    residuals = values - slope * at_s
    wanders = _may_have_unit_root(at_s, values)
    if wanders:
        reach = _walk_error(at_s, residuals, confidence)
        low, high = slope - reach, slope + reach
    else:
        low, high = _between(slopes, _kendall_reach(residuals, confidence))
    return SlopeEstimate(slope, low, high, wanders)


def ranked(values: Floats) -> Floats:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _by_block(at_s: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The points, or the medians of at most BLOCKS equal stretches of time, at mean times."""
    if len(at_s) <= BLOCKS:
        return at_s, values
    borders = np.searchsorted(at_s, np.linspace(at_s[0], at_s[-1], BLOCKS + 1)[1:-1])
    # Medians beside a line: those of the values would not move with one that is added to them.
    line = np.polyfit(at_s - at_s[0], values, 1)[0]
    beside = values - line * at_s
    pairs = zip(np.split(at_s, borders), np.split(beside, borders), strict=True)
    parts = [(at.mean(), np.median(it) + line * at.mean()) for at, it in pairs if len(it)]
    middle, median = np.array(parts).T
    return middle, median


def _pairwise(at_s: Floats, values: Floats) -> Floats:
    """The slopes between any two points, sorted."""
    first, second = np.triu_indices(len(at_s), 1)
    apart = at_s[second] > at_s[first]
    first, second = first[apart], second[apart]
    return np.sort((values[second] - values[first]) / (at_s[second] - at_s[first]))


def _may_have_unit_root(at_s: Floats, values: Floats) -> bool:
    """Whether the test for a unit root around a linear trend fails to refuse one at 5 %."""
    centred = at_s - at_s.mean()
    residuals = values - np.polyval(np.polyfit(centred, values, 1), centred)
    power = float(residuals[:-1] @ residuals[:-1])
    if power <= np.finfo(float).eps * float(values @ values):
        return False  # a line without noise
    size = len(residuals)
    statistic = size * (float(residuals[1:] @ residuals[:-1]) / power - 1)
    return statistic > UNIT_ROOT / (1 + UNIT_ROOT_SMALL / size)


def _walk_error(at_s: Floats, residuals: Floats, confidence: float) -> float:
    """How far the line through a random walk may be off, per second."""
    steps = np.diff(residuals)
    error, freedom = error_of_sum(steps - steps.mean())
    quantile = special.stdtrit(freedom, (1 + confidence) / 2)
    return float(quantile * math.sqrt(6 / 5) * error / (at_s[-1] - at_s[0]))


def _kendall_reach(residuals: Floats, confidence: float) -> float:
    """How far Kendall's S of the residuals may lie from 0."""
    size = len(residuals)
    ranks = ranked(residuals)
    ranks -= ranks.mean()
    independent = size * (size - 1) * (2 * size + 5) / 18
    power = float(ranks @ ranks)
    if not power:
        return 0.0
    count = how_many_cosines(float(ranks[1:] @ ranks[:-1]) / power, size)
    variance = float(np.square(_slow_waves(size, count).T @ ranks).mean())
    effect = max(1.0, variance * size / power)
    return float(special.stdtrit(count, (1 + confidence) / 2) * math.sqrt(independent * effect))


def _slow_waves(size: int, count: int) -> Floats:
    """The slowest `count` cosines, made orthogonal to any line, of length 1 (columns)."""
    at = np.arange(size)
    waves = [np.cos(np.pi * k * (at + 0.5) / size) for k in range(1, count + 1)]
    basis, _ = np.linalg.qr(np.column_stack([np.ones(size), at - at.mean(), *waves]))
    return basis[:, 2:]


def _between(slopes: Floats, reach: float) -> tuple[float, float]:
    """Sen's interval: the slopes whose ranks lie that far apart, infinite where there is none."""
    low = math.floor((len(slopes) - reach) / 2) - 1
    high = math.ceil((len(slopes) + reach) / 2)
    least = float(slopes[low]) if low >= 0 else -math.inf
    return least, float(slopes[high]) if high < len(slopes) else math.inf
