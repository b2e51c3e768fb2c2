"""All requests of a mix together, so that what slows each of its labels a little is found. Pure.

Each request counts once, and a label thus by its weight. Only what holds a request against the same
request, or counts answers, has a meaning of a mix: its percentiles have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace

import numpy as np

from tollgate.compare.errors import unlike_work
from tollgate.compare.estimates import FEWEST_OF_ROW
from tollgate.compare.model import ALL_LABELS, CPU, ERRORS, Blocks, Gate, Requests, Side


def all_of(gate: Gate, labels: Sequence[Blocks]) -> Blocks | None:
    """Of the labels that gate; None where there are not several of a mix, or where one of them has
    the name of all."""
    chosen = [it for it in labels if it.label in (gate.settings.labels or [it.label])]
    if not gate.is_mix or len(chosen) < 2 or any(it.label == ALL_LABELS for it in labels):
        return None
    values_ms = np.unique(np.concatenate([it.values_ms for it in chosen]))
    failed = zip(*((it.base.failed, it.head.failed) for it in chosen), strict=True)
    sides = zip(together([it.requests for it in chosen]), failed, strict=True)
    base, head = (Side.of(own, values_ms, np.sum(each, axis=0)) for own, each in sides)
    pool = replace(chosen[0], label=ALL_LABELS, values_ms=values_ms, base=base, head=head)
    return replace(pool, parts=tuple(chosen))


def together(
    labels: Iterable[Sequence[Requests]], fewest: int = FEWEST_OF_ROW
) -> Iterator[Requests]:
    """Of each side the samples of several labels, in the order of their blocks. labels: of each its
    sides. fewest: rows that a side has seen less often are one row of their label."""
    first, of_labels = 0, []
    for sides in labels:
        rows = 1 + max(int(it.row.max(initial=0)) for it in sides)
        seen = np.min([np.bincount(it.row, minlength=rows) for it in sides], axis=0)
        number = first + np.where(seen < fewest, 0, 1 + np.arange(rows))
        of_labels.append([replace(it, row=number[it.row]) for it in sides])
        first += rows + 1
    return map(_joined, zip(*of_labels, strict=True))


def _joined(parts: Sequence[Requests]) -> Requests:
    columns = {}
    for field in fields(Requests):
        of_parts = [getattr(part, field.name) for part in parts]
        if all(column is not None for column in of_parts):
            columns[field.name] = np.concatenate(of_parts)
    return Requests(**columns).where(np.argsort(columns["block"], kind="stable"))


def unlike_of(key: tuple[str, str], labels: Sequence[Blocks], pool: Blocks | None) -> str:
    """Why a metric of a label, the key, is of unlike work at both sides, or nothing. Of several
    labels together it is if that of one is: of those of the pool, and of CPU time, which can't be
    told apart, of all."""
    label, metric = key
    if metric == ERRORS:
        return ""
    if metric == CPU:
        parts = labels
    elif pool and label == pool.label:
        parts = pool.parts
    else:
        return unlike_work(next(it for it in labels if it.label == label))
    reasons = ((it.label, unlike_work(it)) for it in parts)
    return next((f"{label}: {why}" for label, why in reasons if why), "")
