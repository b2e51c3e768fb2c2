"""What a certification keeps: one compressed file for each finished run.

A file has what is known of the run and each of its samples by the second, so that runs of several
days and machines add up, are judged by what the gate is today, and merge as files do. They come to
be in a folder that git ignores, for head is the working tree; `certify keep` moves them to those
that are committed.

A run is there or it is not: whatever ends a certification, only the run under way is lost. The
next one removes what that one left.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from certification.conditions import Condition, ConditionError, parse
from tollgate.base.paths import REPORTS
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.model import Blocks, Finding, Requests, Side

#: Of runs that are committed, and of others.
KEPT, FOLDER = Path(__file__).parent / "data", REPORTS / "certify"
LOCK, SUFFIX = "lock", ".npz"
#: The verdict of a run that left none, such as one that could not start.
BROKEN = "BROKEN"
#: What others took, in thousandths of the cores by second; not in runs of before it was recorded.
_FOREIGN, _THOUSAND = "foreign", 1000
#: CPU ms of each process by second, and of how many workers each is the sum; likewise.
_CPU, _WORKERS = "cpu", "workers"
#: Columns of a label's samples, base's first; how many of base's there are, and failures by second.
_COLUMNS = ("block", "row", "elapsed_ms", "process")
_PACKED = (*_COLUMNS, "base", "failed")
#: How a damaged file shows.
_DAMAGE = (OSError, EOFError, LookupError, ValueError, TypeError, ConditionError)
_DAMAGE += (zipfile.BadZipFile, zlib.error)


class StoreError(Exception):
    """One line: which file, what is wrong, what to do."""


@dataclass(frozen=True)
class Run:
    """One live run. condition: its key. seed: of its arrivals, coin and neighbour. began: UTC.
    wall_s: of the whole command. verdict: as the run had it. seconds: of measuring until the
    verdict, None where unknown. cores: that it could use. promise: what the gate promised, when it
    looked, and how many processes each side had. clock: what probe.py found, by label. neighbour:
    empty without one. problem: why there is no verdict or no clock, or empty. findings: of a run
    that was judged again, see rows.py."""

    condition: str
    seed: int
    began: str
    wall_s: float
    exit_code: int | None
    verdict: str
    seconds: float | None = None
    cores: int | None = None
    promise: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    clock: dict[str, dict] = field(default_factory=dict)
    neighbour: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def of(self) -> Condition:
        (condition,) = parse([self.condition])
        return condition

    @property
    def name(self) -> str:
        """As no other run is called: `2026-11-22T191530-aa+noise-1234567`."""
        return f"{self.began[:19].replace(':', '')}-{self.condition}-{self.seed}"


class Store:
    """Finished runs. folder: where new ones come to be. kept: of those that are committed."""

    def __init__(self, folder: Path = FOLDER, kept: Path = KEPT) -> None:
        self.folder, self.kept = folder, kept

    @property
    def under_way(self) -> Path:
        """Where a run works until it has finished."""
        return self.folder / "under-way"

    def lock(self) -> IO[str]:
        """Hold the folder until the file returned is closed. Raises StoreError."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
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
        return lock

    def read(self) -> list[Run]:
        """All finished runs, in the order in which they began. Raises StoreError."""
        paths = [it for folder in (self.kept, self.folder) for it in folder.glob(f"*{SUFFIX}")]
        runs = {path.name: _about(path) for path in paths}
        return sorted(runs.values(), key=lambda run: (run.began, run.name))

    def keep(self) -> list[Path]:
        """Move runs to those that are committed; returns where they are now."""
        self.kept.mkdir(parents=True, exist_ok=True)
        new = sorted(self.folder.glob(f"*{SUFFIX}"))
        return [Path(shutil.move(path, self.kept / path.name)) for path in new]

    def add(self, run: Run, labels: Sequence[Blocks] = ()) -> None:
        """Add a run with its samples, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {name: value for name, value in asdict(run).items() if name != "findings"}
        arrays = {
            "run": np.array(json.dumps(about)),
            "labels": np.array([it.label for it in labels]),
        }
        if labels and labels[0].background_cpu is not None:
            arrays[_FOREIGN] = np.rint(labels[0].background_cpu * _THOUSAND).astype(np.uint16)
        if labels and labels[0].cpu is not None:
            arrays[_CPU] = labels[0].cpu.used_ms.astype(np.float32)
            arrays[_WORKERS] = np.array(labels[0].cpu.workers)
        for number, blocks in enumerate(labels):
            arrays |= {f"{name}-{number}": it for name, it in _packed(blocks).items()}
        made = self.folder / f"{run.name}.part"
        with made.open("wb") as file:
            np.savez_compressed(file, **arrays)
        made.replace(self.folder / f"{run.name}{SUFFIX}")

    def blocks(self, run: Run) -> list[Blocks]:
        """The samples of a run, none where it has none. Raises StoreError."""
        name = f"{run.name}{SUFFIX}"
        kept = self.kept / name
        return read_blocks(kept if kept.exists() else self.folder / name)

    def clean_up(self) -> bool:
        """Remove what a run left; returns whether it left anything. Raises StoreError where that
        can't be removed."""
        try:
            shutil.rmtree(self.under_way)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(
                f"{error.filename} can't be removed: {error.strerror}; a run that did not finish "
                "left it, so remove it"
            ) from None
        return True


