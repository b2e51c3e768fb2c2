"""What happened to the workers, and each of them in numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tollgate.criteria import MIB
from tollgate.judge import ExecutionVerdict
from tollgate.judge import outage_line as outage_told
from tollgate.pages.kit.parts import Child, Column, Row, element, listing, paragraph, table
from tollgate.pages.run.lines import clock
from tollgate.pages.run.view import View
from tollgate.study import number

#: Events that are listed; verdict.json has all of them.
MOST_EVENTS = 20
_CAPTION = "Each worker in its measured time; requests and restarts with those of the warm-up"
_NUMBER = "number"


def events(views: Sequence[View]) -> list[Child]:
    """Deaths and reloads in order of time."""
    told = []
    for view in views:
        resources = view.execution.resources
        mine = [(it.from_s, outage_told(it)) for it in resources.outages if not it.planned]
        for it in resources.reloads:
            lost = "" if it.lost is None else f", {it.lost:,} requests lost"
            took = f" in {number(it.to_s - it.from_s)} s" if math.isfinite(it.to_s) else ""
            said = f"{clock(it.from_s)}: all workers were reloaded{took}{lost}"
            mine.append((it.from_s, f"{said}; {it.problem}" if it.problem else said))
        told += [(at, f"{view.name}: {text}") for at, text in mine]
    if not told:
        return [paragraph("No worker died, and none was restarted.")]
    lines = [text for _, text in sorted(told, key=lambda each: each[0])]
    more = len(lines) - MOST_EVENTS
    rest = [f"and {more:,} more: see verdict.json"] if more > 0 else []
    return [listing([*lines[:MOST_EVENTS], *rest])]


def figures(views: Sequence[View], judged: Sequence[ExecutionVerdict]) -> Child:
    """A table of all workers. Requests and restarts are counted from the execution's start on, see
    worker_facts.py."""
    rows: list[Row] = []
    for view, verdict in zip(views, judged, strict=True):
        for it in verdict.workers:
            rows.append(
                (
                    f"{view.name} {it.worker}",
                    *(_count(it.requests), _count(it.restarts), number(it.cpu)),
                    _memory(it.rss_first, it.rss_last, it.rss_max),
                    *(number(it.loop_delay_p50), number(it.loop_delay_p95), _count(it.looks)),
                )
            )
    columns = (
        *(Column("worker"), Column("requests", _NUMBER), Column("restarts", _NUMBER)),
        *(Column("CPU, % of a core", _NUMBER), Column("RSS first, last, most, MB", _NUMBER)),
        *(Column("loop delay p50, ms", _NUMBER), Column("loop delay p95, ms", _NUMBER)),
        Column("looks", _NUMBER),
    )
    return element("div", table(_CAPTION, columns, rows, kind="cards"))


def _memory(*values: float | None) -> str:
    return " / ".join("-" if it is None else f"{it / MIB:,.0f}" for it in values)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
