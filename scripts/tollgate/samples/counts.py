"""The SQL of read_jtl, and its answer as counts and sums per label."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tollgate.samples.check import EARLIEST_MS, LATEST_MS
from tollgate.samples.layout import Layout
from tollgate.samples.reading import column, text
from tollgate.stats import COLUMNS, SOURCES, Bins, Counts, Totals

# What JMeter's TransactionController puts into responseMessage, the only trace of its kind that
# every set of columns holds; with dataType on, that field is empty for a transaction.
TRANSACTION_MESSAGE = "Number of samples in transaction : "
_WHOLE = (
    *("rows", "second", "first_start", "last_start", "last_end"),
    *("threads", "test_start", "test_start_last"),
)
_WHOLE_SQL = """
    SELECT sum(n)::BIGINT, min(second), min(first_start), max(last_start),
           max(last_start + elapsed::BIGINT), max(threads), min(test_start), max(test_start_last)
    FROM groups"""


@dataclass(frozen=True)
class Label:
    """All samples of one sampler, or of one Transaction Controller."""

    name: str
    counts: Counts
    totals: Totals


def transaction_sql(layout: Layout) -> str:
    """SQL that is true for the row of a Transaction Controller."""
    message, kind = column(layout, "responseMessage", "''"), column(layout, "dataType", "''")
    return f"(starts_with({message}, '{TRANSACTION_MESSAGE}') AND {kind} = '')"


def valid_sql(elapsed: str, success: str, earliest: str, latest: str) -> str:
    """SQL that is true if these hold what JMeter writes; elapsed is text, the times are not."""
    return (
        f"(regexp_full_match({elapsed}, '[0-9]{{1,9}}') AND {success} IN ('true', 'false') AND "
        f"coalesce({earliest} >= {EARLIEST_MS} AND {latest} < {LATEST_MS}, false))"
    )


def first_byte_sql(layout: Layout) -> str:
    """SQL for the time to the first byte. JMeter writes 0 where no byte ever came, as at a timeout
    or a refused connection: the wait for it then was at least as long as the whole sample."""
    latency, elapsed = column(layout, "Latency", "0"), column(layout, "elapsed")
    success, code = column(layout, "success"), column(layout, "responseCode", "''")
    no_answer = f"{success} = 'false' AND NOT regexp_full_match({code}, '[1-5][0-9][0-9]')"
    return (
        f"CASE WHEN {latency} = 0 AND {no_answer} "
        f"THEN coalesce(TRY_CAST({elapsed} AS BIGINT), 0) ELSE {latency} END"
    )


def groups_sql(layout: Layout, origin_ms: int, bins: Bins) -> str:
    """SQL for a table of counts and sums per label, kind, bin, elapsed, success and code."""
    # elapsed stays text, so that it is checked once a group: DuckDB would round "5.7" to 6. The
    # shift by a billion seconds makes the division round down for samples before the origin.
    start = column(layout, "timeStamp")
    test_start = column(layout, "TESTSTART.MS", "NULL::BIGINT")
    second = f"(({start} - {origin_ms} + 1000000000000) // 1000 - 1000000000)"
    threads = column(layout, "allThreads", "NULL::BIGINT")
    columns = {
        "latency": first_byte_sql(layout),
        "connect": column(layout, "Connect", "0"),
        "bytes": column(layout, "bytes", "0"),
    }
    sums = ", ".join(
        f"coalesce(sum({sql}), 0)::BIGINT AS {alias}" for alias, sql in columns.items()
    )
    return f"""
        SELECT *, contains(label || code, chr(10))
                  OR NOT {valid_sql("elapsed", "success", "first_start", "last_start")} AS wrong
        FROM (SELECT {column(layout, "label")} AS label,
               {transaction_sql(layout)} AS is_transaction,
               {bins.sql(second)} AS second,
               {column(layout, "elapsed")} AS elapsed, {column(layout, "success")} AS success,
               {column(layout, "responseCode")} AS code, count(*) AS n, {sums},
               coalesce(max({threads}), 0) AS threads,
               min({start}) AS first_start, max({start}) AS last_start,
               min({test_start}) AS test_start, max({test_start}) AS test_start_last
        FROM {{jtl}} GROUP BY ALL)"""


def facts_of(con) -> dict[str, int | None]:
    """What the table of groups says about the whole file, under the names in _WHOLE."""
    return dict(zip(_WHOLE, con.execute(_WHOLE_SQL).fetchone(), strict=True))


def labels_of(
    con, layout: Layout, width: int
) -> tuple[dict[str, Label], dict[str, Label], dict[str, str]]:
    """Samplers and transactions by name, from the table of groups in bins of `width` seconds; and
    each name as it stands in the table."""
    lacking = {name for name, (source, _) in SOURCES.items() if source not in layout}
    (names, raw), (codes, _) = _number(con, "label"), _number(con, "code")
    rows = con.execute("""
        SELECT labels.id AS label, is_transaction, second, elapsed::BIGINT AS elapsed,
               success = 'true' AS ok, codes.id AS code, sum(n)::BIGINT AS n
        FROM groups JOIN labels ON groups.label = labels.name JOIN codes ON code = codes.name
        GROUP BY ALL ORDER BY labels.id, is_transaction""").fetchnumpy()
    totals = con.execute("""
        SELECT labels.id AS label, is_transaction, second, sum(n)::BIGINT AS n,
               sum(latency)::BIGINT AS latency_ms, sum(connect)::BIGINT AS connect_ms,
               sum(bytes)::BIGINT AS bytes, max(threads) AS threads
        FROM groups JOIN labels ON groups.label = labels.name
        GROUP BY ALL ORDER BY labels.id, is_transaction, second""").fetchnumpy()
    kinds: tuple[dict, dict] = ({}, {})
    for kind, label, part in _parts(rows):
        counts = Counts.of(
            *(part[name] for name in ("second", "elapsed", "ok", "code")),
            tuple(codes),
            part["n"],
            width,
        )
        kinds[kind][label] = counts
    for kind, label, part in _parts(totals):
        found = (None if name in lacking else part[name] for name in COLUMNS)
        totals_of = Totals(*found, width)
        kinds[kind][label] = Label(names[label], kinds[kind][label], totals_of)
    samplers, transactions = ({label.name: label for label in kind.values()} for kind in kinds)
    return samplers, transactions, dict(zip(names, raw, strict=True))


def _number(con, column_name: str) -> tuple[list[str], list[str]]:
    """(texts, raw texts) in order of their numbers.

    Gives each distinct text of a column a number: strings by the million are not for Python."""
    con.execute(f"""CREATE OR REPLACE TEMP TABLE {column_name}s AS
        SELECT name, row_number() OVER (ORDER BY name) - 1 AS id
        FROM (SELECT DISTINCT {column_name} AS name FROM groups)""")
    found = con.execute(f"SELECT name FROM {column_name}s ORDER BY id").fetchall()
    raw = [name for (name,) in found]
    return text(con, raw), raw


def _parts(rows: dict) -> Iterator[tuple[int, int, dict]]:
    """(is transaction, label's number, its columns) of rows sorted by label and kind."""
    key = rows["label"] * 2 + rows["is_transaction"]
    bounds = [*np.flatnonzero(np.diff(key, prepend=-1)), len(key)]
    for low, high in itertools.pairwise(bounds):
        part = {name: np.asarray(column[low:high]) for name, column in rows.items()}
        yield int(key[low] % 2), int(key[low] // 2), part
