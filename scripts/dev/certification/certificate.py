"""The certificate: from a store of runs to its text, with resampled runs on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from certification.effects import effects
from certification.found import MEASURED
from certification.rows import (
    Samples,
    by_condition,
    comparable,
    decided_by,
    judged,
    live_rows,
    promised,
    resampled_row,
)
from certification.store import BROKEN, Run, Store, StoreError
from certification.table import Rows, machine, to_markdown

#: Sequences that a process draws before it is given more.
TOGETHER = 20


def certificate(
    store: Store,
    sequences: int,
    seed: int,
    say: Callable[[str], None],
    gates: Sequence[str] = (),
) -> str:
    """The tables as Markdown, of each machine by itself. sequences: resampled runs a condition.
    gates: the metrics that decide, in place of those of the runs. Raises StoreError where there are
    no runs, or one can't be read."""
    runs = store.read()
    if gates:
        runs = [decided_by(it, gates) for it in runs]
    alike = comparable(runs)
    if not alike:
        raise StoreError(f"no run in {store.kept} or {store.folder} has a verdict: `certify run`")
    read = {run.name: store.blocks(run) for run in alike if run.verdict in MEASURED}
    samples = {name: blocks for name, blocks in read.items() if blocks}
    again = [judged(run, samples[run.name]) if run.name in samples else run for run in alike]
    kept = [run for run in again if run]
    machines: dict[str, list[Run]] = {}
    for run in kept:
        machines.setdefault(machine(run), []).append(run)
    rows = {}
    for name, mine in machines.items():
        say(f"{name}: {len(mine)} runs")
        rows[name] = _rows(mine, samples, sequences, seed, say)
    broken = sum(run.verdict == BROKEN for run in runs)
    counts = {
        "without a verdict, which could not start or broke": broken,
        "in which the gate had other settings": len(runs) - len(alike) - broken,
        "that an earlier gate ended before this one had decided": len(alike) - len(kept),
    }
    left_out = [f"Left out: {n} runs {why}." for why, n in counts.items() if n]
    return to_markdown(kept, rows, left_out)


def _rows(
    runs: Sequence[Run],
    samples: Samples,
    sequences: int,
    seed: int,
    say: Callable[[str], None],
) -> Rows:
    settings, looks = promised(runs[-1])
    resampled, found = [], []
    for condition, mine in by_condition(runs).items():
        sampled = [run for run in mine if run.name in samples]
        blocks = [samples[run.name] for run in sampled]
        say(f"{condition.key}: {len(blocks)} live runs")
        if not blocks:
            continue
        with ProcessPoolExecutor() as processes:
            apply = partial(processes.map, chunksize=TOGETHER)
            row = resampled_row(condition, blocks, settings, looks, sequences, seed, apply)
        resampled += [row] if row else []
        found += effects(condition, sampled, blocks, seed)
    return Rows(live_rows(runs, samples, settings), resampled, found)
