"""The apps that a file of PM2 declares, and the one of them that is tested."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.paths import ECOSYSTEMS
from tollgate.base.text import some_of
from tollgate.cli.init.commands import InitError
from tollgate.cli.init.look import Found, text_of
from tollgate.targets.pm2 import App, Pm2Error, apps_elsewhere, why_not_asked

_LISTENS = re.compile(r"\.listen\(|\bserve\(|\bcreateServer\(")
#: So many apps are named in a line.
_NAMED = 8


@dataclass(frozen=True)
class Tested:
    """An app."""

    name: str
    guess: str = ""
    """Why it is this one, where others are declared."""
    remarks: tuple[str, ...] = ()


def tested(folder: Path, seen: Found, name: str, ask: Callable[[str, str], str]) -> Tested:
    """Of the file that `seen` names. name: of the service. ask: a question with what is proposed.
    Raises InitError."""
    file = seen.pm2_file
    if not file.endswith((".js", ".cjs", ".json", ".yml", ".yaml")):
        raise InitError(
            f"PM2 7 does not read {file}: save what it exports as ecosystem.config.cjs, and name "
            "that in `start`"
        )
    try:
        apps = apps_elsewhere(folder, file)
    except Pm2Error as problem:
        raise InitError(
            f"{folder}: {problem}: or name a service that runs already by --url"
        ) from None
    if not apps:
        raise InitError(f"{folder / file} declares no apps: write one, or say --url")
    likely, reason = _likely(apps)
    chosen = name if name in likely else likely[0]
    if len(likely) > 1:
        chosen = ask(f"app to test, one of {', '.join(likely)}", chosen)
        if chosen not in apps:
            raise InitError(f"{file} has no app {chosen!r}, only {some_of([*apps], _NAMED)}")
    remarks = [why] if (why := why_not_asked(apps[chosen], file)) else []
    if len(apps) == 1:
        return Tested(chosen, "", tuple(remarks))
    guess = f"{reason} of the apps {some_of([*apps], _NAMED)}"
    return Tested(chosen, guess, (f"the app {chosen!r} is tested: it is {guess}", *remarks))


def _likely(apps: Mapping[str, App]) -> tuple[list[str], str]:
    """(those that may listen, why the first of them)."""
    by_port = [name for name, app in apps.items() if app.port]
    by_text = [name for name, app in apps.items() if _LISTENS.search(text_of(Path(app.script)))]
    found, has = (by_port, "has a PORT") if by_port else (by_text, "listens by its script")
    if not found:
        return [*apps], "the first, for nothing says which listens,"
    return found, f"the only one that {has}" if len(found) == 1 else f"one that {has}"


def standing_in(seen: Found) -> str:
    """A file of PM2 at its usual place that has the apps of another; empty where none is needed.
    Raises InitError."""
    file = seen.pm2_file
    if file in ECOSYSTEMS:
        return ""
    if file.endswith((".yml", ".yaml")):
        raise InitError(
            f"a run does not find {file}: move it to ecosystem.yml, here and in `start`"
        )
    return f"'use strict';\n\nmodule.exports = require({json.dumps(f'./{file}')});\n"
