"""Apps of this folder, installed from their lock files into a folder of the test, and started."""

import contextlib
import os
import shutil
import sys
from pathlib import Path

import support

FOLDER = Path(__file__).parent
#: Seconds that an installation may take.
INSTALLING = 900
NPM = ("npm", "--no-audit", "--no-fund", "--no-update-notifier")


def installed(source, folder):
    """A copy of an app with its packages: `node_modules` by package-lock.json, or `venv` by
    requirements.lock."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    if (folder / "package-lock.json").exists():
        _call(*NPM, "ci", "--ignore-scripts", cwd=folder)
        _call(*NPM, "run", "build", "--if-present", cwd=folder)
    if (folder / "requirements.lock").exists():
        _call(sys.executable, "-m", "venv", folder / "venv")
        pip = folder / "venv" / "bin" / "pip", "install", "--quiet", "--no-warn-script-location"
        _call(*pip, "--require-hashes", "--requirement", folder / "requirements.lock")
    return folder


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
        process.terminate()
        process.wait()


def _call(*command, **options):
    done = support.run(*command, timeout=INSTALLING, **options)
    assert done.returncode == 0, done.stdout + done.stderr
