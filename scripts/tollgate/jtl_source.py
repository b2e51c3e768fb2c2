"""Paths that DuckDB can read a JTL and its pieces from, whatever their own paths are."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from tollgate.jtl_check import RECORD_BYTES
from tollgate.jtl_layout import Layout
from tollgate.jtl_parquet import BIGINTS, scanned_sql
from tollgate.jtl_pieces import CHUNK, Index, Piece, folder_of


@contextmanager
def opened(path: str | Path) -> Iterator[str]:
    """A path of the file by its descriptor: one with * or [ in it would be a pattern."""
    with Path(path).open("rb") as file:
        yield f"/dev/fd/{file.fileno()}"


@contextmanager
def piped(chunks: Iterable[bytes]) -> Iterator[str]:
    """A path that these bytes can be read from, once.

    A part of a file goes this way: a copy would need as much disk again, right after a crash that
    may have been a full disk.
    """
    outlet, inlet = os.pipe()
    feeder = threading.Thread(target=_feed, args=(chunks, inlet), daemon=True)
    feeder.start()
    try:
        yield f"/dev/fd/{outlet}"
    finally:
        os.close(outlet)
        feeder.join()


def part(path: str | Path, start: int, end: int) -> Iterator[bytes]:
    """Bytes [start, end) of a file."""
    with Path(path).open("rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(CHUNK, end - start))):
            yield chunk
            start += len(chunk)


def as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes of any kind as text in which each character stands for a byte; see jtl_scan.text.

    DuckDB's own `latin-1` refuses bytes 128 to 159.
    """
    return (chunk.decode("latin-1").encode() for chunk in chunks)


def csv_sql(source: str, layout: Layout, all_text: bool = False) -> str:
    """SQL for a table of the CSV at a path, numbers as BIGINT or all of it as text.

    The CSV must have its header: DuckDB takes the first line break for that of all lines, and in a
    record it might be one within a message.
    """
    # Columns go by position: DuckDB's names ignore case, and a header may hold any text.
    numbers = () if all_text else BIGINTS
    types = ["BIGINT" if name in numbers else "VARCHAR" for name in layout.columns]
    columns = ", ".join(f"'c{index}': '{kind}'" for index, kind in enumerate(types))
    # No new_line option: given "\\r\\n", DuckDB 1.5 and 2.0 read no row and say nothing.
    return (
        f"read_csv('{source}', auto_detect=false, header=true, delim='{layout.delimiter}', "
        f"quote='\"', escape='\"', columns={{{columns}}}, strict_mode=true, "
        f"null_padding=false, max_line_size={RECORD_BYTES}, encoding='utf-8')"
    )


@contextmanager
def piece_scans(
    jtl: str | Path, index: Index | None, layout: Layout, in_order: bool = False
) -> Iterator[list[str]]:
    """SELECTs that give the samples of all pieces with the columns of a CSV scan.

    One SELECT for all pieces that store the same columns as whole numbers, so that their number
    does not grow with that of the pieces; in_order: for all such that follow one another.
    """
    pieces = list(index.pieces if index else ())
    if not in_order:
        pieces.sort(key=_whole)
    with linked(folder_of(jtl)) as folder:
        yield [
            f"SELECT {scanned_sql(layout, whole)} FROM {parquet(folder, alike)}"
            for whole, alike in groupby(pieces, _whole)
        ]


def _whole(piece: Piece) -> tuple[int, ...]:
    return piece.whole


def parquet(folder: str, pieces: Iterable[Piece]) -> str:
    """SQL for a table of pieces in a folder that `linked` gave."""
    names = ", ".join(f"'{folder}/{piece.file}'" for piece in pieces)
    return f"read_parquet([{names}], hive_partitioning=false)"


@contextmanager
def linked(folder: Path) -> Iterator[str]:
    """A path of the folder without a character that means something to SQL or to a pattern."""
    with tempfile.TemporaryDirectory(prefix="tollgate-") as name:
        link = Path(name) / "pieces"
        link.symlink_to(folder.resolve())
        yield str(link).replace("'", "''")


def _feed(chunks: Iterable[bytes], inlet: int) -> None:
    try:
        with open(inlet, "wb") as pipe:
            for chunk in chunks:
                pipe.write(chunk)
    except BrokenPipeError:
        pass  # DuckDB stopped at an error and has already said so.
