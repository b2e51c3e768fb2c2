"""From the files of a study's run to what was measured of each cell.

Two passes of DuckDB over kpi.jtl: the first finds when each block was
under load, the second counts what ended in the windows that follow from it. Neither holds samples:
memory grows with blocks, users and distinct times.
"""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tollgate.samples import (
    JtlError,
    Layout,
    column,
    database,
    read_into,
    read_layout,
    text,
    transaction_sql,
    valid_sql,
)
from tollgate.study.cpu import COUNTERS, mean_cores
from tollgate.study.model import Block, Cell, CellData
from tollgate.study.record import CPU
from tollgate.study.windows import CONNECT, Span, StudyDataError, Window, outages_of, windows

#: Columns that plans/study.jmx adds to those that JMeter always writes.
EXTRA_COLUMNS = ("block", "worker", "server")


def read(
    run: Path,
    blocks: Sequence[Block],
    outages: Iterable[Mapping[str, Any]] = (),
    origin_s: float = 0.0,
    jtl: str = "kpi.jtl",
) -> dict[Cell, CellData]:
    """What was measured of each cell of the blocks, in their order; also of cells without any
    block that counts, with empty arrays.

    outages: workers that died, with `app`, `worker`, `from_s` and `to_s` in seconds since origin_s
    (itself seconds since the epoch). A block of a cell that the app serves is left out if it met
    one: for `balancer` those of the `pi-*` servers behind it.

    Raises JtlError for a JTL that can't be read or was not written by a study, or whose samples
    contradict the blocks, and load.CpuError for a cpu.jsonl that is none.
    """
    path = run / jtl
    layout = read_layout(path)
    missing = [name for name in EXTRA_COLUMNS if name not in layout]
    if missing:
        problem = f"the header has no column {', '.join(missing)}"
        help_ = f"set JMeter's property sample_variables to {','.join(EXTRA_COLUMNS)} as well"
        raise JtlError(path, problem, line=1, help_=help_)
    with database(path) as con:
        spans = _spans(con, path, layout)
        try:
            counted, left_out = windows(blocks, spans, outages_of(outages, origin_s))
        except StudyDataError as error:
            raise JtlError(path, str(error)) from None
        rows = _rows(con, path, layout, counted)
    cores = mean_cores(run / CPU, *np.array([_seconds(it) for it in counted]).reshape(-1, 2).T)
    return {
        cell: _cell_data(cell, counted, rows, cores, reasons) for cell, reasons in left_out.items()
    }


def _spans(con, path: Path, layout: Layout) -> list[Span]:
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    valid = valid_sql(elapsed, column(layout, "success"), start, start)
    query = f"""
        SELECT {column(layout, "block")} AS block, {column(layout, "label")} AS label,
               {column(layout, "threadName", "''")} AS thread,
               {transaction_sql(layout)} AS is_transaction, min({start}) AS first_ms,
               max({start} + TRY_CAST({elapsed} AS BIGINT)) AS last_ms,
               bool_or(NOT {valid}) AS wrong, count(*) AS n
        FROM {{jtl}} GROUP BY ALL"""
    read_into(con, "users", query, path, layout)
    found = con.execute("""
        SELECT block, label, count(DISTINCT thread), min(first_ms), max(last_ms), sum(n)::BIGINT
        FROM users WHERE NOT is_transaction GROUP BY block, label ORDER BY block, label""")
    spans = found.fetchall()
    blocks, labels = (text(con, [span[index] for span in spans]) for index in (0, 1))
    rest = (span[2:] for span in spans)
    return [Span(*names, *it) for *names, it in zip(blocks, labels, rest, strict=True)]


def _rows(con, path: Path, layout: Layout, counted: Sequence[Window]) -> dict[str, np.ndarray]:
    """Columns of equal length: number of the block, elapsed, ok, server, worker, n."""
    con.execute("CREATE TEMP TABLE windows (block VARCHAR, from_ms DOUBLE, to_ms DOUBLE)")
    bounds = [(str(it.block.number), it.from_ms, it.to_ms) for it in counted]
    if bounds:
        con.executemany("INSERT INTO windows VALUES (?, ?, ?)", bounds)
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    success = column(layout, "success")
    end = f"{start} + TRY_CAST({elapsed} AS BIGINT)"
    is_load = f"{column(layout, 'label')} <> '{CONNECT}'"
    inside = f"{end} >= windows.from_ms AND {end} < windows.to_ms AND {is_load}"
    query = f"""
        SELECT windows.block AS block, {elapsed} AS elapsed, {success} AS success,
               {_name(layout, "server")} AS server, {_name(layout, "worker")} AS worker,
               {transaction_sql(layout)} AS is_transaction,
               bool_or(NOT {valid_sql(elapsed, success, start, start)}) AS wrong, count(*) AS n
        FROM {{jtl}} AS samples
        LEFT JOIN windows ON {column(layout, "block")} = windows.block AND {inside}
        GROUP BY ALL"""
    read_into(con, "requests", query, path, layout)
    return con.execute("""
        SELECT block::INTEGER AS number, elapsed::BIGINT AS elapsed, success = 'true' AS ok,
               server, worker, n
        FROM requests WHERE block IS NOT NULL AND NOT is_transaction""").fetchnumpy()


def _name(layout: Layout, name: str) -> str:
    """SQL for the name of a server or worker, '' for none: JMeter writes `null` for a variable
    that nobody has set yet."""
    return f"CASE WHEN {column(layout, name)} = 'null' THEN '' ELSE {column(layout, name)} END"


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
        workers=_workers(server, worker, n),
        busiest=_busiest(row, server, worker, n),
        **{f"{name}_cores": cores[index, places] for index, name in enumerate(COUNTERS)},
        left_out=left_out,
    )


def _workers(server: np.ndarray, worker: np.ndarray, n: np.ndarray) -> dict[str, int]:
    """Requests by who answered them. Those that nobody answered, or that nobody can tell who did,
    are not among them."""
    found: dict[str, int] = {}
    for behind, by, count in zip(server, worker, n, strict=True):
        name = f"{behind}/{by}" if behind and by else by or behind
        if name:
            found[name] = found.get(name, 0) + int(count)
    return dict(sorted(found.items()))


def _busiest(row: np.ndarray, server: np.ndarray, worker: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The largest share of one worker in each block in which somebody said who answered."""
    name = np.char.add(np.char.add(server.astype(str), "/"), worker.astype(str))
    named = name != "/"
    if not named.any():
        return np.empty(0)
    names, column = np.unique(name[named], return_inverse=True)
    by = np.zeros((int(row.max()) + 1, len(names)))
    np.add.at(by, (row[named], column), n[named])
    by = by[by.any(axis=1)]
    return by.max(axis=1) / by.sum(axis=1)


def _seconds(window: Window) -> tuple[float, float]:
    """From and to, seconds since the epoch."""
    from_s = window.from_ms / 1000
    return from_s, from_s + window.length_s
