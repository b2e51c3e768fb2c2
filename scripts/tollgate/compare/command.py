"""A command that takes its time, and that ends with whoever waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tollgate import leftovers


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
    except subprocess.TimeoutExpired:
        raise TooLongError(f"`{' '.join(command[:2])}` did not end within {limit_s:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        leftovers.forget()
    return subprocess.CompletedProcess(command, process.returncode, out, "")
