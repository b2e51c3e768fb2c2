"""Where a run took place, how to make it again, and what it left."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tollgate.base import ROOT, one_line
from tollgate.pages.kit.parts import (
    Child,
    Column,
    Row,
    details,
    element,
    listing,
    paragraph,
    table,
    terms,
)
from tollgate.pages.run.view import readable
from tollgate.run import manifest

#: What a run leaves for others to read, by what it is; dashboards come before these.
FILES = {
    "verdict.md": "the verdict, for people",
    "verdict.json": "the verdict, for programs",
    "junit.xml": "the verdict, for CI systems",
    "study.json": "the study, for programs",
    "blocks.csv": "the blocks in the order of the run",
    "cpu.jsonl": "CPU time of generator, service and machine",
    "compare.json": "the comparison, for programs",
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
_UNKNOWN = "How it was started is unknown: it was made before run.json told."


def content(
    run: Path, record: manifest.Manifest, command: str | None = None, more: Iterable = ()
) -> list[Child]:
    """Terms, the command, and links to the files that exist. command: in place of the one that the
    record tells. more: further (name, value) pairs."""
    command = command or again(record)
    files = [
        element("span", element("a", name, href=quote(name)), f": {what}")
        for name, what in files_of(run, record)
    ]
    return [
        terms([*_machine(record.environment), ("Began", f"{record.started} (UTC)"), *more]),
        element("h3", "The same run again"),
        element("pre", command, tabindex=0) if command else paragraph(_UNKNOWN),
        *_left_to_say(record),
        element("h3", "Its report again, from this folder alone"),
        element(
            "pre",
            f".venv/bin/tollgate report {shlex.quote(_from_root(run))}",
            tabindex=0,
        ),
        *_plans(record.environment),
        element("h3", "Files of this run"),
        listing(files) if files else paragraph("None is there any more."),
    ]


def _from_root(run: Path) -> str:
    """A run's folder as a command in the project's own takes it, wherever it stands."""
    path = run.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _machine(known: dict[str, Any]) -> list[tuple[str, Child]]:
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
    """The environment variables that were set for the run; none where it does not tell."""
    return {str(name): str(it) for name, it in environment.get("variables", {}).items()}


def again(record: manifest.Manifest) -> str | None:
    """A command line that makes the run again, in a folder of its own; None where the record does
    not tell how it was started."""
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


def _left_to_say(record: manifest.Manifest) -> list[Child]:
    commit = str(record.environment.get("commit", ""))
    dirty = "Files differed from the commit when it ran. " if commit.endswith("-dirty") else ""
    return [paragraph(f"{dirty}effective.yml has every setting that it ran with.", kind="note")]


def _plans(environment: dict[str, Any]) -> list[Child]:
    plans = environment.get("plans", {})
    if not plans:
        return []
    rows: list[Row] = [
        (readable(str(name)), element("code", str(it))) for name, it in plans.items()
    ]
    made = table("SHA-256 of each plan file", (Column("file"), Column("SHA-256")), rows)
    return [details("Plans", made)]


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
