"""How to make a run again, and what it left."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from tollgate.base.paths import SUITE
from tollgate.record import manifest

#: What `tollgate run` puts before the arguments that it is given.
_RUN_FILE = "taurus.yml"
#: An option that the run made again must not take over: it would write over this one.
_FOLDER = "settings.artifacts-dir="


def report_command(run: Path) -> str:
    """Makes the page of a run's folder again, wherever that stands."""
    path = run.resolve()
    name = str(path.relative_to(SUITE) if path.is_relative_to(SUITE) else path)
    return f"tollgate report {shlex.quote(name)}"


def repeat_command_line(record: manifest.Manifest) -> str | None:
    """A command line that makes the run again, in a folder of its own; None where the record does
    not say how it was started."""
    if record.arguments is None:
        return None
    given = _without_folder(record.arguments)
    is_usual = given[:1] == [_RUN_FILE]
    words = ["tollgate", "run", *given[1:]] if is_usual else ["bzt", *given]
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


def is_here(run: Path, name: str) -> bool:
    """Whether a file stands in the run's folder: a name may be anything, `..` among it."""
    try:
        path = (run / name).resolve()
        return path.exists() and path.is_relative_to(run.resolve())
    except (OSError, ValueError):
        return False
