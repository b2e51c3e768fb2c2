"""The one reader of a JTL that JMeter still writes.

Everything that a run wants to know of its samples so far comes through the same reader, so that no
part of it has a row that another has not: interim decisions ask for the store of all samples,
listeners take each new piece once. A row is read when JMeter has written all of it.
"""
# ruff: noqa: S608 - every piece of SQL here is a path.

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tollgate.samples.check import Place
from tollgate.samples.layout import Layout, read_layout
from tollgate.samples.reading import quoted, write_parquet
from tollgate.samples.store import Store, database

#: So many parts of like size become one, so that a run of days has some dozens of them.
MERGED = 16

#: Takes the store of a new piece, which holds the rows of that piece alone.
Listener = Callable[[Store], None]


class Growing:
    """The samples of a JTL that JMeter still writes; each reading takes in what is new.

    keeps: whether `read` will be called; to be set before the first reading. rows: read so far.
    """

    def __init__(self, path: str | Path, keeps: bool = True) -> None:
        self.path, self.keeps = Path(path), keeps
        self._listeners: list[tuple[Listener, Callable[[Exception], None] | None]] = []
        self._forget()

    def _forget(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        # How often each part was merged, and its file, in the order of the JTL.
        self._parts: list[tuple[int, Path]] = []
        self._written = self.rows = self._size = 0
        self._begin: Place | None = None

    def listen(self, listener: Listener, failed: Callable[[Exception], None] | None = None) -> None:
        """Have it called with each piece from here on; before the first reading that is all.
        failed: is called with what the listener raises, which is then called no more: others need
        the same samples. Without it that is raised."""
        self._listeners.append((listener, failed))

    def advance(self) -> None:
        """Take in what is new, if there is anything. Raises JtlError as open_store does; what it
        raises for is met again by the next reading."""
        size = self.path.stat().st_size if self.path.is_file() else 0
        if size != self._size:
            with database(self.path) as con:
                self._take_in(con)
            self._size = size

    @contextmanager
    def read(self) -> Iterator[Store]:
        """The store of all samples that are whole by now. Raises JtlError as open_store does."""
        with database(self.path) as con:
            layout, cut = self._take_in(con)
            con.execute(f"CREATE OR REPLACE VIEW samples AS {_rows(it for _, it in self._parts)}")
            yield Store(con, self.path, layout, cut)

    def _take_in(self, con: duckdb.DuckDBPyConnection) -> tuple[Layout, Place | None]:
        """The layout, and where a last record begins that is not whole."""
        layout = read_layout(self.path)
        if self._begin and self.path.stat().st_size < self._begin.offset:
            self._forget()
        target = self._next_file()
        piece = write_parquet(con, self.path, layout, target, self._begin, grows=True)
        self._begin, self.rows = piece.end, self.rows + piece.rows
        # A first part without rows says which columns there are.
        is_kept = self.keeps and bool(piece.rows or not self._parts)
        if is_kept:
            self._parts.append((0, target))
        if piece.rows and self._listeners:
            con.execute(f"CREATE VIEW samples AS {_rows([target])}")
            for each in [*self._listeners]:
                self._tell(each, Store(con, self.path, layout, piece.cut))
        if is_kept:
            self._merge(con)
        else:
            target.unlink()
        return layout, piece.cut

    def _tell(self, each: tuple[Listener, Callable[[Exception], None] | None], new: Store) -> None:
        listener, failed = each
        try:
            listener(new)
        except Exception as problem:
            if failed is None:
                raise
            self._listeners.remove(each)
            failed(problem)

    def _next_file(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tollgate-")
        self._written += 1
        return Path(self._folder.name) / f"{self._written}.parquet"

    def _merge(self, con: duckdb.DuckDBPyConnection) -> None:
        """Have no more than a few parts of each level, so that each row is merged a few times."""
        while len(self._parts) >= MERGED:
            levels, files = zip(*self._parts[-MERGED:], strict=True)
            if len(set(levels)) > 1:
                return
            target = self._next_file()
            con.execute(f"COPY ({_rows(files)}) TO {quoted(target)}")  # in the order of the rows
            self._parts[-MERGED:] = [(levels[0] + 1, target)]
            for file in files:
                file.unlink()


def _rows(files: Iterable[Path]) -> str:
    """SQL for the rows of Parquet files."""
    return f"SELECT * FROM read_parquet([{', '.join(map(quoted, files))}])"
