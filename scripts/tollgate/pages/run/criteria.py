"""The criteria with what was observed, and a chart of each that did not hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from tollgate.base import one_line
from tollgate.criteria import SLOPE, Criterion
from tollgate.judge import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    LOOKS,
    ORDER,
    PASS,
    CriterionResult,
    Settings,
    value_of,
)
from tollgate.judge import ExecutionVerdict as Judged
from tollgate.outputs import interval, limit, observed
from tollgate.pages.kit.bars import limit_bar, limit_head
from tollgate.pages.kit.charts import Chart, Span
from tollgate.pages.kit.parts import (
    Child,
    Column,
    Group,
    Row,
    badge,
    details,
    element,
    listing,
    table,
)
from tollgate.pages.run import workers
from tollgate.pages.run.grid import Grid
from tollgate.pages.run.lines import Line, Told, Values, chart
from tollgate.pages.run.view import View

TONES = {PASS: "good", FAIL: "bad", INCONCLUSIVE: "unsure", INVALID: "bad"}
#: Charts of criteria that did not hold, the worst first.
MOST_CHARTS = 6
_NUMBER = "number"
_TOLD = (
    "The bar reaches to what was observed, on a scale that puts every limit at the same place; the "
    "thin line is the interval that holds the true value. Counts and shares are exact."
)


def content(judged: Sequence[Judged]) -> list[Child]:
    """All criteria of all executions in one table."""
    rows: list[Row] = []
    for execution in judged:
        if not execution.criteria:
            continue
        mark = badge(execution.verdict, TONES[execution.verdict])
        rows.append(Group((one_line(execution.name), " ", mark)))
        rows += [_row(it) for it in sorted(execution.criteria, key=_importance)]
    notes = [
        element("p", f"{one_line(execution.name)}: {one_line(warning)}", class_="note")
        for execution in judged
        for warning in execution.warnings
    ]
    notes += _noticed(judged)
    if not rows and any(each.comparison for each in judged):
        return notes  # head was held against base, not against limits
    if not rows:
        return ["No criterion was stated: what is below is what was measured.", *notes]
    confidence = {it.confidence for each in judged for it in each.criteria}
    heading = f"{100 * max(confidence):g} % interval"
    columns = (
        *(Column("criterion: fails if"), Column("verdict"), Column("observed", _NUMBER)),
        *(Column("limit", _NUMBER), Column("against the limit", "bar narrow", limit_head())),
        *(Column(heading, _NUMBER), Column("n", _NUMBER)),
    )
    return [table(_TOLD, columns, rows, kind="cards criteria"), *notes]


def _noticed(judged: Sequence[Judged]) -> list[Child]:
    """What stood out in the plans, to unfold: it changes no verdict."""
    lines = [f"{one_line(it.name)}: {one_line(line)}" for it in judged for line in it.lint]
    return [details("What was noticed of the plan", listing(lines))] if lines else []


def _importance(result: CriterionResult) -> int:
    return -ORDER.index(result.verdict if result.decides else PASS)


def _row(it: CriterionResult) -> Sequence[Child]:
    said = one_line(it.criterion)
    why = it.reason if it.verdict != PASS else ""
    basis = "" if it.basis in ("samples", LOOKS) else it.basis
    told = ", ".join(part for part in (basis, it.window, _worker(it)) if part)
    name = element(
        *("span", element("code", said), " "),
        element("span", one_line(told), class_="basis") if told else None,
        element("span", one_line(why), class_="small") if why else None,
    )
    mark = badge(it.verdict, TONES[it.verdict]) if it.decides else badge("note", "unsure")
    # Of a limit of nothing there are no shares: there is something, or there is nothing.
    ends = (it.low, it.high) if it.limit else (None, None)
    ratios = [_ratio(value, it.limit) for value in (it.observed, *ends)]
    tone = TONES[it.verdict] if it.decides else "unsure"
    bar = limit_bar(*ratios, tone)
    return name, mark, observed(it), limit(it), bar, interval(it), f"{it.samples:,}"


def _worker(result: CriterionResult) -> str:
    return "" if result.worker is None else f"worker {result.worker}"


def _ratio(value: float | None, of: float) -> float | None:
    if value is None:
        return None
    if of == 0:
        return 0.0 if value == 0 else float("inf")
    return value / of


def failures(
    views: Sequence[View], judged: Sequence[Judged], settings: Settings, spans: Sequence[Span]
) -> list[Child | Chart]:
    """A chart over time of what each violated or undecided criterion is about, with its limit; the
    other executions stand beside it."""
    found = []
    for view, execution in zip(views, judged, strict=True):
        pairs = zip(view.execution.criteria, execution.criteria, strict=True)
        found += [(it, of, view) for of, it in pairs if it.decides and it.verdict != PASS]
    found.sort(key=lambda each: -ORDER.index(each[0].verdict))
    drawn, known = [], set()
    for result, criterion, view in found:
        key = (criterion, result.worker is not None)
        if key in known or len(drawn) >= MOST_CHARTS:
            continue
        known.add(key)
        worst = [(of, it.worker) for it, same, of in found if same == criterion]
        made = _chart(criterion, result, view, views, settings, spans, worst)
        drawn += [made] if made else []
    if not drawn:
        return []
    more = len({(of, it.worker is not None) for it, of, _ in found}) - len(drawn)
    left = f" {more} more {'is' if more == 1 else 'are'} in the table above." if more > 0 else ""
    return [f"What did not hold, or could not be told, with its limit.{left}", *drawn]


def _chart(
    criterion: Criterion,
    result: CriterionResult,
    view: View,
    views: Sequence[View],
    settings: Settings,
    spans: Sequence[Span],
    worst: Sequence[tuple[View, str | None]],
) -> Chart | None:
    """worst: the workers that did not hold it, the worst first."""
    limit_here = result.limit if _is_by_time(criterion) else None
    told = Told(one_line(criterion.text), one_line(f"{view.name}: {result.told}"), _unit(criterion))
    if criterion.is_of_workers:
        told, lines = _of_workers(criterion, views, told, worst)
    else:
        lines = [_line(criterion, each, settings) for each in views]
    tone = "wrong" if result.verdict != INCONCLUSIVE else "unclear"
    return chart(told, lines, spans, limit=limit_here, tone=tone)


def _is_by_time(criterion: Criterion) -> bool:
    """Whether the limit can be compared with a point: that of a slope, or of a count of the whole
    run, can't."""
    if criterion.subject.endswith(SLOPE) or criterion.subject == "time-left":
        return False
    return criterion.unit not in ("count", "bytes")


