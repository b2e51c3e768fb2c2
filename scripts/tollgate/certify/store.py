"""What a certification keeps: runs.jsonl, a line for each finished run, and each run's samples.

A run is in the file or it is not: whatever ends a certification, only the run under way is lost.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from tollgate.certify.conditions import Condition, ConditionError, parse

NAME = "runs.jsonl"
#: The verdict of a run that left none, such as one that could not start.
BROKEN = "BROKEN"
#: What is kept of a run's folder: enough to judge it again.
KEPT = ("kpi.jtl", "kpi.pieces", "run.json", "compare.json", "verdict.json", "plan")


class StoreError(Exception):
    """One line: which file, what is wrong, what to do."""


@dataclass(frozen=True)
class Run:
    """One live run. condition: its key. seed: of its arrivals, coin and neighbour. began: UTC.
    wall_s: of the whole command. seconds: of measuring until the verdict, None where nobody knows.
    findings: of verdict.json, without their texts. promise: what the gate promised and when it
    looked. clock: what probe.py found, by label. neighbour: empty without one. folder: of its
    samples, relative to the store, empty where there are none. problem: why there is no verdict or
    no clock, or empty."""

    number: int
    condition: str
    seed: int
    began: str
    wall_s: float
    exit_code: int | None
    verdict: str
    seconds: float | None = None
    findings: list[dict[str, Any]] = field(default_factory=list)
    promise: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    clock: dict[str, dict] = field(default_factory=dict)
    neighbour: dict[str, Any] = field(default_factory=dict)
    folder: str = ""
    problem: str = ""

    @property
    def of(self) -> Condition:
        (condition,) = parse([self.condition])
        return condition


class Store:
    """A folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / NAME

    @property
    def under_way(self) -> Path:
        """Where a run works until it has finished."""
        return self.folder / "under-way"

    def lock(self) -> IO[str]:
        """Hold the store until the file returned is closed. Raises StoreError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = (self.folder / "lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StoreError(f"another certification works in {self.folder}: wait for it") from None
        return lock

    def read(self) -> list[Run]:
        """All finished runs, in their order. Raises StoreError."""
        try:
            lines = self._file.read_text().splitlines()
        except FileNotFoundError:
            return []
        runs = []
        for number, line in enumerate(lines, start=1):
            try:
                runs.append(Run(**json.loads(line)))
                _ = runs[-1].of
            except (ValueError, TypeError, ConditionError) as error:
                raise StoreError(
                    f"{self._file}:{number} can't be read: {error}; take that line out"
                ) from None
        return runs

    def keep(self, run: Run) -> None:
        """Add a run whose samples are in `run.folder`."""
        lines = self._file.read_text() if self._file.exists() else ""
        growing = self._file.with_suffix(".new")
        growing.write_text(lines + json.dumps(asdict(run)) + "\n")
        growing.replace(self._file)

    def move(self, made: Path, name: str) -> str:
        """Take what counts out of the folder that a run made; returns where it is now."""
        kept = self.folder / "runs" / name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for part in KEPT:
            if (made / part).exists():
                shutil.move(made / part, kept / part)
        return str(kept.relative_to(self.folder))

    def clean_up(self) -> None:
        """Remove what runs left that did not finish."""
        shutil.rmtree(self.under_way, ignore_errors=True)
        known = {run.folder for run in self.read()}
        for folder in (self.folder / "runs").glob("*"):
            if str(folder.relative_to(self.folder)) not in known:
                shutil.rmtree(folder, ignore_errors=True)
