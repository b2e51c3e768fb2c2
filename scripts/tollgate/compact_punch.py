"""Gives the disk blocks of a part of a file back, while the file keeps its size and its offsets."""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
from pathlib import Path

# linux/falloc.h: FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
_MODE = 0x01 | 0x02
#: The largest block that common file systems have: a hole within one block frees nothing.
_BLOCK = 65_536


def punch(path: Path, start: int, end: int) -> None:
    """Free the blocks that lie wholly within [start, end): they read as zeros from then on.

    Blocks that were freed before may be within. Raises OSError where the file system or the
    operating system has no such thing.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        block = os.fstat(descriptor).st_blksize
        low, high = -(-start // block) * block, end // block * block
        if low < high:
            _fallocate(descriptor, low, high - low)
    finally:
        os.close(descriptor)


def can_punch(folder: Path) -> str:
    """Why no hole can be punched in files of this folder; an empty string if it can be done.

    Raises OSError where it can't be tried, as on a full disk.
    """
    # Unbuffered: what a full disk refused would be written, and refused, again on closing.
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", buffering=0) as probe:
        probe.write(b"x" * 2 * _BLOCK)
        try:
            _fallocate(probe.fileno(), 0, _BLOCK)
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _fallocate(descriptor: int, offset: int, length: int) -> None:
    # Linux only, and Python's os has no fallocate.
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "fallocate64", None) or getattr(libc, "fallocate", None)
    if call is None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if call(descriptor, _MODE, offset, length):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
