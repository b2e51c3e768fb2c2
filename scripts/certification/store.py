"""What a certification keeps: runs.jsonl, a line for each finished run, and each run's samples.

A run is in the file or it is not: whatever ends a certification, only the run under way is lost.
What that one left is removed by the next: the samples of the run whose number is due, and in the
folder of the run under way what has the names that a run gives. Nothing else is ever removed.
"""

from __future__ import annotations

import fcntl
import json
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from certification.conditions import Condition, ConditionError, parse
from tollgate.base import atomic

NAME = "runs.jsonl"
LOCK = "lock"
#: The verdict of a run that left none, such as one that could not start.
BROKEN = "BROKEN"
#: What is kept of a run's folder: enough to judge it again.
KEPT = ("kpi.jtl", "run.json", "compare.json", "verdict.json", "plan")
#: What a run makes while it is under way: its folder, and what bzt said.
_UNDER_WAY = re.compile(r"run-\d+(\.out)?")


class StoreError(Exception):
    """One line: which file, what is wrong, what to do."""


@dataclass(frozen=True)
class Run:
    """One live run. condition: its key. seed: of its arrivals, coin and neighbour. began: UTC.
    wall_s: of the whole command. seconds: of measuring until the verdict, None where unknown.
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
    def _runs(self) -> Path:
        return self.folder / "runs"

    @property
    def under_way(self) -> Path:
        """Where a run works until it has finished."""
        return self.folder / "under-way"

    def lock(self) -> IO[str]:
        """Hold the store until the file returned is closed. Raises StoreError, also for a folder
        that is not one: only one that was empty becomes a store, and has runs.jsonl from
        then on."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_what_is_not_ours()
            lock = (self.folder / LOCK).open("a")
        except OSError as error:
            raise StoreError(
                f"{self.folder} can't be worked in: {error.strerror}; name another --folder"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StoreError(f"another certification works in {self.folder}: wait for it") from None
        self._file.touch()
        return lock

    def _refuse_what_is_not_ours(self) -> None:
        if self._file.exists():
            return
        found = sorted(each.name for each in self.folder.iterdir() if each.name != LOCK)
        if found:
            raise StoreError(
                f"{self.folder} has {found[0]} but no {NAME}: a certification works in a folder of "
                f"its own; put {NAME} back, or name another --folder"
            )

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
        atomic.write(self._file, lines + json.dumps(asdict(run)) + "\n")

    def move(self, made: Path, name: str) -> str:
        """Take what counts out of the folder that a run made; returns where it is now."""
        kept = self._runs / name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for part in KEPT:
            if (made / part).exists():
                shutil.move(made / part, kept / part)
        return str(kept.relative_to(self.folder))

    def clean_up(self) -> list[str]:
        """Remove what a run left that did not finish; returns what that was, relative to the store.
        Raises StoreError where it can't be removed."""
        number = next_number(self.read())
        runs = [each for each in _in(self._runs) if _numbered(each.name) == number]
        under_way = [each for each in _in(self.under_way) if _UNDER_WAY.fullmatch(each.name)]
        try:
            for each in (*runs, *under_way):
                _remove(each)
            if self.under_way.is_dir() and not _in(self.under_way):
                self.under_way.rmdir()
        except OSError as error:
            raise StoreError(
                f"{error.filename} can't be removed: {error.strerror}; a run that did not finish "
                "left it, so remove it"
            ) from None
        return [str(each.relative_to(self.folder)) for each in (*runs, *under_way)]


def folder_of(number: int, condition: Condition) -> str:
    """The name of the folder of a run's samples, such as 0002-work-20+noise."""
    return f"{number:04}-{condition.key}"


def next_number(runs: list[Run]) -> int:
    """That of the next run; lines may have been taken out."""
    return max((run.number for run in runs), default=0) + 1


def _numbered(name: str) -> int | None:
    """The number in such a name; None of any other name."""
    digits, _, key = name.partition("-")
    if not digits.isdecimal():
        return None
    try:
        (condition,) = parse([key])
    except ConditionError:
        return None
    number = int(digits)
    return number if name == folder_of(number, condition) else None


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
