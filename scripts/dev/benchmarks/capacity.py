"""How often a search's interval holds the capacity, simulated; see docs/capacity-search.md.

    scripts/dev/bench capacity [--searches N] [--only NAME] [--seed N] [--processes N]

Requests come as the Precise Throughput Timer sends them and wait for one process, or for the first
free one of four. What half of simulated minutes keep is the truth. Each search has a seed of its
own.
"""

from __future__ import annotations

import argparse
import heapq
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks import common
from benchmarks.common import Floats
from tollgate.capacity.answer import result
from tollgate.capacity.growth import grew
from tollgate.capacity.model import Ask, CapacitySettings, Limit, Result, Trial
from tollgate.capacity.search import next_ask

SETTINGS = CapacitySettings((Limit("p95", 250.0, 0.05), Limit("fail", None, 0.001)))
#: Arrivals a second that the generator reaches.
CEILING = 1500.0
#: Spread of ln(service time).
SPREAD = 0.5
#: Of each neighbour: seconds that a slow and a fast spell last in the mean, the longest of either,
#: and how fast the machine is in a slow one. The burner is certification/burner.py on the service's
#: own core, which the two share by halves.
NEIGHBOURS = {
    "burner": (1.0, 1.0, 5.0, 0.5),
    "brief neighbour": (4.0, 8.0, math.inf, 0.8),
    "neighbour": (20.0, 40.0, math.inf, 0.8),
}
#: What the machine gains or loses from the beginning to the middle of a search that drifts.
DRIFT = 0.1
#: Between these moments lies the middle of a minute among the searching trials.
AMONG_S = (66.0, 204.0)
#: From the end of a trial to the beginning of the next, at least.
SOONEST_S = 0.5
#: Minutes at each rate that is tried for the truth, and for that of a single search.
MINUTES, OWN_MINUTES = 300, 40

Speed = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Service:
    """ms: of a request's own. aside_ms: median of what it takes besides without keeping a process
    busy, which grows by knee times the share of the rate in 100/s. cliff: arrivals a second from
    which all requests fail. speed: a number of the machine for each search, see `speeds`."""

    ms: float = 7.0
    processes: int = 1
    aside_ms: float = 0.0
    knee: float = 0.0
    cliff: float = math.inf
    speed: str = "steady"

    @property
    def most(self) -> float:
        """Arrivals a second that keep it busy all of the time."""
        return 1000 * self.processes / self.ms


SERVICES = {
    "mg1": Service(),
    "mg1, 17 ms": Service(ms=17.0),
    "mg4": Service(processes=4),
    "mg4, 17 ms": Service(ms=17.0, processes=4),
    "cliff": Service(cliff=100.0),
    "knee": Service(aside_ms=60.0, knee=0.8),
    "burner": Service(speed="burner"),
    "burner, 17 ms": Service(ms=17.0, speed="burner"),
    "brief neighbour": Service(speed="brief neighbour"),
    "neighbour": Service(speed="neighbour"),
    "neighbour, 17 ms": Service(ms=17.0, speed="neighbour"),
    "drift": Service(speed="drift"),
    "drift, 17 ms": Service(ms=17.0, speed="drift"),
}


def speeds(kind: str, budget_s: float, random: np.random.Generator) -> Speed:
    """How fast the machine is at moments of one search."""
    if kind == "drift":
        way = DRIFT if random.random() < 0.5 else -DRIFT
        return lambda at_s: 1 + way * (2 * at_s / budget_s - 1)
    if kind in NEIGHBOURS:
        slow_s, fast_s, most_s, slow = NEIGHBOURS[kind]
        is_slow = common.spells(random, slow_s, fast_s, 2 * budget_s, most_s)
        return lambda at_s: np.where(is_slow(at_s), slow, 1.0)
    return np.ones_like


def answers(
    service: Service, rate: float, seconds: float, at_s: float, speed: Speed, random
) -> tuple[Floats, Floats]:
    """When requests were due, in seconds, and their response times in ms; inf for failed ones."""
    n = math.ceil(rate * seconds)
    due = np.sort(random.random(n)) * seconds
    own = random.lognormal(math.log(service.ms) - SPREAD**2 / 2, SPREAD, n) / speed(at_s + due)
    aside = service.aside_ms * (1 + service.knee * rate / 100)
    if aside:
        aside = aside * random.lognormal(0, SPREAD, n)
    if rate >= service.cliff:
        return due, np.full(n, math.inf)
    return due, responses(due * 1000, own, service.processes) + aside


def responses(at_ms: Floats, own_ms: Floats, processes: int) -> Floats:
    """Waiting and service times in a line for the first free process."""
    if processes == 1:
        return common.responses(at_ms, own_ms)
    free, ends = [0.0] * processes, []
    for at, own in zip(at_ms.tolist(), own_ms.tolist(), strict=True):
        end = max(free[0], at) + own
        heapq.heapreplace(free, end)
        ends.append(end)
    return np.array(ends) - at_ms


