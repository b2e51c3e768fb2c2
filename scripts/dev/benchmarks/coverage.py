"""How often the intervals of stats hold the truth, over simulated runs; see scripts/dev/bench.

Each process is a way in which answers vary, with a known mean and known percentiles. The methods
were tuned on those of TUNED; CHECKED are the others, and tests/stats checks them. Everything is
seeded: the same versions print the same numbers.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

import numpy as np

from benchmarks.common import Floats, remembering, spells, table
from tollgate.record.environment import cpu_model
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import Interval, mean_interval
from tollgate.stats.percentiles import percentile_interval

Answers = Callable[[np.random.Generator, Floats], Floats]
AtLevel = Callable[[float], Interval]
#: One-sided: that of a PASS, and two of a look that may FAIL.
LEVELS = (0.025, 0.003, 0.0003)
#: (samples, seconds): rare requests and frequent ones, after a default run's 30 s and later.
MEANS = ((12, 30), (17, 30), (90, 30), (72, 60), (100, 240), (720, 240))
PERCENTILES = ((300, 30), (1500, 240))
ASKED = (50, 95)
#: So many samples say what the percentiles of a process are, in stretches of that many seconds.
TRUTH, TRUTH_S = 1_000_000, 3_600
#: An interval of a percentile takes so many times as long as one of a mean.
PERCENTILE_PART = 10
#: Percentiles are of whole milliseconds: these many of them are a process's unit.
UNIT_MS = 1_000


def common(of_variance: float, memory: float) -> Answers:
    """Standard normal values; a share of the variance is the second's, which remembers so much of
    the one before."""

    def values(rng: np.random.Generator, at_s: Floats) -> Floats:
        seconds = remembering(rng, int(at_s[-1]) + 1, memory)
        own = rng.standard_normal(len(at_s))
        shared = math.sqrt(of_variance) * seconds[at_s.astype(int)]
        return shared + math.sqrt(1 - of_variance) * own

    return values


def bursts(slow_s: float, fast_s: float, times: float) -> Answers:
    """Gamma values, `times` as large during bursts; both states last exponentially long."""

    def values(rng: np.random.Generator, at_s: Floats) -> Floats:
        is_slow = spells(rng, slow_s, fast_s, at_s[-1])(at_s)
        return np.where(is_slow, times, 1) * rng.gamma(4, 1 / 4, len(at_s))

    return values


def independent(draw: Callable[[np.random.Generator, int], Floats]) -> Answers:
    return lambda rng, at_s: draw(rng, len(at_s))


def contaminated(rng: np.random.Generator, size: int) -> Floats:
    return rng.normal(1, 0.1, size) * np.where(rng.random(size) < 1 / 20, 10, 1)


RARE = independent(contaminated)
TUNED: dict[str, tuple[Answers, float]] = {
    "gamma, shape 0.5": (independent(lambda rng, size: rng.gamma(0.5, 2, size)), 1),
    "6 less gamma, shape 2": (independent(lambda rng, size: 6 - rng.gamma(2, 1, size)), 4),
    "AR(0.5) by the second": (lambda rng, at: 10 + common(1, 0.5)(rng, at), 10),
    "half AR(0.8)": (lambda rng, at: 10 + common(0.5, 0.8)(rng, at), 10),
    "3 times slower for 1 s of 10": (bursts(1, 9, 3), 1.2),
    "3 times slower for 3 s of 15": (bursts(3, 12, 3), 1.4),
}
CHECKED: dict[str, tuple[Answers, float]] = {
    "normal": (independent(lambda rng, size: rng.normal(10, 1, size)), 10),
    "exponential": (independent(lambda rng, size: rng.exponential(1, size)), 1),
    "lognormal(1)": (independent(lambda rng, size: rng.lognormal(0, 1, size)), math.exp(0.5)),
    "one in 20 ten times slower": (RARE, 1.45),
    "half AR(0.6)": (lambda rng, at: 10 + common(0.5, 0.6)(rng, at), 10),
    "half AR(0.9)": (lambda rng, at: 10 + common(0.5, 0.9)(rng, at), 10),
    "lognormal(0.6) of half AR(0.6)": (
        lambda rng, at: np.exp(0.6 * common(0.5, 0.6)(rng, at)),
        math.exp(0.18),
    ),
}


@dataclass
class Seen:
    """What the intervals of one process did, at the first of LEVELS but for `early`.

    early: how often the low end lay above the truth, at each level; late: how often the high end
    lay below it; below, above: how far they went from the truth in the mean, as a share of it;
    above is inf where most intervals had no upper end.
    """

    runs: int
    early: Floats
    late: int
    below: float
    above: float

    @property
    def held(self) -> str:
        """How many held the truth, and of how many it lay above them, in percent."""
        late = 100 * self.late / self.runs
        return f"{100 - 100 * self.early[0] / self.runs - late:.1f} ({late:.1f})"

    @property
    def width(self) -> str:
        above = "no end" if math.isinf(self.above) else f"+{100 * self.above:.3g}"
        return f"-{100 * self.below:.3g} {above}"


def seen(drawn: Callable[[np.random.Generator], AtLevel], truth: float, runs: int) -> Seen:
    """drawn: draws a run and gives its interval at any confidence."""
    rng = np.random.default_rng(20260101)
    ends, early, late = np.empty((runs, 2)), np.zeros(len(LEVELS)), 0
    for run in range(runs):
        at = drawn(rng)
        found = at(1 - 2 * LEVELS[0])
        ends[run] = found.low, found.high
        late += found.high < truth
        # What is no false positive at one level is none at a smaller one.
        smaller = (at(1 - 2 * level).low for level in LEVELS[1:])
        for place, low in enumerate(itertools.chain([found.low], smaller)):
            if low <= truth:
                break
            early[place] += 1
    ended = np.isfinite(ends[:, 1])
    above = float(ends[ended, 1].mean() / truth - 1) if ended.mean() > 1 / 2 else math.inf
    return Seen(runs, early, late, float(1 - ends[:, 0].mean() / truth), above)


def of_mean(answers: Answers, n: int, seconds: int):
    def drawn(rng: np.random.Generator) -> AtLevel:
        at_s = np.sort(rng.uniform(0, seconds, n))
        bins, place = np.unique(at_s.astype(int), return_inverse=True)
        each, sums = np.bincount(place), np.bincount(place, weights=answers(rng, at_s))
        return lambda confidence: mean_interval(bins, each, sums, confidence, has_tail=False)

    return drawn


def of_percentile(answers: Answers, n: int, seconds: int, p: float):
    def drawn(rng: np.random.Generator) -> AtLevel:
        at_s = np.sort(rng.uniform(0, seconds, n))
        counts = Counts.of(at_s.astype(int), np.rint(UNIT_MS * answers(rng, at_s)).astype(int))
        return lambda confidence: percentile_interval(counts, p, confidence)

    return drawn


def true_percentiles(answers: Answers) -> Floats:
    rng, n = np.random.default_rng(7), 10_000
    parts = [answers(rng, np.sort(rng.uniform(0, TRUTH_S, n))) for _ in range(TRUTH // n)]
    return np.rint(UNIT_MS * np.percentile(np.concatenate(parts), ASKED))


def tables(what: str, columns: list[str], found: dict[str, list[Seen]]) -> list[str]:
    """Coverage, widths and false positives of one kind of interval."""
    levels = [f"{100 * level:g} %" for level in LEVELS]
    titles = {
        "held the truth, % (it lay above the interval, %)": columns,
        "from the truth to the ends, in the mean, % of it": columns,
        "false positives, as a multiple of the one-sided level, all columns together": levels,
    }
    rows: tuple[list, list, list] = ([], [], [])
    for name, each in found.items():
        rows[0].append([name, *(it.held for it in each)])
        rows[1].append([name, *(it.width for it in each)])
        rows[2].append([name, *false_positives(each)])
    made = (table(["process", *heads], of) for heads, of in zip(titles.values(), rows, strict=True))
    return [f"**{what}: {title}**\n\n{it}\n" for title, it in zip(titles, made, strict=True)]


def false_positives(found: list[Seen]) -> list[str]:
    """As multiples of each level, with their standard errors."""
    runs = sum(it.runs for it in found)
    shares = sum(it.early for it in found) / runs
    errors = (math.sqrt(level * (1 - level) / runs) for level in LEVELS)
    each = zip(shares, LEVELS, errors, strict=True)
    return [f"{share / level:.2g} ± {error / level:.1g}" for share, level, error in each]


def report(runs: int) -> str:
    processes, few = TUNED | CHECKED, runs // PERCENTILE_PART
    means = {
        name: [seen(of_mean(answers, *shape), mean, runs) for shape in MEANS]
        for name, (answers, mean) in processes.items()
    }
    percentiles = {
        name: [
            seen(of_percentile(answers, *shape, p), truth, few)
            for p, truth in zip(ASKED, true_percentiles(answers), strict=True)
            for shape in PERCENTILES
        ]
        for name, (answers, _) in processes.items()
        if answers is not RARE  # its p95 is where it jumps
    }
    of_p = [f"p{p}, {n} in {seconds} s" for p in ASKED for n, seconds in PERCENTILES]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy"))
    return "\n".join(
        [
            *tables("Means", [f"{n} in {seconds} s" for n, seconds in MEANS], means),
            *tables("Percentiles", of_p, percentiles),
            f"Machine: {cpu_model()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}.",
            f"Versions: tollgate {metadata.version('tollgate')}, {versions}.",
            f"Simulated: {runs} runs for each cell of a mean, {few} of a percentile.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3_000, help="for each cell")
    print(report(parser.parse_args().runs))


if __name__ == "__main__":
    main()
