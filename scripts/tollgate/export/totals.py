"""What there is to export of an execution's samples: totals by label and result, from which nothing
is ever taken away, so that whoever missed some of them has all with the next."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tollgate.plan.model import Plan
from tollgate.samples.slowest import trace_id
from tollgate.schedule.growing_samples import GrowingSamples
from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.exponential import Exponential


@dataclass(frozen=True)
class Exemplar:
    """A sample whose trace a store may lead to. value, at_s: how long it took, in seconds, and when
    it was answered, in seconds since the epoch. trace, span: ids, as texts."""

    value: float
    at_s: float
    trace: str
    span: str


class Histogram(Exponential):
    """Times in seconds. exemplar: the slowest sample since the point before this one, None where
    there is none with a trace."""

    exemplar: Exemplar | None = None

    def keep(self, _begin_ms: Ints | Floats, _end_ms: Ints, time_ms: Ints) -> None:
        self.add(time_ms / 1000)


def exemplar_of(
    elapsed_ms: int, start_ms: int, test_start_ms: int | None, drawn: int
) -> Exemplar | None:
    trace = trace_id(test_start_ms, drawn)
    at_s = (start_ms + elapsed_ms) / 1000
    return Exemplar(elapsed_ms / 1000, at_s, trace, trace[-16:]) if trace else None


class Totals(GrowingSamples[Histogram]):
    """All samples of one execution so far."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        follows: bool = True,
        load_ended_at: Callable[[], float | None] = lambda: None,
    ) -> None:
        """load_ended_at: when the load was ended before its time, in seconds since the epoch."""
        super().__init__(plan, follows)
        self.name = name
        self._load_ended_at = load_ended_at

    def load_ended_ms(self) -> float:
        """See GrowingSamples."""
        ended_s = self._load_ended_at()
        return math.inf if ended_s is None else 1000 * ended_s

    def times(self, ok: bool) -> Histogram:  # noqa: ARG002 - the series says so
        return Histogram()
