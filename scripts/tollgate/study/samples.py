"""From the files of a study's run to what was measured of each cell.

The samples say when each block was under load; what ended in the windows that follow from it is
counted. Memory grows with blocks and distinct times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tollgate.samples.layout import JtlError
from tollgate.samples.requests import block_spans, require, window_counts
from tollgate.samples.store import Store, using
from tollgate.study.cpu import mean_cores
from tollgate.study.model import Block, Cell, CellData, StudyOutage
from tollgate.study.record import CPU
from tollgate.study.windows import CONNECT, Span, StudyDataError, Window, windows

#: Columns that plans/study.jmx adds to those that JMeter always writes.
EXTRA_COLUMNS = ("block", "worker", "server")
_HELP = f"set JMeter's property sample_variables to {','.join(EXTRA_COLUMNS)} as well"


def read(
    run: Path,
    blocks: Sequence[Block],
    outages: Sequence[StudyOutage] = (),
    origin_s: float = 0.0,
    source: Store | Path | None = None,
) -> dict[Cell, CellData]:
    """What was measured of each cell of the blocks, in their order; also of cells without any
    block that counts, with empty arrays.

    source: of the samples, by default the run's kpi.jtl.
    outages: workers that died, in seconds since origin_s (itself seconds since the epoch). A block
    of a cell that the app serves is left out if it met one: for `balancer` those of the `pi-*`
    servers behind it.

    Raises JtlError for a JTL that can't be read or was not written by a study, or whose samples
    contradict the blocks, and CpuError for a cpu.jsonl that is none.
    """
    with using(source or run / "kpi.jtl") as store:
        spans = read_spans(store)
        try:
            counted, left_out = windows(blocks, spans, outages, origin_s)
        except StudyDataError as error:
            raise JtlError(store.path, str(error)) from None
        bounds = [(it.block.number, it.from_ms, it.to_ms) for it in counted]
        rows = window_counts(store, bounds, without=CONNECT)
    from_s = np.array([it.from_ms / 1000 for it in counted])
    cores = mean_cores(run / CPU, from_s, from_s + [it.length_s for it in counted])
    return {cell: _cell_data(cell, counted, rows, cores, why) for cell, why in left_out.items()}


def read_spans(source: Store | Path) -> list[Span]:
    """When each block of a study was under load. Raises JtlError."""
    with using(source) as store:
        require(store, EXTRA_COLUMNS, _HELP)
        return [Span(*it) for it in block_spans(store)]


def _cell_data(
    cell: Cell,
    counted: Sequence[Window],
    rows: Mapping[str, np.ndarray],
    cores: np.ndarray,
    left_out: tuple[str, ...],
) -> CellData:
    places = [place for place, window in enumerate(counted) if window.block.cell == cell]
    numbers = np.array([counted[place].block.number for place in places], dtype=np.int64)
    mine = np.isin(rows["number"], numbers)
    number, elapsed, ok, server, worker, n = (np.asarray(it)[mine] for it in rows.values())
    values, value = np.unique(elapsed.astype(np.int64), return_inverse=True)
    order = np.argsort(numbers)
    row = order[np.searchsorted(numbers[order], number)]
    counts = np.zeros((len(places), len(values)), np.int64)
    np.add.at(counts, (row, value), n)
    failed = np.zeros(len(places), np.int64)
    np.add.at(failed, row[~ok], n[~ok])
    return CellData(
        cell=cell,
        rounds=np.array([counted[place].block.round for place in places], dtype=np.int64),
        window_s=np.array([counted[place].length_s for place in places], dtype=np.float64),
        values_ms=values,
        counts=counts,
        failed=failed,
        **_answered_by(row, server, worker, n),
        cores=cores[:, places],
        left_out=left_out,
    )


def _answered_by(
    row: np.ndarray, server: np.ndarray, worker: np.ndarray, n: np.ndarray
) -> dict[str, Any]:
    """CellData's `workers` and `busiest`. Requests without an answer, or by an unknown worker,
    are not among them."""
    pairs = zip(server, worker, strict=True)
    name = np.array([f"{one}/{by}" if one and by else by or one for one, by in pairs], str)
    named = name != ""
    if not named.any():
        return {"workers": {}, "busiest": np.empty(0)}
    names, column = np.unique(name[named], return_inverse=True)
    by = np.zeros((int(row.max()) + 1, len(names)), np.int64)
    np.add.at(by, (row[named], column), n[named])
    workers = dict(zip(names.tolist(), by.sum(axis=0).tolist(), strict=True))
    by = by[by.any(axis=1)]
    return {"workers": workers, "busiest": by.max(axis=1) / by.sum(axis=1)}
