"""Paths that DuckDB can read a JTL from, whatever its own path is."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tollgate.samples.check import RECORD_BYTES
from tollgate.samples.layout import NUMBERS, Layout

#: Columns that a CSV scan gives as BIGINT.
BIGINTS = ("timeStamp", *NUMBERS)
#: Bytes that are read at a time.
_CHUNK = 1 << 20


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


def first_bytes(path: str | Path, count: int) -> Iterator[bytes]:
    """So many bytes of a file from its beginning, or all that it has."""
    with Path(path).open("rb") as file:
        while count and (chunk := file.read(min(_CHUNK, count))):
            yield chunk
            count -= len(chunk)


def as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Bytes of any kind as text in which each character stands for a byte; see jtl_scan.text.

    DuckDB's own `latin-1` refuses bytes 128 to 159.
    """
    return (chunk.decode("latin-1").encode() for chunk in chunks)


def csv_sql(source: str, layout: Layout) -> str:
    """SQL for a table of the CSV at a path, numbers as BIGINT.

    The CSV must have its header: DuckDB takes the first line break for that of all lines, and in a
    record it might be one within a message.
    """
    # Columns go by position: DuckDB's names ignore case, and a header may hold any text.
    types = ["BIGINT" if name in BIGINTS else "VARCHAR" for name in layout.columns]
    columns = ", ".join(f"'c{index}': '{kind}'" for index, kind in enumerate(types))
    # No new_line option: given "\\r\\n", DuckDB 1.5 and 2.0 read no row and say nothing.
    return (
        f"read_csv('{source}', auto_detect=false, header=true, delim='{layout.delimiter}', "
        f"quote='\"', escape='\"', columns={{{columns}}}, strict_mode=true, "
        f"null_padding=false, max_line_size={RECORD_BYTES}, encoding='utf-8')"
    )


def _feed(chunks: Iterable[bytes], inlet: int) -> None:
    try:
        with open(inlet, "wb") as pipe:
            for chunk in chunks:
                pipe.write(chunk)
    except BrokenPipeError:
        pass  # DuckDB stopped at an error and has already said so.
