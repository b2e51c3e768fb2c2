"""How much more time head loses in slow answers: the ratio of two means of the slower half. Pure.

Of each answer counts its time, but at least base's median of the first AFTER_S seconds (stalls.py),
and of these the mean over all answers. Nothing is trimmed: one answer of a hundred that takes 2 s
and a second of each ten in which nothing moves are in it, which leave percentiles and typical as
they are. That head is faster otherwise makes up for no more than base's half above the median.

A mean of such times is as wild as the few answers that decide it, and what is independent is the
spell that slowed them. Seconds in which both sides together lose more than NOTABLE times what they
do in the middle one begin a spell, which lasts while they lose STILL times as much, and LONGEST_S
at most; so is what lies between. Which seconds are in a spell knows nothing of the sides.

- **The low end** is that of a sign test. Were both sides alike, each spell would have cost head
  rather than base with the odds of the coin (a randomization test, Fisher 1935). m spells of head
  alone that cost the same count as m, others as sum(|d|)^2 / sum(d^2) (Kish 1965). A head that is
  slower all the time needs no spells: its seconds that are not notable have a mean with an error as
  that of a percentile (estimates.py). Each of the two tests takes half of the error.
- **The high end** has the root of sum(d^2) as its standard error: one spell of head alone bounds
  nothing. What has not come yet is in no interval.
- **What is usual.** Where base itself loses time in notable seconds, chance moves that by as much
  from run to run, and no run of ten minutes would rule out 5 %. So a head that loses less beyond
  base than base itself does there passes as well, unless more of the spells are its own than a fair
  coin gives it in one of twenty runs (UNSURE). So does one that loses FEW_TIMES as much, if not
  each of its processes loses more than each of base's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from tollgate.compare.errors import at_least
from tollgate.compare.estimates import COSINE_S, FEWEST_BEYOND, STEP_S, Change, cannot_tell
from tollgate.compare.model import TAIL, Blocks
from tollgate.compare.stalls import NO_FIRST, at_first, spells
from tollgate.compare.threads import error_of_threads, joined
from tollgate.stats.arrays import Flags, Floats
from tollgate.stats.autocorrelation import error_of_steps

#: Times of what both sides lose in the middle second: beyond it a second is notable, and stays so.
NOTABLE, STILL = 4.0, 2.0
#: The one-sided level from which spells are taken for head's.
UNSURE = 0.05
#: What is lost by a single process may be so many times what base loses.
FEW_TIMES = 3.0
# No change of a time is less.
_LEAST = -0.99


@dataclass(frozen=True)
class TailRise(Change):
    """Of what slow answers lose, on the scale of a log ratio. All is in ms an answer."""

    base: float
    more: float = math.nan
    """What the stretches add, of spells and of calm, in which head loses more."""
    less: float = math.nan
    """What those add in which it loses less."""
    error: float = math.nan
    """The root of the sum of their squares."""
    usual: float = 0.0
    """What base loses in notable seconds."""
    calm: float = 0.0
    """By how much head loses more in the others."""
    calm_error: float = 0.0
    """The standard error of that."""
    calm_freedom: float = 1.0
    """The degrees of freedom of that error."""
    metric: str = field(default=TAIL, kw_only=True)

    @property
    def head(self) -> float:
        return self.base + self.more - self.less

    @property
    def value(self) -> float:
        return self._log(self.more - self.less)

    @property
    def times_usual(self) -> float:
        """How many times what base itself loses in notable seconds head loses beyond base."""
        return (self.more - self.less) / self.usual if self.usual else math.inf

    def low(self, level: float) -> float:
        by_spells, by_calm = self._by_spells(level / 2), self._by_calm(level / 2)
        return by_spells if by_spells > 0 or by_calm <= 0 else self._log(by_calm)

    def _by_calm(self, level: float) -> float:
        """The least by the seconds that are not notable, where head gains no more in the others."""
        of_others = min(0.0, self.more - self.less - self.calm)
        reach = float(special.stdtrit(self.calm_freedom, level)) * self.calm_error
        return self.calm + of_others + reach

    def _by_spells(self, level: float) -> float:
        surely = self._surely(self.more, self.less, level)
        least = self.more - self.less - self._reach(level)
        return self._log(surely if surely > 0 else min(surely, least))

    def high(self, level: float) -> float:
        surely = -self._surely(self.less, self.more, level)
        return self._log(max(surely, self.more - self.less + self._reach(level)))

    def _reach(self, level: float) -> float:
        return -float(special.ndtri(level)) * self.error

    def _surely(self, more: float, less: float, level: float) -> float:
        """The least that the one is more than the other, by the odds of each spell."""
        together = more + less
        if not together:
            return 0.0
        each = self.error**2 / together
        return together * (2 * at_least(more / each, together / each, level) - 1)

    def _log(self, rise_ms: float) -> float:
        return math.log1p(max(_LEAST, rise_ms / self.base)) if self.base > 0 else math.nan


def tail_rise(blocks: Blocks, is_tossed: bool = True) -> TailRise:
    """is_tossed: by a fair coin. Of all labels together each has a median of its own."""
    medians = at_first(blocks, 0.5)
    n = sum(it.base.total for it, _ in medians), sum(it.head.total for it, _ in medians)
    note = cannot_tell(blocks, TAIL, 2 * FEWEST_BEYOND, is_tossed) or ("" if all(n) else NO_FIRST)
    if note:
        return TailRise(math.nan, note=note)
    slower = [(it, np.maximum(it.values_ms - ms, 0)) for it, ms in medians]
    lost = [sum(it.sides[side].counts @ ms for it, ms in slower) for side in (0, 1)]
    at_medians = sum(it.base.total * ms for it, ms in medians)
    base = float(lost[0].sum() + at_medians) / n[0]
    is_notable = _notable(lost[0] + lost[1], base)
    apart = lost[1] / n[1] - lost[0] / n[0]
    stretches = np.bincount(spells(is_notable), apart)
    error = math.sqrt(stretches @ stretches)
    calm = np.where(is_notable, 0.0, apart)
    of_calm = _error_of(calm - calm.mean())
    if not blocks.parts:
        over = [np.maximum(it.elapsed_ms - medians[0][1], 0) for it in blocks.requests]
        if luck := error_of_threads(blocks.requests, [it - it.mean() for it in over]):
            error, of_calm = max(error, luck[0]), joined(of_calm, luck)
    calm_error, calm_freedom = of_calm
    return TailRise(
        base,
        more=float(np.maximum(stretches, 0).sum()),
        less=float(np.maximum(-stretches, 0).sum()),
        error=error,
        usual=float(lost[0][is_notable].sum()) / n[0],
        calm=float(calm.sum()),
        calm_error=calm_error,
        calm_freedom=calm_freedom,
    )


def _error_of(rest: Floats) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom), as of a percentile (estimates.py)."""
    steps = np.add.reduceat(rest, np.arange(0, len(rest), STEP_S))
    return error_of_steps(steps, len(rest) // COSINE_S)


def _notable(lost_ms: Floats, answer_ms: float) -> Flags:
    """bool[B]. Few answers have a middle second in which nothing is lost: then so many of them."""
    usual_ms, now, notable = max(float(np.median(lost_ms)), answer_ms), False, []
    for each_ms in lost_ms:
        now = each_ms > (STILL if now else NOTABLE) * usual_ms
        notable.append(now)
    return np.array(notable, bool)
