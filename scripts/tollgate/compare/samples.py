"""kpi.jtl of a comparison, also while JMeter still writes it, to blocks of base and head.

One pass of DuckDB over the file. It holds no samples: memory grows with seconds and distinct times.
"""
# ruff: noqa: S608 - every piece of SQL here is a column's number or a constant of this package.

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.compare.model import Blocks
from tollgate.samples import (
    JtlError,
    Layout,
    column,
    database,
    peek_test_start,
    read_into,
    read_layout,
    text,
    transaction_sql,
    valid_sql,
)
from tollgate.stats import Counts

#: Which of the two an arrival went to.
COIN = "coin"
BASE, HEAD = "0", "1"
#: Columns that plans/compare.jmx adds to those that JMeter always writes.
EXTRA_COLUMNS = ("TESTSTART.MS", COIN)
_NO_SAMPLES = "holds no whole sample that tells when JMeter started"
_HELP = (
    f"was this run of plans/compare.jmx? {COIN} must be a variable of the plan that is {BASE} for "
    f"base and {HEAD} for head before any sample is sent"
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


def read(jtl: Path, labels: Sequence[str], warmup_s: float, budget_s: float) -> Compared:
    """What was measured of these labels; also of those without samples, with empty blocks.

    A sample belongs to the second in which it was sent. Rows of Transaction Controllers are none,
    and a last line that is not whole yet is left out. Raises JtlError, one line, for a file that
    can't be read, holds no samples, or does not tell where each was sent to.
    """
    layout = read_layout(jtl)
    missing = [name for name in EXTRA_COLUMNS if name not in layout]
    if missing:
        problem = f"the header has no column {', '.join(missing)}"
        help_ = f"set JMeter's property sample_variables to {','.join(EXTRA_COLUMNS)}"
        raise JtlError(jtl, problem, line=1, help_=help_)
    origin_ms = peek_test_start(jtl, layout)
    if origin_ms is None:
        raise JtlError(jtl, _NO_SAMPLES, help_="see jmeter.log")
    began_ms = origin_ms + round(1000 * warmup_s)
    with database(jtl) as con:
        read_into(con, "counted", _query(layout, began_ms), jtl, layout, growing=True)
        last_ms = _last_ms(con, jtl, layout)
        seconds = int(min(max(0, last_ms - began_ms) // 1000, budget_s))
        rows = con.execute("""
            SELECT label, coin, second, elapsed::BIGINT AS elapsed_ms, success = 'true' AS ok, n
            FROM counted WHERE NOT is_transaction""").fetchnumpy()
        rows = {name: np.asarray(values) for name, values in rows.items()}
        rows["label"] = np.array(text(con, rows["label"].tolist()), dtype=object)
    return Compared(tuple(_blocks(rows, label, seconds) for label in labels), seconds, origin_ms)


def _query(layout: Layout, began_ms: int) -> str:
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    success = column(layout, "success")
    return f"""
        SELECT {column(layout, "label")} AS label, {column(layout, COIN)} AS coin,
               ({start} - {began_ms} + 1000000000000) // 1000 - 1000000000 AS second,
               {elapsed} AS elapsed, {success} AS success,
               {transaction_sql(layout)} AS is_transaction, count(*) AS n,
               max({start}) AS last_ms,
               bool_or(NOT {valid_sql(elapsed, success, start, start)}) AS wrong
        FROM {{jtl}} GROUP BY ALL"""


def _last_ms(con, jtl: Path, layout: Layout) -> int:
    """When the last sample was sent. Raises JtlError for samples that nobody tossed a coin for."""
    tossed = f"{COIN} IN ('{BASE}', '{HEAD}') OR is_transaction"
    query = f"SELECT max(last_ms), bool_and({tossed}) FROM counted"
    last_ms, fine = con.execute(query).fetchone()
    if last_ms is None:
        raise JtlError(jtl, _NO_SAMPLES, help_="see jmeter.log")
    if not fine:
        raise _misfit(jtl, layout)
    return last_ms


def _misfit(jtl: Path, layout: Layout) -> JtlError:
    """The first sample that nobody tossed a coin for."""
    place, label = layout.index(COIN), layout.index("label")
    line = first = 0
    with jtl.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        rows = csv.reader(lines, delimiter=layout.delimiter)
        for row in rows:
            line, first = rows.line_num, line + 1
            if first > 1 and len(row) > place and row[place] not in (BASE, HEAD):
                break
    problem = f"neither {BASE} nor {HEAD}, so nobody knows who answered {row[label]!r}"
    return JtlError(jtl, problem, line=first, field=COIN, value=row[place], help_=_HELP)


def _blocks(rows: Mapping[str, np.ndarray], label: str, seconds: int) -> Blocks:
    sides = []
    for side in (BASE, HEAD):
        mine = (rows["label"] == label) & (rows["coin"] == side)
        second, elapsed_ms, ok, n = (rows[it][mine] for it in ("second", "elapsed_ms", "ok", "n"))
        sides.append(Counts.of(second, elapsed_ms, ok, n=n))
    return Blocks.of(label, *sides, 0, seconds)
