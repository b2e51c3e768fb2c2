"""What is installed, and whether it is new enough.

The tools that a user installs, their least versions and how to ask them stand in
install/prerequisites.sh, where scripts/bootstrap needs them before there is any Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from importlib import metadata
from itertools import starmap
from pathlib import Path

from tollgate.cli.doctor.finding import FAIL, OK, WARN, Diagnosis
from tollgate.install import archive, tools
from tollgate.install.tools import JMETER_CHECK, jmeter_home
from tollgate.record import environment

#: Prints name, command, least version and the version found, set apart by tabs, a line each.
_LIST = """
show() { printf '%s\\t%s\\t%s\\t%s\\n' "$@"; }
for_each_prerequisite show
"""
_INSTALL = "run `tollgate install`"
_FROM = "give JMeter as an archive: `tollgate install --from FILE`"


def look() -> list[Diagnosis]:
    """Of every tool, in the order in which a run needs them."""
    return [*prerequisites(), _git(), _pm2(), _jmeter(), _bzt()]


def prerequisites() -> list[Diagnosis]:
    """One for each tool of prerequisites.sh."""
    done = tools.prerequisites(_LIST)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if not rows:
        silent = f"{tools.PREREQUISITES.name} says nothing: {done.stderr.strip()}"
        return [Diagnosis(FAIL, "tools", silent)]
    return [_without_maven(it) if it.what == "Maven" else it for it in starmap(_prerequisite, rows)]


def _prerequisite(name: str, command: str, least: str, version: str) -> Diagnosis:
    todo, place = f"install {name} {least} or later", shutil.which(command) or command
    if not version:
        return Diagnosis(FAIL, name, f"no `{command}` that runs on PATH", todo)
    status = OK if _numbers(version) >= _numbers(least) else FAIL
    return Diagnosis(status, name, f"{version} ({place})", todo)


def _without_maven(maven: Diagnosis) -> Diagnosis:
    """Maven makes JMeter where no archive is taken, and after that nothing needs it."""
    if maven.status == OK:
        return maven
    if tools.runs(jmeter_home() / "bin" / "jmeter"):
        return Diagnosis(OK, "Maven", f"{maven.found}: not needed, for JMeter is installed")
    if url := archive.released():
        todo = f"none is needed where {url} can be fetched"
        return Diagnosis(WARN, "Maven", maven.found, f"{todo}; else {maven.todo}, or {_FROM}")
    return replace(maven, todo=f"{maven.todo}, or {_FROM}")


def _numbers(version: str) -> tuple[int, ...]:
    """`3.10` is above `3.9`."""
    return tuple(int(part) for part in version.split("."))


def _git() -> Diagnosis:
    place = shutil.which("git")
    todo = "install git: -compare takes its base from it, and a verdict names its commit"
    return Diagnosis(OK if place else WARN, "git", place or "not on PATH", todo)


def _pm2() -> Diagnosis:
    version = environment.pm2_version()
    if not tools.pm2().exists() or version == "unknown":
        return Diagnosis(FAIL, "PM2", f"not in {tools.node_folder()}", _INSTALL)
    return Diagnosis(OK, "PM2", version)


def _jmeter() -> Diagnosis:
    home = jmeter_home()
    launcher = home / "bin" / "jmeter"
    yours = "JMETER_HOME" in os.environ
    if not tools.runs(launcher):
        todo = f"set JMETER_HOME to a JMeter {tools.jmeter_version()}, or unset it"
        return Diagnosis(FAIL, "JMeter", f"no {launcher}", todo if yours else _INSTALL)
    found = f"{environment.jmeter_version()} ({home})"
    return _yours(home, found) if yours else Diagnosis(OK, "JMeter", found)


def _yours(home: Path, version: str) -> Diagnosis:
    """What an installation says of it: another version is in the way, a missing plugin is not."""
    command = ["/bin/sh", str(JMETER_CHECK), str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr if done.returncode else done.stdout
    first, *more = said.splitlines() or [""]
    if done.returncode:
        refused, _, todo = first.partition("; ")
        return Diagnosis(FAIL, "JMeter", refused, todo)
    if first:
        return Diagnosis(WARN, "JMeter", first, " ".join(line.strip() for line in more))
    return Diagnosis(OK, "JMeter", version)


def _bzt() -> Diagnosis:
    try:
        return Diagnosis(OK, "Taurus", f"bzt {metadata.version('bzt')}")
    except metadata.PackageNotFoundError:
        return Diagnosis(FAIL, "Taurus", "no bzt beside this Python", _INSTALL)
