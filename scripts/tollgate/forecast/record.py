"""The forecast that an execution follows, as run.json keeps it. Pure.

    {"path": "data/forecast.csv", "factor": 1.5, "scale": 1440,
     "steps": [{"name": "07:00", "from_s": 5, "to_s": 7.5, "tps": 9.6, "shares": {"sum": 1}}, ...]}

With it `tollgate judge` needs no forecast file, which may have changed since.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tollgate.base import records
from tollgate.forecast.model import LoadStep


@dataclass(frozen=True)
class Followed:
    """A forecast's file, the factor of its rates, by how much its time was compressed, its steps
    one after the other."""

    __pydantic_config__ = records.STRICT

    path: str
    factor: float
    scale: float
    steps: tuple[LoadStep, ...]


def to_record(followed: Followed) -> dict[str, Any]:
    """Plain values, ready for JSON."""
    return asdict(followed) | {"steps": [asdict(step) for step in followed.steps]}


def from_record(record: Mapping[str, Any]) -> Followed:
    """The forecast of a record. Raises ValueError, with what is wrong, for anything else."""
    try:
        followed = records.parse(Followed, record)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the forecast is not one that a run wrote: {error}") from None
    _check(followed.steps)
    return followed


def _check(steps: tuple[LoadStep, ...]) -> None:
    if not steps:
        raise ValueError("the forecast has no steps")
    for step in steps:
        values = (step.from_s, step.to_s, step.tps, *step.shares.values())
        if not all(math.isfinite(value) and value >= 0 for value in values):
            raise ValueError(f"the forecast's step {step.name!r} holds what is no rate or time")
        if step.to_s <= step.from_s:
            raise ValueError(f"the forecast's step {step.name!r} ends before it begins")
    for before, after in pairwise(steps):
        if before.to_s != after.from_s:
            raise ValueError(f"the forecast's step {after.name!r} does not follow the one before")
