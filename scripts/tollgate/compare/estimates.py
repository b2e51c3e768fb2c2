"""How much longer head takes than base: log ratios of percentiles and means. Pure.

On a shared machine most of what differs between two sides comes in bursts: seconds in which the
host, a neighbour or the generator is slow. All samples together let a few such seconds say what a
p95 is. Here the two sides are compared within short pieces of time, which a burst hits alike, and
robustly across them:

- **Pieces** are whole seconds, as few as hold PER_PIECE samples beyond the percentile on each side
  in the mean, one second of `sum` for p50 and some for p95. Each gives the log ratio of its two
  percentiles. Shorter pieces lose fewer samples to a burst: of a recorded control on a machine
  with twice as many runnable processes as cores the error of sum's p50 was 2.4, 2.9, 3.1 and 4.4 %
  with pieces of 1, 2, 5 and 10 s, and 4.4 to 6.1 % for their plain mean. Beside a neighbour that
  burns half a core the error of its p95 was 2.4 % after 480 s with 5 samples beyond it in a piece,
  and 1.5 % with 3 or 2 (rms of 3 runs); without one it was the same after 180 s, 1.1 %. In the
  tail pieces weigh by what others took of the cores (batches.py), and then it was 1.05 % with 3 and
  0.98 % with 2 (rms of 7 runs), with an estimated error of 1.29 and 1.14 %.
- **Adjusted for the request.** Which rows of its data a side happened to get is known, and a row is
  drawn before the coin falls, so that what follows from the rows can be taken off without a bias
  (Deng, Xu, Kohavi and Walker 2013, "Improving the sensitivity of online controlled experiments by
  utilizing pre-experiment data", CUPED, with the row's own level as the covariate). Of a percentile
  that is the share of a row's samples which lie at or below the percentile of their piece: a side
  whose rows have more of them would have had a lower one anyway, by the slope of the percentile's
  logarithm. Levels are means of both sides' levels, so that a change of head does not wear off.
- **Across pieces** the trimmed mean with its winsorised errors (stats/trimmed.py): what lies in
  less than a fifth of the pieces has no say, nor has what a few of them are slow by. Where both
  sides are alike the coin makes the pieces' ratios symmetric, so that trimming adds no bias.

Noise that lasts for longer than a piece shows in the long-run variance of the errors, by steps of
STEP_S and with a cosine for each COSINE_S (error_of_steps in stats/autocorrelation.py): with so few
degrees of freedom an early look can see nothing but a large change. docs/compare-explained.md has
how often that is wrong, and what is found.

Where the coin is that of a thread, the luck of threads is added to the error (threads.py).

p99 goes like p95. The mean is the plain ratio of JMeter's times, robust against nothing: what
trimming leaves out stands there. It is informational.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from scipy import special

from tollgate.compare.batches import FEWEST_PIECES, Batches, pieces_of
from tollgate.compare.milliseconds import HALF_MS, doubt_and_place, percentile, percentiles
from tollgate.compare.model import PERCENTILES, Blocks, Requests
from tollgate.compare.threads import error_of_threads, joined
from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.autocorrelation import error_of_steps, error_of_sum
from tollgate.stats.trimmed import trimmed_mean

# With fewer blocks of time there is no telling what a block is worth.
FEWEST_BLOCKS = 20
# So many samples must lie on either side of a percentile: with fewer, its slope is mostly chance.
FEWEST_BEYOND = 20
#: Samples beyond a percentile that a piece of time should have on each side.
PER_PIECE = 2
#: Seconds of a step of the errors' long-run variance, and for each cosine of it.
STEP_S, COSINE_S = 5, 15
# Samples of a row on each side below which its level is that of all such rows.
FEWEST_OF_ROW = 4
# How far from a percentile its slope is taken, of the way to the nearer end of the distribution.
_SLOPE = 0.4
# Standard deviations of a fair coin; beyond them samples of one side are missing, and the missing
# ones may be the slow ones (Fabijan et al. 2019, "Diagnosing sample ratio mismatch").
UNFAIR = 5.0
NO_TIME = "all answers of one side took 0 ms by JMeter's clock, and nothing has a ratio to 0"


@dataclass(frozen=True)
class Change:
    """How much head differs from base in one metric of a label: what all kinds of it have. Beside
    that they have base and head, the two values, ms or shares; value, the change; and low and high,
    each the end of a one-sided interval that misses the truth with probability `level`."""

    _: KW_ONLY
    metric: str
    note: str = ""
    """Why there is no change; empty where there is one."""
    coarse: float = 0.0
    """By how much whole milliseconds may falsify the value, either way and however many samples
    there are; both ends of the interval allow for it."""
    among: str = ""
    """Between which of them the values lie, for people."""
    limit_ms: float | None = None
    """Beyond which an answer stalls."""
    lasting: float = 0.0
    """The share of the error that no time takes away."""


@dataclass(frozen=True)
class LogRatio(Change):
    """Of response times: value is log(head / base), error its standard error, freedom the degrees
    of freedom of that. NaN and a note where there are too few samples."""

    metric: str
    base: float
    head: float
    value: float = math.nan
    error: float = math.nan
    freedom: float = math.nan

    def low(self, level: float) -> float:
        return self.value - self._reach(level) - self.coarse

    def high(self, level: float) -> float:
        return self.value + self._reach(level) + self.coarse

    def _reach(self, level: float) -> float:
        return -float(special.stdtrit(self.freedom, level)) * self.error


def percentile_ratio(blocks: Blocks, metric: str, is_tossed: bool = True) -> LogRatio:
    """Of `p50`, `p95` or `p99`; base and head are those of the pieces that decide. is_tossed: by a
    fair coin, in which case a side that has too few samples has lost some."""
    share, values_ms = PERCENTILES[metric] / 100, blocks.values_ms
    beyond = min(share, 1 - share)
    base, head = (percentile(side, values_ms, share) for side in blocks.sides)
    if note := cannot_tell(blocks, metric, math.ceil(FEWEST_BEYOND / beyond), is_tossed):
        return LogRatio(metric, base, head, note=note)
    pieces = pieces_of(blocks, PER_PIECE / beyond, is_tail=share > 1 / 2)
    levels = [
        np.log(percentiles(side, values_ms, share, pieces.begins)) for side in pieces.blocks.sides
    ]
    change = levels[1] - levels[0] + _of_rows(pieces, share, levels)
    ratio = across(pieces, metric, change, levels)
    ratio = by_threads(blocks, ratio, lambda: _beyond(blocks, share))
    base_doubt_ms, base_ms = doubt_and_place(blocks.base, values_ms, share)
    head_doubt_ms, head_ms = doubt_and_place(blocks.head, values_ms, share)
    among = f"{min(base_ms, head_ms)} to {max(base_ms, head_ms) + 1} ms"
    return replace(ratio, coarse=base_doubt_ms / base + head_doubt_ms / head, among=among)


def mean_ratio(blocks: Blocks) -> LogRatio:
    """Of the mean of all samples."""
    sums = [side.counts @ blocks.values_ms for side in blocks.sides]
    base, head = means = [
        float(total.sum()) / side.total if side.total else math.nan
        for side, total in zip(blocks.sides, sums, strict=True)
    ]
    note = cannot_tell(blocks, "mean", 2 * FEWEST_BEYOND)
    if note or not (base and head):
        return LogRatio("mean", base, head, note=note or NO_TIME)
    errors = [
        (total - mean * side.n) / (side.total * mean)
        for side, total, mean in zip(blocks.sides, sums, means, strict=True)
    ]
    error, freedom = error_of_sum(errors[1] - errors[0])
    ratio = LogRatio("mean", base, head, math.log(head / base), error, freedom)
    pairs = [*zip(blocks.requests, means, strict=True)]
    return by_threads(blocks, ratio, lambda: [side.elapsed_ms / mean - 1 for side, mean in pairs])


def cannot_tell(blocks: Blocks, metric: str, needed: int, is_tossed: bool = True) -> str:
    """Why nothing can be said, or nothing. needed: samples of each side."""
    seconds, base, head = len(blocks.base.n), blocks.base.total, blocks.head.total
    if seconds < FEWEST_BLOCKS:
        return f"{seconds} blocks of time, {FEWEST_BLOCKS} are needed"
    if min(base, head) < needed:
        return f"{min(base, head)} samples on one side, {metric} needs {needed}"
    return unfair(base, head, blocks.repeats) if is_tossed else ""


def unfair(base: int, head: int, repeats: float | None = 1.0) -> str:
    """Why so many samples of each side can't be a fair coin's, or nothing. repeats: of Blocks."""
    if repeats and abs(head - base) > UNFAIR * math.sqrt(repeats * (base + head)):
        return f"{base} samples of base and {head} of head are no fair coin: some were lost"
    return ""


def across(pieces: Batches, metric: str, change: Floats, levels: list[Floats]) -> LogRatio:
    """The log ratio across pieces. change: float[P], NaN where a side of one has no sample; levels:
    the same of the logarithms of base and head."""
    has_both = np.isfinite(change)
    if (count := has_both.sum()) < FEWEST_PIECES:
        base, head = (math.exp(np.nanmedian(level)) for level in levels)
        note = f"{count} pieces of time with samples of both sides, {FEWEST_PIECES} are needed"
        return LogRatio(metric, base, head, note=note)
    places = pieces.in_time[has_both[pieces.in_time]]
    weight = pieces.weight[places]
    value, influences = trimmed_mean(change[places], weight)
    base, head = (math.exp(trimmed_mean(level[places], weight)[0]) for level in levels)
    seconds, size = len(pieces.blocks.base.n), len(change)
    steps = max(1, min(size, seconds // STEP_S))
    step = np.argsort(pieces.in_time)[places] * steps // size
    summed = np.bincount(step, influences, minlength=steps)
    error, freedom = error_of_steps(summed, seconds // COSINE_S)
    return LogRatio(metric, base, head, value, error, freedom)


def by_threads(blocks: Blocks, ratio: LogRatio, influences: Callable[[], list[Floats]]) -> LogRatio:
    """With the luck of threads in its error, where the coin is theirs. influences: what each
    request of base and of head adds to its side's estimate."""
    if blocks.requests[0].thread is None or ratio.note:
        return ratio
    luck = error_of_threads(blocks.requests, influences())
    error, freedom = joined((ratio.error, ratio.freedom), luck)
    return replace(ratio, error=error, freedom=freedom)


