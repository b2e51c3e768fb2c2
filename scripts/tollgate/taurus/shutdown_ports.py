"""UDP ports on which JMeters of this run may be told to end, and no other run's.

JMeter listens on a port for messages such as `Shutdown`, from whomever on the machine. So each run
keeps a block of ports to itself, by a lock in a folder that all checkouts of a user share; another
user's run that has the same block finds its ports taken and goes on to the next.
"""

from __future__ import annotations

import fcntl
import functools
import itertools
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

#: Above JMeter's own 4445 to 4455, and below those that systems give away by themselves.
FIRST, SIZE, BLOCKS = 24_000, 16, 400
#: JMeter listens on no port up to 1000.
NONE = 0


def take() -> int:
    """A port that is free now, another one each call as long as there are any; NONE where no block
    can be had. The block is this process's until it ends, however it ends."""
    try:
        ports, _lock = _reserved()
    except OSError:
        return NONE
    return next((port for port in itertools.islice(ports, SIZE) if _is_free(port)), NONE)


@functools.cache
def _reserved() -> tuple[Iterator[int], IO[str]]:
    """The block's ports, over and over, and its lock."""
    for block in range(BLOCKS):
        lock = (_folder() / f"shutdown-ports-{block}.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        first = FIRST + block * SIZE
        return itertools.cycle(range(first, first + SIZE)), lock
    raise OSError("all blocks of ports are in use")


def _folder() -> Path:
    """The user's own, which nobody else can have put there. Raises OSError."""
    folder = Path(tempfile.gettempdir()) / f"tollgate-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} is not a folder of this user's")
    return folder


def _is_free(port: int) -> bool:
    with socket.socket(type=socket.SOCK_DGRAM) as candidate:
        try:
            candidate.bind(("", port))
        except OSError:
            return False
    return True
