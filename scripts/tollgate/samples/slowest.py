"""The slowest requests, one by one, each with the trace by which the service's own tracing finds
it."""
# ruff: noqa: S608 - every piece of SQL here is a number or a constant of this package.

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tollgate.samples.layout import Layout
from tollgate.samples.store import Store

#: Of each label, and of all.
OF_LABEL, MOST = 3, 20
_SLOW = """{{'elapsed_ms': elapsed_ms, 'before_ms': -start_ms, 'trace': trace,
    'test_start': test_start, 'ok': ok, 'code': code, 'side': {side}}}"""


@dataclass(frozen=True)
class SlowRequest:
    """start_ms: epoch milliseconds. trace: the id of its trace, empty where none was sent or its
    row does not show it. side: 0 for base, 1 for head, -1 where nothing is compared."""

    label: str
    elapsed_ms: int
    start_ms: int
    trace: str
    ok: bool
    code: str
    side: int


def trace_id(test_start_ms: int | None, drawn: int | None) -> str:
    """By a sample's columns; plan/added.jmx makes it of both. Empty where one is not known."""
    return "" if drawn is None or test_start_ms is None else f"000{test_start_ms}{drawn:016x}"


def side_sql(layout: Layout) -> str:
    """SQL for the side of a sample, as SlowRequest has it."""
    return "coalesce(TRY_CAST(coin AS INTEGER) % 2, -1)" if "coin" in layout else "-1"


def slowest(
    store: Store, from_ms: float, to_ms: float, parents: Collection[str]
) -> tuple[SlowRequest, ...]:
    """Those that were sent from one moment to another (epoch ms), the slowest first. parents:
    labels whose rows are requests although they look like transactions'."""
    slow = _SLOW.format(side=side_sql(store.layout))
    rows = store.rows(
        f"""SELECT label, slow.* FROM (
            SELECT label, unnest(max({slow}, {OF_LABEL})) AS slow FROM samples
            WHERE start_ms >= ? AND start_ms < ?
                AND (NOT is_transaction OR list_contains(?, label))
            GROUP BY label)
        ORDER BY slow DESC, label LIMIT {MOST}""",
        [from_ms, to_ms, list(parents)],
    )
    return tuple(
        SlowRequest(label, elapsed_ms, -before_ms, trace_id(test_start, trace), *rest)
        for label, elapsed_ms, before_ms, trace, test_start, *rest in rows
    )
