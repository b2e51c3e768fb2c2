"""The texts of the files that `tollgate init` writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Template

from tollgate.base.paths import RUN_FILE
from tollgate.cli.init.commands import InitError
from tollgate.cli.init.look import Start
from tollgate.cli.init.node import quoted
from tollgate.service.model import is_service

REPORTS, FORECAST = "reports/README.md", "data/forecast.csv"
_IGNORED = ("/.tollgate", "/reports/*", "!/reports/README.md")
_HERE = Path(__file__).parent
#: taurus.yml, up to its services.
HEAD = (_HERE / "taurus.head.yml").read_text(encoding="utf-8")
#: The page in the folder of runs.
REPORTS_PAGE = (_HERE / "reports.md").read_text(encoding="utf-8")
#: Requests a second by the hour, of a service that sleeps at night.
_LEAST, _MOST = 2, 10


def service_of(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """(name, settings) of the service that a folder's taurus.yml has, of its first of several; both
    are empty for none. Raises InitError."""
    path = folder / RUN_FILE
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "", {}
    except (OSError, ValueError, yaml.YAMLError) as problem:
        line = " ".join(str(problem).split())
        raise InitError(f"{path} can't be read: {line}: correct it, or move it away") from None
    scenarios = read.get("scenarios") if isinstance(read, dict) else None
    scenarios = scenarios if isinstance(scenarios, dict) else {}
    return next(((str(name), it) for name, it in scenarios.items() if is_service(it)), ("", {}))


def ecosystem(app: str, start: Start) -> str:
    """PM2's file with one app."""
    variable = f"PORT_{app.upper().replace('-', '_')}"
    text = (_HERE / "ecosystem.config.js.jinja").read_text(encoding="utf-8")
    template = Template(text, trim_blocks=True, keep_trailing_newline=True)
    env = {"NODE_ENV": "production", **start.env}
    return template.render(app=app, start=start, env=env, variable=variable, quoted=quoted)


def forecast() -> str:
    """A day of 24 hours, of all labels together, which stress, load and soak follow."""
    middle, half = (_LEAST + _MOST) / 2, (_MOST - _LEAST) / 2
    rates = (middle - half * math.cos(math.pi * (hour - 3) / 12) for hour in range(24))
    return "hour,tps\n" + "".join(f"{hour},{rate:.1f}\n" for hour, rate in enumerate(rates))


def ignored(folder: Path) -> str:
    """.gitignore with what runs leave; empty where it has that already. Raises InitError."""
    path = folder / ".gitignore"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as problem:
        raise InitError(f"{path} can't be read: {problem}: save it as text in UTF-8") from None
    lines = {it.strip() for it in text.splitlines()}
    known = {it.rstrip("/") for it in lines} | {f"/{it.rstrip('/')}" for it in lines}
    missing = [it for it in _IGNORED if it not in known]
    if "/reports" in known:  # all of it: git looks into no folder that it ignores
        missing = [it for it in missing if "reports" not in it]
    if not missing:
        return ""
    return text + ("" if not text or text.endswith("\n") else "\n") + "\n".join(missing) + "\n"


def repository_of(folder: Path) -> Path | None:
    """The top of the git repository that a folder lies in."""
    places = (folder.resolve(), *folder.resolve().parents)
    return next((it for it in places if (it / ".git").exists()), None)
