"""What there is to export of an execution's samples: totals by label and result, from which nothing
is ever taken away, so that whoever missed some of them has all with the next."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tollgate.plan.model import Plan
from tollgate.schedule.growing_join import Arrived
from tollgate.schedule.growing_samples import GrowingSamples, Key
from tollgate.schedule.join import Ints
from tollgate.stats.exponential import Exponential

_SIDES = ("base", "head")


@dataclass
class Series:
    """Samples that are alike in all that a Key has; times in ms. response and lateness: of labels
    with a schedule, so far as it is known when the samples were due."""

    key: Key
    bytes: int = 0
    service: Exponential = field(default_factory=Exponential)
    response: Exponential = field(default_factory=Exponential)
    lateness: Exponential = field(default_factory=Exponential)

    @property
    def attributes(self) -> dict[str, str]:
        """As OpenTelemetry has them, without the execution."""
        side = {"tollgate.side": _SIDES[self.key.side]} if self.key.side >= 0 else {}
        return {
            "tollgate.label": self.key.label,
            "tollgate.kind": "transaction" if self.key.is_transaction else "request",
            "tollgate.result": "ok" if self.key.ok else "failed",
            **side,
        }


class Totals(GrowingSamples):
    """All samples of one execution so far. series: in the order of their numbers."""

    def __init__(self, name: str, plan: Plan, follows: bool = True) -> None:
        super().__init__(plan, follows)
        self.name = name
        self.series: list[Series] = []

    def counted(self, number: int, _start_ms: Ints, elapsed_ms: Ints, size: int) -> None:
        self.series += map(Series, self.keys[len(self.series) :])
        series = self.series[number]
        series.bytes += size
        series.service.add(elapsed_ms / 1000)

    def joined(self, number: int, known: Arrived, elapsed_ms: Ints) -> None:
        late_ms, series = known.lateness_ms, self.series[number]
        series.response.add((elapsed_ms + late_ms) / 1000)
        series.lateness.add(late_ms[~np.isnan(known.due_ms)] / 1000)
