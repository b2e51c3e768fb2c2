"""The files of the history: JSON lines, a file for each run.

A run writes a file of its own, whole or not at all, under a name that no other run has. Any number
of jobs may therefore write at once, copy their files together or commit them to one branch: nothing
is overwritten, and git has nothing to merge. The folder of the run has the same line once more, so
that what a cache lost can be taken from the artifacts of its job.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tollgate.base import atomic, records
from tollgate.base.paths import HISTORY
from tollgate.base.text import UserError, shown
from tollgate.gather.judged import Judged
from tollgate.history.make import record_of
from tollgate.history.model import VERSION, HistoryRecord
from tollgate.record import manifest
from tollgate.record.sealed_files import WATCHED

_LINES = "*.jsonl"
#: Of a run, in its own folder.
_OWN = "history.jsonl"
#: By how much the clock of another machine may be ahead.
_AHEAD = timedelta(days=1)
Warn = Callable[[str], object]


def add(run: Path, judged: Judged, is_shared: bool) -> None:
    """Write what a run leaves into its folder, and if that is shared with other runs, into the
    history beside it."""
    record = record_of(run, judged)
    if record is None:
        return
    atomic.write(run / _OWN, _line(record))
    if is_shared:
        _write(record, run.parent / HISTORY.name)


def collect(history: Iterable[HistoryRecord], folder: Path) -> int:
    """Write each run's file into a folder, unless it is there as it should be; returns how many
    were written."""
    return sum(_write(record, folder) for record in history)


def of_run(run: Path, warn: Warn) -> HistoryRecord:
    """The record in a run's folder. warn: as in `read`. Raises UserError, one line."""
    if not run.is_dir():
        raise UserError(f"{run} is no folder of a run")
    record = own(run, warn)
    if record is None:
        raise UserError(
            f"{run} left no record, as a run that is INVALID or interrupted does: see its "
            "verdict.md and bzt.log"
        )
    return record


def own(run: Path, warn: Warn) -> HistoryRecord | None:
    """The record in a run's folder; None where there is none. warn: as in `read`. Raises UserError,
    one line."""
    path = run / _OWN
    return [None, *_lines(path, warn)][-1] if path.is_file() else None


def read(places: Sequence[Path], warn: Warn = lambda _: None) -> list[HistoryRecord]:
    """The records of files and folders, each run once, oldest first. A folder's are those of its
    files of JSON lines, and of each run and each folder `history` below it. warn: gets a line about
    each file and record that is left out, and about each folder without any, where others have
    some. Raises UserError, one line."""
    by_id: dict[str, HistoryRecord] = {}
    empty = []
    for place in places:
        own_records = {it.id: it for file in _files(place) for it in _lines(file, warn)}
        by_id |= own_records
        if not own_records:
            empty.append(
                f"{place} has no records of runs ({_LINES}): each run leaves one in "
                f"reports/{HISTORY.name}, but for those that are INVALID or interrupted"
            )
            if not place.exists() or len(empty) == len(places):
                raise UserError(f"{empty[-1]}; make a run, or name another file or folder")
    for line in empty:
        warn(line)
    return in_order(by_id.values())


def in_order(history: Iterable[HistoryRecord]) -> list[HistoryRecord]:
    """Oldest first."""
    return sorted(history, key=lambda record: (record.began, record.run, record.id))


def _write(record: HistoryRecord, folder: Path) -> bool:
    """Whether it was not there yet, or not as it should be."""
    path, line = folder / f"{record.run}-{record.id[:8]}.jsonl", _line(record)
    if path.is_file() and path.read_bytes() == line.encode():
        return False
    folder.mkdir(parents=True, exist_ok=True)
    # Another job may write the same run's file at this moment: each makes its own first.
    own = folder / f".{os.urandom(8).hex()}"
    own.write_text(line, encoding="utf-8")
    own.replace(path)
    return True


def _line(record: HistoryRecord) -> str:
    return json.dumps(asdict(record), separators=(",", ":"), allow_nan=False) + "\n"


def _files(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        yield from [place] if place.is_file() else []
        return
    below = (f"{HISTORY.name}/{_LINES}", _OWN)
    # Of a run's folder its own record alone.
    beside = () if (place / "run.json").is_file() else place.glob(_LINES)
    paths = {*beside, *(path for pattern in below for path in place.rglob(pattern))}
    named = (it for it in paths if not it.name.startswith(".") and it.name not in WATCHED)
    # A pipe would keep its reader waiting.
    yield from sorted(path for path in named if path.is_file())


def _lines(file: Path, warn: Warn) -> Iterator[HistoryRecord]:
    run = file.with_name(manifest.NAME)
    try:
        its_id = manifest.digest(run) if file.name == _OWN and run.is_file() else None
        # A line may hold a U+2028, at which `splitlines` would cut it.
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"{file} can't be read: {problem}") from None
    if not any(map(str.strip, lines)):
        warn(f"{file} holds no record: take it from the artifacts with --to, or delete it")
    latest = datetime.now(timezone.utc) + _AHEAD
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = records.parse(HistoryRecord, _object(line))
        except (ValueError, RecursionError) as problem:
            raise UserError(
                f"{file}:{number} is no record of a run: {problem}; remove the line, or name "
                "the files that are"
            ) from None
        if its_id not in (None, record.id):
            raise UserError(
                f"{file}:{number} is not of the run beside it: id is {record.id}, and the SHA-256 "
                f"of {run} is {its_id}; restore both from the archive"
            )
        if record.began <= latest:
            yield record
        else:
            when = f"started is {shown(record.started)}, more than a day from now"
            warn(f"{file}:{number} is left out: {when}; remove the line, or set the clock")


def _object(line: str) -> dict[str, Any]:
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError(f"it holds no object but {shown(fields, 40)}")
    version = fields.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ValueError(f"version is {version}, and this Tollgate reads {VERSION}: update it")
    return fields
