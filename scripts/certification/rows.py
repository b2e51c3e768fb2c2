"""Finished runs to the rows of the certification, beside two simpler gates. Pure.

What is counted is a verdict of FAIL: a false alarm where head is like base (A/A), a find where it
is not. A run that is INVALID or INCONCLUSIVE is none and is counted among the runs all the same;
that it keeps a merge from going through as well stands beside it.

The simpler gates are built as they commonly are, and get the same samples. Each fails if the p95 of
any label exceeds its limit by more than EXCESS.


(a) `stored_baseline`: an absolute limit, the p95 of base in an earlier run, plus 5 %. That is the
    kindest of stored baselines: at most an hour old, of the same commit on the same machine, beside
    the same kind of neighbour (`baselines`), and taken under the same load as the candidate.
(b) `one_after_the_other`: base first, head afterwards, as two runs of a benchmark after one another
    would do it. Taken from a run in which both went on all the time: the first half of its seconds
    gives base's samples, the second half gives head's. Kind as well: nothing was stopped, started
    or warmed up between the halves.

They have the time of a run, as long as the real gate needed to decide, but not all of its samples.
A benchmark of one side alone would send it every request, where here the coin left it one of two:
(a) has half of those that it would have, and (b) as well, of each half of the time. Where both
sides are the same code it makes no difference whose samples are taken, so that (b) takes those of
both in A/A runs, as many as it would have. Of a slowed head it can't.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from certification.conditions import Condition
from certification.found import (
    LIVE,
    RESAMPLED,
    Found,
    Rate,
    decided_s,
    failed_s,
    found,
    median_s,
    quantile_s,
    rate,
)
from certification.resample import FEWEST_RUNS, Pool, resampled
from certification.store import BROKEN, Run
from tollgate.compare import FAIL, Blocks, Gate, Settings, Side, percentile

#: Seconds from one run's beginning to the other's: what is older is no baseline.
OLDEST_S = 3600.0


@dataclass(frozen=True)
class Baseline:
    """number: of the run whose base it is. age_s: how much earlier that one began."""

    number: int
    age_s: float


def baselines(runs: Sequence[Run], measured: Collection[int]) -> dict[int, Baseline]:
    """By a run's number the last run before it of the same commit, with the same neighbour or none,
    that began no more than OLDEST_S earlier; those that have none are left out. measured: numbers
    of runs that have samples."""
    last: dict[tuple[bool, str | None], Run] = {}
    found = {}
    for run in sorted(runs, key=lambda run: run.number):
        if run.number not in measured:
            continue
        like = run.of.noisy, run.environment.get("commit")
        if like in last:
            earlier = last[like]
            age_s = (_began(run) - _began(earlier)).total_seconds()
            if 0 <= age_s <= OLDEST_S:
                found[run.number] = Baseline(earlier.number, age_s)
        last[like] = run
    return found


def _began(run: Run) -> datetime:
    return datetime.fromisoformat(run.began)


EXCESS = 0.05


def stored_baseline(earlier: Sequence[Blocks], run: Sequence[Blocks]) -> bool:
    """Whether gate (a) fails this run; `earlier` is the run that the limits come from."""
    limits = {blocks.label: _p95(blocks, blocks.base) for blocks in earlier}
    return any(
        _exceeds(_p95(blocks, blocks.head), limits.get(blocks.label, math.nan)) for blocks in run
    )


def one_after_the_other(run: Sequence[Blocks], same_code: bool) -> bool:
    """Whether gate (b) fails this run. same_code: of an A/A run."""
    pooled = [_pooled(blocks) for blocks in run] if same_code else run
    halves = map(_halves, pooled)
    return any(_exceeds(_p95(it, it.head), _p95(it, it.base)) for it in halves)


def _p95(blocks: Blocks, side: Side) -> float:
    """The plain one of all samples, in ms."""
    return percentile(side, blocks.values_ms, 0.95)


def _exceeds(head_ms: float, base_ms: float) -> bool:
    """Never where one of them is not known."""
    return head_ms > base_ms * (1 + EXCESS)


def _pooled(blocks: Blocks) -> Blocks:
    """With the samples of both sides on each."""
    both = Side(blocks.base.counts + blocks.head.counts, blocks.base.failed + blocks.head.failed)
    return Blocks(blocks.label, blocks.values_ms, both, both)


def _halves(blocks: Blocks) -> Blocks:
    half = len(blocks.base.n) // 2
    rest = slice(len(blocks.head.n) - half, None)
    head = Side(blocks.head.counts[rest], blocks.head.failed[rest])
    return Blocks(blocks.label, blocks.values_ms, blocks.base.first(half), head)


#: By a run's number: its blocks. Runs without samples are not there.
Samples = Mapping[int, Sequence[Blocks]]


@dataclass(frozen=True)
class Row:
    """One condition, live. blocked: how often the exit code was not 0, for whatever reason.
    decided_s: median of measuring until everything was decided; fail_s: until the first failure;
    both over all runs, see found.py, None without any. baseline, sequential: how often the naive
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
    ended = [run for run in runs if run.verdict != BROKEN]
    return [run for run in ended if run.promise == ended[-1].promise]


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
                stored_baseline(samples[it.number], samples[number])
                for it, number in zip(earlier, limited, strict=True)
            ),
            rate(one_after_the_other(blocks, condition.is_aa) for blocks in measured),
            tuple(it.age_s for it in earlier),
            tuple(found(condition, LIVE, labels, mine, settings)),
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
    runs = [_as_run(condition, gate) for gate in gates]
    verdicts = Counter(run.verdict for run in runs)
    labels = [blocks.label for blocks in pool.labels]
    took_s = [decided_s(run) for run in runs]
    return Resampled(
        condition,
        len(samples),
        pool.seconds,
        verdicts,
        Rate(verdicts[FAIL], sequences),
        median_s(took_s),
        quantile_s(took_s, 0.95),
        tuple(found(condition, RESAMPLED, labels, runs, settings)),
    )


def _as_run(condition: Condition, gate: Gate) -> Run:
    """What a run that ended with this gate would have left."""
    kept = [
        {name: getattr(it, name) for name in ("label", "metric", "gates", "verdict")}
        | {"decided_s": it.at_s}
        for it in gate.findings
    ]
    seconds = gate.looks_s[-1]
    return Run(0, condition.key, 0, "", seconds, None, gate.verdict, seconds, kept)


def by_condition(runs: Iterable[Run]) -> dict[Condition, list[Run]]:
    """In the order of the table: without noise, and the A/A runs, first."""
    ordered: dict[Condition, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.of.noisy, run.of, run.number)):
        ordered.setdefault(run.of, []).append(run)
    return ordered
