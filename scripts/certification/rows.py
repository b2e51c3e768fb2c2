"""Finished runs to the rows of the certification. Pure.

What is counted is a verdict of FAIL: a false alarm where head is like base (A/A), a find where it
is not. A run that is INVALID or INCONCLUSIVE is none and is counted among the runs all the same;
that it keeps a merge from going through as well is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from certification import naive
from certification.baselines import baselines
from certification.conditions import Condition
from certification.found import LIVE, RESAMPLED, Found, failures_of, found, gate_failures
from certification.rates import Rate, rate
from certification.resample import FEWEST_RUNS, Pool, resampled
from certification.store import BROKEN, Run
from certification.times import decided_s, failed_s, gate_decided_s, median_s, quantile_s
from tollgate.compare import FAIL, Blocks, Settings

#: By a run's number: its blocks. Runs without samples are not there.
Samples = Mapping[int, Sequence[Blocks]]


@dataclass(frozen=True)
class Row:
    """One condition, live. blocked: how often the exit code was not 0, for whatever reason.
    decided_s: median of measuring until everything was decided; fail_s: until the first failure;
    both over all runs, see times.py, None without any. baseline, sequential: how often the naive
    gates failed. ages_s: how old each baseline was. found: by label, what was found in time."""

    condition: Condition
    verdicts: Counter[str]
    failed: Rate
    blocked: Rate
    decided_s: float | None
    fail_s: float | None
    baseline: Rate
    sequential: Rate
    ages_s: tuple[float, ...]
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Resampled:
    """One condition, from so many recorded runs and seconds. most_s: in how many seconds of
    measuring 95 % of the runs had decided everything; the rest as in Row."""

    condition: Condition
    runs: int
    recorded_s: int
    verdicts: Counter[str]
    failed: Rate
    decided_s: float
    most_s: float
    found: tuple[Found, ...]


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Those of whom the gate promised what it did of the last one."""
    told = [run for run in runs if run.verdict != BROKEN]
    return [run for run in told if run.promise == told[-1].promise]


def live_rows(runs: Sequence[Run], samples: Samples, settings: Settings) -> list[Row]:
    """A row for each condition that has runs. settings: what the gate promised in them."""
    limits = baselines(runs, samples)

    def row(condition: Condition, mine: Sequence[Run]) -> Row:
        measured = [samples[run.number] for run in mine if run.number in samples]
        limited = [run.number for run in mine if run.number in limits]
        earlier = [limits[number] for number in limited]
        labels = dict.fromkeys(it["label"] for run in mine for it in run.findings)
        return Row(
            condition,
            Counter(run.verdict for run in mine),
            rate(run.verdict == FAIL for run in mine),
            rate(run.exit_code != 0 for run in mine),
            median_s(decided_s(run) for run in mine),
            median_s(failed_s(run) for run in mine),
            rate(
                naive.stored_baseline(samples[it.number], samples[number])
                for it, number in zip(earlier, limited, strict=True)
            ),
            rate(naive.one_after_the_other(blocks, condition.is_aa) for blocks in measured),
            tuple(it.age_s for it in earlier),
            tuple(found(condition, LIVE, labels, [failures_of(it) for it in mine], settings)),
        )

    return [row(condition, mine) for condition, mine in by_condition(runs).items()]


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
    failures = [gate_failures(gate) for gate in gates]
    labels = [blocks.label for blocks in pool.labels]
    took_s = [gate_decided_s(gate) for gate in gates]
    return Resampled(
        condition,
        len(samples),
        pool.seconds,
        verdicts,
        Rate(verdicts[FAIL], sequences),
        median_s(took_s),
        quantile_s(took_s, 0.95),
        tuple(found(condition, RESAMPLED, labels, failures, settings)),
    )


def by_condition(runs: Iterable[Run]) -> dict[Condition, list[Run]]:
    """In the order of the table: without noise, and the A/A runs, first."""
    ordered: dict[Condition, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.of.noisy, run.of, run.number)):
        ordered.setdefault(run.of, []).append(run)
    return ordered