def read_blocks(path: Path) -> list[Blocks]:
    """The samples in a run's file, none where it has none. Raises StoreError."""
    with _opened(path) as file:
        foreign = file[_FOREIGN] / _THOUSAND if _FOREIGN in file else ()
        labels = enumerate(file["labels"])
        packed = [(it, {name: file[f"{name}-{at}"] for name in _PACKED}) for at, it in labels]
        cpu = None
        if _CPU in file:
            cpu = CpuTimes(file[_CPU].astype(np.float64), int(file[_WORKERS]))
        beside = (_unpacked(str(label), it).beside(foreign) for label, it in packed)
        return [replace(it, cpu=cpu) for it in beside]


def _about(path: Path) -> Run:
    with _opened(path) as file:
        run = Run(**json.loads(str(file["run"])))
        if run.name != path.stem or run.of.key != run.condition:
            raise ValueError(f"it holds the run {run.name}")
        return run


@contextmanager
def _opened(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """A run's file. What it does not hold, or holds wrong, becomes a StoreError."""
    try:
        with np.load(path) as file:
            yield file
    except _DAMAGE as error:
        raise StoreError(f"{path} can't be read: {error}; take it out") from None


def _packed(blocks: Blocks) -> dict[str, np.ndarray]:
    """A label's samples in few bytes: in the order of their seconds, which become steps."""
    sides = [
        {
            "block": np.diff(it.block, prepend=0),
            "row": it.row,
            "elapsed_ms": it.elapsed_ms,
            "process": np.zeros_like(it.row) if it.process is None else it.process,
        }
        for it in blocks.requests
    ]
    found = {name: np.concatenate([it[name] for it in sides]) for name in _COLUMNS}
    found["base"] = np.array(len(blocks.requests[0].row))
    found["failed"] = np.stack([blocks.base.failed, blocks.head.failed])
    return {name: it.astype(np.min_scalar_type(it.max(initial=0))) for name, it in found.items()}


def _unpacked(label: str, packed: dict[str, np.ndarray]) -> Blocks:
    columns = {name: it.astype(np.int64) for name, it in packed.items()}
    base, failed = int(columns["base"]), columns["failed"]
    values = np.unique(columns["elapsed_ms"])
    sides = []
    for which, fails in ((slice(base), failed[0]), (slice(base, None), failed[1])):
        block = np.cumsum(columns["block"][which])
        known = Requests(block, *(columns[name][which] for name in _COLUMNS[1:]))
        sides.append(Side.of(known, values, fails))
    return Blocks(label, values, *sides)
