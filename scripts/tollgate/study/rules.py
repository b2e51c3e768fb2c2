"""What a claim is made of, the quantities that decide one, and when such a quantity says so. Pure.

An answer needs the whole 95 % interval on one side, and between the sides lies a gap (DELTA for a
ratio): a quantity near the border gets `cannot tell`, so that noise alone, when the same machine is
measured again, does not turn `agrees` into `disagrees` or the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tollgate.study.metrics import Floats, Metrics
from tollgate.study.model import CellData
from tollgate.study.scaling import concurrency_performance

Key = tuple[str, str, int]
#: Numbers of users that claims are about: calculate's for its growth, and kittens'.
FEW, MANY, KITTENS_USERS = 5, 20, 10
#: A ratio has to be this far beyond 1 to count as more or less: nobody would choose how to run a
#: service by a smaller difference.
DELTA = 0.02


@dataclass(frozen=True)
class Machine:
    """Where the study ran. cores: of the machine; workers: of the app `cluster`."""

    cores: int
    workers: int


@dataclass(frozen=True)
class Rule:
    """`agrees` if all of the interval lies within [low, high], `disagrees` if all of it lies below
    `below` or above `above`, `cannot tell` otherwise. No rule is without a gap."""

    low: float
    high: float
    below: float
    above: float


@dataclass(frozen=True)
class Published:
    """One claim. cells: (experiment, arm, users) of each cell that it takes. quantity: what
    decides, of the machine and of the metrics of those cells, float[B] each, to float[B]. what: its
    name. unit: of it, empty for a ratio. context: what else a reader needs to know about it.
    cores: how many it takes before several processes have anything to share.
    performances: the arms whose concurrency performance is told beside it, the first cell being the
    baseline."""

    id: str
    system: str
    claim: str
    published: str
    what: str
    unit: str
    cells: tuple[tuple[str, str, int], ...]
    quantity: Callable[..., Floats]
    rule: Rule
    context: Callable[[Machine], str] = lambda _: ""
    performances: tuple[str, ...] = ()
    cores: int = 2


#: What the write-ups measured, by experiment: how the path begins.
WORK = {
    "calculate": "/calculate",
    "sum": "/sum/500000",
    "search": "/search",
    "kittens": "/evil-kittens-sploding-your-cpu/",
    "pi": "/pi",
}
MORE = Rule(1 + DELTA, math.inf, 1, math.inf)
LESS = Rule(-math.inf, 1 - DELTA, -math.inf, 1)


def ratio(metric: str) -> Callable[..., Floats]:
    """Of the first cell's metric to the second's."""
    return lambda _, arm, baseline: arm[metric] / baseline[metric]


def percent_lost(_: Machine, arm: Metrics, baseline: Metrics) -> Floats:
    """Of the baseline's throughput, what the arm lacks."""
    return 100 * (1 - arm["throughput"] / baseline["throughput"])


def elasticity(_: Machine, few: Metrics, many: Metrics) -> Floats:
    """By what power of its users a response time grows: 0 not at all, 1 in step."""
    return np.log(many["mean"] / few["mean"]) / math.log(MANY / FEW)


def in_flight(_: Machine, one: Metrics) -> Floats:
    """Little's law (J. D. C. Little, Operations Research 9(3), 1961): throughput times response
    time is the number of requests under way, 1 for one user who waits for each answer."""
    return concurrency_performance(one, one)


def per_worker(machine: Machine, baseline: Metrics, loaded: Metrics) -> Floats:
    """Concurrency performance for each worker that can be at work."""
    return concurrency_performance(baseline, loaded) / min(machine.workers, KITTENS_USERS)


def other_work(cells: Iterable[Key], measured: Mapping[Key, CellData]) -> list[str]:
    """What a design asks that the write-ups did not."""
    asked = {(key[0], measured[key].cell.path) for key in cells}
    return [
        f"the design asks {path}, and the write-up {WORK[experiment]}"
        for experiment, path in sorted(asked)
        if not path.startswith(WORK[experiment])
    ]