def _unit(criterion: Criterion) -> str:
    if criterion.is_latency_slope:
        return "ms"
    return "requests in each point's time" if criterion.unit == "count" else criterion.unit


def _of_workers(
    criterion: Criterion,
    views: Sequence[View],
    told: Told,
    worst: Sequence[tuple[View, str | None]],
) -> tuple[Told, list[Line]]:
    """The words with the unit, and the lines: those of the workers it is about before others."""
    if criterion.subject not in workers.MEASURES:
        return told, []
    unit, measure, of_point = workers.MEASURES[criterion.subject]
    lines = []
    for view in views:
        mine = [worker for of, worker in worst if of is view]
        shown = sorted(
            view.execution.resources.workers,
            key=lambda it, mine=mine: mine.index(it.worker) if it.worker in mine else len(mine),
        )
        drawn = shown[: workers.MOST_DRAWN]
        lines += [workers.line_of(view, each, at, measure) for at, each in enumerate(drawn)]
    return replace(told, unit=unit, numbers_in=workers.FILE, of_point=of_point), lines


def _line(criterion: Criterion, view: View, settings: Settings) -> Line:
    def of(grid: Grid) -> Values:
        counts, totals = view.selected(criterion, settings)
        values, n = np.full(grid.count, np.nan), np.zeros(grid.count, np.int64)
        for at, start in enumerate(grid.starts.tolist()):
            ends = (start, start + grid.width)
            here = counts.window(*ends)
            n[at] = here.total
            if here.total:
                values[at] = value_of(criterion, here, totals.window(*ends) if totals else None)
        return values, n

    return Line(view, view.name, cache(of))  # a chart asks for its points more than once
