"""autocannon, the other load generator that JMeter is checked with: one run of it, and its result.

It sends GET over keep-alive connections as fast as answers come, from a single process. By its
source, autocannon 9 counts answers, and connection errors and timeouts beside them, until the first
full second after its duration; hdr-histogram cuts times to whole milliseconds, so that a time
stands for itself up to a millisecond more, hence `step_ms`. It can't leave out its beginning, in
which connections are opened and Node compiles.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tollgate.base import records
from tollgate.base.paths import ROOT
from tollgate.base.processes import TooLongError, run_to_end
from tollgate.base.urls import Url

TOOL = "autocannon"
#: Seconds beyond those of the load in which it must have started, counted and ended.
GRACE_S = 20
PACKAGE = ROOT / "node_modules" / TOOL


class ToolError(Exception):
    """One line: which tool, what went wrong, what to do."""


@dataclass(frozen=True)
class ToolLoad:
    """url: on loopback. users: connections, each with one request at a time. seconds: whole."""

    url: str
    users: int
    seconds: int


@dataclass(frozen=True)
class ToolResult:
    """requests: that were answered or failed; failed: those of them without a 2xx answer. seconds:
    as the tool measured them; throughput: requests / seconds. p50_ms, mean_ms, p95_ms: service
    times as the tool tells them; p95_ms is None for autocannon, which has p90 and p97.5. step_ms:
    the step in which it tells percentiles, cut; 0 for none worth naming. cpu_s: CPU time of its
    process.

    Runs made before have results of other tools too, in the same form.
    """

    __pydantic_config__ = records.STRICT

    tool: str
    version: str
    requests: int
    failed: int
    seconds: float
    throughput: float
    p50_ms: float
    mean_ms: float
    p95_ms: float | None
    step_ms: float
    cpu_s: float


def installed_version() -> str | None:
    """autocannon's version, None where it is not installed."""
    try:
        return str(json.loads((PACKAGE / "package.json").read_text())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def refuse_elsewhere(url: str) -> None:
    """Raises ToolError for anything but http on a literal address of loopback, or localhost."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        port = parts.port
        if parts.scheme == "http" and port and Url("http", parts.hostname or "", port).is_loopback:
            return
    raise ToolError(
        f"the URL is {url!r}: other generators load this machine alone, name one like "
        "http://127.0.0.1:3001/sum/500000"
    )


def run(load: ToolLoad, grace_s: float = GRACE_S) -> ToolResult:
    """Run autocannon to its end. Raises ToolError when it is not installed, fails, takes longer
    than its seconds and grace_s, or answers nothing that can be used; its process is then gone.
    """
    refuse_elsewhere(load.url)
    version = installed_version()
    if version is None:
        raise ToolError(f"{TOOL} is not installed: run `npm ci`")
    text, cpu_s = _output(_command(load), load.seconds + grace_s)
    return checked(of_autocannon(text, version, cpu_s), load.seconds)


def _command(load: ToolLoad) -> list[str]:
    command = ["node", str(PACKAGE / "autocannon.js"), "--json", "--no-progress"]
    return [*command, "--connections", str(load.users), "--duration", str(load.seconds), load.url]


def _output(command: list[str], limit_s: float) -> tuple[str, float]:
    """(standard output, CPU seconds) of a command."""
    before = _children_cpu_s()
    try:
        done = run_to_end(
            command,
            folder=ROOT,
            environment={**os.environ, "NODE_OPTIONS": ""},
            limit_s=limit_s,
            stderr=subprocess.PIPE,
        )
    except TooLongError as problem:
        raise ToolError(f"{TOOL}: {problem}, and was killed") from None
    if done.returncode:
        said = next(
            (line for line in reversed((done.stdout + done.stderr).splitlines()) if line.strip()),
            "",
        )
        raise ToolError(f"{TOOL}: ended with exit code {done.returncode}: {said or 'no word'}")
    return done.stdout, _children_cpu_s() - before


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_autocannon(text: str, version: str, cpu_s: float) -> ToolResult:
    """From the output of `autocannon --json`. Raises ToolError."""
    found = _json(TOOL, text)
    try:
        answered, lost = int(found["requests"]["total"]), int(found["errors"])
        return ToolResult(
            tool=TOOL,
            version=version,
            requests=answered + lost,
            failed=lost + int(found["non2xx"]),
            seconds=float(found["duration"]),
            throughput=(answered + lost) / float(found["duration"]),
            p50_ms=float(found["latency"]["p50"]),
            mean_ms=float(found["latency"]["mean"]),
            p95_ms=None,
            step_ms=1.0,
            cpu_s=cpu_s,
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ToolError(f"{TOOL} {version}: its result can't be read: {error!r}") from None


def checked(result: ToolResult, seconds: int) -> ToolResult:
    """The result, if it is one. Raises ToolError when nothing was answered or the tool ended early:
    its figures would be those of something else."""
    name = result.tool
    if result.requests <= result.failed:
        raise ToolError(
            f"{name}: none of {result.requests} requests was answered well; see that the server "
            "runs and the path is right"
        )
    if result.seconds < 0.9 * seconds:
        raise ToolError(f"{name}: ended after {result.seconds:g} s of {seconds}")
    return result


def recorded(text: str) -> ToolResult:
    """From the JSON that commands/crosscheck.py wrote. Raises ToolError, ValueError."""
    return records.parse(ToolResult, _json("crosscheck", text))


def _json(tool: str, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ToolError(f"{tool}: printed no JSON object but {text[:80]!r}")
    return found
