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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.compare.errors import at_least
from tollgate.compare.estimates import COSINE_S, FEWEST_BEYOND, STEP_S, cannot_tell
from tollgate.compare.milliseconds import percentile
from tollgate.compare.model import TAIL, Blocks
from tollgate.compare.stalls import AFTER_S, LONGEST_S, SIDES
from tollgate.compare.threads import error_of_threads, joined
from tollgate.stats.autocorrelation import error_of_steps

Floats = NDArray[np.float64]

#: Times of what both sides lose in the middle second: beyond it a second is notable, and stays so.
NOTABLE, STILL = 4.0, 2.0
#: The one-sided level from which spells are taken for head's.
UNSURE = 0.05
#: What is lost by a single process may be so many times what base loses.
FEW_TIMES = 3.0
# No change of a time is less.
_LEAST = -0.99


@dataclass(frozen=True)
class TailRise:
    """A `Change` of what slow answers lose, on the scale of a log ratio.

    base: ms. more, less: what the spells add in which head loses more, and those in which it loses
    less, in ms an answer. error: the root of the sum of their squares. usual: what base loses in
    notable seconds. steady: by what head loses more in the others, in ms an answer, with its
    standard error and the degrees of freedom of that.
    """

    base: float
    more: float = math.nan
    less: float = math.nan
    error: float = math.nan
    usual: float = 0.0
    steady: tuple[float, float, float] = (0.0, 0.0, 1.0)
    note: str = ""
    metric: str = TAIL
    coarse: float = 0.0
    among: str = ""
    limit_ms: None = None
    lasting: float = 0.0

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
        by_spells, steadily = self._by_spells(level / 2), self._steadily(level / 2)
        return by_spells if by_spells > 0 or steadily <= 0 else self._log(steadily)

    def _steadily(self, level: float) -> float:
        """The least by the seconds that are not notable, where head gains no more in the others."""
        rise, error, freedom = self.steady
        of_others = min(0.0, self.more - self.less - rise)
        return rise + of_others + float(special.stdtrit(freedom, level)) * error

    def _by_spells(self, level: float) -> float:
        surely = self._surely(self.more, self.less, level)
        return self._log(surely if surely > 0 else min(surely, self.head - self._reach(level)))

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
    parts = blocks.parts or (blocks,)
    known = [(it, ms) for it in parts if not math.isnan(ms := _limit_ms(it))]
    note = cannot_tell(blocks, TAIL, 2 * FEWEST_BEYOND, is_tossed)
    n = [sum(side(it).total for it, _ in known) for side in SIDES]
    if not note and not all(n):
        note = f"base answered nothing in the first {AFTER_S} s"
    if note:
        return TailRise(math.nan, note=note)
    lost = [
        sum(side(it).counts @ np.maximum(it.values_ms - ms, 0) for it, ms in known)
        for side in SIDES
    ]
    usually = sum(it.base.total * ms for it, ms in known)
    base = float(lost[0].sum() + usually) / n[0]
    is_notable = _notable(lost[0] + lost[1], base)
    each = np.bincount(_spells(is_notable), lost[1] / n[1] - lost[0] / n[0])
    error = math.sqrt(each @ each)
    threads = None
    if not blocks.parts:
        over = [np.maximum(it.elapsed_ms - known[0][1], 0) for it in blocks.requests]
        threads = error_of_threads(blocks.requests, [it - it.mean() for it in over])
        error = max(error, threads[0] if threads else 0.0)
    calm = np.where(is_notable, 0.0, lost[1] / n[1] - lost[0] / n[0])
    of_calm = _error_of(calm - calm.mean())
    if threads:
        of_calm = joined(of_calm, threads)
    more, less = (float(np.maximum(it, 0).sum()) for it in (each, -each))
    steady = (float(calm.sum()), *of_calm)
    return TailRise(base, more, less, error, float(lost[0][is_notable].sum()) / n[0], steady)


def _error_of(rest: Floats) -> tuple[float, float]:
    """(standard error of the sum, degrees of freedom), as of a percentile (estimates.py)."""
    steps = np.add.reduceat(rest, np.arange(0, len(rest), STEP_S))
    return error_of_steps(steps, len(rest) // COSINE_S)


def _limit_ms(blocks: Blocks) -> float:
    return percentile(blocks.base.first(AFTER_S), blocks.values_ms, 0.5)


def _notable(lost_ms: Floats, answer_ms: float) -> NDArray[np.bool_]:
    """bool[B]. Few answers have a middle second in which nothing is lost: then so many of them."""
    usual_ms, now, notable = max(float(np.median(lost_ms)), answer_ms), False, []
    for each_ms in lost_ms:
        now = each_ms > (STILL if now else NOTABLE) * usual_ms
        notable.append(now)
    return np.array(notable, bool)


def _spells(is_notable: NDArray[np.bool_]) -> NDArray[np.int64]:
    """int[B]: the number of each block's spell."""
    number, begin, numbers = 0, 0, []
    for block, now in enumerate(is_notable):
        if now != is_notable[begin] or block - begin >= LONGEST_S:
            number, begin = number + 1, block
        numbers.append(number)
    return np.array(numbers)
