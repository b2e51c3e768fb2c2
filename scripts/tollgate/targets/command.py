"""A command that takes its time, and that ends with whoever waits for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate.targets import leftovers


class TooLongError(Exception):
    """One line: which command, and how long it was given."""


def run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Run it to its end; stdout holds all that it printed.

    Until then it is written down, so that the next run ends it if this one is killed. Raises
    FileNotFoundError and TooLongError; needs the lock of leftovers.py.
    """
    # A session of its own, so that all of its processes can be ended, and Ctrl-C comes here alone.
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        leftovers.remember([process.pid], [])
        out, _ = process.communicate(timeout=limit_s)
    except BaseException as problem:
        # Whether or not it has ended itself: what it started may be left, and hold its output open.
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS, of none but zombies
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(problem, subprocess.TimeoutExpired):
            told = " ".join(command[:2])
            raise TooLongError(f"`{told}` did not end within {limit_s:g} s") from None
        raise
    finally:
        process.stdout.close()
        leftovers.forget()
    return subprocess.CompletedProcess(command, process.returncode, out, "")
