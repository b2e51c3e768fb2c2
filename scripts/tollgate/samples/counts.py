"""The samples of a JTL as exact counts per (label, bin, elapsed, success, response code)."""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.store import Store, using
from tollgate.stats.bins import SECONDS, Bins
from tollgate.stats.counts import Counts
from tollgate.stats.totals import COLUMNS, SOURCES, Totals

# Columns that JMeter can leave out, and that some subjects of criteria need.
_OPTIONAL = ("responseMessage", "threadName", "bytes", "allThreads", "Latency", "Connect")


@dataclass(frozen=True)
class Label:
    """All samples of one sampler, or of one Transaction Controller."""

    name: str
    counts: Counts
    totals: Totals


@dataclass(frozen=True)
class Jtl:
    """A whole JTL. Seconds in `samplers` and `transactions` count from origin_ms.

    Times are epoch milliseconds. test_starts_ms is the first and last TESTSTART.MS: they differ
    if the file holds the samples of more than one JMeter, which follow no schedule together.
    cut_line is the line of a last record that a crash cut off and that is left out; None if the
    file is whole. missing_columns names those that JMeter could have written and that some subjects
    of criteria need.
    """

    path: str
    samplers: Mapping[str, Label]
    transactions: Mapping[str, Label]
    origin_ms: int
    rows: int
    first_start_ms: int
    last_start_ms: int
    last_end_ms: int
    threads_max: int
    test_starts_ms: tuple[int, int] | None
    cut_line: int | None
    missing_columns: tuple[str, ...]


def read_jtl(source: Store | str | Path, origin_ms: int | None = None, bins: Bins = SECONDS) -> Jtl:
    """Counts of all samples, in these bins; rows may stand in any order.

    Seconds count from origin_ms; by default that is JMeter's own start (TESTSTART.MS, where the
    JTL has it) or else the whole second of the first sample. Raises JtlError, whose one line
    names file, line, field and value, for anything that is not a CSV JTL with samples.
    """
    with using(source) as store:
        cut_line = store.cut.line if store.cut else None
        ((rows, first_start, last_start, last_end, threads, *starts),) = store.rows(
            """SELECT count(*), min(start_ms), max(start_ms), max(start_ms + elapsed_ms),
                      max(threads), min(test_start), max(test_start) FROM samples"""
        )
        if not rows and cut_line:
            problem = f"holds one sample, cut off in line {cut_line}, and no whole one"
            raise JtlError(store.path, problem, help_="see jmeter.log")
        if not rows:
            problem = "holds a header but no samples: JMeter sent nothing"
            raise JtlError(store.path, problem, help_="see jmeter.log")
        if origin_ms is None:
            origin_ms = peek_test_start(store.path, store.layout)
        if origin_ms is None:
            origin_ms = first_start // 1000 * 1000
        samplers, transactions = _labels(store, origin_ms, bins)
        return Jtl(
            path=str(store.path),
            samplers=samplers,
            transactions=transactions,
            origin_ms=origin_ms,
            rows=rows,
            first_start_ms=first_start,
            last_start_ms=last_start,
            last_end_ms=last_end,
            threads_max=threads,
            test_starts_ms=None if None in starts else tuple(starts),
            cut_line=cut_line,
            missing_columns=tuple(c for c in _OPTIONAL if c not in store.layout),
        )


def second_sql(origin_ms: int) -> str:
    """SQL for the whole second since origin_ms in which a sample began."""
    # The shift by a billion seconds makes the division round down for samples before the origin.
    return f"((start_ms - {origin_ms} + 1000000000000) // 1000 - 1000000000)"


def _labels(store: Store, origin_ms: int, bins: Bins) -> tuple[dict[str, Label], dict[str, Label]]:
    """Samplers and transactions by name."""
    lacking = {name for name, (source, _) in SOURCES.items() if source not in store.layout}
    store.execute(f"""CREATE OR REPLACE TEMP TABLE alike AS
        SELECT label, is_transaction, {bins.sql(second_sql(origin_ms))} AS second, elapsed_ms, ok,
               code, count(*) AS n, sum(latency_ms)::BIGINT AS latency_ms,
               sum(connect_ms)::BIGINT AS connect_ms, sum(bytes)::BIGINT AS bytes,
               max(threads) AS threads
        FROM samples GROUP BY ALL""")
    names, codes = (_number(store, column) for column in ("label", "code"))
    rows = store.columns("""
        SELECT labels.id AS label, is_transaction, second, elapsed_ms, ok, codes.id AS code, n
        FROM alike JOIN labels ON label = labels.name JOIN codes ON code = codes.name
        ORDER BY labels.id, is_transaction""")
    totals = store.columns("""
        SELECT labels.id AS label, is_transaction, second, sum(n)::BIGINT AS n,
               sum(latency_ms)::BIGINT AS latency_ms, sum(connect_ms)::BIGINT AS connect_ms,
               sum(bytes)::BIGINT AS bytes, max(threads) AS threads
        FROM alike JOIN labels ON label = labels.name
        GROUP BY ALL ORDER BY labels.id, is_transaction, second""")
    store.execute("DROP TABLE alike")
    counts = {
        (kind, label): Counts.of(**part, codes=codes, width=bins.width_s)
        for kind, label, part in _parts(rows)
    }
    labels: tuple[dict[str, Label], dict[str, Label]] = ({}, {})
    for kind, label, part in _parts(totals):
        sums: dict[str, Any] = {it: None if it in lacking else part[it] for it in COLUMNS}
        total = Totals(**sums, width=bins.width_s)
        labels[kind][names[label]] = Label(names[label], counts[kind, label], total)
    return labels


def _number(store: Store, column: str) -> tuple[str, ...]:
    """The texts of a column of `alike` in order of their numbers, which the table `labels` or
    `codes` gives.

    Strings by the million are not for Python."""
    store.execute(f"""CREATE OR REPLACE TEMP TABLE {column}s AS
        SELECT name, row_number() OVER (ORDER BY name) - 1 AS id
        FROM (SELECT DISTINCT {column} AS name FROM alike)""")
    return tuple(name for (name,) in store.rows(f"SELECT name FROM {column}s ORDER BY id"))


def _parts(rows: dict[str, np.ndarray]) -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
    """(is transaction, label's number, its other columns) of rows sorted by label and kind."""
    key = rows.pop("label") * 2 + rows.pop("is_transaction")
    bounds = [*np.flatnonzero(np.diff(key, prepend=-1)), len(key)]
    for low, high in itertools.pairwise(bounds):
        part = {name: np.asarray(column[low:high]) for name, column in rows.items()}
        yield int(key[low] % 2), int(key[low] // 2), part
