"""One piece: whole records of a JTL to a Parquet file, which is proven to give the same bytes."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tollgate.jtl_groups import valid_sql
from tollgate.jtl_layout import NUMBERS, Layout
from tollgate.jtl_parquet import stored_sql, whole_sql
from tollgate.jtl_pieces import Piece, digest, folder_of
from tollgate.jtl_restore import newline_of, piece_text
from tollgate.jtl_source import as_utf8, csv_sql, linked, piped

#: A piece of 32 MiB needs some 240 MB with Python and the bytes themselves.
MEMORY_LIMIT = "200MB"
#: Version 2 packs numbers by their differences: some 15 % smaller than version 1.
_FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2"
#: Without these as whole numbers the row is none that JMeter writes.
_NUMBERS = ("timeStamp", "elapsed", *NUMBERS)


class RefusedError(Exception):
    """Why these bytes stay as they are, in one line."""


def record_end(data: bytes) -> int:
    """Length of data up to its last newline outside of quotes; 0 if there is none.

    data begins with a record; a quoted message may hold line breaks, and doubles its quotes.
    """
    end = data.rfind(b"\n") + 1
    odd = data.count(b'"', 0, end) % 2
    while odd:
        before = data.rfind(b"\n", 0, end - 1) + 1
        odd ^= data.count(b'"', before, end) % 2
        end = before
    return end


def write_piece(jtl: Path, layout: Layout, header: bytes, number: int, start: int, data: bytes):
    """Writes whole records, which stand at byte `start` of the JTL; the Piece for its index.

    Raises RefusedError for what is not a sample and for what would not be restored byte by byte.
    """
    path = folder_of(jtl) / f"{number:06}.parquet"
    growing = path.with_suffix(".parquet.tmp")
    encoding = "ascii" if data.isascii() else "latin-1"
    with _database(folder_of(jtl)) as con, linked(folder_of(jtl)) as folder:
        _load(con, layout, [header, data], encoding)
        rows, whole = _survey(con, layout)
        stored = stored_sql(layout, whole)
        con.execute(f"COPY (SELECT {stored} FROM piece) TO '{folder}/{growing.name}' ({_FORMAT})")
        con.execute("DROP TABLE piece")
        piece = Piece(
            file=growing.name,
            start=start,
            end=start + len(data),
            lines=data.count(b"\n"),
            rows=rows,
            sha256=digest(growing),
            text_sha256=hashlib.sha256(data).hexdigest(),
            encoding=encoding,
            whole=whole,
        )
        try:
            _prove(piece_text(con, folder, piece, layout, newline_of(header)), data)
        except RefusedError:
            growing.unlink()
            raise
    with growing.open("rb") as file:
        os.fsync(file.fileno())
    growing.replace(path)
    return Piece(**{**vars(piece), "file": path.name})


@contextmanager
def _database(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    # One thread, so that rows keep their order at no cost and one core is left alone.
    config = {"threads": 1, "memory_limit": MEMORY_LIMIT, "temp_directory": str(folder / "spill")}
    with duckdb.connect(config=config) as con:
        yield con


def _load(con, layout: Layout, chunks: list[bytes], encoding: str) -> None:
    try:
        with piped(as_utf8(chunks) if encoding == "latin-1" else chunks) as source:
            scan = csv_sql(source, layout, all_text=True)
            con.execute(f"CREATE TEMP TABLE piece AS SELECT * FROM {scan}")
    except (duckdb.IOException, duckdb.OutOfMemoryException):
        raise  # the machine's fault, and not that of the bytes
    except duckdb.Error as error:
        raise RefusedError(f"cannot be read: {str(error).splitlines()[0]}") from error


def _survey(con, layout: Layout) -> tuple[int, tuple[int, ...]]:
    """How many rows there are, and which columns are whole numbers; refuses what the final reading
    would refuse, so that it can name file, line and field in what is left as text."""
    answers = con.execute(f"SELECT {whole_sql(layout)} FROM piece").fetchone()
    whole = tuple(index for index, is_whole in enumerate(answers) if is_whole)
    start = f"TRY_CAST(c{layout.index('timeStamp')} AS BIGINT)"
    elapsed, success = (f"coalesce(c{layout.index(it)}, '')" for it in ("elapsed", "success"))
    names = " || ".join(f"coalesce(c{layout.index(it)}, '')" for it in ("label", "responseCode"))
    valid = f"{valid_sql(elapsed, success, start, start)} AND NOT contains({names}, chr(10))"
    rows, good = con.execute(f"SELECT count(*), count(*) FILTER ({valid}) FROM piece").fetchone()
    if good < rows:
        raise RefusedError(f"{rows - good} samples are none that JMeter writes")
    for name in _NUMBERS:
        if name in layout and layout.index(name) not in whole:
            raise RefusedError(f"{name} is not always a whole number")
    return rows, whole


def _prove(chunks: Iterator[bytes], data: bytes) -> None:
    at = 0
    for chunk in chunks:
        if not data.startswith(chunk, at):
            break
        at += len(chunk)
    if at != len(data):
        raise RefusedError(f"would not be restored as it was, from byte {at} on")
