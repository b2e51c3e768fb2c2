"""Run after run, until time or patience is up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from certification.conditions import Condition, next_run
from certification.store import BROKEN, Run, Store, StoreError, next_number

#: So many broken runs in a row are no accident.
MOST_BROKEN = 3


@dataclass(frozen=True)
class Limits:
    """runs: start no more. minutes: start none after so many; the last one may last longer, for a
    run that is left out because it would take long leaves a wrong picture. None: no limit."""

    runs: int | None = None
    minutes: float | None = None


def session(
    store: Store,
    weights: Mapping[Condition, int],
    seed: int,
    limits: Limits,
    execute: Callable[[Condition, int, int], Run],
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Carry the certification on. execute: (condition, number, seed) to a finished run, whose
    samples are in the store. Raises StoreError after MOST_BROKEN runs in a row without a verdict,
    and where something can't be removed that a run left which did not finish.
    """
    for left in store.clean_up():
        say(f"removed {left}: a run that did not finish left it")
    runs = store.read()
    began, started, broken = clock(), 0, 0
    while limits.runs is None or started < limits.runs:
        if limits.minutes is not None and clock() - began >= 60 * limits.minutes:
            return
        done = Counter(run.of for run in runs if run.verdict != BROKEN)
        condition = next_run(weights, done, seed)
        number = next_number(runs)
        say(f"run {number}: {condition.key}")
        try:
            run = execute(condition, number, seed + number)
            store.keep(run)
        finally:
            store.clean_up()
        runs.append(run)
        started += 1
        say(f"run {number}: {told(run)}")
        broken = broken + 1 if run.verdict == BROKEN else 0
        if broken == MOST_BROKEN:
            raise StoreError(f"{broken} runs in a row left no verdict; the last: {run.problem}")


def told(run: Run) -> str:
    """`PASS after 60 s of measuring, 92 s in all`."""
    after = f" after {run.seconds:g} s of measuring" if run.seconds is not None else ""
    problem = f": {run.problem}" if run.problem else ""
    return f"{run.verdict}{after}, {run.wall_s:.0f} s in all{problem}"
