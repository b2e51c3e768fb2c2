"""One run at a time in a checkout, and nothing left of one that was killed.

A run holds a lock for as long as its process lives, and writes down the processes that would
outlive it. The next run takes the lock and ends, by id, what the dead one left.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from typing import IO

import psutil

from tollgate import pm2
from tollgate.compare import place
from tollgate.paths import BASE, ROOT, STATE

LOCK = STATE / "run.lock"
STARTED = STATE / "started.json"
#: Seconds between asking a left-over process to end and ending it.
GRACE = 10


class AlreadyRunning(Exception):  # noqa: N818 - it is a state, not a mistake
    """Another run holds the lock; the message says which."""


def take_lock() -> IO[str]:
    """Hold the lock until the file returned is closed or this process ends, however it ends."""
    STATE.mkdir(exist_ok=True)
    lock = LOCK.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise AlreadyRunning(
            f"another run is under way in this checkout (bzt with pid {owner}): "
            "wait for it, end it, or use a second clone with other ports"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def holder() -> int | None:
    """The pid of the run that is under way, told without touching the lock; None without one."""
    try:
        pid = int(LOCK.read_text())
        opened = [Path(each.path) for each in psutil.Process(pid).open_files()]
    except (OSError, ValueError, psutil.Error):
        return None
    return pid if LOCK in opened else None


def remember(pids: list[int], files: list[str]) -> None:
    """Write down the processes and files that the next run must end if this one can't."""
    entries: list[dict] = [{"file": file} for file in files]
    for pid in pids:
        try:
            entries.append({"pid": pid, "created": psutil.Process(pid).create_time()})
        except psutil.NoSuchProcess:
            continue
    written = STARTED.with_suffix(".new")
    written.write_text(json.dumps(entries))
    written.replace(STARTED)


def forget() -> None:
    """Nothing of this run is left."""
    STARTED.unlink(missing_ok=True)


def clean_up() -> list[str]:
    """End and remove what a killed run left; returns a line for each thing. Needs the lock."""
    ended = []
    daemon = pm2.daemon_pid()
    if daemon is not None:
        pm2.kill()
        ended.append(f"ended PM2 (pid {daemon}), left by a run that was killed")
    for process in _remembered():
        _end(process)
        ended.append(f"ended pid {process.pid}, left by a run that was killed")
    for entry in _entries():
        if "file" in entry:
            Path(entry["file"]).unlink(missing_ok=True)
    try:
        if place.clear(BASE, ROOT):
            ended.append("removed the check-out of a base, left by a run that was killed")
    except place.PlaceError as problem:
        ended.append(f"the check-out of a base, left by a run that was killed: {problem}")
    forget()
    pm2.forget()
    return ended


def port_owner(port: int) -> str:
    """`pid 12 (node server.js)` for whatever listens on a TCP port, as far as this user may see."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status != psutil.CONN_LISTEN or connection.laddr.port != port:
                continue
            if connection.pid is not None:  # that of another user: Process(None) would be this one
                process = psutil.Process(connection.pid)
                return f"pid {process.pid} ({' '.join(process.cmdline()).strip()[:80]})"
    except (psutil.Error, TypeError, ValueError):
        pass
    return "a process of somebody else"


def _entries() -> list[dict]:
    try:
        return json.loads(STARTED.read_text())
    except (OSError, ValueError):
        return []


def _remembered() -> list[psutil.Process]:
    alive = []
    for entry in _entries():
        if "pid" not in entry:
            continue
        try:
            process = psutil.Process(entry["pid"])
            if abs(process.create_time() - entry["created"]) < 1:  # not a later one with its number
                alive.append(process)
        except psutil.NoSuchProcess:
            continue
    return alive


def _end(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [*process.children(recursive=True), process]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.terminate()
        for member in psutil.wait_procs(family, timeout=GRACE)[1]:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
