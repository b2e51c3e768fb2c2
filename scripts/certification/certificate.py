"""A store of runs to the tables: reads the samples, has everything computed."""

from __future__ import annotations

from collections.abc import Callable

from certification.effects import effects
from certification.found import MEASURED
from certification.recorded import blocks_of
from certification.rows import by_condition, comparable, live_rows, resampled_row
from certification.store import BROKEN, Run, Store, StoreError
from certification.table import to_markdown
from tollgate.compare import Settings

_LOOKS = ("first_s", "every_s")


def certificate(store: Store, sequences: int, seed: int, say: Callable[[str], None]) -> str:
    """The tables as Markdown. sequences: resampled runs a condition. Raises StoreError where there
    are no runs or one compared something else than the same code, JtlError and ManifestError where
    samples are not those of their run."""
    runs = store.read()
    kept = comparable(runs)
    if not kept:
        raise StoreError(f"no run in {store.folder} has a verdict: `certify run` first")
    measured = (run for run in kept if run.findings and run.verdict in MEASURED)
    samples = {run.number: blocks_of(store.folder, run) for run in measured}
    settings, looks = _promised(kept[-1])
    resampled, found = [], []
    for condition, mine in by_condition(kept).items():
        sampled = [run for run in mine if run.number in samples]
        blocks = [samples[run.number] for run in sampled]
        say(f"{condition.key}: {len(blocks)} live runs")
        row = resampled_row(condition, blocks, settings, looks, sequences, seed)
        resampled += [row] if row else []
        found += effects(condition, sampled, blocks, seed) if blocks else []
    live = live_rows(kept, samples, settings)
    return to_markdown(kept, live, resampled, found, _left_out(runs, kept))


def _promised(run: Run) -> tuple[Settings, tuple[float, float]]:
    """What the gate promised in this run, and its first look and how far they are apart."""
    others = {it: value for it, value in run.promise.items() if it not in (*_LOOKS, "mode")}
    lists = {name: tuple(others.pop(name)) for name in ("gates", "labels")}
    first_s, every_s = (run.promise[name] for name in _LOOKS)
    return Settings(**others, **lists), (first_s, every_s)


def _left_out(runs: list[Run], kept: list[Run]) -> list[str]:
    broken = sum(run.verdict == BROKEN for run in runs)
    others = len(runs) - len(kept) - broken
    lines = []
    if broken:
        lines.append(f"Left out: {broken} runs without a verdict, which could not start or broke.")
    if others:
        lines.append(f"Left out: {others} runs in which the gate had other settings.")
    return lines
