"""A folder of runs, as far as each run's files tell: run.json and verdict.json of any version.

Nothing is dropped without a word: what is broken is told with the reason, and what is no run is
counted. A verdict of another version is read as far as it goes; only what the list shows is asked
of it.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate.judge import ORDER
from tollgate.pages.runs.lenient import (
    UnreadableError,
    finite,
    mapping,
    number,
    objects,
    read_object,
    text,
)
from tollgate.pages.runs.load import of_execution
from tollgate.pages.runs.model import Execution, Figure, Folder, Listed
from tollgate.run import manifest

VERDICT = "verdict.json"
#: What to open of a run, the best first.
_PAGES = ("index.html", "verdict.md", VERDICT, "bzt.log")
#: The time in the name that taurus.yml gives a folder.
_STAMP = re.compile(r"(\d{8}T\d{6})Z")
_OLDEST = datetime.min.replace(tzinfo=timezone.utc)


def read(folder: Path) -> Folder:
    """All runs directly below a folder. A link to one of them, such as `latest`, is none itself."""
    runs, unreadable, others = [], [], []
    for run in sorted(folder.iterdir()):
        if run.name.startswith(".") or not _is_folder(run, folder):
            continue
        try:
            if any((run / name).exists() for name in (manifest.NAME, VERDICT)):
                runs.append(_listed(run))
            else:
                others.append(run.name)
        except UnreadableError as problem:
            unreadable.append((run.name, str(problem)))
        except OSError as error:  # somebody else's folder, such as lost+found
            unreadable.append((run.name, f"it can't be read: {error.strerror}"))
    runs.sort(key=lambda it: (it.started or _OLDEST, it.name), reverse=True)
    return Folder(runs, unreadable, others)


def _is_folder(path: Path, of: Path) -> bool:
    try:
        is_alias = path.is_symlink() and path.resolve().parent == of.resolve()
        return path.is_dir() and not is_alias
    except (OSError, RuntimeError):  # links that go round in a circle
        return False


def _listed(run: Path) -> Listed:
    """Raises UnreadableError where neither of the two files can be read."""
    planned, no_plan = _try(run / manifest.NAME)
    judged, no_verdict = _try(run / VERDICT)
    if planned is None and judged is None:
        raise UnreadableError("; ".join(it for it in (no_verdict, no_plan) if it))
    planned, verdict = planned or {}, judged or {}
    found = text(verdict, "verdict")
    if judged is not None and found not in ORDER:
        no_verdict = f"{VERDICT} holds none of the verdicts {', '.join(ORDER)}"
    compacted = [manifest.compacted(it, run) for it in objects(planned, "executions")]
    reasons = objects(verdict, "reasons")
    return Listed(
        name=run.name,
        kind=text(verdict, "kind") or text(planned, "kind") or "unknown",
        verdict=found if found in ORDER else None,
        exit_code=verdict.get("exit_code") if isinstance(verdict.get("exit_code"), int) else None,
        started=_started(planned, run.name),
        reasons=tuple(text(it, "text") for it in reasons),
        faults=tuple(dict.fromkeys(filter(None, (text(it, "fault") for it in reasons)))),
        executions=_executions(run, planned, verdict),
        environment=mapping(verdict, "environment") or mapping(planned, "environment"),
        page=_page(run),
        problem="; ".join(it for it in (no_verdict, no_plan, *compacted) if it),
    )


def _try(path: Path) -> tuple[dict[str, Any] | None, str]:
    """What a file holds, and the problem with it; neither for a file that isn't there."""
    try:
        return (read_object(path), "") if path.exists() else (None, "")
    except UnreadableError as problem:
        return None, str(problem)


def _started(planned: dict[str, Any], name: str) -> datetime | None:
    stamp = _STAMP.search(name)
    forms = [(text(planned, "started"), datetime.fromisoformat)]
    if stamp:
        forms.append((stamp[1], lambda told: datetime.strptime(told, "%Y%m%dT%H%M%S")))
    for told, form in forms:
        try:
            found = form(told)
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
) -> tuple[Execution, ...]:
    plans = mapping(mapping(verdict, "environment"), "plans")
    by_name = {text(it, "name"): it for it in objects(planned, "executions")}
    sole = len({text(it, "plan") for it in by_name.values()}) <= 1
    found = []
    for judged in objects(verdict, "executions"):
        name = text(judged, "name")
        setup = of_execution(run, by_name.get(name, {}), plans, sole)
        figures = tuple(map(_figure, objects(judged, "criteria")))
        found.append(
            Execution(name=name, verdict=text(judged, "verdict"), figures=figures, **setup)
        )
    return tuple(found)


def _figure(raw: dict[str, Any]) -> Figure:
    interval = raw.get("interval")
    ends = interval if isinstance(interval, list) and len(interval) == 2 else (None, None)
    return Figure(
        criterion=text(raw, "criterion", "unknown"),
        label=text(raw, "label"),
        subject=text(raw, "subject", "unknown"),
        unit=text(raw, "unit"),
        basis=text(raw, "basis"),
        condition=text(raw, "condition"),
        limit=number(raw, "limit"),
        observed=number(raw, "observed"),
        low=finite(ends[0]),
        high=finite(ends[1]),
        window=raw.get("window") is not None,
        verdict=text(raw, "verdict"),
        # Verdicts of before there were others do not tell.
        decides=raw.get("decides") is not False,
    )
