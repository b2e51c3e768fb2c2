"""What an answer would be if an arm had got all the cores that it can use. Pure.

JMeter shares the machine with the servers. Where no core was idle, an arm with several processes
may have been held by what JMeter and others used, and an arm of one process not: their ratio is
then one of this machine under this load. By the Utilization Law (see study/bottleneck.py) an arm
that got more cores could serve no more than headroom times its throughput, and in a closed loop
without pauses its response times would be shorter by the same factor (Little's law). An answer has
to hold with and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from tollgate.study.metrics import Floats
from tollgate.study.model import CellData, Estimate
from tollgate.study.stats import estimate


def widest(
    quantity: Callable[..., Floats],
    cells: Sequence[CellData],
    headrooms: Sequence[float],
    found: Estimate,
    seed: int,
) -> Estimate:
    """`found`, an estimate of the quantity of these cells, with an interval as wide as it gets when
    any one of the cells uses its headroom."""
    ends = [found]
    for place, headroom in enumerate(headrooms):
        if headroom > 1:
            factors = [headroom if place == at else 1.0 for at in range(len(cells))]
            ends.append(estimate(partial(_faster, quantity, factors), cells, seed))
    lows = [it.low for it in ends if it.low is not None]
    highs = [it.high for it in ends if it.high is not None]
    return Estimate(found.value, min(lows, default=None), max(highs, default=None), found.note)


def _faster(
    quantity: Callable[..., Floats], factors: Sequence[float], *metrics: Mapping[str, Floats]
) -> Floats:
    return quantity(*(_Faster(*pair) for pair in zip(metrics, factors, strict=True)))


class _Faster(Mapping):
    """The metrics of a cell that is faster by a factor."""

    def __init__(self, metrics: Mapping[str, Floats], factor: float) -> None:
        self.metrics, self.factor = metrics, factor

    def __getitem__(self, name: str) -> Floats:
        is_rate = name == "throughput"
        return self.metrics[name] * (self.factor if is_rate else 1 / self.factor)

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)
