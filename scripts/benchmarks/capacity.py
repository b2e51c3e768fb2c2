"""How often a search's interval holds the capacity, simulated; see docs/capacity-search.md.

    scripts/bench capacity [--searches N] [--only NAME] [--seed N]

Requests come as the Precise Throughput Timer sends them and wait for one process, or for the first
free one of four. What half of simulated minutes keep is the truth.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tollgate.capacity import Ask, Limit, Result, Settings, Trial, grew, next_ask, result

Floats = NDArray[np.float64]
SETTINGS = Settings((Limit("p95", 250.0, 0.05), Limit("fail", None, 0.001)))
#: Arrivals a second that the generator reaches.
CEILING = 1500.0
#: Spread of ln(service time).
SPREAD = 0.5
#: Seconds that a slow and a fast spell beside a neighbour last in the mean, and how fast the
#: machine is in a slow one.
SPELLS_S = {"neighbour": (20.0, 40.0), "brief neighbour": (4.0, 8.0)}
SLOW = 0.8
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
    if kind in SPELLS_S:
        slow_s, fast_s = SPELLS_S[kind]
        count = 20 + 4 * math.ceil(2 * budget_s / (slow_s + fast_s))
        lengths = random.exponential((slow_s, fast_s), (count, 2)).ravel()
        begins_slow = random.random() < slow_s / (slow_s + fast_s)
        ends = np.cumsum(lengths if begins_slow else lengths[1:])
        return lambda at_s: np.where(
            (np.searchsorted(ends, at_s) % 2 == 0) == begins_slow, SLOW, 1.0
        )
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
    """Waiting and service times in a line for the first free process (of one: D. Lindley 1952,
    "The theory of queues")."""
    if processes == 1:
        steps = np.concatenate([[0.0], np.cumsum(own_ms[:-1] - np.diff(at_ms))])
        return steps - np.minimum.accumulate(steps) + own_ms
    free, ends = [0.0] * processes, []
    for at, own in zip(at_ms.tolist(), own_ms.tolist(), strict=True):
        end = max(free[0], at) + own
        heapq.heapreplace(free, end)
        ends.append(end)
    return np.array(ends) - at_ms


def trial(ask: Ask, service: Service, at_s: float, speed: Speed, settings: Settings, random):
    """As it would be measured."""
    due, ms = answers(service, ask.rate, ask.seconds, at_s, speed, random)
    grown, rate = grew(due, ms, ask.seconds), len(ms) / ask.seconds
    ms = ms[due >= settings.lead_s]
    over = [int((ms > (each.threshold or 1e300)).sum()) for each in settings.limits]
    p50, p95, p99 = np.sort(ms)[[math.ceil(len(ms) * it) - 1 for it in (0.5, 0.95, 0.99)]].tolist()
    return Trial(ask, rate, len(ms), tuple(over), p50, p95, p99, grown, 0.0, True, at_s)


def searched(service: Service, settings: Settings, speed: Speed, random):
    """Its result and trials."""
    settings = replace(settings, seed=int(random.integers(2**31)))
    trials: list[Trial] = []
    at_s = 0.0
    while ask := next_ask(settings, CEILING, trials):
        trials.append(trial(ask, service, at_s, speed, settings, random))
        waiting_s = trials[-1].p99_ms / 1000
        at_s += ask.seconds + min(max(SOONEST_S, waiting_s), settings.drain_s)
    return result(settings, CEILING, trials), trials


def keeping(service: Service, rate: float, settings: Settings, paths: list[Speed], random) -> float:
    """The share of minutes that keep the limits, each on one of these machines and somewhere among
    the searching trials."""
    ask = Ask(1, "holdout", rate, settings.holdout_s)
    begins = random.uniform(*AMONG_S, len(paths)) - settings.holdout_s / 2
    kept = (
        trial(ask, service, at_s, speed, settings, random)
        for at_s, speed in zip(begins, paths, strict=True)
    )
    return sum(each.keeps(settings.limits) for each in kept) / len(paths)


def capacity(service: Service, settings: Settings, paths: list[Speed], random) -> float:
    """By bisection, with more minutes the nearer it is, until rates are 0.2 % apart."""
    low, high = 0.6 * service.most, min(1.1 * service.most, 1.05 * service.cliff)
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        few = max(10, len(paths) // 10) if high / low > 1.1 else len(paths)
        if keeping(service, middle, settings, paths[:few], random) > 0.5:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


@dataclass(frozen=True)
class Row:
    """truths: of each search."""

    name: str
    truths: list[float]
    results: list[Result]

    def text(self) -> str:
        known = [
            (it, truth)
            for it, truth in zip(self.results, self.truths, strict=True)
            if it.low is not None
        ]
        held = [it.low <= truth <= it.high for it, truth in known]
        above = [it.low > truth for it, truth in known]
        found = [it.status == "found" for it in self.results]
        off = [it.estimate / truth - 1 for it, truth in known]
        widths = [it.half_width for it, _ in known]
        return (
            f"| {self.name} | {np.mean(self.truths):.1f}/s | {len(self.results)} "
            f"| {100 * np.mean(held):.1f} % | {100 * np.mean(above):.1f} % "
            f"| {100 * np.median(widths):.1f} % | {100 * np.mean(off):+.1f} % "
            f"| {100 * np.mean(found):.0f} % |"
        )


def simulated(name: str, searches: int, minutes: int, seed: int) -> Row:
    """Where the machine differs from search to search, each has a truth of its own."""
    service = SERVICES[name]
    random = np.random.default_rng([seed, list(SERVICES).index(name)])
    steady = [speeds(service.speed, SETTINGS.budget_s, random) for _ in range(minutes)]
    is_common = service.speed not in SPELLS_S
    common = capacity(service, SETTINGS, steady, random) if is_common else 0.0
    truths, results = [], []
    for _ in range(searches):
        speed = speeds(service.speed, SETTINGS.budget_s, random)
        results.append(searched(service, SETTINGS, speed, random)[0])
        own = common or capacity(service, SETTINGS, [speed] * OWN_MINUTES, random)
        truths.append(own)
    return Row(name, truths, results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--minutes", type=int, default=MINUTES, help="for the truth, at each rate")
    parser.add_argument("--only", action="append", choices=SERVICES, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| service | capacity | searches | held | too high | half-width | off | found |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.only or SERVICES:
        row = simulated(name, arguments.searches, arguments.minutes, arguments.seed)
        print(row.text(), flush=True)


if __name__ == "__main__":
    main()
