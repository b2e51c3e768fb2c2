"""The criteria with what was observed, and a chart of each that did not hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tollgate.base.text import one_line
from tollgate.criteria.grammar import Criterion
from tollgate.criteria.subjects import SLOPE
from tollgate.judge.facts import JudgeSettings
from tollgate.judge.observe import value_of
from tollgate.judge.verdicts import INCONCLUSIVE, ORDER, PASS, CriterionResult
from tollgate.judge.verdicts import ExecutionVerdict as Judged
from tollgate.report.pages.kit.charts import Chart, ChartSpan
from tollgate.report.pages.run import workers
from tollgate.report.pages.run.grid import Grid
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart
from tollgate.report.pages.run.view import View
from tollgate.report.table import Cell, Column, Table, numeric
from tollgate.report.tables import by_severity, criteria_table
from tollgate.report.text import course, fail_bound, unadjusted

#: Charts of criteria that did not hold, the worst first.
MOST_CHARTS = 6
_BOUNDS = (
    "The table above shows the interval that decides PASS, with the same level at both ends. A "
    "FAIL needs this bound to violate the limit: it lies farther out, because all estimates of the "
    "run and all interim looks share its level. The unadjusted interval is that of a single "
    "estimate that is evaluated once."
)


@dataclass(frozen=True)
class Criteria:
    """table: of all executions, None where nothing was asked. bounds: what else is known of the
    estimates, None without any. warnings: lines. lint: what was noticed of the plans, which changes
    no verdict."""

    table: Table | None
    bounds: Table | None
    warnings: Sequence[str]
    lint: Sequence[str]


def content(judged: Sequence[Judged]) -> Criteria:
    """All criteria of all executions."""
    return Criteria(
        _table(judged),
        _bounds(judged),
        [f"{one_line(it.name)}: {one_line(text)}" for it in judged for text in it.warnings],
        [f"{one_line(it.name)}: {one_line(text)}" for it in judged for text in it.lint],
    )


def _table(judged: Sequence[Judged]) -> Table | None:
    results = [each for it in judged for each in by_severity(it.criteria)]
    if not results:
        return None
    table = criteria_table(results, any(it.course for it in judged))
    names = [
        Cell(one_line(it.name), it.verdict, note=course(it)) for it in judged for _ in it.criteria
    ]
    rows = [(name, *row) for name, row in zip(names, table.rows, strict=True)]
    columns = [Column("execution"), *table.columns]
    return replace(table, columns=columns, rows=rows, is_grouped=True)


def _bounds(judged: Sequence[Judged]) -> Table | None:
    """The bound that decides FAIL and the unadjusted interval of each estimate."""
    rows = [
        (f"{one_line(each.name)}: {one_line(it.criterion)}", fail_bound(it), unadjusted(it))
        for each in judged
        for it in each.criteria
        if it.fail_bound is not None
    ]
    columns = (Column("criterion"), *numeric("bound for a FAIL", "unadjusted interval"))
    return Table(_BOUNDS, columns, rows) if rows else None


@dataclass(frozen=True)
class FailureRows:
    """Charts of criteria that are violated or undecided. more: how many others there are."""

    charts: Sequence[Chart]
    more: int


def failures(
    views: Sequence[View],
    judged: Sequence[Judged],
    settings: JudgeSettings,
    spans: Sequence[ChartSpan],
) -> FailureRows:
    """A chart over time of what each violated or undecided criterion is about, with its limit; the
    other executions stand beside it."""
    found = []
    for view, execution in zip(views, judged, strict=True):
        # Those of a share are not judged.
        pairs = zip(view.execution.criteria, execution.criteria, strict=False)
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
    all_of_them = {(of, it.worker is not None) for it, of, _ in found}
    return FailureRows(drawn, len(all_of_them) - len(drawn))


def _chart(
    criterion: Criterion,
    result: CriterionResult,
    view: View,
    views: Sequence[View],
    settings: JudgeSettings,
    spans: Sequence[ChartSpan],
    worst: Sequence[tuple[View, str | None]],
) -> Chart | None:
    """worst: the workers that did not hold it, the worst first."""
    limit_here = result.limit if _is_by_time(criterion) else None
    text = ChartText(
        one_line(criterion.text), one_line(f"{view.name}: {result.told}"), _unit(criterion)
    )
    if criterion.is_of_workers:
        text, lines = _of_workers(criterion, views, text, worst)
    else:
        lines = [_line(criterion, each, settings) for each in views]
    kind = "wrong" if result.verdict != INCONCLUSIVE else "unclear"
    return chart(text, lines, spans, limit=limit_here, tone=kind)


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
    text: ChartText,
    worst: Sequence[tuple[View, str | None]],
) -> tuple[ChartText, list[ChartLine]]:
    """The text with the unit, and the lines: those of the workers it is about before others."""
    if criterion.subject not in workers.MEASURES:
        return text, []
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
    return replace(text, unit=unit, numbers_in=workers.FILE, of_point=of_point), lines


def _line(criterion: Criterion, view: View, settings: JudgeSettings) -> ChartLine:
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

    return ChartLine(view, view.name, cache(of))  # a chart asks for its points more than once
