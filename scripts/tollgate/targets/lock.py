"""What keeps runs apart: one at a time in a suite.

A run holds the lock for as long as its process lives, and writes down the processes that would
outlive it. The next run takes the lock and ends them by id, see leftovers.py.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import stat
from pathlib import Path
from typing import IO, Any

import psutil

from tollgate.base import atomic
from tollgate.base.paths import STATE

LOCK = STATE / "run.lock"
STARTED = STATE / "started.json"


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
        raise AlreadyRunning(under_way(owner)) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def under_way(owner: int | str) -> str:
    """Why a second run can't begin. owner: the pid of the first."""
    return (
        f"another run is under way in this suite (bzt with pid {owner}): "
        "wait for it, end it, or use a copy of the suite with other ports"
    )


def holder() -> int | None:
    """The pid of the run that is under way, found without touching the lock; None without one."""
    try:
        pid = int(LOCK.read_text())
        opened = [Path(each.path) for each in psutil.Process(pid).open_files()]
    except (OSError, ValueError, psutil.Error):
        return None
    return pid if LOCK in opened else None


def remember(pids: list[int], files: list[str]) -> None:
    """Write down the processes and files that the next run must end if this one can't."""
    entries: list[dict[str, Any]] = [{"file": file} for file in files]
    for pid in pids:
        try:
            entries.append({"pid": pid, "after_boot": _after_boot(psutil.Process(pid))})
        except psutil.NoSuchProcess:
            continue
    atomic.write(STARTED, json.dumps(entries))


def forget() -> None:
    """Nothing of this run is left."""
    STARTED.unlink(missing_ok=True)


def remembered() -> tuple[list[psutil.Process], list[Path]]:
    """The processes of the list that still live, and its files."""
    try:
        entries = json.loads(STARTED.read_text())
    except (OSError, ValueError):
        return [], []
    alive = []
    for entry in entries:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(entry["pid"]) if "pid" in entry else None
            # Not a later one of its number.
            if process and abs(_after_boot(process) - entry["after_boot"]) < 1:
                alive.append(process)
    return alive, [Path(entry["file"]) for entry in entries if "file" in entry]


def _after_boot(process: psutil.Process) -> float:
    """Seconds from the machine's boot to the process's start: unlike its time of day, no setting of
    the clock changes them."""
    return float(process.create_time() - psutil.boot_time())


def free_port(kind: socket.SocketKind) -> int:
    """A port of this machine that is free now: of TCP (SOCK_STREAM) or of UDP (SOCK_DGRAM)."""
    with socket.socket(type=kind) as candidate:
        candidate.bind(("", 0))
        return int(candidate.getsockname()[1])


def private_folder(folder: Path) -> Path:
    """Make it if need be, and return it: this user's, which no other can have put there. Raises
    OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    return folder
