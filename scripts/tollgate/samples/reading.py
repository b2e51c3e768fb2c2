"""One pass of DuckDB over a JTL, up to where the file is whole."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import codecs
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from tollgate.samples.check import DAMAGED_HELP, Cut, read_slowly
from tollgate.samples.layout import JtlError, Layout
from tollgate.samples.source import BIGINTS, as_utf8, csv_sql, first_bytes, opened, piped

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
    con, table: str, query: str, path: str | Path, layout: Layout, growing: bool = False
) -> Cut | None:
    """Creates a temporary table from the query FROM {jtl}; the cut-off last record, if any.

    {jtl} has the columns c0, c1, ... of the layout and all samples. The table has columns n
    (samples a row) and wrong (true where a value is none that JMeter writes). Text comes as raw
    bytes where the file is not UTF-8: see `text`. growing: JMeter may still write to the file; what
    it adds meanwhile is not read. A query without a join keeps the order of the file if the
    database has been set to preserve_insertion_order. Raises JtlError at the first line that is not
    a sample.
    """
    size = Path(path).stat().st_size
    whole = _survey(path, size)
    con.execute(f"CREATE OR REPLACE TEMP TABLE encoding AS SELECT '{whole.encoding}' AS name")
    while True:
        try:
            with _scan(path, layout, whole, None if growing else size) as scan:
                filled = query.replace("{jtl}", f"({scan})")
                con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {filled}")
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            cut = read_slowly(path, layout, whole.end).cut
            if cut is None:
                reason = str(error).splitlines()[0]
                problem = f"cannot be read: {reason}"
                raise JtlError(path, problem, help_=DAMAGED_HELP) from error
            whole = replace(whole, end=cut.offset, lines=cut.line - 2)
        else:
            _check(con, table, path, layout, whole)
            return None if whole.end == size else Cut(whole.lines + 2, whole.end)


def _check(con, table: str, path: str | Path, layout: Layout, whole: _Whole) -> None:
    """Refuses what DuckDB read but what JMeter does not write, and any row that DuckDB lost."""
    rows, wrong = con.execute(
        f"SELECT coalesce(sum(n), 0)::BIGINT, count(*) FILTER (wrong) FROM {table}"
    ).fetchone()
    if not wrong and rows == whole.lines:
        return
    # Quoted line breaks and blank lines get here too: right, but only the slow reading can tell.
    records = read_slowly(path, layout, whole.end).records
    if wrong or records != rows:
        problem = f"{rows} samples were read, {wrong} of them wrong, of {records} in the file"
        raise JtlError(path, problem, help_=DAMAGED_HELP)


def text(con, values: list[str]) -> list[str]:
    """Text columns as they were meant: bytes that are not UTF-8 appear as \\xff and the like."""
    if con.execute("SELECT name FROM encoding").fetchone()[0] == "utf-8":
        return values
    return [value.encode("latin-1").decode("utf-8", "backslashreplace") for value in values]


@contextmanager
def _scan(path: str | Path, layout: Layout, whole: _Whole, size: int | None) -> Iterator[str]:
    """A SELECT for the whole samples. size: the file's, None while it grows, for DuckDB reads a
    file to whatever has become its end."""
    if whole.end == size and whole.encoding == "utf-8":
        with opened(path) as name:
            yield f"SELECT * FROM {csv_sql(name, layout)}"
    else:
        chunks = first_bytes(path, whole.end)
        with piped(as_utf8(chunks) if whole.encoding == "latin-1" else chunks) as name:
            yield f"SELECT * FROM {csv_sql(name, layout)}"


@dataclass(frozen=True)
class _Whole:
    """The file up to byte `end`, behind its last newline, with which JMeter ends every line; lines:
    how many stand behind the header. encoding: `utf-8` or `latin-1`."""

    end: int
    lines: int
    encoding: str


def _survey(path: str | Path, size: int) -> _Whole:
    """Some 0.3 s per gigabyte, for two things that DuckDB does not tell: lines and encoding."""
    read, end, lines = 0, 0, -1
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    for chunk in first_bytes(path, size):
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
    return _Whole(end, lines, encoding)
