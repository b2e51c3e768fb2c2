"""Which threads sent each label of a JTL, by the names of their thread groups."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from tollgate.samples.counts import transaction_sql
from tollgate.samples.layout import read_layout
from tollgate.samples.reading import column, database, read_into, text
from tollgate.samples.samples import thread_group_sql


def read_threads(path: str | Path, labels: Collection[str]) -> dict[str, dict[str, str]]:
    """For each of these samplers the names of its threads without their last number, in order, as
    in Samples.groups; and to each name what open_batches asks for, which is the same where the file
    is UTF-8. One pass over the file. Raises JtlError.
    """
    layout = read_layout(path)
    query = f"""
        SELECT {column(layout, "label")} AS label, {thread_group_sql(layout)} AS thread,
               {transaction_sql(layout)} AS is_transaction, count(*) AS n, false AS wrong
        FROM {{jtl}} GROUP BY ALL"""
    with database(path) as con:
        read_into(con, "threads", query, path, layout)
        found = con.execute(
            "SELECT label, thread FROM threads WHERE NOT is_transaction ORDER BY label, thread"
        ).fetchall()
        names = text(con, [label for label, _ in found])
        threads = text(con, [thread for _, thread in found])
    by_label: dict[str, dict[str, str]] = {label: {} for label in labels}
    for label, thread, (_, raw) in zip(names, threads, found, strict=True):
        if label in by_label:
            by_label[label][thread] = raw
    return by_label
