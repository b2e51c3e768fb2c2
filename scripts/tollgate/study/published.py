"""The published claims about one process against several in Node, a row each, and what decides one.

Core counts differ, so directions and ratios are compared, never absolute times. An answer needs the
whole 95 % interval on one side, and between the sides lies a gap (DELTA for a ratio): a quantity
near the border gets `cannot tell`, so that noise alone, when the same machine is measured again,
does not turn `agrees` into `disagrees` or the other way round. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tollgate.study.metrics import Floats, Metrics
from tollgate.study.model import CellData, Key
from tollgate.study.scaling import concurrency_performance

#: Numbers of users that claims are about: calculate's for its growth, and kittens'.
FEW, MANY, KITTENS_USERS = 5, 20, 10
#: A ratio has to be this far beyond 1 to count as more or less: a smaller difference is no
#: reason to run a service in another way.
DELTA = 0.02


@dataclass(frozen=True)
class PublishedMachine:
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
    performances: the arms whose concurrency performance stands beside it, the first cell being the
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
    context: Callable[[PublishedMachine], str] = lambda _: ""
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


def percent_lost(_: PublishedMachine, arm: Metrics, baseline: Metrics) -> Floats:
    """Of the baseline's throughput, what the arm lacks."""
    return 100 * (1 - arm["throughput"] / baseline["throughput"])


def elasticity(_: PublishedMachine, few: Metrics, many: Metrics) -> Floats:
    """By what power of its users a response time grows: 0 not at all, 1 in step."""
    return np.log(many["mean"] / few["mean"]) / math.log(MANY / FEW)


def in_flight(_: PublishedMachine, one: Metrics) -> Floats:
    """Little's law (J. D. C. Little, Operations Research 9(3), 1961): throughput times response
    time is the number of requests under way, 1 for one user who waits for each answer."""
    return concurrency_performance(one, one)


def per_worker(machine: PublishedMachine, baseline: Metrics, loaded: Metrics) -> Floats:
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


CLAIMS = (
    Published(
        id="calculate-1-user",
        system="calculate",
        claim="at 1 user a cluster only adds overhead",
        published="one process faster than 8 workers, without figures",
        what="mean response time, cluster / fork, 1 user",
        unit="",
        cells=(("calculate", "cluster", 1), ("calculate", "fork", 1)),
        quantity=ratio("mean"),
        rule=MORE,
    ),
    Published(
        id="calculate-50-users",
        system="calculate",
        claim="the cluster wins under concurrency, each request logged",
        published="1,180 / 1,110 TPS = 1.06 (8 workers)",
        what="throughput with logging, cluster / fork, 50 users",
        unit="",
        cells=(
            ("calculate", "cluster with logging", 50),
            ("calculate", "fork with logging", 50),
        ),
        quantity=ratio("throughput"),
        rule=MORE,
    ),
    Published(
        id="calculate-logging",
        system="calculate",
        claim="logging each request costs about 17 % of throughput",
        published="1,180 instead of 1,420 TPS: 17 % (8 workers)",
        what="throughput that logging costs the cluster, 50 users",
        unit="%",
        cells=(("calculate", "cluster with logging", 50), ("calculate", "cluster", 50)),
        quantity=percent_lost,
        # "About": from half to double of it. The gap is DELTA of throughput on either side.
        rule=Rule(8.5, 34, 8.5 - 100 * DELTA, 34 + 100 * DELTA),
        context=lambda _: "about 17 % is taken as half to double of it",
    ),
    Published(
        id="calculate-users",
        system="calculate",
        claim="one process slows in step with its users",
        published="0.2 ms at a few users, 2.2 ms at 20",
        what="growth of response time with users, 1 is in step; fork, 5 to 20 users",
        unit="",
        cells=(("calculate", "fork", FEW), ("calculate", "fork", MANY)),
        quantity=elasticity,
        # 1 is in step, 0 not at all: the half that it is nearer to.
        rule=Rule(0.5, math.inf, 0.4, math.inf),
        cores=1,
        context=lambda _: "1 is in step with the users, 0 not at all",
    ),
    Published(
        id="sum-throughput",
        system="sum",
        claim="a cluster has more throughput for CPU-bound work",
        published="+80 %: 1,426 / 788 req/s = 1.81 (4 cores)",
        what="throughput, cluster / fork, 100 users",
        unit="",
        cells=(("sum", "cluster", 100), ("sum", "fork", 100)),
        quantity=ratio("throughput"),
        rule=MORE,
    ),
    Published(
        id="search-children",
        system="search",
        claim="child processes lose when the work waits on the network",
        published="18 / 34 req/s = 0.53",
        what="throughput, child per search / in-process, 10 users",
        unit="",
        cells=(("search", "child per search", 10), ("search", "in-process", 10)),
        quantity=ratio("throughput"),
        rule=LESS,
        cores=1,
    ),
    Published(
        id="kittens-baseline",
        system="kittens",
        claim="the baseline: one user gets as many answers as fit into the time",
        published="32.75 req/s x 30.5 ms = 0.999",
        what="throughput x mean response time, fork, 1 user",
        unit="",
        cells=(("kittens", "fork", 1),),
        quantity=in_flight,
        rule=Rule(0.9, 1.1, 0.9 - DELTA, 1.1 + DELTA),
        cores=1,
        context=lambda _: (
            "a check of the measurement: Little's law makes it 1 for one user who never pauses"
        ),
    ),
    Published(
        id="kittens-scaling",
        system="kittens",
        claim="CPU-bound work scales with the workers",
        published="concurrency performance 9 with 8 workers = 1.13 for each",
        what="concurrency performance of cluster for each worker, 10 users",
        unit="",
        cells=(("kittens", "fork", 1), ("kittens", "cluster", KITTENS_USERS)),
        quantity=per_worker,
        # 1 is all that each worker can give; JMeter and the system take their part of the cores.
        rule=Rule(0.75, math.inf, 0.65, math.inf),
        context=lambda machine: (
            f"1 is all that each of {machine.workers} workers on {machine.cores} cores can give"
        ),
        performances=("cluster", "fork"),
    ),
    Published(
        id="pi-slowest",
        system="pi",
        claim="three servers cut the slowest answer",
        published="to a third: nearly 3 s to under 1 s, about 0.33",
        what="slowest of a block of 10 users x 5 requests, three servers / one server",
        unit="",
        cells=(("pi", "three servers", 10), ("pi", "one server", 10)),
        quantity=ratio("block_max"),
        rule=LESS,
        context=lambda machine: (
            f"a third was published; {machine.cores} cores allow "
            f"{1 / min(3, machine.cores):.2f} at best"
        ),
    ),
)
