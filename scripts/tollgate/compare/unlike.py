"""Whether head answers something else than base: other codes, or answers of another size. Pure.

A head that sends 304 and nothing, where base sends 12,000 bytes, is fast and no better. What failed
is a matter of `errors`, and left out here. The rest is compared label by label:

- **Codes**, each by the exact test of errors.py, in either direction.
- **Sizes**, headers and body, by the logarithm of their bytes, head's less base's of the same row:
  what differs from row to row is in neither, and what is drawn anew for each answer is in the
  error, which is that of its sums by second, and by thread where that is what the coin is for. A
  size is off where its interval lies beyond SIZE and it is LEAST_BYTES off: a version, a date or a
  number in other digits is nothing else, and an answer without its body is. Of few answers, it is
  off where all of head's are by so much beyond all of base's.

In either case every process of head has to be clearly beyond every one of base, for a process may
be in a state of its own as long as it lives. Of the runs of sides that answer the same, anything is
found in LEVEL at most, over all labels and codes, at whichever look the run ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tollgate.base.fields import Amount, written
from tollgate.compare.errors import error_rise
from tollgate.compare.estimates import FEWEST_BEYOND, FEWEST_BLOCKS
from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.pooled import together
from tollgate.compare.threads import error_of_threads, joined
from tollgate.stats.arrays import Flags, Floats
from tollgate.stats.autocorrelation import error_of_sum
from tollgate.stats.sequential import nominal_level

#: The share of runs in which anything is found of sides that answer the same.
LEVEL = 0.001
#: By which share, and by how many bytes, a size has to be off.
SIZE, LEAST_BYTES = 0.05, 32
#: By which part of what both sides differ in each process of one is beyond those of the other.
CLEAR = 1 / 3

#: The one time that all answers of a code are taken to have.
_ONE = np.zeros(1, np.int64)


@written
class CodeShares:
    """A code that one side gives more often."""

    code: str
    """As JMeter has it, such as `304`."""
    base: Amount
    """Its share of base's answers that did not fail."""
    head: Amount
    """The same of head's."""


@written
class Sizes:
    """How large the answers of both sides to the same request are."""

    base: Amount
    """Bytes of base's, headers and body: their geometric mean."""
    head: Amount
    """The same of head's."""


@written
class UnlikeAnswers:
    """A label to which head answers something else than base."""

    label: str
    """The label."""
    codes: tuple[CodeShares, ...]
    """The codes in which they differ beyond chance, the largest difference first."""
    sizes: Sizes | None
    """Null where they do not differ by what matters."""


@dataclass(frozen=True, eq=False)
class LabelAnswers:
    """The answers to a label that did not fail. sides: of base and head, in the order of their
    seconds; `elapsed_ms` holds their bytes, and `code` places in `codes`. seconds: of all. failed:
    the share of each side's requests that did fail."""

    label: str
    codes: tuple[str, ...]
    sides: tuple[Requests, ...]
    seconds: int
    failed: tuple[float, float] = (0.0, 0.0)


def unlike_answers(
    labels: Sequence[LabelAnswers], fractions: tuple[float, ...]
) -> tuple[UnlikeAnswers, ...]:
    """Of the labels whose answers differ. fractions: the shares of the budget at the looks."""
    tests = sum(2 * (len(it.codes) + 1) for it in labels)
    level = nominal_level(fractions, LEVEL / max(1, tests))
    compared = (UnlikeAnswers(it.label, _codes(it, level), _sizes(it, level)) for it in labels)
    return tuple(it for it in compared if it.codes or it.sizes)


def _codes(answers: LabelAnswers, level: float) -> tuple[CodeShares, ...]:
    more_fail = abs(answers.failed[1] - answers.failed[0])
    unlike = []
    for place, code in enumerate(answers.codes):
        hits = [it.code == place for it in answers.sides]
        base, head = map(_counted, answers.sides, hits, [answers.seconds] * 2)
        both_ways = (
            error_rise(Blocks(code, _ONE, *sides, repeats=None))
            for sides in ((base, head), (head, base))
        )
        is_beyond = any(not it.note and it.low(level) > 0 for it in both_ways)
        if is_beyond and _every_process(answers.sides, hits):
            unlike.append(CodeShares(code, *(float(it.mean()) for it in hits)))
    # Whatever fails at one side alone is missing among the answers there.
    unlike = [it for it in unlike if abs(it.head - it.base) > more_fail]
    return tuple(sorted(unlike, key=lambda code: -abs(code.head - code.base)))


