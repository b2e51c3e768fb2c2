"""The text of a JTL as JMeter wrote it, byte by byte, also of what was compacted."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import duckdb

from tollgate.jtl_layout import JtlError, Layout, read_layout
from tollgate.jtl_parquet import line_sql
from tollgate.jtl_pieces import RESTORE_HELP, Piece, folder_of, read_index, tail_start
from tollgate.jtl_source import linked, parquet, part

#: Lines that are held in memory at a time.
LINES = 5_000


def restored(jtl: str | Path) -> Iterator[bytes]:
    """All of a JTL in order, header included, some megabytes at a time.

    Raises JtlError, after the bytes of a piece, if they are not those that JMeter wrote.
    """
    layout, index = read_layout(jtl), read_index(jtl)
    start = tail_start(jtl, index, layout.header_bytes)
    yield from part(jtl, 0, layout.header_bytes)
    if index:
        newline = newline_of(index.header)
        with linked(folder_of(jtl)) as folder, duckdb.connect(config={"threads": 1}) as con:
            for piece in index.pieces:
                yield from _checked(jtl, piece, piece_text(con, folder, piece, layout, newline))
    yield from part(jtl, start, Path(jtl).stat().st_size)


@contextmanager
def first_lines(jtl: str | Path) -> Iterator[TextIO]:
    """The JTL's text from its beginning, at least to the end of the first record."""
    if not read_index(jtl):
        with Path(jtl).open(encoding="utf-8", errors="replace", newline="") as file:
            yield file
        return
    chunks = restored(jtl)
    text = next(chunks) + next(chunks)
    chunks.close()
    yield io.StringIO(text.decode("utf-8", "replace"), newline="")


def piece_text(
    con: duckdb.DuckDBPyConnection, folder: str, piece: Piece, layout: Layout, newline: str
) -> Iterator[bytes]:
    """The bytes of a piece, LINES records at a time. con must keep the order of rows."""
    lines = con.execute(f"SELECT {line_sql(layout, piece.whole)} FROM {parquet(folder, [piece])}")
    while found := lines.fetchmany(LINES):
        yield "".join(line + newline for (line,) in found).encode("latin-1")


def newline_of(header: bytes) -> str:
    return "\r\n" if header.endswith(b"\r\n") else "\n"


def _checked(jtl: str | Path, piece: Piece, chunks: Iterator[bytes]) -> Iterator[bytes]:
    found, path = hashlib.sha256(), folder_of(jtl) / piece.file
    try:
        for chunk in chunks:
            found.update(chunk)
            yield chunk
    except (duckdb.Error, UnicodeEncodeError) as error:
        reason = str(error).splitlines()[0]
        raise JtlError(path, f"cannot be read: {reason}", help_=RESTORE_HELP) from error
    if found.hexdigest() != piece.text_sha256:
        problem = "does not hold the bytes that JMeter wrote"
        raise JtlError(path, problem, help_=RESTORE_HELP)
