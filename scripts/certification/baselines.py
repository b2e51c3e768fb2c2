"""Which run's base is the stored baseline of which other one. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from certification.store import Run

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
