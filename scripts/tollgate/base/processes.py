"""Runs a command to its end, with all that it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class TooLongError(Exception):
    """One line: which command, and how long it was given."""


def run_to_end(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit_s: float,
    stderr: int = subprocess.STDOUT,
    started: Callable[[int], None] = lambda _pid: None,
) -> subprocess.CompletedProcess[str]:
    """What a command printed and its exit code; stderr: as for Popen, by default with stdout.

    started: is given its pid at once. Raises FileNotFoundError, and TooLongError after limit_s; the
    command and all that it started are gone then, as after any other exception.
    """
    # A session of its own, so that all of its processes can be ended, and Ctrl-C comes here alone.
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        started(process.pid)
        out, err = process.communicate(timeout=limit_s)
    except BaseException as problem:
        # Whether or not it has ended itself: what it started may be left, and hold its output open.
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS, of none but zombies
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(problem, subprocess.TimeoutExpired):
            named = " ".join(command[:2])
            raise TooLongError(f"`{named}` did not end within {limit_s:g} s") from None
        raise
    finally:
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
    return subprocess.CompletedProcess(command, process.returncode, out, err or "")
