"""Processes that a certification starts, none of which may outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from certification import burner
from tollgate.base.paths import SUITE
from tollgate.base.processes import defer_signals, reap

#: Seconds that a process may take to end in good order.
GRACE_S = 10
#: The same of bzt, which shuts JMeter down, stops PM2 and removes its worktree.
BZT_GRACE_S = 180


@contextmanager
def neighbour(wanted: bool, seed: int, seconds: float) -> Iterator[dict]:
    """A burner for as long as the block lasts, at most so long. What it gives is empty without
    one; else it says what burns, and in the end how many CPU seconds it took in how many."""
    facts: dict = {}
    if not wanted:
        yield facts
        return
    command = [sys.executable, burner.__file__, str(seed), str(seconds)]
    began = time.monotonic()
    with ended(command, os.environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        facts["burns"] = f"one core, in bursts and pauses of {burner.MEAN_S:g} s in the mean"
        facts["seed"] = seed
        yield facts
        with suppress(psutil.NoSuchProcess):
            spent = psutil.Process(process.pid).cpu_times()
            facts["cpu_s"] = round(spent.user + spent.system, 1)
            facts["seconds"] = round(time.monotonic() - began, 1)


@contextmanager
def ended(
    command: Sequence[str],
    environment: Mapping[str, str],
    by: int = signal.SIGTERM,
    grace_s: float = GRACE_S,
    **streams,
) -> Iterator[subprocess.Popen]:
    """A process that is gone after the block: asked by the signal `by`, and killed after `grace_s`.
    One whose standard input is a pipe learns from its end that it is to go, too.

    It has a session of its own, so that a Ctrl-C reaches it once, from here, and not a second time
    from the terminal.
    """
    process = subprocess.Popen(
        command, cwd=SUITE, env=dict(environment), start_new_session=True, **streams
    )
    try:
        yield process
    finally:
        with defer_signals():
            if process.stdin:
                process.stdin.close()
            stop(process, by, grace_s)
            if process.stdout:
                process.stdout.close()


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str], log: Path, most_s: float
) -> int:
    """The exit code of bzt, whose output goes to `log`. Raises subprocess.TimeoutExpired after
    `most_s`. However this ends, it has ended in good order where it could, cleaning up."""
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    with (
        log.open("wb") as out,
        ended(command, environment, signal.SIGINT, BZT_GRACE_S, stdout=out, **streams) as process,
    ):
        return process.wait(most_s)


def stop(process: subprocess.Popen, by: int, grace_s: float) -> None:
    """End it if it is still there: by a signal first, by force where that does not do."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            process.send_signal(by)
        if not reap(process, grace_s):
            process.kill()
            reap(process)
