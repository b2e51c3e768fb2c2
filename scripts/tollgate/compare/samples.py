"""The samples of a comparison, also while JMeter still writes them, to blocks of base and head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.compare.model import Blocks, Requests, Side
from tollgate.compare.unlike import LabelAnswers
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.requests import check_coins, coin_counts, last_start_ms, require
from tollgate.samples.store import Store, using

#: Which of the two an arrival went to, and to which of its processes: side + 2 * process.
COIN = "coin"
BASE, HEAD = 0, 1
#: Columns that plans/compare.jmx adds to those that JMeter always writes.
EXTRA_COLUMNS = ("TESTSTART.MS", COIN)
_NO_SAMPLES = "holds no whole sample that says when JMeter started"
_HELP = (
    f"was this run of plans/compare.jmx? {COIN} must be a variable of the plan that is {BASE} for "
    f"base and {HEAD} for head, 2 and 3 for their second processes and so on, before any sample is "
    "sent"
)


@dataclass(frozen=True, eq=False)
class Compared:
    """blocks: of one second each, for each label asked for in that order. seconds: how many of them
    are whole, for a sample was sent later; at most the budget. origin_ms: JMeter's start in epoch
    milliseconds, a warm-up before the first block.
    """

    blocks: tuple[Blocks, ...]
    seconds: int
    origin_ms: int


def read(
    source: Store | str | Path,
    labels: Sequence[str],
    warmup_s: float,
    budget_s: float,
    processes: int = 1,
    by_thread: bool = False,
) -> Compared:
    """What was measured of these labels; also of those without samples, with empty blocks.
    processes: of each side. by_thread: whether the coin is that of a thread.

    A sample belongs to the second in which it was sent. Rows of Transaction Controllers are none,
    and a last line that is not whole yet is left out. Raises JtlError, one line, for a file that
    can't be read, holds no samples, or does not tell where each was sent to.
    """
    with using(source) as store:
        columns = ",".join(EXTRA_COLUMNS)
        require(store, EXTRA_COLUMNS, f"set JMeter's property sample_variables to {columns}")
        origin_ms, last_ms = peek_test_start(store.path, store.layout), last_start_ms(store)
        if origin_ms is None or last_ms is None:
            raise JtlError(store.path, _NO_SAMPLES, help_="see jmeter.log")
        check_coins(store, [str(coin) for coin in range(2 * processes)], _HELP)
        began_ms = origin_ms + round(1000 * warmup_s)
        rows = coin_counts(store, began_ms, by_thread)
    seconds = int(min(max(0, last_ms - began_ms) // 1000, budget_s))
    return Compared(tuple(_blocks(rows, label, seconds) for label in labels), seconds, origin_ms)


def read_answers(
    store: Store, labels: Sequence[str], origin_ms: int, seconds: int, by_thread: bool = False
) -> tuple[LabelAnswers, ...]:
    """What came back to these labels in the first seconds from origin_ms on. by_thread: as of
    `read`. Raises JtlError."""
    rows = coin_counts(store, origin_ms, by_thread, of_answers=True)
    counts = rows["ok"] & (rows["second"] >= 0) & (rows["second"] < seconds)
    order = np.flatnonzero(counts)[np.argsort(rows["second"][counts], kind="stable")]
    rows = {name: it[order] for name, it in rows.items()}
    return tuple(_answers(rows, label, seconds) for label in labels)


def _answers(rows: Mapping[str, np.ndarray], label: str, seconds: int) -> LabelAnswers:
    own = np.repeat(np.arange(len(rows["n"])), rows["n"] * (rows["label"] == label))
    columns = {name: it[own] for name, it in rows.items()}
    names = (it for it in ("code", "request", "thread") if it in columns)
    places = {name: np.unique(columns[name], return_inverse=True) for name in names}
    (codes, code), (_, row) = places["code"], places["request"]
    _, thread = places.get("thread", (None, None))
    coin = columns["coin"].astype(np.int64)
    answers = Requests(columns["second"], row, columns["bytes"], coin // 2, thread, code=code)
    sides = tuple(answers.where(coin % 2 == side) for side in (BASE, HEAD))
    return LabelAnswers(label, tuple(map(str, codes)), sides, seconds)


def _blocks(rows: Mapping[str, np.ndarray], label: str, seconds: int) -> Blocks:
    own = rows["label"] == label
    second, elapsed_ms, ok, n = (rows[it][own] for it in ("second", "elapsed_ms", "ok", "n"))
    _, row = np.unique(rows["request"][own], return_inverse=True)
    coin = rows["coin"][own].astype(np.int64)
    measured = (second >= 0) & (second < seconds)
    values_ms = np.unique(elapsed_ms[measured])
    columns = [second, row, elapsed_ms, coin // 2]
    if "thread" in rows:
        columns += [np.unique(rows["thread"][own], return_inverse=True)[1], ok]
    sides = []
    for side in (BASE, HEAD):
        mine = measured & (coin % 2 == side)
        requests = _requests([it[mine] for it in columns], n[mine])
        failed = np.bincount(second[mine & ~ok], n[mine & ~ok], seconds).astype(np.int64)
        sides.append(Side.of(requests, values_ms, failed))
    return Blocks(label, values_ms, *sides)


def _requests(columns: Sequence[np.ndarray], n: np.ndarray) -> Requests:
    """Single requests in the order of their seconds. columns: second, row, elapsed_ms, process,
    and perhaps thread and ok."""
    order = np.lexsort(columns[::-1])
    return Requests(*(np.repeat(it[order], n[order]) for it in columns))
