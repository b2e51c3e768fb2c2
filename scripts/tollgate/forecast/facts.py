"""What was sent in each step of a forecast: exact counts, in one pass over the samples."""
# ruff: noqa: S608 - every piece of SQL here is a column's number, or a number of this module.

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from tollgate.forecast.model import ForecastFacts, LoadStep, StepFacts
from tollgate.forecast.record import Followed
from tollgate.samples import (
    Layout,
    column,
    database,
    read_into,
    read_layout,
    text,
    transaction_sql,
    valid_sql,
)

#: So many points are more than a screen is wide: 24 s for each of a day, 48 s of two days.
MOST_POINTS = 3600


def forecast_facts(
    path: str | Path,
    followed: Followed,
    origin_ms: int,
    ended_s: float | None = None,
    parents: Collection[str] = (),
) -> ForecastFacts:
    """The samples of a JTL beside the forecast that they were to follow.

    origin_ms: the zero of the steps' seconds, JMeter's own start, in epoch milliseconds. ended_s:
    when the load was cut short, in seconds since then; steps that end later count as not reached.
    Samples are counted by their actual start, whatever their label, in [from_s, to_s) of a step;
    rows of Transaction Controllers, which add up other rows, are not, but for parent samples, which
    stand in the place of those: `parents` are their labels as they stand in the JTL. Raises
    JtlError.
    """
    steps = followed.steps
    borders = [_ms(step.from_s) for step in steps] + [_ms(steps[-1].to_s)]
    reached_s = math.inf if ended_s is None else ended_s
    end = min(borders[-1], max(borders[0], _ms(min(reached_s, steps[-1].to_s))))
    size = 1000 * max(1, math.ceil((borders[-1] - borders[0]) / 1000 / MOST_POINTS))
    edges = [*range(borders[0], end, size), end]
    labels, at_ms, n = _counted(path, origin_ms, sorted({*borders, end}), size, parents)
    sent = [Counter() for _ in steps]
    for label, step, count in zip(labels, _place(borders, at_ms), n, strict=True):
        if 0 <= step < len(steps):
            sent[step][label] += int(count)
    return ForecastFacts(
        path=followed.path,
        factor=followed.factor,
        scale=followed.scale,
        steps=tuple(
            StepFacts(step, dict(sorted(counts.items())), step.to_s <= reached_s)
            for step, counts in zip(steps, sent, strict=True)
        ),
        resolution_s=size / 1000,
        timeline=_timeline(steps, edges, at_ms, n),
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _place(edges: Sequence[int], at_ms: np.ndarray) -> np.ndarray:
    """In which piece each moment lies: -1 before the first, len(edges) - 1 behind the last."""
    return np.searchsorted(edges, at_ms, side="right") - 1


def _counted(
    path: str | Path,
    origin_ms: int,
    borders: Sequence[int],
    size: int,
    parents: Collection[str],
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """(label, a moment in milliseconds since the origin, how many) of groups of samples.

    A group has one label, lies in one piece of `size` ms from the first border on, and on one side
    of every border; so there are few of them, however long the run.
    """
    layout = read_layout(path)
    with database(path) as con:
        read_into(con, "sent", _sql(layout, origin_ms, borders, size), path, layout)
        rows = con.execute(
            """SELECT label, at_ms, n FROM sent WHERE NOT is_transaction OR list_contains(?, label)
            ORDER BY at_ms, label""",
            [list(parents)],
        ).fetchall()
        names = text(con, [label for label, _, _ in rows])
    at_ms, n = (np.array([row[index] for row in rows], np.int64) for index in (1, 2))
    return names, at_ms, n


def _sql(layout: Layout, origin_ms: int, borders: Sequence[int], size: int) -> str:
    start, elapsed = column(layout, "timeStamp"), column(layout, "elapsed")
    at = f"({start} - {origin_ms})"
    first, last = borders[0], borders[-1]
    # What lies before the first border is one piece, and so is what lies behind the last.
    piece = f"CASE WHEN {at} < {first} THEN -1 WHEN {at} >= {last} THEN -2 "
    piece += f"ELSE ({at} - {first}) // {size} END"
    inside = {(border - first) // size for border in borders if (border - first) % size}
    split = ", ".join(map(str, sorted(inside))) or "NULL"
    return f"""
        SELECT label, is_transaction, min(at_ms) AS at_ms, count(*) AS n, bool_or(wrong) AS wrong
        FROM (SELECT {column(layout, "label")} AS label,
                     {transaction_sql(layout)} AS is_transaction,
                     {at} AS at_ms, {piece} AS piece,
                     CASE WHEN ({piece}) IN ({split}) THEN len(list_filter(
                         {[*borders]}, lambda border: border <= at_ms)) END AS side,
                     NOT {valid_sql(elapsed, column(layout, "success"), start, start)} AS wrong
              FROM {{jtl}})
        GROUP BY label, is_transaction, piece, side"""


def _timeline(
    steps: Sequence[LoadStep], edges: Sequence[int], at_ms: np.ndarray, n: np.ndarray
) -> tuple[tuple[float, float], ...]:
    """(forecast, sent) per second between each two edges, which are milliseconds."""
    if len(edges) < 2:
        return ()
    lengths = np.diff(edges) / 1000
    moments = [steps[0].from_s, *(step.to_s for step in steps)]
    asked = np.cumsum([0.0, *(step.tps * (step.to_s - step.from_s) for step in steps)])
    forecast = np.diff(np.interp(np.array(edges) / 1000, moments, asked)) / lengths
    place = _place(edges, at_ms)
    inside = (place >= 0) & (place < len(lengths))
    sent = np.bincount(place[inside], weights=n[inside], minlength=len(lengths)) / lengths
    return tuple(zip(forecast.round(6).tolist(), sent.round(6).tolist(), strict=True))
