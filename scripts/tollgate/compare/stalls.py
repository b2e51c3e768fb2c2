"""How many more answers stall at head than at base: the difference of their shares. Pure.

A head that stands still for 2 s of every 30 is as fast as base in between. Percentiles of short
pieces of time, trimmed across pieces, are made not to see that (estimates.py). So answers that take
longer than SLOW times base's p95 are counted. That limit comes from base's first AFTER_S seconds
alone: it is known at the first look, and stays.

What is independent is the stall, and not the answer. Slow answers of either side in seconds that
follow one another are a spell, of at most LONGEST_S. Were both sides alike, each spell would have
hit head rather than base with the odds of the coin, however many answers it holds. So samples are
divided by the design effect sum(d^2) / sum(n), with n slow answers in a spell and d more of head's
than of base's: m spells of one side alone, of the same length, count as m answers, of unlike length
as fewer (Kish 1965, "Survey Sampling", section 8.2), and for the low end Fisher's test becomes a
sign test. Spells in which both sides stall have a small d.
"""

from __future__ import annotations

import math

import numpy as np

from tollgate.compare.errors import ShareRise
from tollgate.compare.estimates import cannot_tell
from tollgate.compare.milliseconds import percentile
from tollgate.compare.model import STALLS, Blocks, Side
from tollgate.compare.threads import design_effect
from tollgate.stats.arrays import Flags, Ints

#: An answer is slow beyond so many times base's p95 in its first seconds.
SLOW, AFTER_S = 3.0, 60
#: A spell ends after so many seconds, or with one that has no slow answer.
LONGEST_S = 15
#: Why there is no limit to be slower than.
NO_FIRST = f"base answered nothing in the first {AFTER_S} s"


def stall_rise(blocks: Blocks, is_tossed: bool = True) -> ShareRise:
    """The difference of the shares of slow answers. is_tossed: by a fair coin. Of all labels
    together each has a limit of its own."""
    limits = [(it, SLOW * p95) for it, p95 in at_first(blocks, 0.95)]
    counted = limits or [(it, math.inf) for it in blocks.parts or (blocks,)]
    base = np.sum([_slow(it.base, it.values_ms, by_ms) for it, by_ms in counted], axis=0)
    head = np.sum([_slow(it.head, it.values_ms, by_ms) for it, by_ms in counted], axis=0)
    note = cannot_tell(blocks, STALLS, 1, is_tossed) or ("" if limits else NO_FIRST)
    n = sum(it.base.total for it, _ in counted), sum(it.head.total for it, _ in counted)
    failed = int(base.sum()), int(head.sum())
    deff = _design_effect(base, head)
    limit_ms = None
    if limits and not blocks.parts:
        limit_ms = limits[0][1]
        of_each = [it.elapsed_ms > limit_ms for it in blocks.requests]
        deff = max(deff, design_effect(blocks.requests, of_each))
    return ShareRise(failed, n, deff, note=note, metric=STALLS, limit_ms=limit_ms)


def at_first(blocks: Blocks, share: float) -> list[tuple[Blocks, float]]:
    """Base's percentile in its first AFTER_S seconds, in ms, of each label that was answered
    then."""
    parts = blocks.parts or (blocks,)
    first = [(it, percentile(it.base.first(AFTER_S), it.values_ms, share)) for it in parts]
    return [(part, ms) for part, ms in first if not math.isnan(ms)]


def _slow(side: Side, values_ms: Ints, limit_ms: float) -> Ints:
    """int[B]: answers of each block that took longer."""
    return side.n - side.upto[:, np.searchsorted(values_ms, limit_ms, side="right")]


def _design_effect(base: Ints, head: Ints) -> float:
    slow = base + head
    if not slow.any():
        return 1.0
    more = np.bincount(spells(slow > 0), head - base)
    return max(1.0, float(more @ more / slow.sum()))


def spells(is_slow: Flags) -> Ints:
    """int[B]: the number of each block's spell, or of the calm stretch between two."""
    number, begin, numbers = 0, 0, []
    for block, now in enumerate(is_slow):
        if now != is_slow[begin] or block - begin >= LONGEST_S:
            number, begin = number + 1, block
        numbers.append(number)
    return np.array(numbers)