def trial(ask: Ask, service: Service, at_s: float, speed: Speed, random) -> Trial:
    """As it would be measured."""
    due, ms = answers(service, ask.rate, ask.seconds, at_s, speed, random)
    grown, rate = grew(due, ms, ask.seconds), len(ms) / ask.seconds
    ms = ms[due >= SETTINGS.lead_s]
    over = [int((ms > (each.threshold or 1e300)).sum()) for each in SETTINGS.limits]
    p50, p95, p99 = np.sort(ms)[[math.ceil(len(ms) * it) - 1 for it in (0.5, 0.95, 0.99)]].tolist()
    return Trial(ask, rate, len(ms), tuple(over), p50, p95, p99, grown, 0.0, True, at_s)


def searched(service: Service, speed: Speed, random) -> Result:
    settings = replace(SETTINGS, seed=int(random.integers(2**31)))
    trials: list[Trial] = []
    at_s = 0.0
    while ask := next_ask(settings, CEILING, trials):
        trials.append(trial(ask, service, at_s, speed, random))
        waiting_s = trials[-1].p99_ms / 1000
        at_s += ask.seconds + min(max(SOONEST_S, waiting_s), settings.drain_s)
    return result(settings, CEILING, trials)


def keeping(service: Service, rate: float, paths: list[Speed], random) -> float:
    """The share of minutes that keep the limits, each on one of these machines and somewhere among
    the searching trials."""
    ask = Ask(1, "holdout", rate, SETTINGS.holdout_s)
    begins = random.uniform(*AMONG_S, len(paths)) - SETTINGS.holdout_s / 2
    kept = (
        trial(ask, service, at_s, speed, random).keeps(SETTINGS.limits)
        for at_s, speed in zip(begins, paths, strict=True)
    )
    return sum(kept) / len(paths)


def capacity(service: Service, paths: list[Speed], random) -> float:
    """By bisection, with more minutes the nearer it is, until rates are 0.2 % apart."""
    low, high = 0.3 * service.most, min(1.1 * service.most, 1.05 * service.cliff)
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        few = max(10, len(paths) // 10) if high / low > 1.1 else len(paths)
        if keeping(service, middle, paths[:few], random) > 0.5:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


@dataclass(frozen=True)
class Searched:
    """A search, and its truth."""

    truth: float
    found: Result

    @property
    def held(self) -> bool:
        return self.found.low is not None and self.found.low <= self.truth <= self.found.high


def truth_of(name: str, minutes: int, seed: int) -> float | None:
    """That of a service; None where the machine differs from search to search."""
    service = SERVICES[name]
    random = np.random.default_rng([seed, list(SERVICES).index(name)])
    paths = [speeds(service.speed, SETTINGS.budget_s, random) for _ in range(minutes)]
    return None if service.speed in NEIGHBOURS else capacity(service, paths, random)


def simulated(name: str, seed: int, known: float | None, number: int) -> Searched:
    """known: see `truth_of`."""
    service = SERVICES[name]
    random = np.random.default_rng([seed, list(SERVICES).index(name), number])
    speed = speeds(service.speed, SETTINGS.budget_s, random)
    found = searched(service, speed, random)
    truth = known or capacity(service, [speed] * OWN_MINUTES, random)
    return Searched(truth, found)


def row(name: str, made: Sequence[Searched]) -> list[str]:
    """Of the table."""
    known = [(it.found, it.truth) for it in made if it.found.low is not None]
    shares = [np.mean([it.held for it in made])]
    shares.append(sum(it.low > truth for it, truth in known) / len(made))
    shares.append(np.median([(it.high - it.low) / 2 / it.estimate for it, _ in known]))
    off = np.mean([it.estimate / truth - 1 for it, truth in known])
    found = np.mean([it.found.status == "found" for it in made])
    return [
        name,
        f"{np.mean([it.truth for it in made]):.1f}/s",
        str(len(made)),
        *(f"{100 * share:.1f} %" for share in shares),
        f"{100 * off:+.1f} %",
        f"{100 * found:.0f} %",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--only", action="append", choices=SERVICES, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or SERVICES:
            known = truth_of(name, MINUTES, arguments.seed)
            make = partial(simulated, name, arguments.seed, known)
            rows.append(row(name, list(pool.map(make, range(arguments.searches)))))
            print(*rows[-1], sep=", ", file=sys.stderr)
    heads = ("service", "capacity", "searches", "held", "too high", "half-width", "off", "found")
    print(common.table(heads, rows))


if __name__ == "__main__":
    main()
