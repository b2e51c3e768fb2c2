"""Whether head answers something else than base: other codes, or answers of another size. Pure.

A head that sends 304 and nothing, where base sends 12,000 bytes, is fast and no better. What failed
is a matter of `errors`, and left out here. The rest is compared label by label:

- **Codes**, each by the exact test of errors.py, in either direction.
- **Sizes**, headers and body, by the logarithm of their bytes, head's less base's of the same row:
  what differs from row to row is in neither, and what is drawn anew for each answer is in the
  error, which is that of its sums by second, and by thread where that is what the coin is for. A
  size is off where its interval lies beyond SIZE and it is LEAST_BYTES off: a version, a date or a
  number in other digits is nothing else, and an answer without its body is.

In either case every process of head has to be clearly beyond every one of base, for a process may
be in a state of its own as long as it lives. Of the runs of sides that answer the same, anything is
found in LEVEL at most, over all labels and codes, at whichever look the run ended.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tollgate.base.fields import WRITTEN, Amount
from tollgate.compare.errors import error_rise
from tollgate.compare.estimates import FEWEST_BEYOND, FEWEST_BLOCKS, FEWEST_OF_ROW
from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.pooled import together
from tollgate.compare.threads import error_of_threads, joined
from tollgate.stats.autocorrelation import error_of_sum
from tollgate.stats.sequential import nominal_level

#: The share of runs in which anything is found of sides that answer the same.
LEVEL = 0.001
#: By which share, and by how many bytes, a size has to be off.
SIZE, LEAST_BYTES = 0.05, 32
#: By which part of what both sides differ in each process of one is beyond those of the other.
CLEAR = 1 / 3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CodeShares:
    """A code that one side gives more often."""

    __pydantic_config__ = WRITTEN

    code: str
    """As JMeter has it, such as `304`."""
    base: Amount
    """Its share of base's answers that did not fail."""
    head: Amount
    """The same of head's."""


@dataclass(frozen=True)
class Sizes:
    """How large the answers of both sides to the same request are."""

    __pydantic_config__ = WRITTEN

    base: Amount
    """Bytes of base's, headers and body: their geometric mean."""
    head: Amount
    """The same of head's."""


@dataclass(frozen=True)
class UnlikeAnswers:
    """A label to which head answers something else than base."""

    __pydantic_config__ = WRITTEN

    label: str
    """The label."""
    codes: tuple[CodeShares, ...]
    """The codes in which they differ beyond chance, the largest difference first."""
    sizes: Sizes | None
    """Null where they do not differ by what matters."""


@dataclass(frozen=True, eq=False)
class LabelAnswers:
    """The answers to a label that did not fail. sides: of base and head, in the order of their
    seconds; `elapsed_ms` holds their bytes. code: of each side, places in `codes`. seconds: of all.
    failed: the share of each side's requests that did fail."""

    label: str
    codes: tuple[str, ...]
    sides: tuple[Requests, Requests]
    code: tuple[NDArray[np.int64], NDArray[np.int64]]
    seconds: int
    failed: tuple[float, float] = (0.0, 0.0)


def unlike_answers(
    labels: Sequence[LabelAnswers], fractions: tuple[float, ...]
) -> tuple[UnlikeAnswers, ...]:
    """Of the labels whose answers differ. fractions: the shares of the budget at the looks."""
    tests = sum(2 * (len(it.codes) + 1) for it in labels)
    if not tests:
        return ()
    level = nominal_level(fractions, LEVEL / tests)
    compared = (UnlikeAnswers(it.label, _codes(it, level), _sizes(it, level)) for it in labels)
    return tuple(it for it in compared if it.codes or it.sizes)


