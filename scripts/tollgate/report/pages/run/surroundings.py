"""How to make a run again, and what it left."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from tollgate.base.paths import ROOT
from tollgate.record import manifest
from tollgate.report.pages.kit.names import readable

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


def report_command(run: Path) -> str:
    """Makes the page of a run's folder again, wherever that stands."""
    path = run.resolve()
    name = str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
    return f".venv/bin/tollgate report {shlex.quote(name)}"


def repeat_command_line(record: manifest.Manifest) -> str | None:
    """A command line that makes the run again, in a folder of its own; None where the record does
    not say how it was started."""
    if record.arguments is None:
        return None
    given = _without_folder(record.arguments)
    is_usual = given[:1] == [_RUN_FILE]
    words = ["./scripts/run", *given[1:]] if is_usual else [".venv/bin/bzt", *given]
    settings = record.environment.get("variables", {}).items()
    return " ".join(
        [*(f"{name}={shlex.quote(str(it))}" for name, it in settings), shlex.join(words)]
    )


def _without_folder(arguments: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for word in map(str, arguments):
        if word.startswith(_FOLDER) and kept[-1:] in (["-o"], ["--option"]):
            kept.pop()
        elif not word.startswith((f"-o{_FOLDER}", f"--option={_FOLDER}")):
            kept.append(word)
    return kept


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
