"""Criteria on a window of time (`for 10s`, `within 10s`, `over 10s`), judged on exact counts.

Taurus's meaning, on whole samples instead of means of per-second means and percentiles:

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
"""

from __future__ import annotations

import math

import numpy as np

from tollgate.counts import Counts
from tollgate.criteria import Criterion
from tollgate.observe import TOTALS_COLUMNS, Observation, Part, hit_mask, value_of
from tollgate.totals import Totals


def observe_windows(criterion: Criterion, part: Part, from_s: float, to_s: float) -> Observation:
    """The window that is worst for the criterion; NaN if no window could be judged."""
    first, last = math.ceil(from_s), math.floor(to_s)
    if criterion.logic == "for":
        starts, ends, values = _held(criterion, part, first, last)
    elif _is_plain_count(criterion):
        starts, ends, values = _counted(criterion, part.counts, first, last)
    else:
        starts, ends, values = _taken_together(criterion, part, first, last)
    if not len(values) or np.isnan(values).all():
        return Observation(math.nan, None, False, part.counts.total)
    worst = int(np.nanargmax(values) if criterion.condition[0] == ">" else np.nanargmin(values))
    low, high = int(starts[worst]), int(ends[worst])
    samples = part.counts.window(low, high).total
    return Observation(float(values[worst]), None, False, samples, f"{low}-{high} s")


def _is_plain_count(criterion: Criterion) -> bool:
    return criterion.unit == "count"


def _held(criterion: Criterion, part: Part, first: int, last: int):
    """For each stretch of at least the window's length, the value that all its seconds reach."""
    seconds, values = _by_second(criterion, part, first, last)
    ends = np.searchsorted(seconds, seconds + criterion.timeframe_s - 1)
    starts = np.flatnonzero(ends < len(seconds))
    if not len(starts):
        return starts, starts, np.zeros(0)
    # Slices [start, end] are the even ones of these bounds; a last bound must exist to be named.
    bounds = np.stack([starts, ends[starts] + 1], axis=1).ravel()
    weakest = np.minimum if criterion.condition[0] == ">" else np.maximum
    padded = np.append(values, values[-1])
    return seconds[starts], seconds[ends[starts]] + 1, weakest.reduceat(padded, bounds)[::2]


def _by_second(criterion: Criterion, part: Part, first: int, last: int):
    """(second, value) of every second, or for times and shares of those that have samples."""
    if _is_plain_count(criterion):
        return np.arange(first, last), _dense_hits(criterion, part.counts, first, last)
    if criterion.subject in TOTALS_COLUMNS:
        return _totals_by_second(criterion.subject, part.totals)
    found = [(s, value_of(criterion, counts, None)) for s, counts in part.counts.by_second()]
    seconds = np.array([second for second, _ in found], np.int64)
    return seconds, np.array([value for _, value in found], float)


def _totals_by_second(subject: str, totals: Totals | None):
    if totals is None:
        return np.zeros(0, np.int64), np.zeros(0)
    values = np.asarray(getattr(totals, TOTALS_COLUMNS[subject]), float)
    is_mean = subject in ("avg-lt", "avg-ct")
    return np.asarray(totals.second, np.int64), values / totals.n if is_mean else values


def _dense_hits(criterion: Criterion, counts: Counts, first: int, last: int) -> np.ndarray:
    hits = np.zeros(max(0, last - first))
    if counts.total:
        kept = (counts.seconds >= first) & (counts.seconds < last)
        found = counts.sum_by_second(hit_mask(criterion, counts))
        hits[counts.seconds[kept] - first] = found[kept]
    return hits


def _counted(criterion: Criterion, counts: Counts, first: int, last: int):
    hits = np.cumsum(np.append(0, _dense_hits(criterion, counts, first, last)))
    starts = np.arange(first, last - criterion.timeframe_s + 1)
    sums = hits[criterion.timeframe_s :] - hits[: max(0, len(hits) - criterion.timeframe_s)]
    return starts, starts + criterion.timeframe_s, sums


def _taken_together(criterion: Criterion, part: Part, first: int, last: int):
    starts = np.arange(first, last - criterion.timeframe_s + 1)
    ends = starts + criterion.timeframe_s
    averaged = criterion.subject in ("bytes", "concurr")
    values = []
    for low, high in zip(starts, ends, strict=True):
        counts = part.counts.window(low, high)
        totals = part.totals.window(low, high) if part.totals else None
        if averaged:
            seconds_values = _totals_by_second(criterion.subject, totals)[1]
            values.append(seconds_values.mean() if len(seconds_values) else math.nan)
        else:
            values.append(value_of(criterion, counts, totals))
    return starts, ends, np.array(values)
