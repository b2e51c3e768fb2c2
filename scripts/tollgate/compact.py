"""Compacts the finished part of a JTL; a process of its own, started by the service `compaction`.

    python -m tollgate.compact kpi.jtl --until BYTE --piece-bytes N     while JMeter writes
    python -m tollgate.compact kpi.jtl --piece-bytes N --final          when it has ended

Nothing can be lost: a piece is written and compared with the bytes that it stands for, then its
name gets into the index, and only then are those bytes given back. Killed at any moment, what the
index names is in pieces, and everything after it is in the JTL.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb

from tollgate.compact_piece import RefusedError, record_end, write_piece
from tollgate.compact_punch import can_punch, punch
from tollgate.jtl_layout import JtlError, read_layout
from tollgate.jtl_pieces import Index, folder_of, read_index, sync_folder, write_index
from tollgate.jtl_source import part

#: Exit codes, beside 0. The reason is on standard error, in one line. FAILED: what may go well
#: another time, such as a disk that was full.
FAILED, REFUSED, CANNOT_PUNCH = 1, 3, 4


def compact(jtl: Path, until: int, size: int, punching: bool) -> None:
    """Moves [what is compacted already, until) to pieces made of `size` bytes of text each.

    punching gives the bytes back at once, for a file that JMeter still writes to. Raises
    RefusedError or JtlError at the first piece that has to stay text, OSError for faults of disks.
    """
    layout = read_layout(jtl)
    header = b"".join(part(jtl, 0, layout.header_bytes))
    index = read_index(jtl) or Index(header)
    if index.ended:
        return
    folder_of(jtl).mkdir(exist_ok=True)
    while until - index.end >= size:
        data = b"".join(part(jtl, index.end, index.end + size))
        data = data[: record_end(data)]
        if not data:
            raise RefusedError(f"no record ends within {size} bytes")
        number = len(index.pieces) + 1
        piece = write_piece(jtl, layout, header, number, index.end, data)
        index = replace(index, pieces=(*index.pieces, piece))
        write_index(jtl, index)
        if punching:
            punch(jtl, len(header), index.end)


def finish(jtl: Path) -> None:
    """Shortens the JTL of a run that has ended to its header and what is in no piece.

    Otherwise a copy of it would have gigabytes of zeros. The index tells both sizes beforehand, so
    that a reader knows at any moment which of the two files it sees.
    """
    index, size = read_index(jtl), jtl.stat().st_size
    if index is None or index.ended:
        return
    index = replace(index, ended=(size, len(index.header) + size - index.end))
    write_index(jtl, index)
    short = folder_of(jtl) / "tail.tmp"
    with short.open("wb") as file:
        file.write(index.header)
        file.writelines(part(jtl, index.end, size))
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(jtl, short)
    short.replace(jtl)
    sync_folder(jtl.parent)


def main() -> None:
    arguments = _parser().parse_args()
    try:
        code, reason = _run(arguments)
    except (OSError, duckdb.Error) as error:
        # Not finished either: what no index names is still in the JTL, zeros and all.
        code, reason = FAILED, next(iter(str(error).splitlines()), type(error).__name__)
    if code:
        print(reason, file=sys.stderr)
        sys.exit(code)


def _run(arguments: argparse.Namespace) -> tuple[int, str]:
    """Exit code and reason."""
    jtl, final = arguments.jtl, arguments.final
    until = jtl.stat().st_size if final else arguments.until
    if not final:
        os.nice(19)  # the load has the cores; compacting can wait
        problem = can_punch(jtl.parent)
        if problem:
            return CANNOT_PUNCH, problem
    code, reason = 0, ""
    try:
        compact(jtl, until, arguments.piece_bytes, punching=not final)
    except (RefusedError, JtlError) as error:
        code, reason = REFUSED, str(error)
    if final:
        finish(jtl)
    with suppress(OSError):
        folder_of(jtl).rmdir()  # which it can if not a single piece was made
    return code, reason


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tollgate.compact")
    parser.add_argument("jtl", type=Path)
    parser.add_argument("--piece-bytes", type=int, required=True)
    moment = parser.add_mutually_exclusive_group(required=True)
    moment.add_argument("--until", type=int, help="bytes of the JTL that nobody reads any more")
    moment.add_argument("--final", action="store_true", help="JMeter has ended")
    return parser


if __name__ == "__main__":
    main()