def _codes(answers: LabelAnswers, level: float) -> tuple[CodeShares, ...]:
    more_fail = abs(answers.failed[1] - answers.failed[0])
    unlike = []
    for place, code in enumerate(answers.codes):
        hits = [it == place for it in answers.code]
        blocks = _counted(answers, hits)
        other_way = replace(blocks, base=blocks.head, head=blocks.base)
        rises = map(error_rise, (blocks, other_way))
        is_beyond = any(not it.note and it.low(level) > 0 for it in rises)
        if not is_beyond or not _every_process(answers.sides, [it.astype(float) for it in hits]):
            continue
        shares = CodeShares(code, *(float(it.mean()) for it in hits))
        # Whatever fails at one side alone is missing among the answers there.
        if abs(shares.head - shares.base) > more_fail:
            unlike.append(shares)
    return tuple(sorted(unlike, key=lambda it: -abs(it.head - it.base)))


def _counted(answers: LabelAnswers, hits: Sequence[NDArray[np.bool_]]) -> Blocks:
    """With answers of one code in the place of failures."""
    sides = []
    for own, hit in zip(answers.sides, hits, strict=True):
        ok = None if own.thread is None else ~hit
        counted = replace(own, elapsed_ms=np.zeros(len(hit), np.int64), ok=ok)
        times = np.bincount(own.block[hit], minlength=answers.seconds)
        sides.append(Side.of(counted, np.zeros(1, np.int64), times))
    return Blocks(answers.label, np.zeros(1, np.int64), *sides, repeats=None)


def _sizes(answers: LabelAnswers, level: float) -> Sizes | None:
    sides = [*together([answers.sides], FEWEST_OF_ROW)]
    if answers.seconds < FEWEST_BLOCKS or min(len(it.row) for it in sides) < FEWEST_BEYOND:
        return None
    logs = [np.log(np.maximum(it.elapsed_ms, 1)) for it in sides]
    rows = 1 + max(int(it.row.max()) for it in sides)
    n = [np.bincount(it.row, minlength=rows) for it in sides]
    sums = [np.bincount(it.row, own, rows) for it, own in zip(sides, logs, strict=True)]
    base, head = (each / np.maximum(many, 1) for each, many in zip(sums, n, strict=True))
    weight = n[0] * n[1] / np.maximum(n[0] + n[1], 1)
    weight /= max(weight.sum(), 1.0)
    change = float(weight @ (head - base))
    influences = [
        len(it.row) * (weight / np.maximum(many, 1))[it.row] * (own - level_of[it.row])
        for it, own, many, level_of in zip(sides, logs, n, (base, head), strict=True)
    ]
    error, freedom = _error(sides, influences, answers.seconds)
    reach = -float(special.stdtrit(freedom, level)) * error
    middle = (base + head) / 2
    off = [own - middle[it.row] for it, own in zip(sides, logs, strict=True)]
    least = math.log1p(SIZE)
    if abs(change) - reach <= least or not _every_process(sides, off):
        return None
    found = Sizes(*(math.exp(float(weight @ it)) for it in (base, head)))
    return found if abs(found.head - found.base) >= LEAST_BYTES else None


def _error(
    sides: Sequence[Requests], influences: Sequence[Floats], seconds: int
) -> tuple[float, float]:
    """(standard error of the change, degrees of freedom). influences: as of error_of_threads."""
    base, head = (
        np.bincount(it.block, own / len(own), seconds)
        for it, own in zip(sides, influences, strict=True)
    )
    of_seconds = error_of_sum(head - base)
    of_threads = error_of_threads(sides, influences)
    return joined(of_seconds, of_threads) if of_threads else of_seconds


def _every_process(sides: Sequence[Requests], values: Sequence[Floats]) -> bool:
    """Whether the means of all processes of head are beyond those of base's, by CLEAR of how far
    both sides are apart: one process in a state of its own makes a side differ, not its others."""
    numbers = [it.process for it in sides]
    if any(it is None for it in numbers):
        return True
    processes = 1 + max(int(it.max(initial=0)) for it in numbers)
    with np.errstate(invalid="ignore"):  # NaN of a process without answers
        base, head = (
            np.bincount(it, own, processes) / np.bincount(it, minlength=processes)
            for it, own in zip(numbers, values, strict=True)
        )
    gap = max(np.min(head) - np.max(base), np.min(base) - np.max(head))
    return bool(gap > CLEAR * abs(np.mean(head) - np.mean(base)))  # never with a NaN
