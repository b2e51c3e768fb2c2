"""A folder of runs, as far as each run's files say: run.json and verdict.json of any version.

Nothing is dropped without a word: a broken file is listed with the reason, and folders without a
run are counted. Any program may have written these files, so that each value counts only if it has
the expected type; a verdict of another version is read as far as it goes.

Two runs are comparable where the same load met the same machine: the same kind of run, the same
plan and fragments (by their SHA-256), the same properties that shape the load (rates, warm-up,
length), the same targets in the same mode with as many instances and under the same environment
variables that change them, on the same CPU model with as many cores. What a trend is to show is
none of these: the commit, and the versions of Node, Java, JMeter and the system. Where one of those
changes, the page says so beside the mark. Files of data are not part of run.json; a commit that
changes them shows as a change of the commit.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate.base.paths import HISTORY
from tollgate.history.listed import Folder, Listed, ListedExecution, RunFigure
from tollgate.judge.verdicts import ORDER
from tollgate.record import manifest

VERDICT = "verdict.json"
#: What to open of a run, the best first.
_PAGES = ("index.html", "verdict.md", VERDICT, "bzt.log")
#: The time in the name that taurus.yml gives a folder.
_STAMP = re.compile(r"(\d{8}T\d{6})Z")
_OLDEST = datetime.min.replace(tzinfo=timezone.utc)
_CAPACITY = "capacity"
#: Beginnings of properties that say where JMeter writes and how it ends, not what it sends.
_HOUSEKEEPING = (
    *("jmeter.save.", "jmeterengine.", "summariser.", "user.classpath", "sampleresult."),
    *("sample_variables", "crosscheck_", "nothing_"),
)
#: Where the load goes: known by the target's name where there is one, for its port may be any.
_ADDRESS = ("host", "port")
#: Bytes; the largest that a run writes, with a forecast's whole timeline, has some 300,000.
_LARGEST = 20_000_000


class UnreadableError(Exception):
    """One line: which file, and why it can't be read."""


def read(folder: Path) -> Folder:
    """All runs directly below a folder. A link to one of them, such as `latest`, is none itself,
    and neither is the history."""
    runs, unreadable, others = [], [], []
    for run in sorted(folder.iterdir()):
        if run.name.startswith(".") or run.name == HISTORY.name or not _is_folder(run, folder):
            continue
        try:
            if any((run / name).exists() for name in (manifest.NAME, VERDICT)):
                runs.append(listed(run))
            else:
                others.append(run.name)
        except UnreadableError as problem:
            unreadable.append((run.name, str(problem)))
        except OSError as error:  # another user's folder, such as lost+found
            unreadable.append((run.name, f"it can't be read: {error.strerror}"))
    runs.sort(key=lambda it: (it.started or _OLDEST, it.name), reverse=True)
    return Folder(runs, unreadable, others)


def _is_folder(path: Path, of: Path) -> bool:
    try:
        is_alias = path.is_symlink() and path.resolve().parent == of.resolve()
        return path.is_dir() and not is_alias
    except (OSError, RuntimeError):  # links that go round in a circle
        return False


def listed(run: Path) -> Listed:
    """What the files of a run's folder say. Raises UnreadableError where neither of the two can be
    read."""
    planned, no_plan = _try(run / manifest.NAME)
    judged, no_verdict = _try(run / VERDICT)
    if planned is None and judged is None:
        raise UnreadableError("; ".join(it for it in (no_verdict, no_plan) if it))
    planned, verdict = planned or {}, judged or {}
    found = _text(verdict, "verdict")
    if judged is not None and found not in ORDER:
        no_verdict = f"{VERDICT} holds none of the verdicts {', '.join(ORDER)}"
    reasons = _objects(verdict, "reasons")
    return Listed(
        name=run.name,
        kind=_text(verdict, "kind") or _text(planned, "kind") or "unknown",
        verdict=found if found in ORDER else None,
        exit_code=verdict.get("exit_code") if isinstance(verdict.get("exit_code"), int) else None,
        started=_started(planned, run.name),
        reasons=tuple(_text(it, "text") for it in reasons),
        faults=tuple(dict.fromkeys(filter(None, (_text(it, "fault") for it in reasons)))),
        executions=_executions(run, planned, verdict),
        environment=_mapping(verdict, "environment") or _mapping(planned, "environment"),
        page=_page(run),
        problem="; ".join(it for it in (no_verdict, no_plan) if it),
    )


def _try(path: Path) -> tuple[dict[str, Any] | None, str]:
    """What a file holds, and the problem with it; neither for a file that isn't there."""
    try:
        return (_read_object(path), "") if path.exists() else (None, "")
    except UnreadableError as problem:
        return None, str(problem)


def _started(planned: dict[str, Any], name: str) -> datetime | None:
    stamp = _STAMP.search(name)
    forms = [(_text(planned, "started"), datetime.fromisoformat)]
    if stamp:
        forms.append((stamp[1], lambda text: datetime.strptime(text, "%Y%m%dT%H%M%S")))
    for text, form in forms:
        try:
            found = form(text)
            zoned = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
            return zoned.astimezone(timezone.utc)
        except (ValueError, OverflowError):
            continue
    return None


