"""A JTL in the order in which JMeter wrote it, looked through for a clock that was set back.

JMeter writes a row when its sample has ended and all post-processors and assertions are done, and
only then does its thread go on. So a thread never begins a request before the end of any row that
stands in the file no later than its own last one: not with slow post-processors, think times,
garbage collection or a stopped machine. Where it does by the timestamps, the clock was set back.
Source: JMeter 5.6.3, JMeterThread.executeSamplePackage, ResultCollector.sampleOccurred.
"""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.samples.store import Store, using
from tollgate.stats.arrays import Floats

#: JMeter corrects its clock every five seconds, by some milliseconds.
TOLERANCE_MS = 1000
# Rows in the order of the file: a window without an order goes through them as they stand there,
# but only right above the file, for what filters or joins them may hand them on in another order.
# A Transaction Controller's row (is_sum) adds up those before it and begins with the first
# of them: its end_ms is 0. A parent sample is a request like others, but its end leaves out the
# pauses in it. latest_ms: the latest end of the rows up to each one, itself included.
_IN_ORDER = """
    SELECT *, max(end_ms) OVER (
                  ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest_ms
    FROM (SELECT place, start_ms, is_sum,
                 CASE WHEN is_sum THEN 0 ELSE start_ms + elapsed_ms END AS end_ms,
                 CASE WHEN thread_group <> '' OR number >= 0
                 THEN hash(thread_group, number) END AS thread
          FROM (SELECT *, is_transaction AND NOT list_contains(?, label) AS is_sum
                FROM (SELECT *, row_number() OVER () AS place FROM samples)))"""


@dataclass(frozen=True)
class Step:
    """A clock that was set back, by back_ms at least, when it had shown at_ms (epoch ms)."""

    at_ms: int
    back_ms: int


def step_back(source: Store | str | Path, parents: Collection[str] = ()) -> Step | None:
    """The largest step back of the clock that the order of the rows shows, None for none.

    parents: labels of parent samples. One pass over the samples, and a second one by thread where a
    row is suspicious. Raises JtlError.
    """
    with using(source) as store:
        store.execute("SET preserve_insertion_order=true")
        ((is_suspect, is_sorted),) = store.rows(
            f"""SELECT bool_or(NOT is_sum AND start_ms < before_ms - {TOLERANCE_MS}),
                       bool_and(start_ms >= begun_ms)
            FROM (SELECT is_sum, start_ms, lag(start_ms, 1, 0) OVER in_file AS begun_ms,
                         lag(latest_ms, 1, 0) OVER in_file AS before_ms FROM ({_IN_ORDER})
                  WINDOW in_file AS (ORDER BY place))""",
            [list(parents)],
        )
        if not is_suspect:
            return None
        # A file that was sorted by start says nothing of the order in which JMeter wrote
        # it: there each thread is only held to the end of its own last row.
        due = "end_ms" if is_sorted else "latest_ms"
        # A part of an earlier row of its thread, such as an embedded resource, stands behind the
        # whole if JMeter is set to save subresults.
        steps = store.rows(
            f"""SELECT due_ms, due_ms - start_ms AS back_ms
            FROM (SELECT start_ms, end_ms, lag({due}) OVER in_thread AS due_ms,
                         max((end_ms, -start_ms)) OVER (
                             PARTITION BY thread ORDER BY place
                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS whole
                  FROM ({_IN_ORDER}) WHERE NOT is_sum AND thread IS NOT NULL
                  WINDOW in_thread AS (PARTITION BY thread ORDER BY place))
            WHERE back_ms > {TOLERANCE_MS} AND NOT (start_ms >= -whole[2] AND end_ms <= whole[1])
            ORDER BY back_ms DESC, due_ms LIMIT 1""",
            [list(parents)],
        )
        return Step(*steps[0]) if steps else None


def early_step(due_ms: Floats, lateness_ms: Floats) -> Step | None:
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
