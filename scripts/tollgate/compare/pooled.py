"""All requests of a mix together, so that what slows each of its labels a little is found. Pure.

Each request counts once, and a label thus by its weight. Only what holds a request against the same
request, or counts failures, has a meaning of a mix: its percentiles have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from tollgate.compare.errors import unlike_work
from tollgate.compare.model import ALL_LABELS, Blocks, Gate, Requests, Side


def all_of(gate: Gate, labels: Sequence[Blocks]) -> Blocks | None:
    """Of the labels that gate; None where there are not several of a mix, or where one of them has
    the name of all."""
    chosen = [it for it in labels if it.label in (gate.settings.labels or [it.label])]
    if not gate.is_mix or len(chosen) < 2 or any(it.label == ALL_LABELS for it in labels):
        return None
    values_ms = np.unique(np.concatenate([it.values_ms for it in chosen]))
    sides = zip(*([it.base, it.head] for it in chosen), strict=True)
    requests = zip(*(it.requests for it in chosen), strict=True)
    rows = [1 + max(int(it.row.max(initial=0)) for it in each.requests) for each in chosen]
    joined = (
        Side.of(together(own, rows), values_ms, np.sum([it.failed for it in side], axis=0))
        for own, side in zip(requests, sides, strict=True)
    )
    base, head = joined
    return replace(chosen[0], label=ALL_LABELS, values_ms=values_ms, base=base, head=head)


def together(parts: Iterable[Requests], rows: Iterable[int]) -> Requests:
    """One side's samples of several labels, in the order of their blocks, each with rows of its
    own. rows: how many each label has, of both sides."""
    first, found = 0, []
    for part, many in zip(parts, rows, strict=True):
        found.append(replace(part, row=part.row + first))
        first += many
    known = (it.name for it in fields(Requests))
    names = [name for name in known if all(getattr(it, name) is not None for it in found)]
    columns: dict[str, NDArray[np.int64]] = {
        name: np.concatenate([getattr(it, name) for it in found]) for name in names
    }
    return Requests(**columns).where(np.argsort(columns["block"], kind="stable"))


def unlike_of(labels: Iterable[Blocks]) -> dict[str, str]:
    """By label, why its times are of unlike work, or nothing; those of all if those of one are."""
    found = {it.label: unlike_work(it) for it in labels}
    first = next((f"{label}: {why}" for label, why in found.items() if why), "")
    return {ALL_LABELS: first} | found