def _page(run: Path) -> str | None:
    found = next((name for name in _PAGES if (run / name).is_file()), None)
    return f"{quote(run.name)}/{found}" if found else None


def _executions(
    run: Path, planned: dict[str, Any], verdict: dict[str, Any]
) -> tuple[ListedExecution, ...]:
    hashes = _mapping(_mapping(verdict, "environment"), "plans")
    by_name = {_text(it, "name"): it for it in _objects(planned, "executions")}
    # By file name alone, so that a run is comparable with those that kept no more.
    plans = tuple(sorted((Path(file).name, str(sha256)) for file, sha256 in hashes.items()))
    return tuple(
        _execution(run.name, by_name.get(_text(it, "name"), {}), it, plans)
        for it in _objects(verdict, "executions")
    )


def _execution(
    run: str, planned: dict[str, Any], judged: dict[str, Any], plans: tuple[tuple[str, str], ...]
) -> ListedExecution:
    targets = tuple(
        (_text(it, "name"), _text(it, "mode"), str(it.get("instances")))
        for it in _objects(planned, "targets") or [_mapping(planned, "target")]
        if it
    )
    return ListedExecution(
        name=_text(judged, "name"),
        verdict=_text(judged, "verdict"),
        plan=Path(_text(planned, "plan")).name,
        plans=plans,
        load=_load(_mapping(planned, "properties"), run, bool(targets)),
        targets=targets,
        figures=tuple(map(_figure, [*_criteria(judged), *_capacity(judged)])),
    )


def _criteria(judged: dict[str, Any]) -> list[dict[str, Any]]:
    """But for those on the capacity, which is followed with or without one."""
    return [it for it in _objects(judged, "criteria") if it.get("subject") != _CAPACITY]


def _capacity(judged: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a search found, like a criterion: with what it is about in its label, for a capacity of
    other requests or limits is another figure."""
    found = _mapping(judged, _CAPACITY)
    if not found or found.get("status") != "found":
        return
    stated = [it for it in _objects(judged, "criteria") if it.get("subject") == _CAPACITY]
    of, limits = (", ".join(map(str, _list(found, name))) for name in ("of", "limits"))
    known = {"unit": "/s", "basis": "trials", "condition": "<", "decides": False}
    values = {"observed": found.get("estimate"), "interval": found.get("interval")}
    yield {
        **{"criterion": _CAPACITY, **known},
        **(stated[0] if stated else {}),
        **{"subject": _CAPACITY, "label": f"{of} until {limits}", **values},
    }


def _figure(raw: dict[str, Any]) -> RunFigure:
    interval = raw.get("interval")
    ends = interval if isinstance(interval, list) and len(interval) == 2 else (None, None)
    return RunFigure(
        criterion=_text(raw, "criterion", "unknown"),
        label=_text(raw, "label"),
        subject=_text(raw, "subject", "unknown"),
        unit=_text(raw, "unit"),
        basis=_text(raw, "basis"),
        condition=_text(raw, "condition"),
        limit=_number(raw, "limit"),
        observed=_number(raw, "observed"),
        low=_finite(ends[0]),
        high=_finite(ends[1]),
        window=raw.get("window") is not None,
        verdict=_text(raw, "verdict"),
        # Older verdicts lack it: a run could fail by each criterion then.
        decides=raw.get("decides") is not False,
    )


def _load(properties: dict[str, Any], run: str, targeted: bool) -> tuple[tuple[str, str], ...]:
    """Those that name a file of the run's own differ from run to run, and shape nothing. Of the
    run's name all of it has to be a part of the path: a folder may be called 30."""
    kept = {
        name: str(value)
        for name, value in properties.items()
        if not name.startswith(_HOUSEKEEPING)
        and not (targeted and name in _ADDRESS)
        and f"/{run}/" not in f"{value}/"
    }
    return tuple(sorted(kept.items()))


def _read_object(path: Path) -> dict[str, Any]:
    """The object in a file of JSON. Raises UnreadableError."""
    try:
        # Anything but a file might never come to an end.
        if not path.is_file():
            raise UnreadableError(f"{path.name} is not a file")
        if path.stat().st_size > _LARGEST:
            raise UnreadableError(f"{path.name} is larger than any that a run writes")
        raw = json.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableError(f"{path.name} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"{path.name} is not JSON: {_short(error)}") from None
    if not isinstance(raw, dict):
        raise UnreadableError(f"{path.name} holds no object but {_short(raw)}")
    return raw


def _text(raw: dict[str, Any], key: str, default: str = "") -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else default


def _number(raw: dict[str, Any], key: str) -> float | None:
    """A finite number, or None."""
    return _finite(raw.get(key))


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # An integer of any length is JSON, and need not fit into a float.
    return float(value) if abs(value) < 1e300 and math.isfinite(value) else None


def _objects(raw: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [it for it in _list(raw, key) if isinstance(it, dict)]


def _list(raw: dict[str, Any], key: str) -> list[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else []


def _mapping(raw: dict[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _short(value: object) -> str:
    line = " ".join(str(value).split())
    return line if len(line) <= 80 else f"{line[:80]}..."
