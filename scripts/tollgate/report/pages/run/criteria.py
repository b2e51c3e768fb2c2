"""The criteria with what was observed, and a chart of each that did not hold. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

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
from tollgate.report.pages.run.grid import MOST_POINTS, Grid, bears, points_for
from tollgate.report.pages.run.lines import ChartLine, ChartText, Values, chart
from tollgate.report.pages.run.view import View
from tollgate.report.table import Column, Table, TableCell
from tollgate.report.tables import by_severity, criteria_table
from tollgate.report.text import course

#: Charts of criteria that did not hold, the worst first.
MOST_CHARTS = 6


def table(judged: Sequence[Judged]) -> Table | None:
    """All criteria of all executions, None where nothing was asked."""
    results = [each for it in judged for each in by_severity(it.criteria)]
    if not results:
        return None
    table = criteria_table(results, any(it.course for it in judged))
    names = [
        TableCell(one_line(execution.name), execution.verdict, note=course(execution))
        for execution in judged
        for _ in execution.criteria
    ]
    rows = [(name, *row) for name, row in zip(names, table.rows, strict=True)]
    columns = [Column("execution"), *table.columns]
    return replace(table, columns=columns, rows=rows, is_grouped=True)


@dataclass(frozen=True)
class Failure:
    """A criterion that is violated or undecided, as one execution has it."""

    criterion: Criterion
    result: CriterionResult
    view: View


def failures(
    views: Sequence[View],
    judged: Sequence[Judged],
    settings: JudgeSettings,
    spans: Sequence[ChartSpan],
) -> tuple[list[Chart], int]:
    """A chart over time of what each violated or undecided criterion is about, with its limit; the
    other executions stand beside it. And how many others there are."""
    broken = []
    for view, execution in zip(views, judged, strict=True):
        # Those of a share are not judged.
        pairs = zip(view.execution.criteria, execution.criteria, strict=False)
        broken += [Failure(of, it, view) for of, it in pairs if it.decides and it.verdict != PASS]
    broken.sort(key=lambda failure: -ORDER.index(failure.result.verdict))
    worst: dict[tuple[Criterion, bool], Failure] = {}
    for failure in broken:
        worst.setdefault((failure.criterion, failure.result.worker is not None), failure)
    charts = (_chart(each, broken, views, settings, spans) for each in worst.values())
    drawn = [*islice(filter(None, charts), MOST_CHARTS)]
    return drawn, len(worst) - len(drawn)


def _chart(
    failure: Failure,
    broken: Sequence[Failure],
    views: Sequence[View],
    settings: JudgeSettings,
    spans: Sequence[ChartSpan],
) -> Chart | None:
    """broken: all of the run, the worst first."""
    criterion, result = failure.criterion, failure.result
    title = one_line(criterion.text)
    summary = one_line(f"{failure.view.name}: {result.line_with_reason}")
    text, lines = ChartText(title, summary, _unit(criterion)), []
    if not criterion.is_of_workers:
        lines = [_line(criterion, each, settings) for each in views]
        text = replace(text, note=_few(criterion, views, settings))
    elif measure := workers.MEASURES.get(criterion.subject):
        text = ChartText(title, summary, measure.unit, "", workers.FILE, measure.of_point)
        mine = [each for each in broken if each.criterion == criterion]
        lines = [line for view in views for line in _of_workers(measure, view, mine)]
    limit = result.limit if _is_by_time(criterion) else None
    kind = "wrong" if result.verdict != INCONCLUSIVE else "unclear"
    return chart(text, lines, spans, limit=limit, tone=kind)


def _of_workers(measure: workers.Measure, view: View, alike: Sequence[Failure]) -> list[ChartLine]:
    """Those that did not hold the criterion before others."""
    mine = [each.result.worker for each in alike if each.view is view]
    by_rank = sorted(
        view.execution.resources.workers,
        key=lambda worker: [*mine, worker.worker].index(worker.worker),
    )
    return workers.lines_of(view, by_rank, measure)


def _few(criterion: Criterion, views: Sequence[View], settings: JudgeSettings) -> str:
    """That a point has too few requests for its percentile; or empty."""
    p = criterion.percentile
    if p is None or all(bears(view.selected(criterion, settings)[0].total, p) for view in views):
        return ""
    return f"There are too few requests for a p{p:g} by time: points show little but the slowest."


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


def _line(criterion: Criterion, view: View, settings: JudgeSettings) -> ChartLine:
    counts, totals = view.selected(criterion, settings)

    def points(grid: Grid) -> Values:
        values, n = np.full(grid.count, np.nan), np.zeros(grid.count, np.int64)
        for at, start in enumerate(grid.starts.tolist()):
            ends = (start, start + grid.width)
            here = counts.window(*ends)
            n[at] = here.total
            if here.total:
                values[at] = value_of(criterion, here, totals.window(*ends) if totals else None)
        return values, n

    coarser = None
    if criterion.percentile is not None and view.grid:
        most = points_for(counts.total, criterion.percentile, MOST_POINTS)
        coarser = view.grid.coarser(most)
    # A chart asks for its points more than once.
    return ChartLine(view, view.name, cache(points), coarser=coarser)
