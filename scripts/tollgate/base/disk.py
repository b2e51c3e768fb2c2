"""Room on the disk: enough to begin a run, and kept back for the verdict of one that fills it."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path
from typing import TypeGuard

MIB = 1 << 20
#: What a run of seconds leaves, dashboards included, several times over.
LEAST = 32 * MIB
#: Below this a run ends: Taurus and JMeter still have to close their files.
LOW = 2 * MIB
#: The verdict in all its forms and the page of a long run.
KEPT = 4 * MIB
#: What keeps a file from growing where there is room: what is so in its folder, and what to do.
LIMITS = {
    errno.EDQUOT: ("the disk quota of this user is used up in", "remove files there or raise it"),
    errno.EFBIG: ("the limit of a file's size (ulimit -f) was reached in", "raise it"),
}


def free(folder: Path) -> int:
    """Bytes that this user may still write where the folder is, or is to be."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


class DiskReserve:
    """Room in a run's folder that nothing else takes, until it is given back for the verdict; a
    process that is killed gives it back as well. Raises OSError where there is not so much."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - open for as long as the run
        self._file.write(bytes(KEPT))
        self._file.flush()

    def give_back(self) -> None:
        """Let the run write there; a second call does nothing."""
        self._file.close()


def is_full(problem: BaseException | None) -> TypeGuard[OSError]:
    """Whether a disk without room, or a limit of what may be written, was the reason."""
    return isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, *LIMITS)


def full(folder: Path) -> str:
    """The one line on a run whose disk is full."""
    return f"the disk of {folder} is full ({free(folder) // MIB} MiB free): make room and run again"


def explained(problem: BaseException, folder: str | None) -> str | None:
    """One line that names the folder if nothing more could be written there, else None."""
    if not is_full(problem):
        return None
    if problem.errno not in LIMITS:
        return full(Path(folder or "."))
    what, step = LIMITS[problem.errno]
    return f"{what} {folder or '.'}: {step}, and run it again"
