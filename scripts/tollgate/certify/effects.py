"""How much slower head really was: by label, over all runs of a condition. Pure.

5 % more work is not 5 % more of what JMeter measures, which has the network, the connection and the
queue in it. So the effect is taken from the samples of all runs together. All recorded seconds
count alike, for the reason given in resample.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tollgate.certify.rates import Rate, rate
from tollgate.certify.store import Run
from tollgate.compare.estimates import percentile_ratio
from tollgate.compare.model import FAIL, Blocks, Side

METRICS = ("p50", "p95")
RESAMPLES = 400
#: Of fewer runs there is no telling how much they differ.
FEWEST_RUNS = 4


@dataclass(frozen=True)
class Effect:
    """Of one metric of one label under one condition. base_ms: over all runs. change: head / base
    - 1. low, high: its 95 % interval, from whole runs drawn with replacement (the percentile
    bootstrap, Efron 1979), None of too few runs. failed: in how many runs it failed by itself.
    """

    condition: str
    label: str
    metric: str
    base_ms: float
    change: float
    low: float | None
    high: float | None
    failed: Rate


def effects(
    condition: str, runs: Sequence[Run], samples: Sequence[Sequence[Blocks]], seed: int
) -> list[Effect]:
    """runs, and of each the blocks of its labels."""
    found = []
    for parts in zip(*samples, strict=True):
        label = parts[0].label
        tables = _tables(parts)
        for metric in METRICS:
            base_ms, change = _change(tables.sum(axis=0), metric)
            low, high = _interval(tables, metric, seed)
            failed = rate(_failed(run, label, metric) for run in runs)
            found.append(Effect(condition, label, metric, base_ms, change, low, high, failed))
    return found


def _failed(run: Run, label: str, metric: str) -> bool:
    return any(
        (it["label"], it["metric"], it["verdict"]) == (label, metric, FAIL) for it in run.findings
    )


def _tables(parts: Sequence[Blocks]) -> np.ndarray:
    """int[R, 2, M]: of each run, of base and head, samples by whole ms from 0."""
    most = 1 + max((int(it.values_ms.max()) for it in parts if len(it.values_ms)), default=0)
    tables = np.zeros((len(parts), 2, most), np.int64)
    for table, blocks in zip(tables, parts, strict=True):
        for row, side in zip(table, (blocks.base, blocks.head), strict=True):
            row[blocks.values_ms] = side.counts.sum(axis=0)
    return tables


def _change(table: np.ndarray, metric: str) -> tuple[float, float]:
    """(ms of base, head / base - 1) of a table int[2, M]."""
    present = np.flatnonzero(table.sum(axis=0))
    sides = [Side(row[present][None, :], np.zeros(1, np.int64)) for row in table]
    ratio = percentile_ratio(Blocks("", present, *sides), metric)
    return ratio.base, ratio.head / ratio.base - 1


def _interval(tables: np.ndarray, metric: str, seed: int) -> tuple[float | None, float | None]:
    if len(tables) < FEWEST_RUNS:
        return None, None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(tables), size=(RESAMPLES, len(tables)))
    changes = [_change(tables[rows].sum(axis=0), metric)[1] for rows in drawn]
    low, high = np.quantile(changes, (0.025, 0.975))
    return float(low), float(high)
