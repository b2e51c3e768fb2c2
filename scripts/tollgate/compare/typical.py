"""How much longer a typical request takes at head than the same request at base. Pure.

Each time is taken off the level of its row, the middle of both sides' levels, and clipped at CLIP
robust spreads (Huber 1964); what is left is averaged in each piece of time, and across pieces as in
estimates.py. Bulej et al. (2020, "Duet benchmarking: improving measurement accuracy in the cloud")
send each request to both sides at once; the coin and the rows' levels do as much without two
requests that disturb each other, and without the half of all requests.

- **Rows of SHORT_MS and more** are compared by the logarithms of their times: each request counts
  alike, by how many times longer it takes.
- **Shorter ones** are compared by their times, and count by them. A whole millisecond is
  floor(phase + x) for a phase in [0, 1) that knows nothing of x, so that its mean over many
  requests is that of the true times. Its logarithm's is not, and shows a part of a change.

So a request counts min(its level, SHORT_MS) times its relative change, whatever its row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tollgate.compare.batches import pieces_of
from tollgate.compare.estimates import (
    FEWEST_BEYOND,
    FEWEST_OF_ROW,
    NO_TIME,
    LogRatio,
    across,
    by_threads,
    cannot_tell,
    row_levels,
)
from tollgate.compare.milliseconds import HALF_MS
from tollgate.compare.model import TYPICAL, Blocks, Requests
from tollgate.stats.arrays import Floats

#: Samples of a side that a piece of time should have.
PER_MEAN = 10
#: Robust spreads beyond which a request is no longer typical.
CLIP = 3.0
#: Rows below it are compared in ms; above, the logarithm hides a sixth of a change at most.
SHORT_MS = 3.0
# What a level of nothing is taken for.
_LEAST_MS = 0.1
# Of half a change of short rows, which has no logarithm beyond 1.
_MOST = 0.99
# From a normal distribution's median absolute deviation to its standard deviation.
_MAD = 1.4826


@dataclass(frozen=True, eq=False)
class OffLevel:
    """What n requests are off the levels of their rows, those of base first."""

    off: Floats
    """float[n]: in ms, of a row beyond SHORT_MS as of one of SHORT_MS."""
    weight: Floats
    """float[n]: what a request is off that takes twice as long as its level."""
    log_level: Floats
    """float[n]: the logarithm of its row's level."""
    short: float
    """The share of the weight that short rows have."""


def typical_ratio(blocks: Blocks, is_tossed: bool = True) -> LogRatio:
    """Of the same request; base and head are geometric means of the rows' levels in ms. is_tossed:
    as of a percentile.

    A logarithm of m whole milliseconds shows a change by up to 1 / (2 m) of itself too large or too
    small: `coarse`, by the share of the rows that are compared by it.
    """
    sides = blocks.requests
    note = cannot_tell(blocks, TYPICAL, 2 * FEWEST_BEYOND, is_tossed)
    if not note and not all(side.elapsed_ms.any() for side in sides):
        note = NO_TIME
    if note:
        return LogRatio(TYPICAL, base=_mean(sides[0]), head=_mean(sides[1]), note=note)
    rows = off_level(sides, FEWEST_OF_ROW)
    first, of_all = len(sides[0].row), rows.weight.mean()
    each = (rows.off[:first] / of_all, rows.off[first:] / of_all)
    pieces = pieces_of(blocks, PER_MEAN)
    means = [pieces.means(it, own) for it, own in zip(sides, each, strict=True)]
    level = float(rows.log_level.mean())
    ratio = across(pieces, TYPICAL, means[1] - means[0], [level + it for it in means])
    ratio = by_threads(blocks, ratio, lambda: [it - it.mean() for it in each])
    middle = min(ratio.base, ratio.head)
    among = f"{math.floor(middle)} to {math.floor(middle) + 1} ms"
    coarse = (1 - rows.short) * abs(ratio.value) / (2 * max(middle, 1.0))
    return replace(ratio, value=_as_log(ratio.value, rows.short), coarse=coarse, among=among)


def off_level(sides: Sequence[Requests], fewest: int) -> OffLevel:
    """sides: base and head, or both together. fewest: as of row_levels."""
    row = np.concatenate([it.row for it in sides])
    times = [it.elapsed_ms.astype(float) for it in sides]
    level = row_levels(sides, times, usual_ms, fewest)[row]
    log_level, is_short = np.log(np.maximum(level, _LEAST_MS)), level < SHORT_MS
    off = np.concatenate(times) - level
    off[is_short] = _clipped(off[is_short], tick=1.0)
    if (is_long := ~is_short).any():
        logs = [np.log(np.maximum(it, HALF_MS)) for it in times]
        medians = row_levels(sides, logs, np.median, fewest)[row]
        log_level[is_long] = medians[is_long]
        rest = np.concatenate(logs) - medians
        tick = math.log1p(math.exp(-float(log_level[is_long].mean())))
        off[is_long] = SHORT_MS * _clipped(rest[is_long], tick)
    weight = np.minimum(level, SHORT_MS)
    return OffLevel(off, weight, log_level, float(weight[is_short].sum() / weight.sum()))


def _clipped(rest: Floats, tick: float) -> Floats:
    """tick: what a whole millisecond makes of it, which is typical at least."""
    if not len(rest):
        return rest
    most = CLIP * max(_MAD * float(np.median(np.abs(rest))), tick)
    return np.clip(rest, -most, most)


def usual_ms(times: Floats) -> float:
    """Their mean, without what stalled."""
    return float(np.minimum(times, CLIP * max(float(np.median(times)), 1.0)).mean())


def _as_log(change: float, short: float) -> float:
    """The log ratio of which a change is: of short rows it is one of the middle of both sides."""
    within = min(max(change / 2, -_MOST), _MOST)
    return (1 - short) * change + short * 2 * math.atanh(within)


def _mean(requests: Requests) -> float:
    """In ms; NaN without samples."""
    return float(requests.elapsed_ms.mean()) if len(requests.row) else math.nan
