"""A folder of runs, as far as each run's files say: run.json and verdict.json of any version, and
the record that it left in the history.

Nothing is dropped without a word: a broken file is listed with the reason, and folders without a
run are counted. Any program may have written these files, so that each value counts only if it has
the expected type; a verdict of another version is read as far as it goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate.base.paths import HISTORY
from tollgate.base.text import UserError
from tollgate.history import files
from tollgate.history.model import HistoryRecord, machine
from tollgate.judge.verdicts import ORDER, PASS
from tollgate.record import manifest

VERDICT = "verdict.json"
#: What to open of a run, the best first.
_PAGES = ("index.html", "verdict.md", VERDICT, "bzt.log")
#: The time in the name that taurus.yml gives a folder.
_STAMP = re.compile(r"(\d{8}T\d{6})Z")
_OLDEST = datetime.min.replace(tzinfo=timezone.utc)
#: Bytes; the largest that a run writes, with a forecast's whole timeline, has some 300,000.
_LARGEST = 20_000_000


@dataclass(frozen=True)
class Listed:
    """One run."""

    name: str
    """The name of its folder."""
    kind: str
    verdict: str | None
    """None where there is none (yet)."""
    started: datetime | None
    """In UTC; None where no file says."""
    reasons: tuple[str, ...] = ()
    """Those of the verdict, worst first."""
    faults: tuple[str, ...] = ()
    holds: tuple[bool, ...] = ()
    """Of each criterion that the run can fail by, whether it holds."""
    environment: dict[str, Any] = field(default_factory=dict)
    page: str | None = None
    """The address of what to open, relative to the list."""
    record: HistoryRecord | None = None
    """What it left in the history; None of one that is INVALID or interrupted, and of versions
    without a history."""
    problem: str = ""
    """What of its files could not be read; empty for nothing."""

    @property
    def machine(self) -> str:
        """The machine class."""
        return machine(self.environment)

    @property
    def commit(self) -> str:
        """The commit of the suite."""
        return str(self.environment.get("commit") or "unknown")


@dataclass(frozen=True)
class Folder:
    """All that a folder of runs holds."""

    runs: Sequence[Listed]
    """Newest first."""
    unreadable: Sequence[tuple[str, str]]
    """The name of each folder that can't be read, and why."""
    others: Sequence[str]
    """Names of folders that hold no run."""


def read(folder: Path) -> Folder:
    """All runs directly below a folder. A link to one of them, such as `latest`, is none itself,
    and neither is the history."""
    runs, unreadable, others = [], [], []
    for run in sorted(folder.iterdir()):
        if run.name.startswith(".") or run.name == HISTORY.name or not _is_folder(run, folder):
            continue
        try:
            if any((run / name).exists() for name in (manifest.NAME, VERDICT)):
                runs.append(_listed(run))
            else:
                others.append(run.name)
        except UserError as problem:
            unreadable.append((run.name, str(problem)))
        except OSError as error:  # another user's folder, such as lost+found
            unreadable.append((run.name, f"it can't be read: {error.strerror}"))
    runs.sort(key=lambda run: (run.started or _OLDEST, run.name), reverse=True)
    return Folder(runs, unreadable, others)


def _is_folder(path: Path, parent: Path) -> bool:
    try:
        is_alias = path.is_symlink() and path.resolve().parent == parent.resolve()
        return path.is_dir() and not is_alias
    except (OSError, RuntimeError):  # links that go round in a circle
        return False


def _listed(run: Path) -> Listed:
    """What the files of a run's folder say. Raises UserError where neither run.json nor
    verdict.json can be read."""
    planned, no_plan = _try(_object, run / manifest.NAME)
    judged, no_verdict = _try(_object, run / VERDICT)
    if planned is None and judged is None:
        raise UserError("; ".join(filter(None, (no_verdict, no_plan))))
    notes: list[str] = []
    record, no_record = _try(partial(files.own, warn=notes.append), run)
    planned, judged, is_judged = planned or {}, judged or {}, judged is not None
    verdict = _text(judged, "verdict")
    if is_judged and verdict not in ORDER:
        no_verdict = f"{VERDICT} holds none of the verdicts {', '.join(ORDER)}"
    reasons = _objects(judged, "reasons")
    criteria = [it for each in _objects(judged, "executions") for it in _objects(each, "criteria")]
    return Listed(
        name=run.name,
        kind=_text(judged, "kind") or _text(planned, "kind") or "unknown",
        verdict=verdict if verdict in ORDER else None,
        started=_started(planned, run.name),
        reasons=tuple(_text(it, "text") for it in reasons),
        faults=tuple(dict.fromkeys(filter(None, (_text(it, "fault") for it in reasons)))),
        # Older verdicts lack the field: a run could fail by each criterion then.
        holds=tuple(
            _text(criterion, "verdict") == PASS
            for criterion in criteria
            if criterion.get("decides") is not False
        ),
        environment=_mapping(judged, "environment") or _mapping(planned, "environment"),
        page=_page(run),
        record=record,
        problem="; ".join(filter(None, (no_verdict, no_plan, no_record, *notes))),
    )


def _try(read_file: Callable[[Path], Any], path: Path) -> tuple[Any, str]:
    """What a file holds, and the problem with it; neither of a file that isn't there."""
    try:
        return read_file(path), ""
    except UserError as problem:
        return None, str(problem)


def _started(planned: dict[str, Any], name: str) -> datetime | None:
    stamp = _STAMP.search(name)
    forms = [(_text(planned, "started"), datetime.fromisoformat)]
    if stamp:
        forms.append((stamp[1], lambda text: datetime.strptime(text, "%Y%m%dT%H%M%S")))
    for text, form in forms:
        try:
            began = form(text)
            zoned = began if began.tzinfo else began.replace(tzinfo=timezone.utc)
            return zoned.astimezone(timezone.utc)
        except (ValueError, OverflowError):
            continue
    return None


def _page(run: Path) -> str | None:
    page = next((name for name in _PAGES if (run / name).is_file()), None)
    return f"{quote(run.name)}/{page}" if page else None


def _object(path: Path) -> dict[str, Any] | None:
    """The object in a file of JSON; None where there is no file. Raises UserError."""
    try:
        if not path.exists():
            return None
        # Anything but a file might never come to an end.
        if not path.is_file():
            raise UserError(f"{path.name} is not a file")
        if path.stat().st_size > _LARGEST:
            raise UserError(f"{path.name} is larger than any that a run writes")
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path.name} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not JSON: {_short(error)}") from None
    if not isinstance(raw, dict):
        raise UserError(f"{path.name} holds no object but {_short(raw)}")
    return raw


def _text(raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _objects(raw: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    value = raw.get(key)
    return [it for it in value if isinstance(it, dict)] if isinstance(value, list) else []


def _mapping(raw: dict[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _short(value: object) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= 80 else f"{line[:80]}..."