def _counted(own: Requests, hit: Flags, seconds: int) -> Side:
    """With answers of one code in the place of failures."""
    ok = None if own.thread is None else ~hit
    requests = replace(own, elapsed_ms=np.zeros(len(hit), np.int64), ok=ok)
    return Side.of(requests, _ONE, np.bincount(own.block[hit], minlength=seconds))


def _sizes(answers: LabelAnswers, level: float) -> Sizes | None:
    sides = [*together([answers.sides])]
    if answers.seconds < FEWEST_BLOCKS or min(len(side.row) for side in sides) < FEWEST_BEYOND:
        return _sizes_of_few(answers.sides, level)
    logs = [np.log(np.maximum(side.elapsed_ms, 1)) for side in sides]
    rows = 1 + max(int(side.row.max()) for side in sides)
    n = [np.bincount(side.row, minlength=rows) for side in sides]
    levels = [
        np.bincount(side.row, own, rows) / np.maximum(many, 1)
        for side, own, many in zip(sides, logs, n, strict=True)
    ]
    weight = n[0] * n[1] / np.maximum(n[0] + n[1], 1)
    weight /= max(weight.sum(), 1.0)
    # What each answer adds to its side's mean of weighted rows.
    adds = [
        len(own) * (weight / np.maximum(many, 1))[side.row] * (own - level_of[side.row])
        for side, own, many, level_of in zip(sides, logs, n, levels, strict=True)
    ]
    base, head = (
        np.bincount(side.block, own / len(own), answers.seconds)
        for side, own in zip(sides, adds, strict=True)
    )
    luck = error_of_threads(sides, adds)
    error, freedom = joined(error_of_sum(head - base), *([luck] if luck else []))
    reach = -float(special.stdtrit(freedom, level)) * error
    middle = (levels[0] + levels[1]) / 2
    off = [own - middle[side.row] for side, own in zip(sides, logs, strict=True)]
    is_off = abs(float(weight @ (levels[1] - levels[0]))) - reach > math.log1p(SIZE)
    sizes = Sizes(*(math.exp(float(weight @ it)) for it in levels))
    is_off = is_off and abs(sizes.head - sizes.base) >= LEAST_BYTES
    return sizes if is_off and _every_process(sides, off) else None


def _sizes_of_few(sides: Sequence[Requests], level: float) -> Sizes | None:
    """Of too few answers for an error those that do not overlap count: were both sides alike, the
    coin would part them so with the odds of one of its falls."""
    base, head = (np.maximum(it.elapsed_ms, 1) for it in sides)
    tossed = [len(it.row if it.thread is None else np.unique(it.thread)) for it in sides]
    processes = [len(np.unique(it.process)) for it in sides]
    if not all(tossed) or 1 / math.comb(sum(tossed), tossed[0]) > level or min(processes) < 2:
        return None
    apart = max(head.min() - base.max(), base.min() - head.max())
    smaller = min(base.max(), head.max())
    sizes = Sizes(*(math.exp(float(np.log(it).mean())) for it in (base, head)))
    return sizes if apart >= max(LEAST_BYTES, SIZE * smaller) else None


def _every_process(sides: Sequence[Requests], values: Sequence[Floats | Flags]) -> bool:
    """Whether the means of all processes of head are beyond those of base's, by CLEAR of how far
    both sides are apart: one process in a state of its own makes a side differ, not its others."""
    processes = 1 + max(int(it.process.max(initial=0)) for it in sides)
    n = [np.bincount(it.process, minlength=processes) for it in sides]
    with np.errstate(invalid="ignore"):  # NaN of a process without answers
        base, head = (
            np.bincount(side.process, own, processes) / many
            for side, own, many in zip(sides, values, n, strict=True)
        )
    gap = max(np.min(head) - np.max(base), np.min(base) - np.max(head))
    return bool(gap > CLEAR * abs(np.mean(head) - np.mean(base)))  # never with a NaN
