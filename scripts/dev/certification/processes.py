"""Processes that a certification starts, none of which may outlive it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from certification import burner
from tollgate.base.paths import ROOT
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
    command = [sys.executable, "-m", "certification.burner", str(seed), str(seconds)]
    began = time.monotonic()
    with ended(command, {}) as process:
        facts |= {
            "burns": f"one core, in bursts and pauses of {burner.MEAN_S:g} s in the mean",
            "seed": seed,
        }
        yield facts
        with suppress(psutil.NoSuchProcess):
            spent = psutil.Process(process.pid).cpu_times()
            facts["cpu_s"] = round(spent.user + spent.system, 1)
            facts["seconds"] = round(time.monotonic() - began, 1)


@contextmanager
def ended(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen]:
    """A process that reads its standard input to know when to end; gone after the block."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(environment) or None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with defer_signals():
            process.stdin.close()
            stop(process, signal.SIGTERM, GRACE_S)
            process.stdout.close()


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str], log: Path, most_s: float
) -> int:
    """The exit code of a command whose output goes to `log`. Raises subprocess.TimeoutExpired
    after `most_s`. However this ends, it has ended in good order where it could, cleaning up.

    It has a session of its own, so that a Ctrl-C reaches it once, from here, and not a second time
    from the terminal.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait(most_s)
        finally:
            with defer_signals():
                stop(process, signal.SIGINT, BZT_GRACE_S)


def stop(process: subprocess.Popen, by: int, grace_s: float) -> None:
    """End it if it is still there: by a signal first, by force where that does not do."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            process.send_signal(by)
        if not reap(process, grace_s):
            process.kill()
            reap(process)
