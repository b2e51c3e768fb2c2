"""A command that is run to its end with all that it starts, and the signals that end a run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

#: Ctrl-C, how CI systems cancel a job, and a terminal that is closed.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class TooLongError(Exception):
    """One line: which command, and how long it was given."""


def spawn(
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str] | None,
    out: int | IO[Any],
    **more: Any,
) -> subprocess.Popen[Any]:
    """A command without input, whose errors go to its output unless `more`, which is for Popen, has
    a `stderr`. Its session is its own: all of its processes can be ended, and Ctrl-C comes here
    alone."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT, **more}
    return subprocess.Popen(command, cwd=folder, env=env, start_new_session=True, **streams)


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
    text = {"text": True, "errors": "replace"}
    process = spawn(command, folder, dict(environment), subprocess.PIPE, stderr=stderr, **text)
    try:
        started(process.pid)
        out, err = process.communicate(timeout=limit_s)
    except BaseException as problem:
        # Whether or not it has ended itself: what it started may be left, and hold its output open.
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS, of none but zombies
            os.killpg(process.pid, signal.SIGKILL)
        reap(process)
        if isinstance(problem, subprocess.TimeoutExpired):
            named = " ".join(command[:2])
            raise TooLongError(f"`{named}` did not end within {limit_s:g} s") from None
        raise
    finally:
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
    return subprocess.CompletedProcess(command, process.returncode, out, err or "")


def reap(process: subprocess.Popen[Any], within_s: float | None = None) -> bool:
    """Whether a process has ended, waiting for it; its return code is kept in it then.

    For after an interruption: Popen's own wait takes a lock for each look, and where a signal's
    handler raises in that very moment the lock stays taken, and any further wait is for ever.
    """
    if process.returncode is None:
        import psutil  # which scripts/bootstrap has not installed yet when it installs the tools

        try:
            process.returncode = psutil.Process(process.pid).wait(within_s)
        except psutil.TimeoutExpired:
            return False
        except psutil.NoSuchProcess:
            process.poll()
    return True


def end_by(end: Callable[[], object]) -> None:
    """Let the first of the signals call `end`, and no later one break the cleaning up; but for the
    SIGHUP that the caller of this process has ignored: under `nohup` a run outlives its
    terminal."""

    def first(_signal: int, _frame: object) -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end()

    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, first)


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Ignore them within; only the main thread can, and any other is never interrupted by them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: a handler that Python did not set, and can't set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
