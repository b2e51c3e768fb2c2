"""Requests that never left JMeter, or not as they were meant, and answers that lead elsewhere or
are accepted errors, by label."""

from __future__ import annotations

from tollgate.samples.store import Store


def read_unsent(store: Store) -> list[tuple[str, int, int, str, str]]:
    """(label, how many, of how many, the first one's exception without its package, its URL) of
    those that the plan, its data or the names of hosts kept from being sent, the most first. The
    URL is empty where the JTL has none."""
    return store.rows("""
        SELECT label, count(unsent) AS n, count(*),
               arg_min(regexp_extract(code, '[A-Za-z]+$'), start_ms) FILTER (unsent IS NOT NULL),
               arg_min(unsent, start_ms) FILTER (unsent IS NOT NULL)
        FROM samples WHERE NOT is_transaction GROUP BY label HAVING n > 0 ORDER BY n DESC, label""")


def read_redirects(store: Store) -> list[tuple[str, str, int]]:
    """(label, code, how many) of each label with answers 307 or 308."""
    return store.rows("""
        SELECT label, code, count(*) FROM samples WHERE code IN ('307', '308') AND ok
        GROUP BY ALL ORDER BY ALL""")


def read_accepted_errors(store: Store) -> list[tuple[str, str, int]]:
    """(label, code, how many) of errors of a server that the plan counts as successes."""
    return store.rows("""
        SELECT label, code, count(*) FROM samples
        WHERE ok AND NOT is_transaction AND regexp_full_match(code, '5[0-9][0-9]')
        GROUP BY ALL ORDER BY ALL""")


def read_messages(store: Store, begin: str) -> list[tuple[str, str | None, bool, int]]:
    """(label, message, whether it is a success, how many), Transaction Controllers' rows too.
    message: of an assertion that failed, where it begins with `begin`; else None."""
    return store.rows(
        """
        SELECT label, CASE WHEN starts_with(failure, ?) THEN failure END AS message, ok, count(*)
        FROM samples GROUP BY ALL ORDER BY ALL""",
        [begin],
    )


def read_most_threads(store: Store) -> int:
    """How many threads were under way at once, 0 where the JTL does not say."""
    ((most,),) = store.rows("SELECT max(threads) FROM samples")
    return most or 0
