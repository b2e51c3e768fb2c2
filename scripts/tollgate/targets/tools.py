"""The tools that a run calls, looked for before it starts: Taurus would try to download them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tollgate.base.paths import ROOT, jmeter_home
from tollgate.targets.pm2 import PM2

#: Of a server that does nothing.
IDLE_SERVER = Path(__file__).with_name("idle-server.js")


def missing() -> list[str]:
    """One line for each tool that can't be run, with the next step; empty when all are there."""
    lines = []
    if not shutil.which("node"):
        lines.append("node is not on PATH: install it, see README.md for the versions")
    if not (shutil.which("java") or runs(Path(os.environ.get("JAVA_HOME", "")) / "bin/java")):
        lines.append("java is not on PATH: install it or set JAVA_HOME, see README.md")
    if not PM2.exists():
        lines.append(f"PM2 is not in {PM2.relative_to(ROOT)}: run scripts/bootstrap")
    launcher = jmeter_home() / "bin" / "jmeter"
    if not runs(launcher):
        lines.append(f"JMeter is not in {launcher}: run scripts/bootstrap, or set JMETER_HOME")
    return lines


def runs(command: Path) -> bool:
    """Whether there is a file that this user may execute."""
    return command.is_file() and os.access(command, os.X_OK)
