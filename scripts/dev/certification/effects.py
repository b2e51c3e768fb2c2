"""How much slower head really was: by label, over all runs of a condition. Pure.

5 % more work is not 5 % more of what JMeter measures, which has the network, the connection and the
queue in it, and of a label that mostly waits it is next to nothing. So the effect is taken from the
samples of all runs together, and what was added from the server's own clock. All recorded seconds
count alike, for the reason given in resample.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certification.conditions import Condition
from certification.store import Run
from tollgate.compare.milliseconds import doubt_and_place, percentile
from tollgate.compare.model import PERCENTILES, Blocks, Side

METRICS = ("p50", "p95")
RESAMPLES = 400
#: Of fewer runs there is no telling how much they differ.
FEWEST_RUNS = 4
#: A label of which less was added, as a share of its answer, was not slowed to speak of.
LEAST_ADDED = 0.01


@dataclass(frozen=True)
class Change:
    """Of one metric. base_ms: over all runs. share: head / base - 1. hidden: by how much JMeter's
    whole milliseconds can make that share wrong. low, high: its 95 % interval, from whole runs
    drawn with replacement (the percentile bootstrap, Efron 1979), None of too few runs."""

    base_ms: float
    share: float
    hidden: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Added:
    """By the server's own clock: ms that were added to an answer in the mean, and as a share of the
    time that the answer took there without them."""

    ms: float
    share: float


@dataclass(frozen=True)
class Effect:
    """One label under one condition. added: None without a probe. changes: by metric of METRICS."""

    condition: Condition
    label: str
    added: Added | None
    changes: dict[str, Change]

    @property
    def is_slight(self) -> bool:
        """Whether head is slower, and this label hardly."""
        known = not self.condition.is_aa and self.added is not None
        return known and self.added.share < LEAST_ADDED


def effects(
    condition: Condition, runs: Sequence[Run], samples: Sequence[Sequence[Blocks]], seed: int
) -> list[Effect]:
    """runs, and of each the blocks of its labels."""
    found = []
    for parts in zip(*samples, strict=True):
        tables, label = _tables(parts), parts[0].label
        changes = {
            metric: Change(*_change(tables.sum(axis=0), metric), *_interval(tables, metric, seed))
            for metric in METRICS
        }
        found.append(Effect(condition, label, added(runs, label), changes))
    return found


def added(runs: Sequence[Run], label: str) -> Added | None:
    """Over all probes of these runs; None without one."""
    clocks = [run.clock[label] for run in runs if label in run.clock]
    own_ms = sum(clock["handler"] for clock in clocks)
    if not own_ms:
        return None
    total_ms = sum(clock["injected"] for clock in clocks)
    return Added(total_ms / len(clocks), total_ms / own_ms)


def _tables(parts: Sequence[Blocks]) -> np.ndarray:
    """int[R, 2, M]: of each run, of base and head, samples by whole ms from 0."""
    most = 1 + max((int(it.values_ms.max()) for it in parts if len(it.values_ms)), default=0)
    tables = np.zeros((len(parts), 2, most), np.int64)
    for table, blocks in zip(tables, parts, strict=True):
        for row, side in zip(table, (blocks.base, blocks.head), strict=True):
            row[blocks.values_ms] = side.counts.sum(axis=0)
    return tables


def _change(table: np.ndarray, metric: str) -> tuple[float, float, float]:
    """(ms of base, head / base - 1, what whole milliseconds hide) of a table int[2, M]."""
    present = np.flatnonzero(table.sum(axis=0))
    sides = [Side(row[present][None, :], np.zeros(1, np.int64)) for row in table]
    share = PERCENTILES[metric] / 100
    base, head = (percentile(side, present, share) for side in sides)
    doubts = (doubt_and_place(side, present, share)[0] for side in sides)
    return base, head / base - 1, sum(doubts) / base


def _interval(tables: np.ndarray, metric: str, seed: int) -> tuple[float | None, float | None]:
    if len(tables) < FEWEST_RUNS:
        return None, None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(tables), size=(RESAMPLES, len(tables)))
    changes = [_change(tables[rows].sum(axis=0), metric)[1] for rows in drawn]
    return tuple(np.quantile(changes, (0.025, 0.975)).tolist())
