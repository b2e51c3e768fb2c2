"""Requests that never left JMeter, and answers that lead elsewhere, by label."""

from __future__ import annotations

from dataclasses import dataclass

from tollgate.samples.store import Store


@dataclass(frozen=True)
class UnsentRequests:
    """n of the requests of a label, of which there are `total`. exception: the first one's, without
    its package. url: the first one's, empty where the JTL has none."""

    label: str
    n: int
    total: int
    exception: str
    url: str


def read_unsent(store: Store) -> list[UnsentRequests]:
    """Those that the plan, its data or the names of hosts kept from being sent, the most first."""
    rows = store.rows("""
        SELECT label, count(unsent) AS n, count(*),
               arg_min(regexp_extract(code, '[A-Za-z]+$'), start_ms) FILTER (unsent IS NOT NULL),
               arg_min(unsent, start_ms) FILTER (unsent IS NOT NULL)
        FROM samples WHERE NOT is_transaction GROUP BY label HAVING n > 0 ORDER BY n DESC, label""")
    return [UnsentRequests(*row) for row in rows]


def read_redirects(store: Store) -> list[tuple[str, str, int]]:
    """(label, code, how many) of each label with answers 307 or 308."""
    return store.rows("""
        SELECT label, code, count(*) FROM samples WHERE code IN ('307', '308') AND ok
        GROUP BY ALL ORDER BY ALL""")
