"""A JTL in the order in which JMeter wrote it, looked through for a clock that was set back."""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from tollgate.samples.counts import transaction_sql
from tollgate.samples.layout import Layout, read_layout
from tollgate.samples.order import (
    TOLERANCE_MS,
    Ints,
    Step,
    has_successor,
    is_suspicious,
    largest,
    latest_ends,
    proven_step,
    unexplained_step,
)
from tollgate.samples.reading import column, database, read_into

#: Rows that are looked at together: some 20 MB.
_TOGETHER = 500_000
# A Transaction Controller's row adds up those before it and begins with the first of them. A parent
# sample is a request like others, but its end leaves out the pauses in it.
_SAMPLE, _PARENT, _SUM = 0, 1, 2


def step_back(path: str | Path, parents: Collection[str] = ()) -> Step | None:
    """The largest step back of the clock that the order of the rows shows, None for none.

    parents: labels of parent samples, as they stand in the JTL. For files that read_jtl has read:
    it has checked the values. One pass over the file; where a row is suspicious, 9 bytes of memory
    a row besides. Raises JtlError.
    """
    layout = read_layout(path)
    with database(path) as con:
        con.execute("SET preserve_insertion_order=true")
        read_into(con, "rows", _rows_sql(con, layout, parents), path, layout)
        is_suspect, is_sorted = _look(con)
        if not is_suspect:
            return None
        # A file that somebody has sorted by start tells nothing of the order in which JMeter wrote
        # it: there each thread is only held to the end of its own last row.
        ends = _ends(con, running=not is_sorted)
        step, is_last = _look_by_thread(con, ends)
        return step if step or is_sorted else _look_at_last_rows(con, ends, is_last)


def _rows_sql(con, layout: Layout, parents: Collection[str]) -> str:
    """SQL for a table of all rows in the order of the file. thread: a number for its name, NULL if
    the file has none."""
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    thread = column(layout, "threadName", "''")
    # As numbers, so that no label needs quoting; and a join would not keep the order.
    hashes = [str(con.execute("SELECT hash(?)", [it]).fetchone()[0]) for it in parents] or ["NULL"]
    parent = f"coalesce(hash({column(layout, 'label')}) IN ({', '.join(hashes)}), false)"
    return f"""
        SELECT {start} AS start_ms, coalesce(TRY_CAST({elapsed} AS INTEGER), 0) AS elapsed_ms,
               CASE WHEN NOT {transaction_sql(layout)} THEN {_SAMPLE} WHEN {parent} THEN {_PARENT}
               ELSE {_SUM} END::UTINYINT AS kind,
               CASE WHEN {thread} <> '' THEN hash({thread}) END AS thread,
               1::UTINYINT AS n, false AS wrong
        FROM {{jtl}}"""


def _look(con) -> tuple[bool, bool]:
    """Whether any row is suspicious, and whether all stand in the order of their starts."""
    is_suspect, is_sorted, latest, begun = False, True, 0, 0
    for _, part in _parts(con):
        is_row, start = part["kind"] != _SUM, part["start_ms"]
        before = np.append(latest, latest_ends(_end(part), latest))
        is_suspect = is_suspect or is_suspicious(start[is_row], before[:-1][is_row])
        is_sorted = is_sorted and bool(np.all(np.diff(start, prepend=begun) >= 0))
        latest, begun = int(before[-1]), int(start[-1])
    return is_suspect, is_sorted


def _ends(con, running: bool) -> Ints:
    """When each row ended; running: the latest end of the rows up to each one."""
    ends = np.zeros(_count(con), np.int64)
    for low, part in _parts(con):
        end = _end(part)
        ends[low : low + len(end)] = (
            latest_ends(end, ends[low - 1] if low else 0) if running else end
        )
    return ends


def _look_by_thread(con, ends: Ints) -> tuple[Step | None, np.ndarray]:
    """The step that threads prove, and which rows are the last of theirs, or of none."""
    is_last = np.ones(len(ends), bool)
    steps = []
    shares = len(ends) // _TOGETHER + 1
    for share in range(shares):
        part = con.execute(
            f"""SELECT rowid AS row, start_ms, start_ms + elapsed_ms AS end_ms, thread FROM rows
            WHERE thread % {shares} = {share} AND kind <> {_SUM} ORDER BY thread, row"""
        ).fetchnumpy()
        row, start, end = (np.asarray(part[name]) for name in ("row", "start_ms", "end_ms"))
        follows = has_successor(np.asarray(part["thread"]))
        is_last[row[:-1][follows]] = False
        steps.append(proven_step(row, start, end, follows, ends))
    return largest(steps), is_last


def _look_at_last_rows(con, ends: Ints, is_last: np.ndarray) -> Step | None:
    """The step that rows show which no later row of their thread vouches for."""
    found: list[tuple[Ints, Ints, Ints]] = []
    counted = 0
    for low, part in _parts(con):
        end = _end(part)
        here = is_last[low : low + len(end)] & (part["kind"] == _SAMPLE)
        earlier = np.append(ends[low - 1] if low else 0, ends[low : low + len(end) - 1])
        place = counted + np.cumsum(here) - 1
        behind = here & (earlier - end > TOLERANCE_MS)
        found.append((place[behind], end[behind], (earlier - end)[behind]))
        counted += int(np.count_nonzero(here))
    return unexplained_step(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _count(con) -> int:
    return con.execute("SELECT count(*) FROM rows").fetchone()[0]


def _parts(con) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Rows in the order of the file, with the number of the first of each part."""
    for low in range(0, _count(con), _TOGETHER):
        found = con.execute(
            """SELECT start_ms, elapsed_ms::BIGINT AS elapsed_ms, kind FROM rows
            WHERE rowid >= ? AND rowid < ?""",
            [low, low + _TOGETHER],
        ).fetchnumpy()
        yield low, {name: np.asarray(values) for name, values in found.items()}


def _end(part: dict[str, np.ndarray]) -> Ints:
    """When each row ended; never for those that add up others."""
    return np.where(part["kind"] == _SUM, 0, part["start_ms"] + part["elapsed_ms"])
