"""Finished runs to the rows of the certification, beside two simpler gates. Pure.

Runs are judged again, by what the gate is today (`judged`), stalls and tail with it, of which
earlier runs promised nothing: so runs of earlier days add to those of later ones. One that an
earlier gate ended before today's has decided is left out.

What is counted is a verdict of FAIL: a false positive where head is like base (A/A), a find where
it is not. A run that is INVALID or INCONCLUSIVE is none and is counted among the runs all the same;
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
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from certification.conditions import Condition
from certification.found import Found, Rate, decided_s, failed_s, found, median_s, quantile_s, rate
from certification.resample import FEWEST_PAIRS, Apply, Looks, Pool, gate_of, sequences_of
from certification.store import BROKEN, Run
from tollgate.compare.decide import close
from tollgate.compare.milliseconds import percentile
from tollgate.compare.model import ALL_LABELS, STALLS, TAIL, Blocks, Gate, GateSettings, Side

#: Seconds from one run's beginning to the other's: what is older is no baseline.
OLDEST_S = 3600.0
#: By how much head's p95 may exceed a simpler gate's limit, as a share.
EXCESS = 0.05
#: By a run's name: its blocks. Runs without samples are not there.
Samples = Mapping[str, Sequence[Blocks]]


def decided_by(run: Run, gates: Sequence[str]) -> Run:
    """The run as if these metrics had decided it, and no others: also none of later versions."""
    later = {it: getattr(GateSettings, it) for it in ("stall_effect", "tail_effect")}
    return replace(run, promise=run.promise and {**later, **run.promise, "gates": gates})


def promised(run: Run) -> tuple[GateSettings, Looks]:
    """What the gate promised in this run, and when it looked."""
    others = ("first_s", "every_s", "mode", "processes")
    settings = {name: it for name, it in run.promise.items() if name not in others}
    of_before = () if "stall_effect" in settings else (STALLS,)
    settings["gates"] = tuple(dict.fromkeys((*settings["gates"], *of_before)))
    if STALLS in settings["gates"] and "tail_effect" not in settings:
        settings["gates"] = tuple(dict.fromkeys((*settings["gates"], TAIL)))
    settings["labels"] = tuple(settings["labels"])
    return GateSettings(**settings), (run.promise["first_s"], run.promise["every_s"])


def judged(run: Run, labels: Sequence[Blocks]) -> Run | None:
    """The run as today's gate judges it; None where it was ended before that has decided, or has
    nothing of what decides."""
    settings, looks = promised(run)
    gate = gate_of(settings, looks, labels, run.seconds)
    if not any(it.gates for it in gate.findings):
        return None
    if not gate.finished and run.seconds < settings.budget_s:
        return None
    return _with(run, close(gate))


def _with(run: Run, gate: Gate) -> Run:
    """As a run that ended with this gate."""
    seconds = gate.looks_s[-1] if gate.looks_s else None
    return replace(run, verdict=gate.verdict, seconds=seconds, findings=gate.findings)


def baselines(runs: Sequence[Run], measured: Collection[str]) -> dict[str, str]:
    """By a run's name that of the last run before it of the same commit on the same machine, with
    the same neighbour or none, that began no more than OLDEST_S earlier; those that have none are
    left out. measured: names of runs that have samples."""
    last: dict[tuple, tuple[datetime, str]] = {}
    found = {}
    for run in sorted(runs, key=lambda run: (run.began, run.name)):
        if run.name not in measured:
            continue
        began = datetime.fromisoformat(run.began)
        like = run.of.noisy, *(run.environment.get(name) for name in ("commit", "cpu", "os"))
        if like in last and (began - last[like][0]).total_seconds() <= OLDEST_S:
            found[run.name] = last[like][1]
        last[like] = began, run.name
    return found


def stored_baseline(earlier: Sequence[Blocks], run: Sequence[Blocks]) -> bool:
    """Whether gate (a) fails this run; `earlier` is the run that the limits come from."""
    limits = {it.label: _p95(it, it.base.counts) for it in earlier}
    return any(_exceeds(_p95(it, it.head.counts), limits.get(it.label, math.nan)) for it in run)


def one_after_the_other(run: Sequence[Blocks], same_code: bool) -> bool:
    """Whether gate (b) fails this run. same_code: of an A/A run."""
    for blocks in run:
        base, head = blocks.base.counts, blocks.head.counts
        if same_code:
            base = head = base + head
        half = len(base) // 2
        if _exceeds(_p95(blocks, head[-half:]), _p95(blocks, base[:half])):
            return True
    return False


def _p95(blocks: Blocks, counts: np.ndarray) -> float:
    """The plain one of all these samples, in ms; NaN without any."""
    return percentile(Side(counts, np.zeros(len(counts), np.int64)), blocks.values_ms, 0.95)


def _exceeds(head_ms: float, base_ms: float) -> bool:
    """Never where one of them is not known."""
    return head_ms > base_ms * (1 + EXCESS)


@dataclass(frozen=True)
class Row:
    """One condition. decided_s: median of measuring until everything was decided, over all runs,
    see found.py; None without any."""

    condition: Condition
    verdicts: Counter[str]
    decided_s: float | None
    found: Found

    def share(self, verdict: str) -> Rate:
        return Rate(self.verdicts[verdict], self.verdicts.total())


@dataclass(frozen=True)
class Live(Row):
    """noise: of A/A the median size of p95's change, over labels and runs, None of others. fail_s:
    median until the first failure, as decided_s. baseline, sequential: how often the simpler gates
    failed."""

    noise: float | None
    fail_s: float | None
    baseline: Rate
    sequential: Rate


@dataclass(frozen=True)
class Resampled(Row):
    """Put together from so many recorded pairs of processes and seconds. most_s: in how many
    seconds of measuring 95 % of the runs had decided everything."""

    pairs: int
    recorded_s: int
    most_s: float


def comparable(runs: Sequence[Run]) -> list[Run]:
    """Those of whom the gate promised what it did of the last one."""
    ended = [run for run in runs if run.verdict != BROKEN]
    promises = [(promised(it), it.promise["mode"], it.promise["processes"]) for it in ended]
    return [run for run, it in zip(ended, promises, strict=True) if it == promises[-1]]


def live_rows(runs: Sequence[Run], samples: Samples, settings: GateSettings) -> list[Live]:
    """A row for each condition that has runs. settings: what the gate promised in them."""
    limits = baselines(runs, samples)

    def row(condition: Condition, mine: Sequence[Run]) -> Live:
        measured = [samples[run.name] for run in mine if run.name in samples]
        limited = [run.name for run in mine if run.name in limits]
        labels = dict.fromkeys(it.label for run in mine for it in run.findings)
        p95s = [it.change for run in mine for it in run.findings if it.metric == "p95"]
        noise = median_s(abs(it) for it in p95s if it is not None)
        return Live(
            condition,
            Counter(run.verdict for run in mine),
            median_s(decided_s(run) for run in mine),
            found(labels, mine, settings),
            noise if condition.is_aa else None,
            median_s(failed_s(run) for run in mine),
            rate(stored_baseline(samples[limits[it]], samples[it]) for it in limited),
            rate(one_after_the_other(blocks, condition.is_aa) for blocks in measured),
        )

    return [row(condition, mine) for condition, mine in by_condition(runs).items()]


def resampled_row(
    condition: Condition,
    samples: Sequence[Sequence[Blocks]],
    settings: GateSettings,
    looks: Looks,
    sequences: int,
    seed: int,
    apply: Apply = map,
) -> Resampled | None:
    """So many resampled runs of the complete gate; None from fewer than FEWEST_PAIRS pairs of
    processes. apply: as of `sequences_of`."""
    pairs = sum(run[0].processes for run in samples)
    if pairs < FEWEST_PAIRS or not sequences:
        return None
    pool = Pool.of(samples)
    gates = sequences_of(pool, settings, looks, condition.is_aa, sequences, seed, apply)
    runs = [_with(Run(condition.key, 0, "", 0.0, None, ""), gate) for gate in gates]
    labels = [blocks.label for blocks in pool.labels]
    labels += [ALL_LABELS] if pool.labels[0].cpu is not None else []
    took_s = [decided_s(run) for run in runs]
    return Resampled(
        condition,
        Counter(run.verdict for run in runs),
        median_s(took_s),
        found(labels, runs, settings),
        pairs,
        pool.seconds,
        quantile_s(took_s, 0.95),
    )


def by_condition(runs: Iterable[Run]) -> dict[Condition, list[Run]]:
    """In the order of the table: without noise, and the A/A runs, first."""
    ordered: dict[Condition, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.of.noisy, run.of, run.began)):
        ordered.setdefault(run.of, []).append(run)
    return ordered
