"""Which thread groups sent the samples of a JTL, by the names of their threads."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from pathlib import Path

from tollgate.samples.layout import read_layout
from tollgate.samples.reading import database, read_into, text
from tollgate.samples.samples import thread_group_sql


def thread_groups(path: str | Path) -> tuple[str, ...] | None:
    """The names of all threads that left a row, a Transaction Controller's too, each without its
    last number and once. None where the JTL has no column threadName. Whatever read_jtl refuses
    raises the same JtlError."""
    layout = read_layout(path)
    if "threadName" not in layout:
        return None
    query = f"""
        SELECT {thread_group_sql(layout)} AS name, count(*) AS n, false AS wrong
        FROM {{jtl}} GROUP BY ALL"""
    with database(path) as con:
        read_into(con, "threads", query, path, layout)
        found = con.execute("SELECT name FROM threads ORDER BY name").fetchall()
        return tuple(text(con, [name for (name,) in found]))
