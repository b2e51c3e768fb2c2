"""One run at a time in a checkout, and nothing left of one that was killed.

A run holds a lock for as long as its process lives, and writes down the processes that would
outlive it. The next run takes the lock and ends, by id, what the dead one left. What PM2 started is
not written down, as it comes and goes: it is known by its environment, see pm2.STARTED_FROM, also
where the daemon was killed and its apps live on.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Collection
from pathlib import Path
from typing import IO

import psutil

from tollgate.base import BASE, ROOT, STATE, atomic
from tollgate.targets import place, pm2

LOCK = STATE / "run.lock"
STARTED = STATE / "started.json"
#: Seconds between asking a left-over process to end and ending it.
GRACE = 10
#: Seconds that what ends by itself when PM2 has gone may take for that.
ON_ITS_WAY = 2
LOOK_AGAIN = 0.05


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
        f"another run is under way in this checkout (bzt with pid {owner}): "
        "wait for it, end it, or use a second clone with other ports"
    )


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
            entries.append({"pid": pid, "after_boot": _after_boot(psutil.Process(pid))})
        except psutil.NoSuchProcess:
            continue
    atomic.write(STARTED, json.dumps(entries))


def forget() -> None:
    """Nothing of this run is left."""
    STARTED.unlink(missing_ok=True)


def clean_up() -> list[str]:
    """End and remove what a killed run left; returns a line for each thing. Needs the lock."""
    ended = []
    daemon = pm2.daemon_pid()
    if daemon is not None:
        ended += [f"ended PM2 (pid {daemon}), left by a run that was killed", *end_pm2()]
    left = [*_remembered(), *_marked()]
    ended += [f"{line}, left by a run that was killed" for line in _end(left)]
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


def end_pm2() -> list[str]:
    """Stop every app and the daemon, and end what outlives that: apps whose daemon was killed, what
    an app left behind, a daemon that does not answer. Returns a line for each. Needs the lock."""
    told = []
    try:
        pm2.kill()
    except pm2.Pm2Error as problem:
        told.append(str(problem))
    return told + [f"{line}, which outlived PM2" for line in _end(_marked(), ON_ITS_WAY)]


def port_owner(port: int) -> str:
    """`pid 12 (node server.js)` for whatever listens on a TCP port, or has a connection from it, as
    far as this user may see."""
    found: list[int] = []
    with contextlib.suppress(psutil.Error, OSError):
        of_port = [
            each
            for each in psutil.net_connections("tcp")
            # Without a pid it is of another user: Process(None) would be this one.
            if each.laddr and each.laddr.port == port and each.pid is not None
        ]
        of_port.sort(key=lambda each: each.status != psutil.CONN_LISTEN)
        found = [each.pid for each in of_port]
    for pid in found:
        with contextlib.suppress(psutil.Error):
            return _named(psutil.Process(pid))
    return (
        "a process of somebody else, which this user may not see "
        f"(`sudo ss -tanp` or `sudo lsof -i :{port}` names it)"
    )


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
            if abs(_after_boot(process) - entry["after_boot"]) < 1:  # not a later one of its number
                alive.append(process)
        except psutil.NoSuchProcess:
            continue
    return alive


def _after_boot(process: psutil.Process) -> float:
    """Seconds from the machine's boot to the process's start: unlike its time of day, no setting of
    the clock changes them."""
    return process.create_time() - psutil.boot_time()


def _marked() -> list[psutil.Process]:
    """What PM2 started from this checkout, and what that started in its turn."""
    mark = pm2.started_from()
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or is somebody else's
            if process.environ().get(pm2.STARTED_FROM) == mark:
                found.append(process)
    return found


def _end(processes: Collection[psutil.Process], patience_s: float = 0) -> list[str]:
    """End them and what they started, but for what ends by itself meanwhile; a line for each."""
    left = _alive_after(patience_s, processes)
    told = {process: _named(process) for process in left}
    family = set(left)
    for process in left:
        with contextlib.suppress(psutil.Error):
            family.update(process.children(recursive=True))
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in family:
            with contextlib.suppress(psutil.Error):
                end(process)
        family = set(_alive_after(GRACE, family))
    return [
        f"{'could not end' if process in family else 'ended'} {name}"
        for process, name in told.items()
    ]


def _alive_after(seconds: float, processes: Collection[psutil.Process]) -> list[psutil.Process]:
    """Those that still live after so long; returns as soon as none does."""
    deadline = time.monotonic() + seconds
    while left := [process for process in processes if _is_alive(process)]:
        if time.monotonic() > deadline:
            break
        time.sleep(LOOK_AGAIN)
    return left


def _is_alive(process: psutil.Process) -> bool:
    try:  # a zombie holds nothing, and waits for a parent that may never ask
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"pid {process.pid} ({' '.join(process.cmdline()).strip()[:80]})"
    except psutil.Error:
        return f"pid {process.pid}"
