"""Apps of this folder, installed from their lock files into a folder of the test, and started."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import psutil
import pytest

import support

FOLDER = Path(__file__).parent
#: Seconds that an installation may take.
INSTALLING = 300
#: How often an installation is tried; a test that needs it after that fails at once.
GOES = 2
#: Seconds that an app may take to end.
GRACE = 5
#: Of what a failed installation printed, so many lines are told.
LINES = 4
#: Why each go failed, by the folder that was to be installed.
FAILED: defaultdict[Path, list[str]] = defaultdict(list)
NPM = ("npm", "--no-audit", "--no-fund", "--no-update-notifier")


def installed(source, folder):
    """A copy of an app with its packages: `node_modules` by package-lock.json, or `venv` by
    requirements.lock."""
    if len(FAILED[source]) < GOES:
        try:
            _install(source, folder)
            return folder
        except OSError as error:
            FAILED[source].append(str(error))
    pytest.fail(f"{source.name} could not be installed: {FAILED[source][-1]}", pytrace=False)


def _install(source, folder):
    shutil.copytree(source, folder, dirs_exist_ok=True)
    if (folder / "package-lock.json").exists():
        _call(*NPM, "ci", "--ignore-scripts", cwd=folder)
        _call(*NPM, "run", "build", "--if-present", cwd=folder)
    if (folder / "requirements.lock").exists():
        _call(sys.executable, "-m", "venv", "venv", cwd=folder)
        pip = "venv/bin/pip", "install", "--quiet", "--no-warn-script-location"
        _call(*pip, "--require-hashes", "--requirement", "requirements.lock", cwd=folder)


@contextlib.contextmanager
def serving(folder, *command):
    """The URL of an app that answers. command: with {port}; of `venv/bin`, else of PATH."""
    port = support.free_port()
    words = [word.format(port=port) for word in command]
    path = os.pathsep.join((str(folder / "venv" / "bin"), os.environ["PATH"]))
    env = support.environment(PORT=str(port), PATH=path)
    output = folder / "output"
    process = support.start(*words, output=output, cwd=folder, env=env)
    try:
        answers = lambda: support.listens(port)  # noqa: E731
        support.wait_while_it_lives(process, output, answers, f"{folder.name} listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        _end([*process.children(recursive=True), process])


def _end(processes):
    """End an app with what `npm start` has started for it, which no signal to npm reaches."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in psutil.wait_procs(processes, timeout=GRACE)[1]:
        process.kill()
        process.wait()


def _call(*command, cwd):
    words = " ".join(command)
    try:
        done = support.run(*command, timeout=INSTALLING, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise OSError(f"{words} took more than {INSTALLING} s") from None
    if done.returncode != 0:
        printed = (done.stdout + done.stderr).splitlines()
        errors = [line for line in printed if "error" in line.lower()] or printed
        raise OSError("\n".join((f"{words} ended with {done.returncode}", *errors[:LINES])))
