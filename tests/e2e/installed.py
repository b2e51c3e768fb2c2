"""Tollgate as a stranger gets it: the wheel in an environment of its own, with the checkout out of
sight and the package read-only."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

import support
from e2e.bzt_run import APPS

#: Seconds for an installation or a run, on a slow machine.
PATIENCE = 900
#: Hides the checkout, makes the folder of installed code read-only, then becomes the command.
AWAY = """
mount -t tmpfs none "$0" && mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
shift && exec "$@"
"""


class Installed:
    """The command `tollgate` of an environment that has the wheel, and a suite to run it in."""

    def __init__(self, place, wheel, suite):
        self.environment = place / "environment"
        self.cache = place / "cache"
        self.home = place / "home"
        self.suite = place / suite
        call(sys.executable, "-m", "venv", self.environment)
        pinned = place / "versions.txt"
        pinned.write_text(versions(support.ROOT / "requirements.lock"))
        python = self.environment / "bin" / "python"
        call(python, "-m", "pip", "install", "--quiet", "--constraint", pinned, wheel)
        self.home.mkdir()

    @property
    def code(self):
        """The folder of the installed packages."""
        [found] = self.environment.glob("lib/python3*/site-packages")
        return found

    def start(self, *arguments, cwd=None, inside=(), **env):
        away = ("unshare", "--mount", "sh", "-c", AWAY, support.ROOT, self.code)
        command = (*inside, *away, self.environment / "bin" / "tollgate", *arguments)
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd or self.suite,
            env=self._variables() | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _variables(self):
        ports = {f"PORT_{it.upper().replace('-', '_')}": str(support.free_port()) for it in APPS}
        path = [it for it in os.environ["PATH"].split(os.pathsep) if ".venv" not in it]
        own = {"HOME": str(self.home), "TOLLGATE_HOME": str(self.cache)}
        npm = {"npm_config_cache": call("npm", "config", "get", "cache").strip()}
        return support.environment(**ports, **own, **npm, PATH=os.pathsep.join(path))

    def run(self, *arguments, **how):
        """Its exit code and what it printed."""
        process = self.start(*arguments, **how)
        output = process.communicate(timeout=PATIENCE)[0]
        return process.returncode, output

    def verdict(self, folder="reports/latest"):
        return json.loads((self.suite / folder / "verdict.json").read_text())


def call(*command, **options):
    """What a command prints; its failure fails the test."""
    done = support.run(*command, timeout=PATIENCE, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def versions(lock):
    """The lines of a lock file without their hashes: pip takes no others for constraints."""
    return "\n".join(re.findall(r"^[\w.-]+==[^\\\n]+", lock.read_text(), re.M)) + "\n"


@contextlib.contextmanager
def installed_in(place, suite):
    """What is built from the checkout, installed below this folder, which is removed at the end;
    its suite is the folder of that name there, yet to be made."""
    call(support.ROOT / "scripts" / "dev" / "build", "--without-sboms", place / "dist")
    [wheel] = (place / "dist").glob("*.whl")
    try:
        yield Installed(place, wheel, suite)
    finally:
        shutil.rmtree(place, ignore_errors=True)
