"""How often the gate of a comparison is wrong, and what it finds, over simulated runs.

    scripts/dev/bench tail                     the tables of docs/compare-explained.md
    scripts/dev/bench tail --powers 0 --lucks 0 --stalled 0    the last of them alone

First whole gates with every look, of a service like `sum`: a hundred rows of log-normal sizes, 27.5
requests a second of each side. Then gates of processes each of which is slower or faster than the
others as long as it lives. Then gates of processes that stall. Last, gates of a head that answers
rarely slowly, with and without the metric tail.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.common import remembering, table
from certification.burner import MEAN_S, MOST_S
from certification.found import rate
from certification.resample import gate_of
from tollgate.compare.decide import close
from tollgate.compare.model import (
    FAIL,
    PASS,
    STALLS,
    TAIL,
    Blocks,
    Gate,
    GateSettings,
    Requests,
    Side,
)

#: Of each side by itself, as shares of the time of an answer: `own` remembers 0.9 of the second
#: before. bursts: how often in a second both get up to five times slower, each by another amount.
#: neighbour: whether one of two cores is taken half of the time, and `known` to the gate or not.
SERVICES = {
    "quiet": {},
    "own noise of 3 %, AR(0.9)": {"own": 0.03},
    "bursts of 1 s in 20": {"bursts": 0.05},
    "both": {"own": 0.03, "bursts": 0.05},
    "a neighbour, not known": {"neighbour": "unknown"},
    "a neighbour": {"neighbour": "known"},
}
#: Of requests beside a neighbour's burst: how many have to wait, and for how long in the mean.
WAITING, WAIT_MS = 0.15, 8.0
RATIOS = (1.0, 1.02, 1.05)
#: Standard deviations of the logarithm of what a process is slow by; processes of a
#: side, and whether the gate asks all of them.
LUCKS = (0.01, 0.02, 0.03)
WAYS = ((1, False), (2, False), (2, True), (4, False), (4, True))
#: Seconds that all of head's processes stall, of every so many, or None; whether each process of
#: either side stalls by itself too, for ALONE_S, once in EVERY_S in the mean; and the noise.
STALLED = {
    "none": (None, False, "quiet"),
    "single processes": (None, True, "quiet"),
    "single processes, and bursts": (None, True, "bursts of 1 s in 20"),
    "single processes, and a neighbour": (None, True, "a neighbour"),
    "head 0.3 s in 5": ((0.3, 5), False, "quiet"),
    "head 2 s in 30": ((2, 30), False, "quiet"),
    "head 4 s in 60": ((4, 60), False, "quiet"),
    "head 2 s in 30, and single processes": ((2, 30), True, "quiet"),
}
ALONE_S, EVERY_S, SOON_S = (0.2, 2.0), 120, 300
#: Of head alone: what becomes of the ms of answers that are sent at a second, with random numbers.
Slow = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]
SLOWED: dict[str, Slow] = {
    "1 of 100 takes 2 s": lambda rng, _, ms: np.where(rng.random(len(ms)) < 0.01, 2000, ms),
    "1 of 200 takes 10 s": lambda rng, _, ms: np.where(rng.random(len(ms)) < 0.005, 10_000, ms),
    "still for 0.2 s of 10": lambda rng, at, ms: (
        ms + 1000 * np.maximum(0.2 - _phase(rng, at, 10), 0)
    ),
    "twice as slow for 15 s of 100": lambda rng, at, ms: ms * (1 + (_phase(rng, at, 100) < 15)),
}
#: A process, and the seconds in which it answers nothing.
Stall = tuple[int, float, float]
#: By metric, within how many seconds it is to fail.
WITHIN_S = {"typical": 300, "p50": 120, "p95": 600}
ROWS_MS = 7 * np.exp(0.3 * np.random.default_rng(0).standard_normal(100))
RATE = 27.5


def blocks_of(
    rng: np.random.Generator,
    ratio: float,
    own: float = 0.0,
    bursts: float = 0.0,
    processes: int = 1,
    luck: float = 0.0,
    known: bool = True,
    neighbour: str = "",
    stalls: Sequence[Sequence[Stall]] = (),
) -> Blocks:
    """Ten minutes of a service. processes: of each side, each of which is slower by its luck.
    known: whether the gate knows which of them answered. stalls: of base and of head."""
    seconds, sides = 600, []
    hit = rng.random(seconds) < bursts
    foreign = taken(rng, seconds) if neighbour else np.zeros(seconds)
    for times, stalled in itertools.zip_longest((1.0, ratio), stalls):
        level = own * remembering(rng, seconds, 0.9)
        level += np.where(hit, np.log(rng.uniform(1, 5, seconds)), 0.0)
        block = np.repeat(np.arange(seconds), rng.poisson(RATE, seconds))
        row = rng.integers(len(ROWS_MS), size=len(block))
        process = rng.integers(processes, size=len(block))
        slow = luck * rng.standard_normal(processes)
        noise = np.exp(level[block] + slow[process] + 0.08 * rng.standard_normal(len(block)))
        took = ROWS_MS[row] * times * noise
        if neighbour:
            waits = rng.random(len(took)) < WAITING * 2 * foreign[block]
            took += waits * rng.exponential(WAIT_MS, len(took))
        if stalled:
            took += waits_ms(rng, block, process, stalled)
        elapsed = np.floor(took + rng.random(len(took))).astype(int)
        sides.append(Requests(block, row, elapsed, process if known else None))
    values = np.arange(1 + max(int(it.elapsed_ms.max()) for it in sides))
    none = np.zeros(seconds, np.int64)
    blocks = Blocks("sum", values, *(Side.of(it, values, none) for it in sides))
    return blocks.beside(foreign if neighbour == "known" else ())


def stalls_of(
    rng: np.random.Generator, head: tuple[float, float] | None, alone: bool, processes: int
) -> list[list[Stall]]:
    """Of base and of head, in ten minutes."""
    seconds, found = 600, [[], []]
    if head:
        lasts_s, every_s = head
        begins = np.arange(rng.uniform(-every_s, 0), seconds, every_s)
        found[1] += [(it, begin, begin + lasts_s) for begin in begins for it in range(processes)]
    for side, process in itertools.product(found, range(processes if alone else 0)):
        begins = rng.uniform(0, seconds, rng.poisson(seconds / EVERY_S))
        side += [(process, begin, begin + rng.uniform(*ALONE_S)) for begin in begins]
    return found


def waits_ms(
    rng: np.random.Generator, block: np.ndarray, process: np.ndarray, stalls: Sequence[Stall]
) -> np.ndarray:
    """How long each request waits for its process to go on."""
    sent, until = block + rng.random(len(block)), np.zeros(len(block))
    for number, begin, end in stalls:
        hit = (process == number) & (sent >= begin) & (sent < end)
        until[hit] = np.maximum(until[hit], end)
    return 1000 * np.maximum(until - sent, 0)


def taken(rng: np.random.Generator, seconds: int) -> np.ndarray:
    """Which share of two cores somebody takes in each, in bursts and pauses of a second in the
    mean, as the neighbour of a certification does."""
    lengths = rng.exponential(MEAN_S, 2 * seconds).clip(max=MOST_S)
    ends = np.cumsum(lengths)
    burnt = np.cumsum(np.where(np.arange(2 * seconds) % 2, lengths, 0.0))
    return np.diff(np.interp(np.arange(seconds + 1), np.append(0, ends), np.append(0, burnt))) / 2


def _phase(rng: np.random.Generator, at_s: np.ndarray, every_s: float) -> np.ndarray:
    """How long before each moment the last period began."""
    return (at_s + rng.uniform(0, every_s)) % every_s


def slowed(rng: np.random.Generator, blocks: Blocks, slow: Slow) -> Blocks:
    """With a head that is slow so."""
    head = blocks.head.known
    took = slow(rng, head.block + rng.random(len(head.block)), head.elapsed_ms).astype(int)
    values = np.unique(np.append(blocks.values_ms, took))
    sides = (blocks.base.known, replace(head, elapsed_ms=took))
    made = (Side.of(it, values, blocks.base.failed) for it in sides)
    return Blocks(blocks.label, values, *made, blocks.background_cpu)


def judged(blocks: Blocks, settings: GateSettings) -> Gate:
    return close(gate_of(settings, (60.0, 30.0), [blocks]))


def found(gate: Gate, metric: str) -> bool:
    """Whether it failed in time."""
    finding = next(it for it in gate.findings if it.metric == metric)
    return finding.verdict == FAIL and finding.at_s <= WITHIN_S[metric]


def shares(gates: Sequence[Gate], *verdicts: str) -> list[float]:
    """How many of a hundred gates have each verdict."""
    return [100 * sum(it.verdict == each for it in gates) / len(gates) for each in verdicts]


def powers(gates: int) -> str:
    """Of whole gates; without the errors, of which nothing fails here."""
    settings = GateSettings(gates=("typical", "p50", "p95"), fail_fast=False)
    rows = []
    for (name, service), ratio in itertools.product(SERVICES.items(), RATIOS):
        rng = np.random.default_rng(2)
        made = [judged(blocks_of(rng, ratio, **service), settings) for _ in range(gates)]
        ends = [it.looks_s[-1] if it.finished else math.inf for it in made]
        times = [100 * np.mean([found(it, metric) for it in made]) for metric in WITHIN_S]
        cells = [f"{it:.0f} %" for it in (*shares(made, FAIL, PASS), *times)]
        rows.append([name, f"{100 * (ratio - 1):.0f} %", *cells, f"{np.median(ends):.0f} s"])
    within = [f"{metric} FAIL within {most} s" for metric, most in WITHIN_S.items()]
    return table(["noise", "slower", "FAIL", "PASS", *within, "all decided after"], rows)


def lucks(gates: int) -> str:
    """Of whole gates whose processes differ: FAIL and PASS, in per cent."""
    settings = GateSettings(gates=("typical", "p50", "p95"))
    rows = []
    for luck, ratio in itertools.product(LUCKS, RATIOS):
        cells = [f"{100 * luck:g} %", f"{100 * (ratio - 1):.0f} %"]
        for processes, known in WAYS:
            rng = np.random.default_rng(3)
            service = {"processes": processes, "luck": luck, "known": known}
            made = [judged(blocks_of(rng, ratio, **service), settings) for _ in range(gates)]
            cells.append(" / ".join(f"{it:.0f}" for it in shares(made, FAIL, PASS)))
        rows.append(cells)
    ways = (f"{it} each{', all of them' if known else ''}" for it, known in WAYS)
    return table(["luck", "slower", *ways], rows)


def stalled(gates: int) -> str:
    """Of whole gates whose processes stall, with and without the metric that counts it."""
    with_, without = (GateSettings(gates=("typical", "p50", "p95", *it)) for it in ((STALLS,), ()))
    rows = []
    for name, (head, alone, noise) in STALLED.items():
        rng = np.random.default_rng(4)
        made = []
        for _ in range(gates):
            stalls = stalls_of(rng, head, alone, 4)
            made.append(blocks_of(rng, 1.0, **SERVICES[noise], processes=4, stalls=stalls))
        now, before = ([judged(it, of) for it in made] for of in (with_, without))
        soon = [it.verdict == FAIL and it.looks_s[-1] <= SOON_S for it in now]
        passed = (*shares(now, PASS), *shares(before, PASS))
        cells = [f"{it:.0f} %" for it in (*shares(now, FAIL), 100 * np.mean(soon), *passed)]
        ends = [np.mean([it.looks_s[-1] for it in of]) for of in (before, now)]
        rows.append([name, *cells, f"{ends[0]:.0f} → {ends[1]:.0f} s"])
    heads = ["stalls", "FAIL", f"FAIL within {SOON_S} s", "PASS", "PASS without this metric"]
    return table([*heads, "mean time, without → with it"], rows)


def rare(gates: int) -> str:
    """Of whole gates whose head answers slowly now and then, with and without the metric tail."""
    cases = [(f"none: {name}", service, None) for name, service in SERVICES.items()]
    cases += [
        (f"{name}{beside}", service, it)
        for name, it in SLOWED.items()
        for beside, service in (("", {}), (", beside a neighbour", SERVICES["a neighbour"]))
    ]
    rows = []
    for name, service, slow in cases:
        rng = np.random.default_rng(5)
        made = [blocks_of(rng, 1.0, **service, processes=4) for _ in range(gates)]
        made = [slowed(rng, it, slow) if slow else it for it in made]
        columns = []
        for metrics in (("typical", "p50", "p95", STALLS), ("typical", "p50", "p95", TAIL, STALLS)):
            settings = GateSettings(gates=metrics)
            ended = [judged(it, settings) for it in made]
            counts = (rate(it.verdict == each for it in ended) for each in (FAIL, PASS))
            times = np.median([it.looks_s[-1] for it in ended])
            columns.append((*map(str, counts), f"{times:.0f} s"))
        (_, passed_without, before), (failed, passed, after) = columns
        rows.append([name, failed, passed, passed_without, f"{before} → {after}"])
    heads = ["slow at head", "FAIL", "PASS", "PASS without tail", "median time, without → with it"]
    return table(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tables = {powers: 20, lucks: 40, stalled: 100, rare: 40}
    for name, many in tables.items():
        help_ = f"repetitions of that table: default {many}, 0 for none"
        parser.add_argument(f"--{name.__name__}", type=int, default=many, metavar="N", help=help_)
    given = vars(parser.parse_args())
    for make in tables:
        if many := given[make.__name__]:
            print(make(many), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
