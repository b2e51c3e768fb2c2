"""`tollgate gui [PLAN [OPTIONS]]`: opens a plan in JMeter's own window.

The preferences of a JMeter of the user's own stay as they are: this one has its own in the suite.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tollgate.base.paths import STATE, SUITE, java_finds
from tollgate.base.text import UserError
from tollgate.install import assemble, tools

PLAN = SUITE / "plans" / "check.jmx"


class GuiError(UserError):
    """One line: why there is no window, and what to do."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("gui", help="open a plan in JMeter's window")
    parser.add_argument("plan", type=Path, nargs="?", default=PLAN, help="default: check.jmx")
    jmeters = "JMeter's own, e.g. -Jport=3002 for the port of the cluster"
    parser.add_argument("options", nargs=argparse.REMAINDER, help=jmeters)
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> int:
    """Returns JMeter's exit code once its window is closed. Raises GuiError and InstallError."""
    plan = arguments.plan.absolute()
    if not plan.is_file():
        there = sorted(it.name for it in PLAN.parent.glob("*.jmx") if "modified_" not in it.name)
        raise GuiError(f"there is no plan {plan}; those of {PLAN.parent}: {' '.join(there)}")
    if not os.environ.get("DISPLAY") and sys.platform != "darwin":
        raise GuiError("no screen (DISPLAY is not set): call it from a desktop, or by ssh -X")
    assemble.provide()
    state, home = STATE / "gui", tools.jmeter_home()
    backups = state / "backups"
    backups.mkdir(parents=True, exist_ok=True)
    # A property on JMeter's own command line would come too late, after it has read preferences.
    java = f'-Djava.util.prefs.userRoot="{state}" {os.environ.get("JDK_JAVA_OPTIONS", "")}'
    command = [home / "bin" / "jmeter", "-t", plan, "-j", state / "jmeter.log"]
    command += [f"-Jjmeter.gui.action.save.backup_directory={backups}", *arguments.options]
    env = {**os.environ, "JDK_JAVA_OPTIONS": java, **java_finds(plan, state)}
    done = subprocess.run(command, env=env, check=False)
    # In the window the Plugins Manager writes a script of its own over this one, for a jar that is
    # not there.
    if home == tools.assembled_jmeter() and os.access(home / "bin", os.W_OK):
        shutil.copy(tools.JMETER / "launcher" / "PluginsManagerCMD.sh", home / "bin")
    return done.returncode
