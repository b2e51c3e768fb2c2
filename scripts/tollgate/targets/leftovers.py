"""Ends what a run that was killed has left.

The lock's list names it by id (lock.py). What PM2 started is not on that list, as it comes and
goes: it is known by its environment, see pm2.STARTED_FROM, also where the daemon was killed and its
apps live on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection

import psutil

from tollgate.base.paths import BASE, SUITE
from tollgate.targets import checkout, lock, pm2

#: Seconds between asking a left-over process to end and ending it.
GRACE = 10
#: Seconds that what ends by itself when PM2 has gone may take for that.
ON_ITS_WAY = 2
LOOK_AGAIN = 0.05


def clean_up() -> list[str]:
    """End and remove what a killed run left; returns a line for each thing. Needs the lock."""
    ended = []
    daemon = pm2.daemon_pid()
    if daemon is not None:
        ended += [f"ended PM2 (pid {daemon}), left by a run that was killed", *end_pm2()]
    processes, files = lock.remembered()
    left = _end([*processes, *_marked()])
    ended += [f"{line}, left by a run that was killed" for line in left]
    for file in files:
        file.unlink(missing_ok=True)
    try:
        if checkout.clear(BASE, SUITE):
            ended.append("removed the check-out of a base, left by a run that was killed")
    except checkout.PlaceError as problem:
        ended.append(f"the check-out of a base, left by a run that was killed: {problem}")
    lock.forget()
    pm2.forget()
    return ended


def end_pm2() -> list[str]:
    """Stop every app and the daemon, and end what outlives that: apps whose daemon was killed, what
    an app left behind, a daemon that does not answer. Returns a line for each. Needs the lock."""
    lines = []
    try:
        pm2.kill()
    except pm2.Pm2Error as problem:
        lines.append(str(problem))
    return lines + [f"{line}, which outlived PM2" for line in _end(_marked(), ON_ITS_WAY)]


def port_owner(port: int) -> str:
    """`pid 12 (node server.js)` for whatever listens on a TCP port, or has a connection from it, as
    far as this user may see."""
    with contextlib.suppress(psutil.Error, OSError):
        every = psutil.net_connections("tcp")
        for each in sorted(every, key=lambda socket: socket.status != psutil.CONN_LISTEN):
            # Without a pid it is of another user: Process(None) would be this one.
            if each.laddr and each.laddr.port == port and each.pid is not None:
                return _named(psutil.Process(each.pid))
    return f"a process of another user (see `sudo ss -tanp` or `sudo lsof -i :{port}`)"


def _marked() -> list[psutil.Process]:
    """What PM2 started from this suite, and what that started in its turn."""
    mark = pm2.started_from()
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # it has ended, or is another user's
            if process.environ().get(pm2.STARTED_FROM) == mark:
                found.append(process)
    return found


def _end(processes: Collection[psutil.Process], patience_s: float = 0) -> list[str]:
    """End them and what they started, but for what ends by itself meanwhile; a line for each."""
    left = _alive_after(patience_s, processes)
    names = {process: _named(process) for process in left}
    family = set(left)
    for process in left:
        with contextlib.suppress(psutil.Error):
            family.update(process.children(recursive=True))
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for process in family:
            with contextlib.suppress(psutil.Error):
                end(process)
        family = set(_alive_after(GRACE, family))
    return [f"{'could not end' if it in family else 'ended'} {name}" for it, name in names.items()]


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
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"pid {process.pid} ({' '.join(process.cmdline()).strip()[:80]})"
    except psutil.Error:
        return f"pid {process.pid}"
