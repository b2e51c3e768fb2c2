"""Requests counted for those who ask for more than labels: comparison, study, forecast.

Rows of Transaction Controllers are left out, but for parent samples where they are asked for. All
functions raise JtlError.
"""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from tollgate.samples.counts import second_sql
from tollgate.samples.layout import JtlError
from tollgate.samples.reading import is_of_requests
from tollgate.samples.store import Store, using


def require(store: Store, names: Sequence[str], help_: str) -> None:
    """Raise JtlError for columns that the JTL does not have."""
    missing = [name for name in names if name not in store.layout]
    if missing:
        problem = f"the header has no column {', '.join(missing)}"
        raise JtlError(store.path, problem, line=1, help_=help_)


def last_start_ms(store: Store) -> int | None:
    """When the last row's sample began, in epoch ms; None without any."""
    last_ms: int | None
    ((last_ms,),) = store.rows("SELECT max(start_ms) FROM samples")
    return last_ms


def coin_counts(
    store: Store, origin_ms: int, by_thread: bool = False, of_answers: bool = False
) -> dict[str, np.ndarray]:
    """Columns label, coin, second (since origin_ms), elapsed_ms, ok, request, n: how many were
    alike. request: the URL without the server; '' where none is known. by_thread: adds the column
    thread, its name. of_answers: code and bytes in place of elapsed_ms."""
    measured = "code, bytes::BIGINT AS bytes" if of_answers else "elapsed_ms::BIGINT AS elapsed_ms"
    request = "request" if is_of_requests(store.layout) else "'' AS request"
    thread = "thread_group || ' ' || number AS thread," if by_thread else ""
    return store.columns(f"""
        SELECT label, coin, {thread} {second_sql(origin_ms)} AS second,
               {measured}, ok, {request}, count(*) AS n
        FROM samples WHERE NOT is_transaction GROUP BY ALL""")


def check_coins(store: Store, allowed: Sequence[str], help_: str) -> None:
    """Raise JtlError for the first sample that has none of these coins."""
    wrong = store.rows(
        """SELECT label, coin FROM samples WHERE NOT is_transaction AND NOT list_contains(?, coin)
        LIMIT 1""",
        [list(allowed)],
    )
    for label, coin in wrong:
        problem = f"neither {' nor '.join(allowed)}, so the side that answered {label!r} is unknown"
        raise JtlError(store.path, problem, field="coin", value=coin, help_=help_)


def block_spans(store: Store) -> list[tuple[str, str, int, int, int, int]]:
    """(block, label, threads, first start and last end in epoch ms, requests) of a study."""
    return store.rows("""
        SELECT block, label, count(DISTINCT (thread_group, number)), min(start_ms),
               max(start_ms + elapsed_ms), count(*)
        FROM samples WHERE NOT is_transaction GROUP BY block, label ORDER BY block, label""")


def window_counts(
    store: Store, windows: Sequence[tuple[int, float, float]], without: str
) -> dict[str, np.ndarray]:
    """Requests that ended in [from_ms, to_ms) of the window of their block in a study.

    windows: (block, from_ms, to_ms). without: a label that is left out. Columns number (of the
    block), elapsed, ok, server, worker ('' for none), n: how many were alike.
    """
    store.table("windows", "number INTEGER, from_ms DOUBLE, to_ms DOUBLE", windows)
    # JMeter writes `null` for a variable that has not been set yet.
    without_null = "CASE WHEN {0} = 'null' THEN '' ELSE {0} END AS {0}"
    names = ", ".join(map(without_null.format, ("server", "worker")))
    return store.columns(
        f"""SELECT windows.number AS number, elapsed_ms::BIGINT AS elapsed, ok, {names},
                  count(*) AS n
        FROM samples JOIN windows ON block = windows.number::VARCHAR
        WHERE start_ms + elapsed_ms >= from_ms AND start_ms + elapsed_ms < to_ms
              AND label <> ? AND NOT is_transaction
        GROUP BY ALL""",
        [without],
    )


def block_answers(store: Store, label: str, blocks: Sequence[int]) -> np.ndarray:
    """int[N, 4] of block, start_ms, elapsed_ms, failed: the samples of a label in these blocks of a
    study, ascending."""
    found = store.columns(
        """SELECT block, start_ms, elapsed_ms, failed FROM (
            SELECT TRY_CAST(block AS BIGINT) AS block, start_ms, elapsed_ms::BIGINT AS elapsed_ms,
                   (NOT ok)::BIGINT AS failed
            FROM samples WHERE label = ? AND NOT is_transaction)
        WHERE list_contains(?, block) ORDER BY ALL""",
        [label, [int(number) for number in blocks]],
    )
    return np.column_stack(list(found.values()))


def trial_answers(store: Store, trial: int, *, of_passes: bool = False) -> dict[str, np.ndarray]:
    """Columns arrival, start_ms, elapsed_ms, ok, free_ms (when the thread that sent it had its last
    answer, -inf before its first one) of one trial of a search for capacity; -1 for an arrival that
    is no number. of_passes: of parent samples in the place of requests."""
    return store.columns(
        """SELECT coalesce(TRY_CAST(arrival AS BIGINT), -1) AS arrival, start_ms,
                  elapsed_ms::BIGINT AS elapsed_ms, ok,
                  lag((start_ms + elapsed_ms)::DOUBLE, 1, '-infinity'::DOUBLE) OVER (
                      PARTITION BY number ORDER BY start_ms, arrival, elapsed_ms, ok) AS free_ms
        FROM samples WHERE trial = ? AND is_transaction = ? ORDER BY ALL""",
        [str(trial), of_passes],
    )


def step_counts(
    source: Store | str | Path,
    origin_ms: int,
    borders: Sequence[int],
    size: int,
    parents: Collection[str],
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """(label, a moment in milliseconds since the origin, how many) of groups of samples.

    A group has one label, lies in one piece of `size` ms from the first border on, and on one side
    of every border; so there are few of them, however long the run.
    """
    first, last = borders[0], borders[-1]
    # What lies before the first border is one piece, and so is what lies behind the last.
    piece = f"CASE WHEN at_ms < {first} THEN -1 WHEN at_ms >= {last} THEN -2 "
    piece += f"ELSE (at_ms - {first}) // {size} END"
    inside = {(border - first) // size for border in borders if (border - first) % size}
    split = ", ".join(map(str, sorted(inside))) or "NULL"
    with using(source) as store:
        groups = store.columns(
            f"""
            SELECT label, min(at_ms) AS at_ms, count(*) AS n
            FROM (SELECT label, at_ms, piece, CASE WHEN piece IN ({split}) THEN len(list_filter(
                      {[*borders]}, lambda border: border <= at_ms)) END AS side
                  FROM (SELECT label, at_ms, {piece} AS piece
                        FROM (SELECT label, start_ms - {origin_ms} AS at_ms FROM samples
                              WHERE NOT is_transaction OR list_contains(?, label))))
            GROUP BY label, piece, side ORDER BY at_ms, label""",
            [list(parents)],
        )
    return groups["label"].tolist(), groups["at_ms"], groups["n"]
