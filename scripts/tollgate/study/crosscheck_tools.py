"""The other load generators that JMeter is checked with: which are here, and one run of one.

All send GET over keep-alive connections as fast as answers come, each from a single process.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tollgate.paths import ROOT
from tollgate.study.crosscheck_results import (
    ToolError,
    ToolResult,
    ab_version,
    checked,
    of_ab,
    of_autocannon,
    of_loadtest,
)

TOOLS = ("loadtest", "ab", "autocannon")
#: Seconds beyond those of the load in which a tool must have started, counted and ended.
GRACE_S = 20
#: ab ends after this many requests a second, which no server here can answer, or it would take its
#: own default for all: 50,000.
AB_RATE = 100_000
MODULES = ROOT / "node_modules"
LOADTEST = Path(__file__).with_name("crosscheck-loadtest.js")
#: What ab writes its percentiles to.
PERCENTILES = "percentiles.csv"


@dataclass(frozen=True)
class Load:
    """url: on loopback. users: connections, each with one request at a time. seconds: whole."""

    url: str
    users: int
    seconds: int


def available() -> dict[str, str | None]:
    """The version of each of TOOLS, None for one that is not installed."""
    return {tool: _version(tool) for tool in TOOLS}


def refuse_elsewhere(url: str) -> None:
    """Raises ToolError for anything but http on a literal address of loopback, or localhost."""
    parts = urlsplit(url)
    with contextlib.suppress(ValueError):
        host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
        if parts.scheme == "http" and parts.port and ipaddress.ip_address(host).is_loopback:
            return
    raise ToolError(
        f"the URL is {url!r}: other generators load this machine alone, name one like "
        "http://127.0.0.1:3001/sum/500000"
    )


def run(tool: str, load: Load, grace_s: float = GRACE_S) -> ToolResult:
    """Run a tool to its end. Raises ToolError when it is not installed, fails, takes longer than
    its seconds and grace_s, or answers nothing that can be used; its process is then gone.
    """
    refuse_elsewhere(load.url)
    version = _version(tool) if tool in TOOLS else None
    if version is None:
        raise ToolError(f"{tool} is not installed: run `npm ci`, or apt install apache2-utils")
    with tempfile.TemporaryDirectory(prefix="tollgate-crosscheck-") as folder:
        text, cpu_s = _output(tool, _command(tool, load), folder, load.seconds + grace_s)
        return checked(_read(tool, text, version, Path(folder), cpu_s), load.seconds)


def _command(tool: str, load: Load) -> list[str]:
    url, users, seconds = load.url, str(load.users), str(load.seconds)
    if tool == "ab":
        # -k keep-alive, -l answers may differ in length, -r go on after an error, -q no progress;
        # -t sets -n, so -n comes after it.
        end = ["-t", seconds, "-n", str(AB_RATE * load.seconds)]
        return ["ab", "-q", "-k", "-l", "-r", "-c", users, *end, "-e", PERCENTILES, url]
    if tool == "autocannon":
        command = ["node", str(MODULES / "autocannon" / "autocannon.js"), "--json", "--no-progress"]
        return [*command, "--connections", users, "--duration", seconds, url]
    return ["node", str(LOADTEST), url, users, seconds]


def _read(tool: str, text: str, version: str, folder: Path, cpu_s: float) -> ToolResult:
    if tool == "ab":
        path = folder / PERCENTILES
        return of_ab(text, path.read_text() if path.exists() else "", cpu_s)
    return (of_autocannon if tool == "autocannon" else of_loadtest)(text, version, cpu_s)


def _output(tool: str, command: list[str], folder: str, limit_s: float) -> tuple[str, float]:
    """(standard output, CPU seconds) of a command in a folder of its own, which is its home too:
    loadtest reads settings from both and from those above."""
    before = _children_cpu_s()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "HOME": folder, "NODE_OPTIONS": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise ToolError(f"{tool}: did not end within {limit_s:g} s, and was killed") from None
        finally:
            process.kill()
    if process.returncode:
        said = next((line for line in reversed((out + err).splitlines()) if line.strip()), "")
        raise ToolError(f"{tool}: ended with exit code {process.returncode}: {said or 'no word'}")
    return out, _children_cpu_s() - before


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _version(tool: str) -> str | None:
    if tool == "ab":
        return _version_of_ab()
    try:
        return str(json.loads((MODULES / tool / "package.json").read_text())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _version_of_ab() -> str | None:
    if not shutil.which("ab"):
        return None
    try:
        done = subprocess.run(["ab", "-V"], capture_output=True, text=True, timeout=10, check=False)
        return ab_version(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ToolError):
        return None
