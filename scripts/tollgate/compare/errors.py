"""How many more requests fail at head than at base: the difference of error rates. Pure.

- Low end. Were both alike, each failed request would have gone to head with the odds of the coin,
  however failures crowd together in time: given all failures, head's are binomial (Fisher 1935;
  Przyborowski and Wilenski 1940). Clopper and Pearson's exact bound of head's share of them gives
  the low end, which lies above 0 exactly where that test refuses "no worse".
- High end. Both rates' Clopper-Pearson bounds, joined as Newcombe does (1998, "Interval estimation
  for the difference between independent proportions", method 10), for without any failure there is
  a bound on what may fail as well.

A process that breaks down once fails many requests together, and the next run may have the same at
the other side. So both work on an effective size: samples and failures are divided by the design
effect of the difference over blocks of time (as in intervals.py; Korn and Graubard 1998).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from tollgate.compare.estimates import Change, cannot_tell
from tollgate.compare.model import ERRORS, Blocks
from tollgate.compare.threads import design_effect
from tollgate.stats.autocorrelation import error_of_sum

# Of one side's requests: with more, too few of its times are those of an answer.
MOST_FAILED = 0.05


@dataclass(frozen=True)
class ShareRise(Change):
    """Of the error rate, or of the share that stalls: value is head - base, both shares of the
    samples.

    failed, n: of base and of head. deff: the design effect, at least 1. Counts are exact: nothing
    is coarse.
    """

    failed: tuple[int, int]
    n: tuple[int, int]
    deff: float = math.nan
    metric: str = field(default=ERRORS, kw_only=True)

    @property
    def base(self) -> float:
        return self.failed[0] / self.n[0] if self.n[0] else math.nan

    @property
    def head(self) -> float:
        return self.failed[1] / self.n[1] if self.n[1] else math.nan

    @property
    def value(self) -> float:
        return self.head - self.base

    def low(self, level: float) -> float:
        base, head = self.failed
        if not head:
            return -ShareRise(self.failed[::-1], self.n[::-1], self.deff).high(level)
        share = at_least(head / self.deff, (base + head) / self.deff, level)
        return (base + head) * (share / self.n[1] - (1 - share) / self.n[0])

    def high(self, level: float) -> float:
        (base_failed, head_failed), (base_n, head_n) = self.failed, self.n
        least = at_least(base_failed / self.deff, base_n / self.deff, level)
        most = 1 - at_least((head_n - head_failed) / self.deff, head_n / self.deff, level)
        return self.value + math.hypot(most - self.head, self.base - least)


def error_rise(blocks: Blocks) -> ShareRise:
    """The difference of error rates, with a note instead of bounds where too little was seen."""
    failed = int(blocks.base.failed.sum()), int(blocks.head.failed.sum())
    n = blocks.base.total, blocks.head.total
    if note := cannot_tell(blocks, ERRORS, 1):
        return ShareRise(failed, n, note=note)
    deff = _design_effect(blocks, failed, n)
    wrong = [~side.ok for side in blocks.requests if side.ok is not None]
    if len(wrong) == 2:
        deff = max(deff, design_effect(blocks.requests, wrong))
    return ShareRise(failed, n, deff)


def unlike_work(blocks: Blocks) -> str:
    """Why the times of a label are no answer's to hold against each other, or nothing.

    A base that refuses most requests at once makes any head look slow, and a head that does so is
    fast. Of the side that fails more often.
    """
    sides = {"base": blocks.base, "head": blocks.head}
    shares = {name: side.failed.sum() / side.total for name, side in sides.items() if side.total}
    worse = max(shares, key=shares.__getitem__, default=None)
    if worse is None or shares[worse] <= MOST_FAILED:
        return ""
    failed = f"{100 * shares[worse]:.3g} % of {worse}'s requests failed"
    return f"{failed}: the times are not of the same work"


def _design_effect(blocks: Blocks, failed: tuple[int, ...], n: tuple[int, ...]) -> float:
    """How much more the difference varies from block to block than it would independently."""
    rates = np.divide(failed, n)
    independent = float((rates * (1 - rates) / n).sum())
    if not independent:
        return 1.0
    base, head = (
        (side.failed - rate * side.n) / size
        for side, rate, size in zip(blocks.sides, rates, n, strict=True)
    )
    error, _ = error_of_sum(head - base)
    return max(1.0, error**2 / independent)


def at_least(hits: float, n: float, level: float) -> float:
    """Clopper and Pearson's lower bound of a share, for sizes that need not be whole."""
    return float(special.betaincinv(hits, n - hits + 1, level)) if hits > 0 else 0.0
