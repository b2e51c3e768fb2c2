"""What the threads that waited for an answer at the end of a load had sent before."""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from tollgate.samples.counts import transaction_sql, valid_sql
from tollgate.samples.layout import read_layout
from tollgate.samples.reading import column, database, read_into, text
from tollgate.samples.samples import number_sql, thread_group_sql

#: A label, and whether a Transaction Controller left the row.
Key = tuple[str, bool]


@dataclass
class Sent:
    """What one thread left in the JTL; times in epoch milliseconds, None where it left nothing.

    first_ms, ended_ms: when its first row began and when its last one ended. answered_ms: when its
    last success came. counts: rows of each label until then. longest_ms: the longest success of all
    threads of its group, 0 without one. hung: (begin, end) of those requests after answered_ms
    that failed and took longer than that.
    """

    first_ms: int | None = None
    ended_ms: int | None = None
    answered_ms: int | None = None
    counts: dict[Key, int] = field(default_factory=dict)
    longest_ms: int = 0
    hung: list[tuple[int, int]] = field(default_factory=list)


def read_sent(
    path: str | Path, threads: Collection[str], parents: Collection[str]
) -> dict[str, Sent] | None:
    """What each of these threads left, by its name; None where the JTL has no names of threads.
    parents: labels of parent samples, as they stand in the JTL, which are requests though they look
    like transactions. Raises JtlError."""
    layout = read_layout(path)
    if "threadName" not in layout:
        return None
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    success = column(layout, "success")
    query = f"""
        SELECT {thread_group_sql(layout)} AS name, {number_sql(layout)} AS number,
               {column(layout, "label")} AS label, {transaction_sql(layout)} AS is_transaction,
               {success} = 'true' AS ok, {start} AS begins,
               {start} + TRY_CAST({elapsed} AS BIGINT) AS ends, 1 AS n,
               NOT {valid_sql(elapsed, success, start, start)} AS wrong
        FROM {{jtl}}"""
    with database(path) as con:
        read_into(con, "rows", query, path, layout)
        _pick(con, threads, parents)
        return _sent(con, threads)


def _pick(con, threads: Collection[str], parents: Collection[str]) -> None:
    """Make the table `mine`: the rows of the threads, by the place of each among them."""
    raw = [name for (name,) in con.execute("SELECT DISTINCT name FROM rows").fetchall()]
    raw_of = dict(zip(text(con, raw), raw, strict=True))
    con.execute("CREATE TEMP TABLE parents (label VARCHAR)")
    con.execute("CREATE TEMP TABLE wanted (place INTEGER, name VARCHAR, number BIGINT)")
    for label in parents:
        con.execute("INSERT INTO parents VALUES (?)", [label])
    for place, thread in enumerate(threads):
        name, _, number = thread.rpartition("-")
        number = int(number) if number.isdecimal() else -1
        con.execute("INSERT INTO wanted VALUES (?, ?, ?)", [place, raw_of.get(name), number])
    con.execute("""
        CREATE TEMP TABLE requests AS SELECT *,
            NOT is_transaction OR label IN (SELECT label FROM parents) AS is_request FROM rows""")
    con.execute("""
        CREATE TEMP TABLE mine AS
        WITH groups AS (SELECT name, max(ends - begins) FILTER (ok AND is_request) AS longest
                        FROM requests GROUP BY name)
        SELECT *, coalesce(longest, 0)::BIGINT AS longest_ms,
               coalesce(max(ends) FILTER (ok AND is_request) OVER (PARTITION BY place), 0)
               AS answered
        FROM requests JOIN wanted USING (name, number) JOIN groups USING (name)""")


def _sent(con, threads: Collection[str]) -> dict[str, Sent]:
    names = list(threads)
    found = {thread: Sent() for thread in names}
    for place, *times in con.execute("""
        SELECT place, min(begins), max(ends), nullif(any_value(answered), 0), any_value(longest_ms)
        FROM mine GROUP BY place""").fetchall():
        sent = found[names[place]]
        sent.first_ms, sent.ended_ms, sent.answered_ms, sent.longest_ms = times
    counted = con.execute("""
        SELECT place, label, is_transaction, count(*) FROM mine WHERE ends <= answered
        GROUP BY ALL ORDER BY ALL""").fetchall()
    labels = text(con, [label for _, label, *_ in counted])
    for label, (place, _, is_transaction, n) in zip(labels, counted, strict=True):
        found[names[place]].counts[label, is_transaction] = n
    for place, begins, ends in con.execute("""
        SELECT place, begins, ends FROM mine WHERE NOT ok AND is_request AND begins >= answered
        AND ends - begins > longest_ms ORDER BY ALL""").fetchall():
        found[names[place]].hung.append((begins, ends))
    return found
