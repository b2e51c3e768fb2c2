"""Single samples in the order they were sent, for joining them with a schedule."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tollgate.samples.counts import transaction_sql, valid_sql
from tollgate.samples.layout import Layout, read_layout
from tollgate.samples.reading import column, database, read_into, text


@dataclass(frozen=True)
class Samples:
    """One label's samples, sorted by start, then thread, elapsed and ok: never by file order.

    start_ms    int64: epoch milliseconds
    elapsed_ms  int64
    ok          bool
    group       int32: index into `groups`, the thread name without its last number
    number      int64: that number (`Search 1-17` is group `Search 1`, number 17); -1 if none
    """

    start_ms: np.ndarray
    elapsed_ms: np.ndarray
    ok: np.ndarray
    group: np.ndarray
    number: np.ndarray
    groups: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start_ms)

    @cached_property
    def thread(self) -> np.ndarray:
        """int64: equal for two samples if one thread sent both."""
        pairs = np.stack([self.group.astype(np.int64), self.number])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)

    @property
    def seen_groups(self) -> list[str]:
        """Those of `groups` that sent any of the samples."""
        return [self.groups[number] for number in np.unique(self.group).tolist()]

    def of_groups(self, names: Collection[str]) -> Samples:
        """Those that threads of these groups sent."""
        wanted = [number for number, name in enumerate(self.groups) if name in names]
        kept = np.isin(self.group, wanted)
        columns = ("start_ms", "elapsed_ms", "ok", "group", "number")
        return Samples(*(getattr(self, name)[kept] for name in columns), self.groups)


def read_samples(path: str | Path, labels: Iterable[str]) -> dict[str, Samples]:
    """Samples of the given samplers, Transaction Controllers' rows apart; some 40 bytes a sample.

    A label without samples gives empty arrays. A cut-off last record is left out, as by read_jtl,
    and whatever read_jtl refuses raises the same JtlError.
    """
    layout = read_layout(path)
    # Rows of transactions leave the table only after the scan: pushed down into it, DuckDB 1.5
    # breaks on bytes that are not UTF-8.
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    success = column(layout, "success")
    query = f"""
        SELECT {column(layout, "label")} AS label, {start} AS start_ms,
               TRY_CAST({elapsed} AS BIGINT) AS elapsed_ms, {success} = 'true' AS ok,
               {thread_group_sql(layout)} AS name,
               {number_sql(layout)} AS number,
               {transaction_sql(layout)} AS is_transaction, 1 AS n,
               NOT {valid_sql(elapsed, success, start, start)} AS wrong
        FROM {{jtl}}"""
    with database(path) as con:
        read_into(con, "samples", query, path, layout)
        con.execute("""CREATE TEMP TABLE names AS
            SELECT name, row_number() OVER (ORDER BY name) - 1 AS id
            FROM (SELECT DISTINCT name FROM samples)""")
        found = con.execute("SELECT name FROM names ORDER BY id").fetchall()
        groups = tuple(text(con, [name for (name,) in found]))
        raw = con.execute("SELECT DISTINCT label FROM samples").fetchall()
        raw = [name for (name,) in raw]
        raw_of = dict(zip(text(con, raw), raw, strict=True))
        return {label: _samples(con, raw_of.get(label), groups) for label in labels}


def thread_group_sql(layout: Layout) -> str:
    """SQL for a thread's name without the number at its end: the thread group's name and number.

    An Open Model Thread Group makes one thread an arrival: whole names could be as many as samples.
    """
    thread = column(layout, "threadName", "''")
    return f"regexp_replace({thread}, '-[0-9]+$', '')"


def number_sql(layout: Layout) -> str:
    """SQL for the number at the end of a thread's name, -1 if it has none."""
    # That number is a Java int.
    thread = column(layout, "threadName", "''")
    digits = f"regexp_extract({thread}, '-([0-9]+)$', 1)"
    return f"coalesce(TRY_CAST({digits} AS INTEGER), -1)"


def _samples(con, raw_label: str | None, groups: tuple[str, ...]) -> Samples:
    columns = con.execute(
        """SELECT start_ms, elapsed_ms, ok, id::INTEGER AS "group", number::BIGINT AS number
        FROM samples JOIN names USING (name) WHERE label = ? AND NOT is_transaction
        ORDER BY start_ms, id, number, elapsed_ms, ok""",
        [raw_label],
    ).fetchnumpy()
    return Samples(**{name: np.asarray(values) for name, values in columns.items()}, groups=groups)
