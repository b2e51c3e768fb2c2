"""One pass of DuckDB over a JTL and its pieces, up to where the file is whole."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import codecs
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import duckdb

from tollgate.jtl_check import DAMAGED_HELP, Cut, Reading, read_slowly
from tollgate.jtl_layout import JtlError, Layout
from tollgate.jtl_parquet import BIGINTS
from tollgate.jtl_pieces import RESTORE_HELP, Index, read_index, tail_start
from tollgate.jtl_source import as_utf8, csv_sql, opened, part, piece_scans, piped

# Memory is DuckDB's limit plus its CSV buffers plus the result; with these, 10,000,000 rows of
# some 470,000 distinct counts peak at about 270 MB. Beyond the limit DuckDB spills to disk.
MEMORY_LIMIT = "200MB"
THREADS = 2


@contextmanager
def database(path: str | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty in-memory database with bounded memory, for the JTL at path.

    Its spill folder is beside the JTL and is removed after use. Raises JtlError for whatever DuckDB
    can't do.
    """
    with _spill_folder(path) as spill:
        con = duckdb.connect(config={"temp_directory": spill, "memory_limit": MEMORY_LIMIT})
        try:
            con.execute(f"SET threads={THREADS}; SET preserve_insertion_order=false")
            yield con
        except duckdb.Error as error:
            raise _fault(path, spill, error) from error
        finally:
            con.close()


def _spill_folder(path: str | Path) -> tempfile.TemporaryDirectory:
    # Where there is room for the samples there mostly is room for a part of them; /tmp often is
    # memory, and small.
    try:
        return tempfile.TemporaryDirectory(prefix=".spill-", dir=Path(path).resolve().parent)
    except OSError:  # a run that was archived where nobody may write
        return tempfile.TemporaryDirectory(prefix="tollgate-")


def _fault(path: str | Path, spill: str, error: duckdb.Error) -> JtlError:
    if _is_of_spill(error):
        folder, free = Path(spill).parent, shutil.disk_usage(spill).free >> 20
        problem = f"reading it takes more disk than the {free} MiB that are free in {folder}"
        return JtlError(path, problem, help_="make room there and judge the run again")
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return JtlError(path, f"cannot be read: {reason}")


def _is_of_spill(error: duckdb.Error) -> bool:
    """Whether the spill folder is full: by the disk or by DuckDB's own limit, which is a part of
    what was free when it began."""
    return any(name in str(error) for name in ("max_temp_directory_size", "duckdb_temp"))


def column(layout: Layout, name: str, otherwise: str = "NULL") -> str:
    """SQL for a column of the JTL; text that is empty is '' there, not NULL."""
    if name not in layout:
        return otherwise
    sql = f"c{layout.index(name)}"
    return sql if name in BIGINTS else f"coalesce({sql}, '')"


def read_into(
    con,
    table: str,
    query: str,
    path: str | Path,
    layout: Layout,
    growing: bool = False,
    in_order: bool = False,
) -> Cut | None:
    """Creates a temporary table from the query FROM {jtl}; the cut-off last record, if any.

    {jtl} has the columns c0, c1, ... of the layout and all samples, those of compacted pieces
    included. The table has columns n (samples a row) and wrong (true where a value is none that
    JMeter writes). Text comes as raw bytes where the file is not UTF-8: see `text`. growing: JMeter
    may still write to the file; what it adds meanwhile is not read. in_order: {jtl} gives the rows
    as they stand in the file, and a query without a join keeps them so if the database has been set
    to preserve_insertion_order. Raises JtlError at the first line that is not a sample.
    """
    index, size = read_index(path), Path(path).stat().st_size
    tail = _survey(path, layout, tail_start(path, index, layout.header_bytes), size)
    # Pieces that are not ASCII hold raw bytes, so all must.
    raw = "latin-1" in (tail.encoding, *(it.encoding for it in (index.pieces if index else ())))
    tail = replace(tail, encoding="latin-1" if raw else "utf-8")
    con.execute(f"CREATE OR REPLACE TEMP TABLE encoding AS SELECT '{tail.encoding}' AS name")
    with piece_scans(path, index, layout, in_order) as scans:
        while True:
            try:
                with _scan(path, layout, tail, None if growing else size) as scan:
                    jtl = f"({' UNION ALL '.join([*scans, scan] if scan else scans)})"
                    filled = query.replace("{jtl}", jtl)
                    con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {filled}")
            except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
                cut = _read_slowly(path, layout, index, tail).cut
                if cut is None:
                    reason = str(error).splitlines()[0]
                    problem = f"cannot be read: {reason}"
                    raise JtlError(path, problem, help_=DAMAGED_HELP) from error
                tail = replace(tail, end=cut.offset, lines=cut.line - 1 - _lines(index))
            except duckdb.IOException as error:
                if _is_of_spill(error):
                    raise
                reason = str(error).splitlines()[0]
                raise JtlError(path, f"cannot be read: {reason}", help_=RESTORE_HELP) from error
            else:
                _check(con, table, path, layout, index, tail)
                whole = tail.end == size
                return None if whole else Cut(_lines(index) + tail.lines + 1, tail.end)


