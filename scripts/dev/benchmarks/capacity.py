"""How often a search's interval holds the capacity, simulated; see docs/capacity-search.md.

    scripts/dev/bench capacity [--searches N] [--only NAME] [--seed N] [--processes N] [--kept FILE]

Requests come as the Precise Throughput Timer sends them and wait for one process, or for the first
free one of four. What half of simulated minutes keep is the truth. Each search has a seed of its
own: what FILE has of an earlier sitting isn't made again, and counts.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tollgate.capacity.answer import result
from tollgate.capacity.growth import grew
from tollgate.capacity.model import Ask, CapacitySettings, Limit, Trial
from tollgate.capacity.search import next_ask

Floats = NDArray[np.float64]
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
        count = 20 + 4 * math.ceil(2 * budget_s / (slow_s + fast_s))
        lengths = np.minimum(random.exponential((slow_s, fast_s), (count, 2)), most_s).ravel()
        begins_slow = random.random() < slow_s / (slow_s + fast_s)
        ends = np.cumsum(lengths if begins_slow else lengths[1:])
        return lambda at_s: np.where(
            (np.searchsorted(ends, at_s) % 2 == 0) == begins_slow, slow, 1.0
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


def trial(
    ask: Ask, service: Service, at_s: float, speed: Speed, settings: CapacitySettings, random
):
    """As it would be measured."""
    due, ms = answers(service, ask.rate, ask.seconds, at_s, speed, random)
    grown, rate = grew(due, ms, ask.seconds), len(ms) / ask.seconds
    ms = ms[due >= settings.lead_s]
    over = [int((ms > (each.threshold or 1e300)).sum()) for each in settings.limits]
    p50, p95, p99 = np.sort(ms)[[math.ceil(len(ms) * it) - 1 for it in (0.5, 0.95, 0.99)]].tolist()
    return Trial(ask, rate, len(ms), tuple(over), p50, p95, p99, grown, 0.0, True, at_s)


def searched(service: Service, settings: CapacitySettings, speed: Speed, random):
    """Its result and trials."""
    settings = replace(settings, seed=int(random.integers(2**31)))
    trials: list[Trial] = []
    at_s = 0.0
    while ask := next_ask(settings, CEILING, trials):
        trials.append(trial(ask, service, at_s, speed, settings, random))
        waiting_s = trials[-1].p99_ms / 1000
        at_s += ask.seconds + min(max(SOONEST_S, waiting_s), settings.drain_s)
    return result(settings, CEILING, trials), trials


def keeping(
    service: Service, rate: float, settings: CapacitySettings, paths: list[Speed], random
) -> float:
    """The share of minutes that keep the limits, each on one of these machines and somewhere among
    the searching trials."""
    ask = Ask(1, "holdout", rate, settings.holdout_s)
    begins = random.uniform(*AMONG_S, len(paths)) - settings.holdout_s / 2
    kept = (
        trial(ask, service, at_s, speed, settings, random)
        for at_s, speed in zip(begins, paths, strict=True)
    )
    return sum(each.keeps(settings.limits) for each in kept) / len(paths)


def capacity(service: Service, settings: CapacitySettings, paths: list[Speed], random) -> float:
    """By bisection, with more minutes the nearer it is, until rates are 0.2 % apart."""
    low, high = 0.3 * service.most, min(1.1 * service.most, 1.05 * service.cliff)
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        few = max(10, len(paths) // 10) if high / low > 1.1 else len(paths)
        if keeping(service, middle, settings, paths[:few], random) > 0.5:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


@dataclass(frozen=True)
class Searched:
    """A search of a service, and its truth. seed, number: what it was drawn from."""

    name: str
    seed: int
    number: int
    truth: float
    status: str
    estimate: float | None
    low: float | None
    high: float | None

    @property
    def held(self) -> bool:
        return self.low is not None and self.low <= self.truth <= self.high


def truth_of(name: str, minutes: int, seed: int) -> float | None:
    """That of a service; None where the machine differs from search to search."""
    service = SERVICES[name]
    random = np.random.default_rng([seed, list(SERVICES).index(name)])
    paths = [speeds(service.speed, SETTINGS.budget_s, random) for _ in range(minutes)]
    return None if service.speed in NEIGHBOURS else capacity(service, SETTINGS, paths, random)


def simulated(name: str, seed: int, common: float | None, number: int) -> Searched:
    """common: see `truth_of`."""
    service = SERVICES[name]
    random = np.random.default_rng([seed, list(SERVICES).index(name), number])
    speed = speeds(service.speed, SETTINGS.budget_s, random)
    found = searched(service, SETTINGS, speed, random)[0]
    truth = common or capacity(service, SETTINGS, [speed] * OWN_MINUTES, random)
    return Searched(name, seed, number, truth, found.status, found.estimate, found.low, found.high)


def row(name: str, made: Sequence[Searched]) -> str:
    """Of the table."""
    known = [it for it in made if it.low is not None]
    held, above = (
        100 * sum(each) / len(made)
        for each in ([it.held for it in made], [it.low > it.truth for it in known])
    )
    width = np.median([(it.high - it.low) / 2 / it.estimate for it in known])
    off = np.mean([it.estimate / it.truth - 1 for it in known])
    found = np.mean([it.status == "found" for it in made])
    return (
        f"| {name} | {np.mean([it.truth for it in made]):.1f}/s | {len(made)} | {held:.1f} % "
        f"| {above:.1f} % | {100 * width:.1f} % | {100 * off:+.1f} % | {100 * found:.0f} % |"
    )


def sitting(
    arguments: argparse.Namespace, pool: ProcessPoolExecutor, name: str
) -> Iterator[Searched]:
    """All searches of a service: those that are kept, and what was missing of so many."""
    kept: Path | None = arguments.kept
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    known = [it for it in (Searched(**json.loads(line)) for line in lines) if it.name == name]
    yield from known
    done = {it.number: it.truth for it in known if it.seed == arguments.seed}
    numbers = [it for it in range(arguments.searches) if it not in done]
    if not numbers:
        return
    if done and SERVICES[name].speed not in NEIGHBOURS:
        common = next(iter(done.values()))
    else:
        common = truth_of(name, arguments.minutes, arguments.seed)
    make = partial(simulated, name, arguments.seed, common)
    for each in pool.map(make, numbers):
        if kept:
            with kept.open("a") as file:
                print(json.dumps(asdict(each)), file=file)
        yield each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--minutes", type=int, default=MINUTES, help="for the truth, at each rate")
    parser.add_argument("--only", action="append", choices=SERVICES, metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kept", type=Path, metavar="FILE", help="of searches, is added to")
    arguments = parser.parse_args()
    print("| service | capacity | searches | held | too high | half-width | off | found |")
    print("|---|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name in arguments.only or SERVICES:
            print(row(name, list(sitting(arguments, pool, name))), flush=True)


if __name__ == "__main__":
    main()
