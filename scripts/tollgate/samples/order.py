"""A JTL in the order in which JMeter wrote it, looked through for a clock that was set back.

JMeter writes a row when its sample has ended and all post-processors and assertions are done, and
only then does its thread go on. So a thread never begins a request before the end of any row that
stands in the file no later than its own last one: not with slow post-processors, think times,
garbage collection or a stopped machine. Where it does by the timestamps, the clock was set back.
Source: JMeter 5.6.3, JMeterThread.executeSamplePackage, ResultCollector.sampleOccurred.
"""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tollgate.samples.store import Store, using

Ints = NDArray[np.int64]

#: JMeter corrects its clock every five seconds, by some milliseconds.
TOLERANCE_MS = 1000
#: Rows that are looked at together: some 20 MB.
_TOGETHER = 500_000
# A Transaction Controller's row adds up those before it and begins with the first of them. A parent
# sample is a request like others, but its end leaves out the pauses in it.
_SAMPLE, _PARENT, _SUM = 0, 1, 2
# Rows in the order of the file; end_ms: 0 for those that add up others.
_ROWS = f"""
    SELECT start_ms, CASE WHEN kind = {_SUM} THEN 0 ELSE start_ms + elapsed_ms END AS end_ms, kind,
           thread
    FROM (SELECT start_ms, elapsed_ms, CASE WHEN thread_group <> '' OR number >= 0
                 THEN hash(thread_group, number) END AS thread,
                 CASE WHEN NOT is_transaction THEN {_SAMPLE}
                 WHEN list_contains(?, label) THEN {_PARENT} ELSE {_SUM} END::UTINYINT AS kind
          FROM samples)"""


@dataclass(frozen=True)
class Step:
    """A clock that was set back, by back_ms at least, when it had shown at_ms (epoch ms)."""

    at_ms: int
    back_ms: int


def step_back(source: Store | str | Path, parents: Collection[str] = ()) -> Step | None:
    """The largest step back of the clock that the order of the rows shows, None for none.

    parents: labels of parent samples. One pass over the samples; where a row is suspicious, 9 bytes
    of memory a row. Raises JtlError.
    """
    with using(source) as store:
        store.execute("SET preserve_insertion_order=true")
        is_suspect, is_sorted = _look(store, parents)
        if not is_suspect:
            return None
        store.execute(f"CREATE OR REPLACE TEMP TABLE in_order AS {_ROWS}", [list(parents)])
        # A file that was sorted by start says nothing of the order in which JMeter wrote
        # it: there each thread is only held to the end of its own last row.
        return _look_by_thread(store, _ends(store, running=not is_sorted))


def _look(store: Store, parents: Collection[str]) -> tuple[bool, bool]:
    """Whether any row begins so far before the end of rows that stand before it, that its thread
    has to be looked at, and whether all stand in the order of their starts."""
    # A window without an order goes through the rows as they stand in the file.
    ((is_suspect, is_sorted),) = store.rows(
        f"""SELECT bool_or(kind <> {_SUM} AND start_ms < latest_ms - {TOLERANCE_MS}),
               bool_and(start_ms >= begun_ms)
        FROM (SELECT kind, start_ms, lag(start_ms, 1, 0) OVER () AS begun_ms,
                     lag(latest_ms, 1, 0) OVER () AS latest_ms
              FROM (SELECT *, max(end_ms) OVER (
                        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest_ms
                    FROM ({_ROWS})))""",
        [list(parents)],
    )
    return bool(is_suspect), bool(is_sorted)


def _ends(store: Store, running: bool) -> Ints:
    """When each row ended; running: the latest end of the rows up to each one."""
    ends = np.zeros(_count(store), np.int64)
    for low, part in _parts(store):
        end = part["end_ms"]
        ends[low : low + len(end)] = (
            latest_ends(end, ends[low - 1] if low else 0) if running else end
        )
    return ends


def _look_by_thread(store: Store, ends: Ints) -> Step | None:
    """The step that threads prove."""
    steps = []
    shares = len(ends) // _TOGETHER + 1
    for share in range(shares):
        part = store.columns(
            f"""SELECT rowid AS row, start_ms, end_ms, thread FROM in_order
            WHERE thread % {shares} = {share} AND kind <> {_SUM} ORDER BY thread, row"""
        )
        row, start, end = (part[name] for name in ("row", "start_ms", "end_ms"))
        follows = has_successor(part["thread"])
        steps.append(proven_step(row, start, end, follows, ends))
    return largest(steps)


def _count(store: Store) -> int:
    ((count,),) = store.rows("SELECT count(*) FROM in_order")
    return count


def _parts(store: Store) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Rows in the order of the file, with the number of the first of each part."""
    for low in range(0, _count(store), _TOGETHER):
        found = store.columns(
            "SELECT end_ms FROM in_order WHERE rowid >= ? AND rowid < ?",
            [low, low + _TOGETHER],
        )
        yield low, found


def latest_ends(end_ms: Ints, before_ms: int) -> Ints:
    """The latest end of the rows up to each one, itself included; before_ms: of earlier ones."""
    return np.maximum(np.maximum.accumulate(end_ms), before_ms)


def has_successor(thread: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """For each row but the last, sorted by thread: whether the next is of the same thread."""
    return thread[1:] == thread[:-1]


def proven_step(
    row: Ints, start_ms: Ints, end_ms: Ints, follows: NDArray[np.bool_], latest_ms: Ints
) -> Step | None:
    """The largest step that threads prove, None for none.

    row: numbers of rows, sorted by thread and then by place in the file; follows: has_successor of
    them; latest_ms: latest_ends of all rows of the file, by number.
    """
    if len(row) < 2:
        return None
    due = latest_ms[row[:-1]]
    asked = follows & ~_is_part(start_ms, end_ms, follows)
    back = np.where(asked, due - start_ms[1:], 0)
    worst = int(np.argmax(back))
    return Step(int(due[worst]), int(back[worst])) if back[worst] > TOLERANCE_MS else None


def _is_part(start_ms: Ints, end_ms: Ints, follows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each row but the first: whether it is a part of an earlier one of its thread, such as an
    embedded resource, which JMeter writes behind the whole if it is set to save subresults."""
    thread = np.cumsum(np.append(False, ~follows))
    length = int(end_ms.max() - end_ms.min()) + 1
    # Threads one after another, so that none goes on below the ends of the one before it.
    ends = thread * length + (end_ms - end_ms.min())
    goes_on = np.diff(np.maximum.accumulate(ends), prepend=-1) > 0
    whole = np.maximum.accumulate(np.where(goes_on, np.arange(len(ends)), 0))[:-1]
    return (start_ms[1:] >= start_ms[whole]) & (end_ms[1:] <= end_ms[whole])


def early_step(due_ms: NDArray[np.float64], lateness_ms: NDArray[np.float64]) -> Step | None:
    """The largest step that arrivals of an open model prove, None for none: each thread begins
    when its arrival is due, in epoch ms, and none before."""
    if not len(due_ms):
        return None
    worst = int(np.argmin(lateness_ms))
    back_ms = -float(lateness_ms[worst])
    return Step(int(due_ms[worst]), int(back_ms)) if back_ms > TOLERANCE_MS else None


def largest(steps: Iterable[Step | None]) -> Step | None:
    """The one by which the clock was set back farthest, None if there is none."""
    return max((it for it in steps if it), key=lambda step: step.back_ms, default=None)
