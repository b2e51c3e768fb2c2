"""Until when each thread of a JTL sent, how often what, and how long it was silent in between."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from tollgate.samples.counts import transaction_sql
from tollgate.samples.layout import Layout, read_layout
from tollgate.samples.reading import column, database, read_into, text
from tollgate.samples.samples import number_sql, thread_group_sql


@dataclass(frozen=True)
class ThreadRows:
    """All samples of one label by one thread. number: the last one in the thread's name.
    last_end_ms: epoch milliseconds."""

    number: int
    label: str
    n: int
    last_end_ms: int


def thread_rows(
    path: str | Path, raw_parents: Collection[str], wanted: Callable[[str], bool]
) -> dict[str, tuple[ThreadRows, ...]] | None:
    """The names of all threads without their last number, each with the rows of its threads, if it
    is wanted: an Open Model Thread Group has a thread an arrival.

    raw_parents: labels of parent samples, which are samples as well, as they stand in the JTL.
    None where the JTL has no column threadName. Whatever read_jtl refuses raises the same JtlError.
    """
    layout = read_layout(path)
    if "threadName" not in layout:
        return None
    with database(path) as con:
        grouped = f"""
            SELECT name, number, label, is_transaction, sum(n)::BIGINT AS n,
                   max(end_ms) AS last_end, false AS wrong
            FROM ({_samples_sql(layout)}) GROUP BY ALL"""
        read_into(con, "threads", grouped, path, layout)
        con.execute(
            "DELETE FROM threads WHERE is_transaction AND NOT list_contains(?, label)",
            [list(raw_parents)],
        )
        raw = [name for (name,) in con.execute("SELECT DISTINCT name FROM threads").fetchall()]
        names = text(con, raw)
        return {
            name: _rows(con, raw_name) if wanted(name) else ()
            for name, raw_name in zip(names, raw, strict=True)
        }


def _rows(con, raw_name: str) -> tuple[ThreadRows, ...]:
    found = con.execute(
        "SELECT label, number, n, last_end FROM threads WHERE name = ?", [raw_name]
    ).fetchall()
    labels = text(con, [label for label, *_ in found])
    return tuple(
        ThreadRows(number, label, n, end)
        for label, (_, number, n, end) in zip(labels, found, strict=True)
    )


def longest_gaps(path: str | Path, raw_parents: Collection[str]) -> dict[str, float]:
    """By the name of its threads without their last number, how long one of them was silent at most
    between two of its samples, in seconds. raw_parents: as in thread_rows. Raises JtlError."""
    layout = read_layout(path)
    with database(path) as con:
        read_into(con, "samples", _samples_sql(layout), path, layout)
        found = con.execute(
            """SELECT name, max(start_ms - before_ms) FROM (
                SELECT name, start_ms, max(end_ms) OVER (
                    PARTITION BY name, number ORDER BY start_ms, end_ms
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ms
                FROM samples WHERE NOT is_transaction OR list_contains(?, label))
            WHERE before_ms IS NOT NULL GROUP BY name""",
            [list(raw_parents)],
        ).fetchall()
        names = text(con, [name for name, _ in found])
    return {name: max(0, gap) / 1000 for name, (_, gap) in zip(names, found, strict=True)}


def _samples_sql(layout: Layout) -> str:
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    return f"""
        SELECT {thread_group_sql(layout)} AS name, {number_sql(layout)} AS number,
               {column(layout, "label")} AS label, {transaction_sql(layout)} AS is_transaction,
               {start} AS start_ms, {start} + TRY_CAST({elapsed} AS BIGINT) AS end_ms,
               1 AS n, false AS wrong
        FROM {{jtl}}"""
