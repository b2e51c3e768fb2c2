"""What there is to export of an execution's samples: totals by label and result, from which nothing
is ever taken away, so that whoever missed some of them has all with the next."""

from __future__ import annotations

from tollgate.plan.model import Plan
from tollgate.schedule.growing_samples import GrowingSamples
from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.exponential import Exponential


class Histogram(Exponential):
    """Times in seconds."""

    def keep(self, _begin_ms: Ints | Floats, _end_ms: Ints, time_ms: Ints) -> None:
        self.add(time_ms / 1000)


class Totals(GrowingSamples[Histogram]):
    """All samples of one execution so far."""

    def __init__(self, name: str, plan: Plan, follows: bool = True) -> None:
        super().__init__(plan, follows)
        self.name = name

    def times(self, ok: bool) -> Histogram:  # noqa: ARG002 - the series says so
        return Histogram()
