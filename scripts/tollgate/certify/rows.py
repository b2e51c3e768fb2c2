"""Finished runs to the rows of the certification. Pure.

What is counted is a verdict of FAIL: a false alarm where head is like base (A/A), a find where it
is not. A run that is INVALID or INCONCLUSIVE is none and is counted among the runs all the same;
that it keeps a merge from going through as well is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from tollgate.certify import naive
from tollgate.certify.conditions import Condition
from tollgate.certify.rates import Rate, rate
from tollgate.certify.resample import FEWEST_RUNS, Pool, resampled
from tollgate.certify.store import BROKEN, Run
from tollgate.compare.model import FAIL, Blocks, Settings

#: By a run's number: its blocks. Runs without samples are not there.
Samples = Mapping[int, Sequence[Blocks]]


@dataclass(frozen=True)
class Row:
    """One condition, live. seconds: median of measuring until the verdict; fail_s: until the first
    failure, of runs that failed; wall_s: of the whole command; None without any. blocked: how often
    the exit code was not 0, for whatever reason. injected: by the server's own clock, see
    `injected`. baseline, sequential: how often the naive gates failed."""

    condition: Condition
    verdicts: Counter[str]
    failed: Rate
    blocked: Rate
    seconds: float | None
    fail_s: float | None
    wall_s: float | None
    injected: float | None
    baseline: Rate
    sequential: Rate


@dataclass(frozen=True)
class Resampled:
    """One condition, from so many recorded runs and seconds; the rest as in Row."""

    condition: Condition
    runs: int
    recorded_s: int
    verdicts: Counter[str]
    failed: Rate
    seconds: float


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Those of whom the gate promised what it did of the last one."""
    told = [run for run in runs if run.verdict != BROKEN]
    return [run for run in told if run.promise == told[-1].promise]


def live_rows(runs: Sequence[Run], samples: Samples) -> list[Row]:
    """A row for each condition that has runs."""
    baselines = _baselines(runs, samples)
    found = []
    for condition, mine in by_condition(runs).items():
        measured = [samples[run.number] for run in mine if run.number in samples]
        limited = [run.number for run in mine if run.number in baselines]
        found.append(
            Row(
                condition,
                Counter(run.verdict for run in mine),
                rate(run.verdict == FAIL for run in mine),
                rate(run.exit_code != 0 for run in mine),
                _median(run.seconds for run in mine),
                _median(_first_failure_s(run) for run in mine),
                _median(run.wall_s for run in mine),
                injected(mine),
                rate(naive.stored_baseline(samples[baselines[it]], samples[it]) for it in limited),
                rate(naive.one_after_the_other(blocks, condition.is_aa) for blocks in measured),
            )
        )
    return found


def resampled_row(
    condition: Condition,
    samples: Sequence[Sequence[Blocks]],
    settings: Settings,
    looks: tuple[float, float],
    sequences: int,
    seed: int,
) -> Resampled | None:
    """So many resampled runs of the complete gate; None from fewer than FEWEST_RUNS runs."""
    if len(samples) < FEWEST_RUNS or not sequences:
        return None
    pool, rng = Pool.of(samples), np.random.default_rng(seed)
    gates = [resampled(pool, settings, looks, condition.is_aa, rng) for _ in range(sequences)]
    verdicts = Counter(gate.verdict for gate in gates)
    failed = Rate(verdicts[FAIL], sequences)
    seconds = median(gate.looks_s[-1] for gate in gates)
    return Resampled(condition, len(samples), pool.seconds, verdicts, failed, seconds)


def by_condition(runs: Iterable[Run]) -> dict[Condition, list[Run]]:
    """In the order of the table: without noise, and the A/A runs, first."""
    found: dict[Condition, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.of.noisy, run.of, run.number)):
        found.setdefault(run.of, []).append(run)
    return found


def injected(runs: Sequence[Run]) -> float | None:
    """By the server's own clock over all probes: of a wait the mean in ms, otherwise the share of
    a request's own work; None without a probe."""
    clocks = [clock for run in runs for clock in run.clock.values()]
    if not clocks:
        return None
    total = sum(clock["injected"] for clock in clocks)
    if runs[0].of.kind == "delay":
        return total / len(clocks)
    return total / sum(clock["work"] for clock in clocks)


def _baselines(runs: Sequence[Run], samples: Samples) -> dict[int, int]:
    """By a run's number that of the last one before it with the same neighbour or none."""
    last: dict[bool, int] = {}
    found = {}
    for run in sorted(runs, key=lambda run: run.number):
        if run.number not in samples:
            continue
        if run.of.noisy in last:
            found[run.number] = last[run.of.noisy]
        last[run.of.noisy] = run.number
    return found


def _first_failure_s(run: Run) -> float | None:
    return min((it["decided_s"] for it in run.findings if it["verdict"] == FAIL), default=None)


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
