"""Single samples of a JTL of any size, a batch at a time in the order in which they were sent.

The samples that are asked for go into a table of DuckDB's, some 20 bytes each, of which it holds no
more in memory than its limit; the rest is on disk until the reading is done. JMeter writes in the
order of the answers, so the table is nearly sorted and a batch reads little more than its own rows.
"""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.samples.counts import transaction_sql, valid_sql
from tollgate.samples.layout import Layout, read_layout
from tollgate.samples.reading import column, database, read_into
from tollgate.samples.samples import number_sql, thread_group_sql

# Samples in a batch, unless more than that started within one second: 20 MB with its copies.
BATCH = 250_000


@dataclass(frozen=True)
class Batch:
    """Samples sorted by start, then label, thread, elapsed and ok; arrays of equal length.

    start_ms: epoch milliseconds. label: index into the labels that were asked for. number: the
    last number of the thread's name, -1 if it has none.
    """

    start_ms: np.ndarray
    label: np.ndarray
    number: np.ndarray
    elapsed_ms: np.ndarray
    ok: np.ndarray

    def of_labels(self, labels: Sequence[int]) -> Batch:
        """Those of the samples that have one of these labels."""
        kept = np.isin(self.label, labels)
        return Batch(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


class SampleBatches:
    """The samples that `open_batches` found; can be gone through any number of times."""

    def __init__(self, con, size: int) -> None:
        self._con, self._size = con, size

    def __iter__(self) -> Iterator[Batch]:
        """Batches in order of time; no sample starts before one of an earlier batch."""
        for low, high in self._spans():
            columns = self._con.execute(
                """SELECT start_ms, label::INTEGER AS label, number::BIGINT AS number,
                          elapsed_ms::BIGINT AS elapsed_ms, ok
                FROM samples WHERE label >= 0 AND start_ms >= ? AND start_ms < ?
                ORDER BY start_ms, label, number, elapsed_ms, ok""",
                [low, high],
            ).fetchnumpy()
            yield Batch(*(np.asarray(columns[name]) for name in Batch.__dataclass_fields__))

    def threads_outside(self, labels: Sequence[int], last: int) -> int:
        """How many threads of these labels have a number that is not within 1 and `last`."""
        found = self._con.execute(
            """SELECT count(DISTINCT number) FROM samples
            WHERE list_contains(?, label) AND NOT number BETWEEN 1 AND ?""",
            [[int(label) for label in labels], last],
        ).fetchone()
        return found[0]

    def _spans(self) -> list[tuple[int, int]]:
        """[from, to) in epoch ms, whole seconds of at most `size` samples where that can be."""
        per_second = self._con.execute(
            """SELECT start_ms // 1000 AS second, count(*) AS n FROM samples WHERE label >= 0
            GROUP BY ALL ORDER BY second"""
        ).fetchnumpy()
        seconds = np.asarray(per_second["second"], dtype=np.int64)
        spans: list[tuple[int, int]] = []
        held = 0
        for second, count in zip(seconds.tolist(), per_second["n"].tolist(), strict=True):
            if spans and held + count <= self._size:
                spans[-1] = (spans[-1][0], (second + 1) * 1000)
                held += count
            else:
                spans.append((second * 1000, (second + 1) * 1000))
                held = count
        return spans


@contextmanager
def open_batches(
    path: str | Path,
    labels: Sequence[str],
    raw_labels: Mapping[str, str],
    size: int = BATCH,
    threads: Sequence[str] | None = None,
) -> Iterator[SampleBatches]:
    """The samples of these samplers, Transaction Controllers' rows apart.

    raw_labels: as read_jtl found them. threads: for each of the labels, which then may repeat, a
    raw name as read_threads found it; only samples of such threads are taken. A cut-off last record
    is left out, as by read_jtl, and whatever read_jtl refuses raises the same JtlError.
    """
    layout = read_layout(path)
    with database(path) as con:
        con.execute("CREATE TEMP TABLE wanted (name VARCHAR, thread VARCHAR, id SMALLINT)")
        pairs = zip(labels, threads or [None] * len(labels), strict=True)
        for number, (label, thread) in enumerate(pairs):
            if label in raw_labels:
                row = [raw_labels[label], thread, number]
                con.execute("INSERT INTO wanted VALUES (?, ?, ?)", row)
        query = _samples_sql(layout, by_thread=threads is not None)
        read_into(con, "samples", query, path, layout)
        yield SampleBatches(con, size)


def _samples_sql(layout: Layout, by_thread: bool) -> str:
    same_thread = f"AND {thread_group_sql(layout)} = wanted.thread" if by_thread else ""
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    success = column(layout, "success")
    # As narrow as can be: elapsed has at most nine digits, and a thread's number is a Java int.
    return f"""
        SELECT start_ms, label, number, TRY_CAST(elapsed AS INTEGER) AS elapsed_ms,
               success = 'true' AS ok, 1::UTINYINT AS n,
               NOT {valid_sql("elapsed", "success", "start_ms", "start_ms")} AS wrong
        FROM (SELECT {start} AS start_ms, {elapsed} AS elapsed, {success} AS success,
                     CASE WHEN {transaction_sql(layout)} THEN -1::SMALLINT ELSE coalesce(id, -1)
                     END AS label,
                     {number_sql(layout)} AS number
              FROM {{jtl}}
              LEFT JOIN wanted ON {column(layout, "label")} = wanted.name {same_thread})"""
