"""What program runs each process of an app: it is what is measured, whatever its settings name."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from tollgate.base.text import telling
from tollgate.record.manifest import Runtime
from tollgate.targets import pm2

_NODE = re.compile("node|nodejs")
#: What prints its version for `--version`, and does nothing else.
_TELLS = re.compile(rf"{_NODE.pattern}|bun|deno|python[\d.]*")
#: Seconds for that.
_PATIENCE_S = 30


def runtimes_of(app: pm2.App, workers: Iterable[Mapping[str, Any]]) -> list[Runtime]:
    """Those of the processes that serve; none where one of them has ended. workers: all of PM2's,
    as pm2.workers gives them. Raises Pm2Error where an app whose interpreter is a Node runs under
    another one, as it may in cluster mode."""
    try:
        own = [psutil.Process(it["pid"]) for it in workers if it["name"] == app.name]
        started = [it.exe() for it in own]
        found = Counter(it.exe() for worker in own for it in _serving(app, worker))
    except psutil.Error:
        return []
    if app.is_node:
        _refuse_other(app, started)
    return [
        Runtime(path=path, version=_version(path), processes=count) for path, count in found.items()
    ]


def other_node(name: str, runtimes: Iterable[Runtime], usual: str) -> str:
    """A line where an app has another Node than the report says; empty where it has not. usual:
    the version there."""
    nodes = {it["path"]: it["version"] for it in runtimes if _NODE.fullmatch(Path(it["path"]).name)}
    others = [f"{version} ({path})" for path, version in nodes.items() if version != usual]
    return f"{name} runs under Node {', '.join(others)}, not {usual}" if others else ""


def _refuse_other(app: pm2.App, programs: Iterable[str]) -> None:
    """A shim of a version manager knows its Node in the folder of the app."""
    named = _told(app.interpreter, "-p", "process.execPath", folder=app.cwd)
    for program in programs:
        if Path(program).resolve() != Path(named).resolve():
            raise pm2.Pm2Error(
                f"app {app.name!r} runs under {program} ({_version(program)}), and its interpreter "
                f"is {named} ({_version(named)}): in cluster mode PM2 takes the Node that it runs "
                "under itself: put the one that is meant first on PATH, or use fork mode"
            )


def _serving(app: pm2.App, worker: psutil.Process) -> Iterator[psutil.Process]:
    """What listens of the processes below a worker, such as what npm starts, else the worker."""
    below = worker.children(recursive=True)
    listening = [it for it in below if _ports(it) & {*app.ports}]
    yield from listening or [worker]


def _ports(process: psutil.Process) -> set[int]:
    places = process.net_connections("inet")
    return {it.laddr.port for it in places if it.status == psutil.CONN_LISTEN}


def _version(program: str) -> str:
    """Empty where it isn't known how to ask."""
    is_known = _TELLS.fullmatch(Path(program).name)
    return _told(program, "--version").removeprefix("v") if is_known else ""


@cache
def _told(program: str, *arguments: str, folder: str | None = None) -> str:
    """What a program prints. Raises Pm2Error."""
    options: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "errors": "replace"}
    options |= {"cwd": folder, "env": pm2.environment(), "timeout": _PATIENCE_S, "check": True}
    try:
        output: str = subprocess.run([program, *arguments], **options).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        why = telling(getattr(problem, "stderr", None) or str(problem), r"\w*Error\b")
        raise pm2.Pm2Error(
            f"{program} does not say which Node it is: {why[0]}: correct the app's interpreter"
        ) from None
    return output.strip()