def _beyond(blocks: Blocks, share: float) -> list[Floats]:
    """The influences on a percentile's logarithm: by how much more or less of a thread's requests
    lie beyond it than of its side's."""
    slope = _slope(blocks, share, np.zeros(1, np.int64))
    influences = []
    for side, requests in zip(blocks.sides, blocks.requests, strict=True):
        at_ms = percentile(side, blocks.values_ms, share)
        below = np.clip(at_ms - requests.elapsed_ms + HALF_MS, 0, 1)
        influences.append((below.mean() - below) * slope)
    return influences


def _of_rows(pieces: Batches, share: float, levels: list[Floats]) -> Floats:
    """float[P]: what is added to each piece's log ratio of a percentile for the rows that its sides
    happened to get; 0 where all samples are of one row. levels: its logarithms, base and head."""
    blocks = pieces.blocks
    if not any(side.row.any() for side in blocks.requests):
        return np.zeros(len(pieces.begins))
    middle_ms = np.exp((levels[0] + levels[1]) / 2)
    below = []
    for side in blocks.requests:
        at_ms = middle_ms[pieces.of(side)]
        less = np.where(np.isnan(at_ms), share, at_ms - side.elapsed_ms + HALF_MS)
        below.append(np.clip(less, 0, 1))
    of_row = row_levels(blocks.requests, below, np.mean)
    means = [pieces.means(side, of_row[side.row]) for side in blocks.requests]
    return _slope(blocks, share, pieces.begins) * (means[1] - means[0])


