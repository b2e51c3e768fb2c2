"""The samples of a JTL as typed columns, read from the CSV once.

    with open_store("kpi.jtl") as store:
        store.columns("SELECT label, count(*) AS n FROM samples GROUP BY label")

The table `samples` has the columns that reading.py names, in the order of the file. It stands in a
temporary Parquet file beside the JTL, or elsewhere where that folder can not be written, which is
gone with the store: what another process left there could hold other samples than the JTL.
"""
# ruff: noqa: S608 - every piece of SQL here is a path, a column's name or a constant.

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tollgate.base import disk
from tollgate.samples.check import Place
from tollgate.samples.layout import JtlError, Layout, read_layout
from tollgate.samples.reading import quoted, write_parquet

# Memory is DuckDB's limit plus its CSV buffers plus the result. Beyond it DuckDB spills to disk.
# With 200 MB it writes rows in order by a single thread, and takes twice as long.
MEMORY_LIMIT = "300MB"
THREADS = 2
_NAME = "samples.parquet"
#: DuckDB's RuntimeError in place of what a signal's handler raises.
_INTERRUPTED = "Query interrupted"


class Store:
    """The samples of one JTL. Transaction Controllers' rows are among them.

    path: of the JTL. cut: where a last record begins that a crash cut off and that is left out,
    None if the file is whole.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, path: str | Path, layout: Layout, cut: Place | None
    ) -> None:
        self._con, self.path, self.layout, self.cut = con, Path(path), layout, cut

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Carry out SQL, such as for a temporary table."""
        self._con.execute(sql, list(parameters))

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What a query finds, a tuple a row."""
        return self._con.execute(sql, list(parameters)).fetchall()

    def columns(self, sql: str, parameters: Sequence[object] = ()) -> dict[str, np.ndarray]:
        """What a query finds, an array a column, by the columns' names."""
        return _columns(self._con.execute(sql, list(parameters)))

    def each(self, queries: Iterable[str]) -> Iterator[dict[str, np.ndarray]]:
        """What each query finds, as `columns`; meanwhile the next one is already worked on. They
        see `samples` and what `table` made, but no temporary tables."""
        with self._con.cursor() as cursor, ThreadPoolExecutor(1) as ahead:
            queried: deque[Future[dict[str, np.ndarray]]] = deque()
            for query in queries:
                queried.append(ahead.submit(lambda sql: _columns(cursor.execute(sql)), query))
                if len(queried) > 1:
                    yield queried.popleft().result()
            yield from (each.result() for each in queried)

    @contextmanager
    def until(self, ended_ms: int, after_ms: int = 0) -> Iterator[None]:
        """Meanwhile the store has those samples alone that had ended by then, and after that (both
        epoch ms)."""
        self.execute("ALTER VIEW samples RENAME TO all_samples")
        self.execute(f"""CREATE VIEW samples AS SELECT * FROM all_samples
            WHERE start_ms + elapsed_ms > {after_ms} AND start_ms + elapsed_ms <= {ended_ms}""")
        try:
            yield
        finally:
            self.execute("DROP VIEW samples")
            self.execute("ALTER VIEW all_samples RENAME TO samples")

    def table(self, name: str, columns: str, rows: Sequence[Sequence[object]]) -> None:
        """Make a table of the store, which is gone with it; columns: each with its type."""
        self.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self._con.executemany(f"INSERT INTO {name} VALUES ({places})", [[*it] for it in rows])


def _columns(result: duckdb.DuckDBPyConnection) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in result.fetchnumpy().items()}


@contextmanager
def open_store(path: str | Path) -> Iterator[Store]:
    """The store of the JTL at path.

    Raises JtlError, whose one line names file, line, field and value, for anything that is not a
    CSV JTL, and for whatever DuckDB can't do.
    """
    path = Path(path)
    layout = read_layout(path)
    with ExitStack() as stack:
        con = stack.enter_context(database(path))
        file, cut = _made(con, path, layout, stack)
        con.execute(f"CREATE VIEW samples AS SELECT * FROM read_parquet({quoted(file)})")
        yield Store(con, path, layout, cut)


@contextmanager
def using(source: Store | str | Path) -> Iterator[Store]:
    """A store as it is, or that of the JTL at a path. Raises JtlError as open_store does."""
    if isinstance(source, Store):
        yield source
    else:
        with open_store(source) as store:
            yield store


@contextmanager
def database(path: str | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty in-memory database with bounded memory, for the JTL at path.

    Its spill folder is beside the JTL and is removed after use. Raises JtlError for whatever DuckDB
    can't do, and KeyboardInterrupt for a signal whose handler raises during a query.
    """
    with _folder(path) as spill:
        con = duckdb.connect(config={"temp_directory": spill, "memory_limit": MEMORY_LIMIT})
        try:
            con.execute(f"SET threads={THREADS}; SET preserve_insertion_order=false")
            yield con
        except duckdb.Error as error:
            raise _fault(path, spill, error) from error
        except RuntimeError as error:
            if str(error) != _INTERRUPTED:
                raise
            raise KeyboardInterrupt from error
        finally:
            con.close()


def _folder(path: str | Path) -> tempfile.TemporaryDirectory[str]:
    # Where there is room for the samples there mostly is room for a part of them; /tmp often is
    # memory, and small.
    try:
        return tempfile.TemporaryDirectory(prefix=".spill-", dir=Path(path).resolve().parent)
    except OSError:  # archived where writing is not allowed
        return tempfile.TemporaryDirectory(prefix="tollgate-")


def _made(
    con: duckdb.DuckDBPyConnection, path: Path, layout: Layout, stack: ExitStack
) -> tuple[Path, Place | None]:
    """The file of the samples, and the cut-off record of the JTL."""
    file = Path(stack.enter_context(_folder(path))) / _NAME
    try:
        return file, write_parquet(con, path, layout, file).cut
    except duckdb.Error as error:
        if not _is_of_disk(error):
            raise
        file = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tollgate-"))) / _NAME
        try:
            return file, write_parquet(con, path, layout, file).cut
        except duckdb.Error:
            raise error from None


def _fault(path: str | Path, spill: str, error: duckdb.Error) -> JtlError:
    if _is_of_disk(error):
        folder = Path(path).resolve().parent
        for code, (what, step) in disk.LIMITS.items():
            if os.strerror(code) in str(error):
                problem = f"cannot be read: {what} {folder}"
                return JtlError(path, problem, help_=f"{step}, and judge the run again")
        free = shutil.disk_usage(spill).free >> 20
        problem = f"reading it takes more disk than the {free} MiB that are free in {folder}"
        return JtlError(path, problem, help_="make room there and judge the run again")
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return JtlError(path, f"cannot be read: {reason}")


def _is_of_disk(error: duckdb.Error) -> bool:
    """Whether a disk is full: by itself or by DuckDB's own limit, which is a part of what was free
    when it began."""
    return any(name in str(error) for name in ("max_temp_directory_size", "duckdb_temp", _NAME))
