"""Where a run took place, how to make it again, and what it left."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate.base.paths import ROOT
from tollgate.base.text import one_line
from tollgate.record import manifest
from tollgate.report.pages.run.view import readable
from tollgate.report.table import Column, Table

#: What a run leaves for others to read, by what it is; dashboards come before these.
FILES = {
    "verdict.md": "the verdict, for people",
    "verdict.json": "the verdict, for programs",
    "junit.xml": "the verdict, for CI systems",
    "study.json": "the study, for programs",
    "blocks.csv": "the blocks in the order of the run",
    "warm-up.json": "what the warm-up of the study measured, from which blocks have their length",
    "cpu.jsonl": "CPU time of generator, service and machine",
    "compare.json": "the comparison, for programs",
    "why.json": "what both sides computed, for programs",
    "compare.md": "the comparison, for people",
    "workers.jsonl": "the workers, second by second",
    "run.json": "what the run set out to do, sealed",
    "effective.yml": "all settings, as Taurus took them",
    "bzt.log": "Taurus's log",
}
#: What scripts/run puts before the arguments that it is given.
_RUN_FILE = "taurus.yml"
#: An option that the run made again must not take over: it would write over this one.
_FOLDER = "settings.artifacts-dir="


@dataclass(frozen=True)
class Surroundings:
    """terms: (name, value) of the machine and the versions. command: makes the run again, None
    where that is not known. plans: SHA-256 of each file. files: (address, path, what it is)."""

    terms: Sequence[tuple[str, str]]
    command: str | None
    is_dirty: bool
    report: str
    plans: Table | None
    files: Sequence[tuple[str, str, str]]


def content(
    run: Path,
    record: manifest.Manifest,
    command: str | None = None,
    more: Sequence[tuple[str, str]] = (),
) -> Surroundings:
    """command: in place of the one that the record has. more: further terms."""
    known = record.environment
    return Surroundings(
        terms=[*_machine(known), ("Began", f"{record.started} (UTC)"), *more],
        command=command or repeat_command_line(record),
        is_dirty=str(known.get("commit", "")).endswith("-dirty"),
        report=f".venv/bin/tollgate report {shlex.quote(_from_root(run))}",
        plans=_plans(known.get("plans", {})),
        files=[(quote(name), name, what) for name, what in files_of(run, record)],
    )


def _from_root(run: Path) -> str:
    """A run's folder as a command in the project's own takes it, wherever it stands."""
    path = run.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _machine(known: dict[str, Any]) -> list[tuple[str, str]]:
    memory = known.get("memory_bytes")
    versions = known.get("versions", {})
    return [
        ("CPU", str(known.get("cpu", "unknown"))),
        ("Cores", str(known.get("cores", "unknown"))),
        ("Memory", f"{memory / 2**30:.1f} GiB" if memory else "unknown"),
        ("Operating system", str(known.get("os", "unknown"))),
        *((str(name), str(version)) for name, version in versions.items()),
        ("Commit", str(known.get("commit", "unknown"))),
        *((name, one_line(value)) for name, value in _variables(known).items()),
    ]


def _variables(environment: dict[str, Any]) -> dict[str, str]:
    """The environment variables that were set for the run; none where it is not known."""
    return {str(name): str(it) for name, it in environment.get("variables", {}).items()}


def repeat_command_line(record: manifest.Manifest) -> str | None:
    """A command line that makes the run again, in a folder of its own; None where the record does
    not say how it was started."""
    if record.arguments is None:
        return None
    given = _without_folder(record.arguments)
    is_usual = given[:1] == [_RUN_FILE]
    words = ["./scripts/run", *given[1:]] if is_usual else [".venv/bin/bzt", *given]
    settings = _variables(record.environment).items()
    return " ".join([*(f"{name}={shlex.quote(it)}" for name, it in settings), shlex.join(words)])


def _without_folder(arguments: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for word in map(str, arguments):
        if word.startswith(_FOLDER) and kept[-1:] in (["-o"], ["--option"]):
            kept.pop()
        elif not word.startswith((f"-o{_FOLDER}", f"--option={_FOLDER}")):
            kept.append(word)
    return kept


def _plans(digests: dict[str, Any]) -> Table | None:
    if not digests:
        return None
    rows = [(readable(str(name)), str(it)) for name, it in digests.items()]
    columns = (Column("file"), Column("SHA-256"))
    return Table("SHA-256 of each plan file", columns, rows)


def files_of(run: Path, record: manifest.Manifest) -> list[tuple[str, str]]:
    """(path relative to the page, what it is) of what the run left."""
    found = []
    for each in record.executions:
        name = readable(each.name)
        found.append((f"dashboard/{each.name}/index.html", f"JMeter's dashboard of {name}"))
        if each.jtl:
            found.append((each.jtl, f"the raw samples of {name}"))
    found += FILES.items()
    logs = sorted(it.name for it in run.glob("jmeter*.log"))
    found += [(name, "JMeter's log") for name in logs if not name.startswith("jmeter-dashboard-")]
    return [(name, what) for name, what in found if _is_here(run, name)]


def _is_here(run: Path, name: str) -> bool:
    """Whether a file stands in the run's folder: a name may be anything, `..` among it."""
    try:
        path = (run / name).resolve()
        return path.exists() and path.is_relative_to(run.resolve())
    except (OSError, ValueError):
        return False
