"""What each thread of a JTL sent: which labels, until when, how long it was silent in between.

A thread group is named by its threads' names without their last number. Rows of Transaction
Controllers are no samples, but those of parent samples are, which look alike: `parents` are their
labels. All functions raise JtlError.
"""
# ruff: noqa: S608 - every piece of SQL here is a constant of this package.

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tollgate.samples.store import Store, using

#: A label, and whether a Transaction Controller left the row.
Key = tuple[str, bool]
_IS_SAMPLE = "(NOT is_transaction OR list_contains(?, label))"


@dataclass(frozen=True)
class Thread:
    """What came of one thread: samples by label, and when the last one ended, in seconds since the
    test began."""

    samples: Mapping[str, int]
    last_end_s: float


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


def thread_groups(source: Store | str | Path) -> tuple[str, ...] | None:
    """The names of all threads that left a row, a Transaction Controller's too, each without its
    last number and once. None where the JTL has no column threadName."""
    with using(source) as store:
        if "threadName" not in store.layout:
            return None
        found = store.rows("SELECT DISTINCT thread_group FROM samples ORDER BY thread_group")
        return tuple(name for (name,) in found)


def read_threads(store: Store) -> dict[str, list[str]]:
    """For each sampler the names of its threads without their last number, in order."""
    return dict(
        store.rows("""SELECT label, list(DISTINCT thread_group ORDER BY thread_group) FROM samples
            WHERE NOT is_transaction GROUP BY label""")
    )


def thread_samples(
    source: Store | str | Path,
    parents: Collection[str],
    is_included: Callable[[str], bool],
    origin_ms: int,
) -> dict[str, dict[int, Thread]] | None:
    """By the names of all threads without their last number, each thread by that number, if the
    name is included: an Open Model Thread Group has a thread an arrival. None where the JTL has no
    column threadName. origin_ms: when the test began."""
    with using(source) as store:
        if "threadName" not in store.layout:
            return None
        names = store.rows(
            f"SELECT DISTINCT thread_group FROM samples WHERE {_IS_SAMPLE}", [list(parents)]
        )
        return {
            name: _threads(store, parents, name, origin_ms) if is_included(name) else {}
            for (name,) in names
        }


def _threads(
    store: Store, parents: Collection[str], name: str, origin_ms: int
) -> dict[int, Thread]:
    found = store.rows(
        f"""SELECT number, map_from_entries(list((label, n))), max(end_ms) FROM (
            SELECT number, label, count(*) AS n, max(start_ms + elapsed_ms) AS end_ms FROM samples
            WHERE {_IS_SAMPLE} AND thread_group = ? GROUP BY number, label)
        GROUP BY number ORDER BY number""",
        [list(parents), name],
    )
    return {number: Thread(samples, (end - origin_ms) / 1000) for number, samples, end in found}


def longest_gaps(source: Store | str | Path, parents: Collection[str]) -> dict[str, float]:
    """By the name of its threads without their last number, how long one of them was silent at most
    between two of its samples, in seconds."""
    with using(source) as store:
        found = store.rows(
            f"""SELECT thread_group, max(start_ms - before_ms) FROM (
                SELECT thread_group, start_ms, max(start_ms + elapsed_ms) OVER (
                    PARTITION BY thread_group, number ORDER BY start_ms, start_ms + elapsed_ms
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ms
                FROM samples WHERE {_IS_SAMPLE})
            WHERE before_ms IS NOT NULL GROUP BY thread_group""",
            [list(parents)],
        )
    return {name: max(0, gap) / 1000 for name, gap in found}


def read_sent(
    source: Store | str | Path, threads: Collection[str], parents: Collection[str]
) -> dict[str, Sent] | None:
    """What each of these threads left, by its name; None where the JTL has no names of threads."""
    with using(source) as store:
        if "threadName" not in store.layout:
            return None
        _pick(store, threads, parents)
        return _sent(store, threads)


def _pick(store: Store, threads: Collection[str], parents: Collection[str]) -> None:
    """Make the table `mine`: the rows of the threads, by the place of each among them."""
    places = []
    for place, thread in enumerate(threads):
        name, _, number = thread.rpartition("-")
        places.append((place, name, int(number) if number.isdecimal() else -1))
    store.table("wanted", "place INTEGER, thread_group VARCHAR, number BIGINT", places)
    store.execute(
        f"""CREATE OR REPLACE TEMP TABLE mine AS
        WITH requests AS (
            SELECT thread_group, number, label, is_transaction, ok, start_ms AS begins,
                   start_ms + elapsed_ms AS ends, {_IS_SAMPLE} AS is_request FROM samples
            WHERE thread_group IN (SELECT thread_group FROM wanted)),
        groups AS (SELECT thread_group, max(ends - begins) FILTER (ok AND is_request) AS longest
                   FROM requests GROUP BY thread_group)
        SELECT *, coalesce(longest, 0)::BIGINT AS longest_ms,
               coalesce(max(ends) FILTER (ok AND is_request) OVER (PARTITION BY place), 0)
               AS answered
        FROM requests JOIN wanted USING (thread_group, number) JOIN groups USING (thread_group)""",
        [list(parents)],
    )


def _sent(store: Store, threads: Collection[str]) -> dict[str, Sent]:
    names = list(threads)
    sent_by = {thread: Sent() for thread in names}
    for place, *times in store.rows("""
        SELECT place, min(begins), max(ends), nullif(any_value(answered), 0), any_value(longest_ms)
        FROM mine GROUP BY place"""):
        sent = sent_by[names[place]]
        sent.first_ms, sent.ended_ms, sent.answered_ms, sent.longest_ms = times
    for place, label, is_transaction, n in store.rows("""
        SELECT place, label, is_transaction, count(*) FROM mine WHERE ends <= answered
        GROUP BY ALL ORDER BY ALL"""):
        sent_by[names[place]].counts[label, is_transaction] = n
    for place, begins, ends in store.rows("""
        SELECT place, begins, ends FROM mine WHERE NOT ok AND is_request AND begins >= answered
        AND ends - begins > longest_ms ORDER BY ALL"""):
        sent_by[names[place]].hung.append((begins, ends))
    return sent_by
