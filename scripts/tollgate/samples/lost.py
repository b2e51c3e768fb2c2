"""Requests that a service lost, by the windows of time in which it was not all there.

A request is lost if it got no answer from the service: its response code is no HTTP status (JMeter
writes `Non HTTP response code: ...` for a connection refused or reset, for a timeout, for silence),
or it is 502, 503 or 504, by which a proxy or balancer in front says the same (RFC 9110, 15.6.3 to
15.6.5). A wrong answer and a 500 are answers: they fail, and criteria see them, but they were not
lost.

A lost request is charged to one window of a kind: the last that had begun when it was sent, or else
the first that began while it waited. A client whose connection a crash closes knows of it before
PM2 does, which tells of the crash: what it lost up to a second before is charged to it too, and a
reload's beginning is our own. One that hung from a crash until its timeout would otherwise
count again for whatever happened meanwhile. Kinds are apart: a reload's worker may crash in it.
"""
# ruff: noqa: S608 - every piece of SQL here is a constant of this package.

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tollgate.samples.store import Store, using
from tollgate.workers.model import Reload, Resources, WorkerOutage

#: Milliseconds after a window in which a client may still find out what happened in it, and before
#: an outage in which it may have found out already.
GRACE_MS = 1000
_NO_ANSWER = "NOT regexp_full_match(code, '[1-5][0-9][0-9]') OR code IN ('502', '503', '504')"


def with_losses(
    resources: Resources,
    records: Sequence[Mapping[str, Any]],
    source: Store | str | Path,
    origin_ms: float,
    until_s: float = math.inf,
    parents: Collection[str] = (),
) -> Resources:
    """The same with the reloads that run.json records for the app, and how many requests were lost
    to each of them and to each outage. origin_ms: zero of the execution's seconds. until_s: when
    the load was cut short; JMeter broke off the requests that were under way then. parents: labels
    of parent samples, which are requests though they look like transactions.

    A reload that never ended, or an outage that nothing ended, goes on to the end of the JTL.
    """
    reloading = [(it["began"] * 1000, (it["ended"] or math.inf) * 1000) for it in records]
    out = [_window(it, origin_ms) for it in resources.outages]
    until_ms = origin_ms + until_s * 1000
    in_reloads, in_outages = count_lost(
        source, [reloading, out], until_ms, parents, early_ms=(0, GRACE_MS)
    )
    reloads = tuple(
        Reload((low - origin_ms) / 1000, (high - origin_ms) / 1000, lost, record["problem"])
        for record, (low, high), lost in zip(records, reloading, in_reloads, strict=True)
    )
    pairs = zip(resources.outages, in_outages, strict=True)
    outages = tuple(replace(outage, lost=lost) for outage, lost in pairs)
    return replace(resources, reloads=reloads, outages=outages)


def _window(outage: WorkerOutage, origin_ms: float) -> tuple[float, float]:
    """In whole milliseconds, as the watch took them: those of a request may be equal. A successor
    may be online before: a reload starts it first."""
    from_ms = origin_ms + round(outage.from_s * 1000)
    if outage.to_s is None:
        return from_ms, math.inf
    return from_ms, max(from_ms, origin_ms + round(outage.to_s * 1000))


def count_lost(
    source: Store | str | Path,
    kinds: Sequence[Sequence[tuple[float, float]]],
    until_ms: float = math.inf,
    parents: Collection[str] = (),
    early_ms: Sequence[float] = (0, 0),
) -> list[list[int]]:
    """How many requests of a JTL each window (from, to) of each kind lost, in epoch milliseconds;
    `to` may be infinite.

    A window may have lost a request if any of the time from its start to its end lies in
    [from - early, to + GRACE_MS] and it had ended by until_ms. parents: as in with_losses.
    early_ms: a kind, how long before a window a client may know of it.
    Raises JtlError.
    """
    rows = [
        (kind, number, low - early, low, high + GRACE_MS)
        for kind, (windows, early) in enumerate(zip(kinds, early_ms, strict=False))
        for number, (low, high) in enumerate(windows)
    ]
    lost = [[0] * len(windows) for windows in kinds]
    if not rows:
        return lost
    with using(source) as store:
        columns = "kind INTEGER, id INTEGER, early_ms DOUBLE, from_ms DOUBLE, to_ms DOUBLE"
        store.table("windows", columns, rows)
        charged = store.rows(
            f"""
            WITH requests AS (
                SELECT start_ms, start_ms + elapsed_ms AS end_ms, count(*) AS n FROM samples
                WHERE NOT ok AND (NOT is_transaction OR list_contains(?, label)) AND ({_NO_ANSWER})
                AND start_ms + elapsed_ms <= ?::DOUBLE
                GROUP BY ALL),
            charges AS (
                SELECT kind, n, arg_min(id, CASE WHEN from_ms <= start_ms
                    THEN (0, start_ms - from_ms) ELSE (1, from_ms - start_ms) END) AS id
                FROM windows JOIN requests ON start_ms <= to_ms AND end_ms >= early_ms
                GROUP BY kind, start_ms, end_ms, n)
            SELECT kind, id, sum(n)::BIGINT FROM charges GROUP BY kind, id""",
            [list(parents), until_ms],
        )
    for kind, number, requests in charged:
        lost[kind][number] = requests
    return lost
