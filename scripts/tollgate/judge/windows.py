"""Criteria on a window of time (`for 10s`, `within 10s`, `over 10s`), judged on exact counts.

The same function decides whether a run is stopped early (gather/early_decisions.py) and its
verdict. It has Taurus's meaning, on whole samples instead of means of per-second means and
percentiles:

- `for N`: the condition held in every second of N in a row. The worst such stretch is reported
  by the value that all of its seconds reached.
- `within N` and `over N`: the condition held for all samples of N seconds in a row taken
  together (for `bytes` and `concurr`, as in Taurus, for the mean of the seconds' values). Taurus's
  `within` also looks at the first seconds of a run, when less than N have passed, so that
  `hits<100 within 5s` trips at once in every run; here only whole windows count, for both.

Seconds without samples: for counts (hits, succ, fail, rc) they are zeros, so that `hits=0 for 5s`
finds a stall, which Taurus never sees. For times and percentages there is nothing to compare:
`for` passes over them as Taurus does, and a window without any sample is left out.
Windows start on whole seconds and lie wholly inside of the measured time. The outcome is a fact
of this run, not an estimate, so there is no interval.

A run of many hours is counted in bins of several seconds (bins.py); every window is a multiple of
them. There windows start where bins do, and what is said of each second above is said of each
bin: its times and shares are those of all its samples, its counts and bytes are means per second.

Windows slide over the bins in time that grows with the bins and not their square: a histogram of
the window's elapsed times takes in the bin that comes and lets go of the one that leaves, so a
window costs as much as one bin, however long it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tollgate.criteria.grammar import Criterion
from tollgate.judge.observe import TOTALS_COLUMNS, JudgedSamples, Observation, hit_mask, value_of
from tollgate.stats.arrays import Flags, Floats, Ints
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: One of them, or an array of them.
BinNumbers = TypeVar("BinNumbers", int, Ints)


@dataclass(frozen=True)
class _Frame:
    """The whole bins of the measured time: so many from `first` on, of `width` seconds each; and
    how many of them make a window."""

    first: int
    width: int
    bins: int
    window: int

    def place(self, seconds: Ints) -> tuple[Flags, Ints]:
        """(which of the bins that begin at these seconds are in the frame, the numbers of those)"""
        numbers: Ints = (np.asarray(seconds, np.int64) - self.first) // self.width
        inside = (numbers >= 0) & (numbers < self.bins)
        return inside, numbers[inside]

    def dense(self, seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
        """One value for every bin, 0 where there is none."""
        inside, numbers = self.place(seconds)
        dense = np.zeros(self.bins, np.asarray(values).dtype)
        dense[numbers] = values[inside]
        return dense

    def sums(self, dense: np.ndarray) -> np.ndarray:
        """The sum over each window, in order of the windows' first bins."""
        upto = np.append(0, np.cumsum(dense))
        sums: np.ndarray = upto[self.window :] - upto[: max(0, len(upto) - self.window)]
        return sums

    def seconds(self, bins: BinNumbers) -> BinNumbers:
        return self.first + bins * self.width