def _slope(blocks: Blocks, share: float, begins: Ints) -> float:
    """By how much a percentile's logarithm grows with its share, within a piece of time."""
    wide = _SLOPE * min(share, 1 - share)
    slopes = []
    for side in blocks.sides:
        low_ms = percentiles(side, blocks.values_ms, share - wide, begins)
        high_ms = percentiles(side, blocks.values_ms, share + wide, begins)
        slopes.append(np.log(high_ms / low_ms) / (2 * wide))
    return float(np.nanmedian(np.concatenate(slopes)))


def row_levels(
    sides: Sequence[Requests],
    values: Sequence[Floats],
    middle: Callable[[Floats], float],
    fewest: int = FEWEST_OF_ROW,
) -> Floats:
    """float[R]: the level of each row, in the middle of those of the sides. Rows of which a side
    has fewer samples are one row together. middle: of the values of a row."""
    rows = 1 + max(int(side.row.max(initial=0)) for side in sides)
    seen = np.min([np.bincount(side.row, minlength=rows) for side in sides], axis=0)
    is_rare = seen < fewest
    levels = np.zeros((len(sides), rows))
    if is_rare.any():
        rare = [value[is_rare[side.row]] for side, value in zip(sides, values, strict=True)]
        levels[:, is_rare] = middle(np.concatenate(rare)) if any(map(len, rare)) else 0.0
    for level, side, value in zip(levels, sides, values, strict=True):
        order = np.argsort(side.row, kind="stable")
        ends = np.searchsorted(side.row[order], np.arange(rows + 1))
        for row in np.flatnonzero(~is_rare):
            level[row] = middle(value[order[ends[row] : ends[row + 1]]])
    return levels.mean(axis=0)
