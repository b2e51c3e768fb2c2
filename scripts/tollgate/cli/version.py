"""`tollgate --version`: the versions of all that a run uses, and where they lie."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import Any

import bzt

from tollgate.base import paths
from tollgate.install import tools
from tollgate.record.environment import versions


class ShowVersions(argparse.Action):
    """Prints them and ends the command."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """See argparse.Action."""
        for line in lines():
            print(line)
        parser.exit()


def lines() -> list[str]:
    """A line each: `name  version  place`."""
    java = os.environ.get("JAVA_HOME")
    places = {
        "tollgate": paths.PACKAGE,
        "jmeter": tools.jmeter_home(),
        "taurus": Path(bzt.__file__).parent,
        "pm2": tools.node_package("pm2"),
        "node": shutil.which("node"),
        "java": Path(java, "bin", "java") if java else shutil.which("java"),
    }
    found = dict(versions())
    return [f"{name:<8}  {found[name]:<8}  {it or 'not on PATH'}" for name, it in places.items()]
