"""Which target each arrival of a forecast's load asks: the text that the plan reads. Pure.

Visitor n asks the first target whose cumulative share exceeds the fractional part of n times the
golden ratio. Of any m visitors in a row, a target with share s then has m * s but for a few, far
fewer than by chance: the sequence's discrepancy grows with log m only. Source: L. Kuipers and
H. Niederreiter, Uniform Distribution of Sequences (1974), chapter 2, theorem 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tollgate.forecast.load import arrival_counts
from tollgate.forecast.model import LoadStep

#: The fractional part of the golden ratio, as the plan's expression has it.
GOLDEN = 0.6180339887498949
# Shares in the text; a millionth of the load is less than a request of most runs.
_DIGITS = 6


@dataclass(frozen=True)
class MixEntry:
    """Visitors up to number `last` ask these targets; values are shares, cumulated up to 1."""

    last: int
    targets: Mapping[str, float]


def mix_entries(steps: Sequence[LoadStep]) -> tuple[MixEntry, ...]:
    """The targets of every arrival; those of the warm-up are shared out like the first step's.

    Neighbouring steps with the same shares make one entry; steps without arrivals and targets
    without a share make none.
    """
    entries: list[MixEntry] = []
    done = 0
    for last, step in zip(accumulate(arrival_counts(steps)), [steps[0], *steps], strict=True):
        if last == done:
            continue
        done, targets = last, _cumulated(step.shares)
        if entries and entries[-1].targets == targets:
            entries.pop()
        entries.append(MixEntry(last, targets))
    return tuple(entries)


def mix_text(steps: Sequence[LoadStep]) -> str:
    """The entries as the plan reads them: `25 calculate:0.32 sum:0.61 search:1;50 calculate:...`"""
    return ";".join(_entry_text(entry) for entry in mix_entries(steps))


def target_of(number: int, entries: Sequence[MixEntry]) -> str:
    """The target of visitor `number`, counted from 1. Raises LookupError behind the last one."""
    place = number * GOLDEN % 1
    for entry in entries:
        if number <= entry.last:
            return next(name for name, share in entry.targets.items() if place < share)
    raise LookupError(f"visitor {number} comes after the last one, {entries[-1].last}")


def _cumulated(shares: Mapping[str, float]) -> dict[str, float]:
    taking_part = [name for name, share in shares.items() if share > 0]
    total = math.fsum(shares.values())
    sums = accumulate(shares[name] / total for name in taking_part)
    cumulated = {name: round(share, _DIGITS) for name, share in zip(taking_part, sums, strict=True)}
    # Rounded sums may end just below 1, and then some visitor would ask nothing.
    return cumulated | {taking_part[-1]: 1.0}


def _entry_text(entry: MixEntry) -> str:
    words = [f"{name}:{_plain(share)}" for name, share in entry.targets.items()]
    return " ".join([str(entry.last), *words])


def _plain(share: float) -> str:
    return f"{share:.{_DIGITS}f}".rstrip("0").rstrip(".")