def _lines(index: Index | None) -> int:
    """Lines that stand before the tail, header included."""
    return index.lines if index else 1


def _read_slowly(path: str | Path, layout: Layout, index: Index | None, tail: _Tail) -> Reading:
    return read_slowly(path, layout, tail.end, tail.start, _lines(index))


def _check(con, table: str, path, layout: Layout, index: Index | None, tail: _Tail) -> None:
    """Refuses what DuckDB read but what JMeter does not write, and any row that DuckDB lost."""
    rows, wrong = con.execute(
        f"SELECT coalesce(sum(n), 0)::BIGINT, count(*) FILTER (wrong) FROM {table}"
    ).fetchone()
    compacted = index.rows if index else 0
    if not wrong and rows == compacted + tail.lines:
        return
    # Quoted line breaks and blank lines get here too: right, but only the slow reading can tell.
    records = compacted + _read_slowly(path, layout, index, tail).records
    if wrong or records != rows:
        problem = f"{rows} samples were read, {wrong} of them wrong, of {records} in the file"
        raise JtlError(path, problem, help_=DAMAGED_HELP)


def text(con, values: list[str]) -> list[str]:
    """Text columns as they were meant: bytes that are not UTF-8 appear as \\xff and the like."""
    if con.execute("SELECT name FROM encoding").fetchone()[0] == "utf-8":
        return values
    return [value.encode("latin-1").decode("utf-8", "backslashreplace") for value in values]


@contextmanager
def _scan(path: str | Path, layout: Layout, tail: _Tail, size: int | None) -> Iterator[str]:
    """A SELECT for the samples of the tail; empty if all samples are in pieces. size: the file's,
    None while it grows, for DuckDB reads a file to whatever has become its end."""
    at_top = tail.start == layout.header_bytes
    if not at_top and tail.start == tail.end:
        yield ""
    elif at_top and tail.end == size and tail.encoding == "utf-8":
        with opened(path) as name:
            yield f"SELECT * FROM {csv_sql(name, layout)}"
    else:
        chunks = chain(part(path, 0, layout.header_bytes), part(path, tail.start, tail.end))
        with piped(as_utf8(chunks) if tail.encoding == "latin-1" else chunks) as name:
            yield f"SELECT * FROM {csv_sql(name, layout)}"


@dataclass(frozen=True)
class _Tail:
    """[start, end) of the file: samples that are in no piece, up to the last newline, with which
    JMeter ends every line."""

    start: int
    end: int
    lines: int
    encoding: str


def _survey(path: str | Path, layout: Layout, start: int, size: int) -> _Tail:
    """Some 0.3 s per gigabyte, for two things that DuckDB does not tell: lines and encoding."""
    begin = 0 if start == layout.header_bytes else start
    read, end, lines = begin, start, -1 if begin == 0 else 0
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    for chunk in part(path, begin, size):
        breaks = chunk.count(b"\n")
        lines += breaks
        end = read + chunk.rindex(b"\n") + 1 if breaks else end
        read += len(chunk)
        try:
            if not chunk.isascii() or decoder.getstate()[0]:
                decoder.decode(chunk)
        except UnicodeDecodeError:
            encoding = "latin-1"
            decoder.reset()
    return _Tail(start, end, lines, encoding)
