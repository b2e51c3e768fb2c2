"""Failed requests by what JMeter said of them, and by second."""
# ruff: noqa: S608 - every piece of SQL here is a number.

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tollgate.samples.counts import second_sql
from tollgate.samples.layout import peek_test_start
from tollgate.samples.store import open_store

#: Kinds of failures: a service may make a message of its own of each.
MOST_KINDS = 100


@dataclass(frozen=True)
class FailedRequests:
    """n requests of a label that began in the same second since the execution's start, and failed
    alike. is_transaction: whether the rows look like those of a Transaction Controller. alike: what
    their messages have in common, which may differ in numbers. message: one of these, of the
    assertion, or else of the response."""

    label: str
    is_transaction: bool
    code: str
    alike: str
    message: str
    second: int
    n: int


def read_failures(path: Path, until_ms: int | None = None) -> list[FailedRequests]:
    """Those of a JTL, in order of time, of the MOST_KINDS that are most frequent. until_ms: up to
    when they have ended (epoch ms).

    Reads the whole file once more. Raises JtlError."""
    ended = "" if until_ms is None else f" AND start_ms + elapsed_ms <= {until_ms}"
    with open_store(path) as store:
        origin_ms = peek_test_start(store.path, store.layout)
        if origin_ms is None:
            ((first_ms,),) = store.rows("SELECT min(start_ms) FROM samples")
            origin_ms = (first_ms or 0) // 1000 * 1000  # as counts.py: read_jtl
        rows = store.rows(f"""
            WITH failed AS (
                SELECT label, is_transaction, code, {second_sql(origin_ms)} AS second,
                       coalesce(failure, '') AS message,
                       regexp_replace(message, '[0-9]+', '0', 'g') AS alike
                FROM samples WHERE NOT ok{ended}),
            most AS (
                SELECT label, is_transaction, code, alike, count(*) AS total
                FROM failed GROUP BY ALL ORDER BY total DESC, label, code, alike LIMIT {MOST_KINDS})
            SELECT label, is_transaction, code, alike, min(message), second, count(*)
            FROM failed JOIN most USING (label, is_transaction, code, alike)
            GROUP BY ALL ORDER BY second, label, alike""")
    return [FailedRequests(*row) for row in rows]
