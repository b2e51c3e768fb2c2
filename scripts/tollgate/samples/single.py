"""Single samples in the order in which they were sent, for joining them with a schedule: all of
some labels at once, or a batch at a time.

JMeter writes in the order of the answers, so that the store is nearly sorted and a batch reads
little more than its own rows. Rows of Transaction Controllers are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.samples.store import Store, using

# Samples in a batch, unless more than that started within one second: 20 MB with its copies.
BATCH = 250_000


@dataclass(frozen=True)
class Samples:
    """One label's samples, sorted by start, then thread, elapsed and ok: never by file order.

    start_ms    int64: epoch milliseconds
    elapsed_ms  int64
    ok          bool
    group       int32: index into `groups`, the thread name without its last number
    number      int64: that number (`Search 1-17` is group `Search 1`, number 17); -1 if none
    """

    start_ms: np.ndarray
    elapsed_ms: np.ndarray
    ok: np.ndarray
    group: np.ndarray
    number: np.ndarray
    groups: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start_ms)

    def of_groups(self, names: Collection[str]) -> Samples:
        """Those that threads of these groups sent."""
        places = [place for place, name in enumerate(self.groups) if name in names]
        kept = np.isin(self.group, places)
        return Samples(
            self.start_ms[kept],
            self.elapsed_ms[kept],
            self.ok[kept],
            self.group[kept],
            self.number[kept],
            self.groups,
        )


def read_samples(source: Store | str | Path, labels: Iterable[str]) -> dict[str, Samples]:
    """Samples of the given samplers; some 40 bytes a sample.

    A label without samples gives empty arrays. Raises JtlError.
    """
    with using(source) as store:
        store.execute("""CREATE OR REPLACE TEMP TABLE names AS
            SELECT name, (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id
            FROM (SELECT DISTINCT thread_group AS name FROM samples)""")
        groups = tuple(name for (name,) in store.rows("SELECT name FROM names ORDER BY id"))
        return {label: _samples(store, label, groups) for label in labels}


def _samples(store: Store, label: str, groups: tuple[str, ...]) -> Samples:
    columns = store.columns(
        """SELECT start_ms, elapsed_ms::BIGINT AS elapsed_ms, ok, id AS "group",
                  number::BIGINT AS number
        FROM samples JOIN names ON thread_group = name WHERE label = ? AND NOT is_transaction
        ORDER BY start_ms, id, number, elapsed_ms, ok""",
        [label],
    )
    return Samples(**columns, groups=groups)


@dataclass(frozen=True)
class Batch:
    """Samples sorted by start, then label, thread, elapsed and ok; arrays of equal length.

    start_ms: epoch milliseconds. label: index into the labels that were asked for. number: the
    last number of the thread's name, -1 if it has none.
    """

    start_ms: np.ndarray
    label: np.ndarray
    number: np.ndarray
    elapsed_ms: np.ndarray
    ok: np.ndarray


class SampleBatches:
    """Samples of some labels in order of time; can be gone through any number of times."""

    def __init__(
        self,
        store: Store,
        labels: Sequence[tuple[str, Collection[str] | None]],
        size: int | None = None,
    ) -> None:
        """labels: each with the names of the threads whose samples are taken, without their last
        number; None for all of them. size: of a batch, at most, by default BATCH, unless more
        samples than that started within one second."""
        self._store, self._size = store, size or BATCH
        rows = []
        for number, (label, threads) in enumerate(labels):
            rows += [(label, it, number) for it in ([None] if threads is None else threads)]
        store.table("wanted", "name VARCHAR, thread VARCHAR, id INTEGER", rows)
        self._from = """FROM samples JOIN wanted ON label = name
            AND (thread IS NULL OR thread_group = thread)
            WHERE NOT is_transaction"""

    def __iter__(self) -> Iterator[Batch]:
        """Batches in order of time; no sample starts before one of an earlier batch."""
        queries = (
            f"""SELECT start_ms, id AS label, number::BIGINT AS number,
                      elapsed_ms::BIGINT AS elapsed_ms, ok
            {self._from} AND start_ms >= {low} AND start_ms < {high}
            ORDER BY start_ms, id, number, elapsed_ms, ok"""
            for low, high in self._spans()
        )
        return (Batch(**columns) for columns in self._store.each(queries))

    def threads_outside(self, last: int) -> int:
        """How many threads have a number that is not within 1 and `last`."""
        ((count,),) = self._store.rows(
            f"SELECT count(DISTINCT number) {self._from} AND NOT number BETWEEN 1 AND {last}"
        )
        return int(count)

    def _spans(self) -> list[tuple[int, int]]:
        """[from, to) in epoch ms, whole seconds of at most `size` samples where that can be."""
        per_second = self._store.rows(
            f"""SELECT start_ms // 1000 AS second, count(*) {self._from}
            GROUP BY second ORDER BY second"""
        )
        spans: list[tuple[int, int]] = []
        held = 0
        for second, count in per_second:
            if spans and held + count <= self._size:
                spans[-1] = (spans[-1][0], (second + 1) * 1000)
                held += count
            else:
                spans.append((second * 1000, (second + 1) * 1000))
                held = count
        return spans
