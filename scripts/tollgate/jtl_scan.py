"""One pass of DuckDB over a JTL, up to where the file is whole."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import codecs
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from tollgate.jtl_check import DAMAGED_HELP, RECORD_BYTES, Cut, read_slowly
from tollgate.jtl_layout import NUMBERS, JtlError, Layout

# Memory is DuckDB's limit plus its CSV buffers plus the result; with these, 10,000,000 rows of
# some 470,000 distinct counts peak at about 270 MB. Beyond the limit DuckDB spills to disk.
MEMORY_LIMIT = "200MB"
THREADS = 2
CHUNK = 1 << 20


@contextmanager
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty in-memory database with bounded memory, whose spill folder is removed after use."""
    with tempfile.TemporaryDirectory(prefix="tollgate-") as spill:
        con = duckdb.connect(config={"temp_directory": spill, "memory_limit": MEMORY_LIMIT})
        try:
            con.execute(f"SET threads={THREADS}; SET preserve_insertion_order=false")
            yield con
        finally:
            con.close()


def column(layout: Layout, name: str, otherwise: str = "NULL") -> str:
    """SQL for a column of the JTL; text that is empty is '' there, not NULL."""
    if name not in layout:
        return otherwise
    sql = f"c{layout.index(name)}"
    return sql if name in ("timeStamp", *NUMBERS) else f"coalesce({sql}, '')"


def read_into(con, table: str, query: str, path: str | Path, layout: Layout) -> Cut | None:
    """Creates a temporary table from the query FROM {jtl}; the cut-off last record, if any.

    The table has columns n (samples a row) and wrong (true where a value is none that JMeter
    writes). Text comes as raw bytes where the file is not UTF-8: see `text`. Raises JtlError at
    the first line that is not a sample.
    """
    size = Path(path).stat().st_size
    survey = _survey(path, size)
    con.execute(f"CREATE OR REPLACE TEMP TABLE encoding AS SELECT '{survey.encoding}' AS name")
    while True:
        try:
            with _source(path, survey.end if survey.end < size else None) as source:
                filled = query.replace("{jtl}", _scan_sql(source, layout, survey.encoding))
                con.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {filled}")
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            cut = read_slowly(path, layout, survey.end).cut
            if cut is None:
                reason = str(error).splitlines()[0]
                raise JtlError(path, f"cannot be read: {reason}", help_=DAMAGED_HELP) from error
            survey = _Survey(cut.offset, cut.line - 1, survey.encoding)
        else:
            _check(con, table, path, layout, survey)
            whole = survey.end == size
            return None if whole else Cut(survey.lines + 1, survey.end)


def _check(con, table: str, path: str | Path, layout: Layout, survey: _Survey) -> None:
    """Refuses what DuckDB read but what JMeter does not write, and any row that DuckDB lost."""
    rows, wrong = con.execute(
        f"SELECT coalesce(sum(n), 0)::BIGINT, count(*) FILTER (wrong) FROM {table}"
    ).fetchone()
    if not wrong and rows + 1 == survey.lines:
        return
    # Quoted line breaks and blank lines get here too: right, but only the slow reading can tell.
    records = read_slowly(path, layout, survey.end).records
    if wrong or records != rows:
        problem = f"{rows} samples were read, {wrong} of them wrong, of {records} in the file"
        raise JtlError(path, problem, help_=DAMAGED_HELP)


def text(con, values: list[str]) -> list[str]:
    """Text columns as they were meant: bytes that are not UTF-8 appear as \\xff and the like."""
    if con.execute("SELECT name FROM encoding").fetchone()[0] == "utf-8":
        return values
    return [value.encode("latin-1").decode("utf-8", "backslashreplace") for value in values]


def _scan_sql(source: str, layout: Layout, encoding: str) -> str:
    # Columns go by position: DuckDB's names ignore case, and a header may hold any text.
    types = ["BIGINT" if name in ("timeStamp", *NUMBERS) else "VARCHAR" for name in layout.columns]
    columns = ", ".join(f"'c{index}': '{kind}'" for index, kind in enumerate(types))
    # No new_line option: given "\\r\\n", DuckDB 1.5 and 2.0 read no row and say nothing.
    return (
        f"read_csv('{source}', auto_detect=false, header=true, delim='{layout.delimiter}', "
        f"quote='\"', escape='\"', columns={{{columns}}}, strict_mode=true, "
        f"null_padding=false, max_line_size={RECORD_BYTES}, encoding='{encoding}')"
    )


@contextmanager
def _source(path: str | Path, end: int | None) -> Iterator[str]:
    """A path that DuckDB reads the file's first `end` bytes from, or all of it.

    By descriptor, because a path with * or [ in it would be a pattern. A part of a file goes
    through a pipe: a copy would need as much disk again, right after a crash that may have been
    a full disk.
    """
    if end is None:
        with Path(path).open("rb") as file:
            yield f"/dev/fd/{file.fileno()}"
        return
    outlet, inlet = os.pipe()
    feeder = threading.Thread(target=_feed, args=(path, end, inlet), daemon=True)
    feeder.start()
    try:
        yield f"/dev/fd/{outlet}"
    finally:
        os.close(outlet)
        feeder.join()


def _feed(path: str | Path, end: int, inlet: int) -> None:
    try:
        with Path(path).open("rb") as file, open(inlet, "wb") as pipe:
            while end > 0 and (chunk := file.read(min(CHUNK, end))):
                pipe.write(chunk)
                end -= len(chunk)
    except BrokenPipeError:
        pass  # DuckDB stopped at an error and has already said so.


@dataclass(frozen=True)
class _Survey:
    """The file up to `end`, where the last newline stands: JMeter ends every line with one."""

    end: int
    lines: int
    encoding: str


def _survey(path: str | Path, size: int) -> _Survey:
    """Some 0.3 s per gigabyte, for two things that DuckDB does not tell: lines and encoding."""
    read = end = lines = 0
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    with Path(path).open("rb") as file:
        while chunk := file.read(min(CHUNK, size - read)):
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
    return _Survey(end, lines, encoding)