def observe_windows(
    criterion: Criterion, part: JudgedSamples, from_s: float, to_s: float
) -> Observation:
    """The window that is worst for the criterion; NaN if no window could be judged."""
    first, width = math.ceil(from_s), part.counts.width
    bins = max(0, math.floor(to_s) - first) // width
    frame = _Frame(first, width, bins, (criterion.timeframe_s or 0) // width)
    if criterion.logic == "for":
        starts, ends, values = _held(criterion, part, frame)
    else:
        starts = np.arange(max(0, bins - frame.window + 1))
        ends, values = starts + frame.window, _taken_together(criterion, part, frame)
    if not len(values) or np.isnan(values).all():
        return Observation(math.nan, part.counts.total)
    worst = int(np.nanargmax(values) if criterion.condition[0] == ">" else np.nanargmin(values))
    low, high = frame.seconds(int(starts[worst])), frame.seconds(int(ends[worst]))
    samples = part.counts.window(low, high).total
    return Observation(float(values[worst]), samples, window=f"{low}-{high} s")


def _held(
    criterion: Criterion, part: JudgedSamples, frame: _Frame
) -> tuple[Ints, Ints, np.ndarray]:
    """For each stretch of at least the window's length, the value that all its bins reach."""
    bins, values = _by_bin(criterion, part, frame)
    ends = np.searchsorted(bins, bins + frame.window - 1)
    starts = np.flatnonzero(ends < len(bins))
    if not len(starts):
        return starts, starts, np.zeros(0)
    # Slices [start, end] are the even ones of these bounds; a last bound must exist to be named.
    bounds = np.stack([starts, ends[starts] + 1], axis=1).ravel()
    weakest = np.minimum if criterion.condition[0] == ">" else np.maximum
    padded = np.append(values, values[-1])
    return bins[starts], bins[ends[starts]] + 1, weakest.reduceat(padded, bounds)[::2]


def _by_bin(criterion: Criterion, part: JudgedSamples, frame: _Frame) -> tuple[Ints, np.ndarray]:
    """(bin, value) of every bin, or for times and shares of those that have samples."""
    counts = part.counts
    if criterion.unit == "count":
        hits = counts.sum_by_second(hit_mask(criterion, counts))
        return np.arange(frame.bins), frame.dense(counts.seconds, hits) / frame.width
    if criterion.subject in TOTALS_COLUMNS:
        return _totals_by_bin(criterion.subject, part.totals, frame)
    inside, bins = frame.place(counts.seconds)
    values = [value_of(criterion, each, None) for _, each in counts.by_second()]
    return bins, np.array(values, float)[inside]


def _totals_by_bin(subject: str, totals: Totals | None, frame: _Frame) -> tuple[Ints, np.ndarray]:
    if totals is None:
        return np.zeros(0, np.int64), np.zeros(0)
    inside, bins = frame.place(totals.second)
    values = np.asarray(getattr(totals, TOTALS_COLUMNS[subject]), float)[inside]
    if subject == "bytes":
        return bins, values / frame.width
    return bins, values if subject == "concurr" else values / totals.n[inside]


def _taken_together(criterion: Criterion, part: JudgedSamples, frame: _Frame) -> np.ndarray:
    """The value of each window's samples together; NaN where it has none."""
    counts, subject = part.counts, criterion.subject
    if subject in TOTALS_COLUMNS:
        return _totals_together(subject, part.totals, frame)
    n = frame.sums(frame.dense(counts.seconds, counts.sum_by_second()))
    if criterion.percentile is not None or subject == "stdev-rt":
        inside = counts.window(frame.first, frame.seconds(frame.bins))
        bins = (inside.second - frame.first) // frame.width
        return _sliding(inside, bins, frame, lambda part: value_of(criterion, part, None))
    weight = counts.elapsed_ms if subject == "avg-rt" else hit_mask(criterion, counts)
    sums = frame.sums(frame.dense(counts.seconds, counts.sum_by_second(weight)))
    if criterion.unit == "count":
        return sums.astype(float)
    return _ratios(100 * sums if criterion.is_percent else sums, n)


def _totals_together(subject: str, totals: Totals | None, frame: _Frame) -> np.ndarray:
    """The mean of the bins' values, or for latencies of the samples'."""
    if totals is None:
        return np.zeros(0)
    if subject in ("bytes", "concurr"):
        bins, values = _totals_by_bin(subject, totals, frame)
        weights: np.ndarray = np.ones(len(bins))
        seconds = frame.seconds(bins)
    else:
        seconds, values, weights = totals.second, getattr(totals, TOTALS_COLUMNS[subject]), totals.n
    sums = frame.sums(frame.dense(seconds, values))
    return _ratios(sums, frame.sums(frame.dense(seconds, weights)))


def _ratios(sums: np.ndarray, n: np.ndarray) -> Floats:
    ratios = np.full(len(n), math.nan)
    np.divide(sums, n, out=ratios, where=n > 0)
    return ratios


def _sliding(
    counts: Counts, bins: np.ndarray, frame: _Frame, value: Callable[[Counts], float]
) -> np.ndarray:
    """The value of each window's samples; NaN where it has none. bins: the number of each row's
    bin in the frame, sorted."""
    values, place = np.unique(counts.elapsed_ms, return_inverse=True)
    border = np.searchsorted(bins, np.arange(frame.bins + 1))
    histogram = np.zeros(len(values), np.int64)
    by_window = np.full(max(0, frame.bins - frame.window + 1), math.nan)
    for end in range(frame.bins):
        _shift(histogram, place, counts.n, border[end], border[end + 1], 1)
        start = end - frame.window + 1
        if start < 0:
            continue
        held = np.flatnonzero(histogram)
        if len(held):
            by_window[start] = value(_of_histogram(values[held], histogram[held]))
        _shift(histogram, place, counts.n, border[start], border[start + 1], -1)
    return by_window


def _shift(histogram: Ints, place: Ints, n: Ints, low: int, high: int, sign: int) -> None:
    """Take the rows in [low, high) in, or let them go."""
    np.add.at(histogram, place[low:high], sign * n[low:high])


def _of_histogram(elapsed_ms: np.ndarray, n: np.ndarray) -> Counts:
    """Counts of values that are sorted and unlike, whatever else is known of them."""
    none = np.zeros(len(n), np.int64)
    return Counts(none, elapsed_ms, np.ones(len(n), bool), none.astype(np.int32), n)
