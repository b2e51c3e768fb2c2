"""The tools that a run calls, and the folders of the cache in which they stand.

The name of a tool's folder ends in a checksum of what it is made from, so that another version
stands beside it. A folder that is there is whole: assemble.py moves it there last.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tollgate.base import paths

SOURCES = Path(__file__).parent
PREREQUISITES = SOURCES / "prerequisites.sh"
JMETER, NODE = SOURCES / "jmeter", SOURCES / "node"
#: Says of a JMeter of the user's own what is wrong with it.
JMETER_CHECK = JMETER / "check"
#: The SHA-256 and the name of the archive that scripts/dev/jmeter-archive makes of a JMeter home.
JMETER_ARCHIVE = SOURCES / "jmeter-archive.sha256"


def prerequisites(call: str) -> subprocess.CompletedProcess[str]:
    """What a call of functions in prerequisites.sh comes to."""
    command = ["/bin/sh", "-c", f'. "$0"; {call}', str(PREREQUISITES)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def jmeter_home() -> Path:
    """The JMeter home in use: the user's JMETER_HOME if set, the assembled one otherwise."""
    return Path(os.environ.get("JMETER_HOME") or assembled_jmeter())


def assembled_jmeter() -> Path:
    """The JMeter home in the cache."""
    return paths.cache() / "tools" / jmeter_name()


def jmeter_name() -> str:
    """Of a JMeter home that is made from these sources: its version, and their checksum."""
    return f"jmeter-{jmeter_version()}-{_checksum(JMETER)}"


def jmeter_version() -> str:
    """The version that plans need: pom.xml's."""
    pom = (JMETER / "pom.xml").read_text(encoding="utf-8")
    return str(re.findall("<jmeter.version>(.*)</jmeter.version>", pom)[0])


def node_folder() -> Path:
    """The folder in the cache that holds node_modules."""
    versions = json.loads((NODE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return paths.cache() / "tools" / f"pm2-{versions['pm2']}-{_checksum(NODE)}"


def node_package(name: str) -> Path:
    """The folder of a Node package, e.g. pm2."""
    return node_folder() / "node_modules" / name


def pm2() -> Path:
    """The command `pm2`."""
    return node_folder() / "node_modules" / ".bin" / "pm2"


@functools.cache
def _checksum(sources: Path) -> str:
    files = sorted(it for it in sources.rglob("*") if it.is_file())
    return hashlib.sha256(b"".join(it.read_bytes() for it in files)).hexdigest()[:10]


def missing() -> Iterator[str]:
    """One line for each tool that can't be run, with the next step; Taurus would try to download
    it."""
    if not shutil.which("node"):
        yield "node is not on PATH: install it; `tollgate doctor` says which"
    if not (shutil.which("java") or runs(Path(os.environ.get("JAVA_HOME", "")) / "bin/java")):
        yield "java is not on PATH: install it or set JAVA_HOME; `tollgate doctor` says which"
    if not pm2().exists():
        yield f"PM2 is not in {node_folder()}: run `tollgate install`"
    launcher = jmeter_home() / "bin" / "jmeter"
    if not runs(launcher):
        yield f"JMeter is not in {launcher}: run `tollgate install`, or set JMETER_HOME"


def runs(command: Path) -> bool:
    """Whether there is a file that this user may execute."""
    return command.is_file() and os.access(command, os.X_OK)
