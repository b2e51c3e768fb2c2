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
from tollgate.judge.verdicts import INCONCLUSIVE, LOOKS, ORDER, PASS, CriterionResult
from tollgate.judge.verdicts import ExecutionVerdict as Judged
from tollgate.outputs.text import course, decided, fail_bound, interval, limit, observed, unadjusted
from tollgate.pages.kit.assemble import tone
from tollgate.pages.kit.bars import LimitBar
from tollgate.pages.kit.charts import Chart, ChartSpan
from tollgate.pages.kit.tables import Column, Table, numeric
from tollgate.pages.run import workers
from tollgate.pages.run.grid import Grid
from tollgate.pages.run.lines import ChartLine, ChartText, Values, chart
from tollgate.pages.run.view import View

#: Charts of criteria that did not hold, the worst first.
MOST_CHARTS = 6
_BOUNDS = (
    "The table above shows the interval that decides PASS, with the same level at both ends. A "
    "FAIL needs this bound to violate the limit: it lies farther out, because all estimates of the "
    "run and all interim looks share its level. The unadjusted interval is that of a single "
    "estimate that is evaluated once."
)


@dataclass(frozen=True)
class CriterionRow:
    """A criterion with what was observed. basis: what it was judged by, where that is not each
    sample. reason: why it does not hold. bar: observed value and interval against the limit.
    decided: after which look; said where an execution has several."""

    text: str
    basis: str
    reason: str
    verdict: str
    decides: bool
    observed: str
    limit: str
    bar: LimitBar
    interval: str
    n: int
    decided: str


@dataclass(frozen=True)
class ExecutionRows:
    """The criteria of an execution, the worst first. course: for how long it was measured, where
    that was not known before."""

    name: str
    course: str
    verdict: str
    rows: Sequence[CriterionRow]


@dataclass(frozen=True)
class Criteria:
    """executions: those that have criteria. interval_name: with the confidence. bounds: what else
    is known of the estimates, none without any. warnings: lines. lint: what was noticed of the
    plans, which changes no verdict. has_looks: whether some execution was looked at more than
    once."""

    executions: Sequence[ExecutionRows]
    interval_name: str
    bounds: Table | None
    warnings: Sequence[str]
    lint: Sequence[str]
    has_looks: bool


def content(judged: Sequence[Judged]) -> Criteria:
    """All criteria of all executions."""
    executions = [
        ExecutionRows(
            one_line(it.name),
            course(it),
            it.verdict,
            [_row(each) for each in sorted(it.criteria, key=_rank)],
        )
        for it in judged
        if it.criteria
    ]
    names = [it.interval_name for each in judged for it in each.criteria]
    return Criteria(
        executions,
        max(names, key=len, default=""),
        _bounds(judged),
        [f"{one_line(it.name)}: {one_line(text)}" for it in judged for text in it.warnings],
        [f"{one_line(it.name)}: {one_line(text)}" for it in judged for text in it.lint],
        any(it.course for it in judged),
    )


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


def _rank(result: CriterionResult) -> int:
    return -ORDER.index(result.verdict if result.decides else PASS)


def _row(it: CriterionResult) -> CriterionRow:
    basis = "" if it.basis in ("samples", LOOKS) else it.basis
    worker = "" if it.worker is None else f"worker {it.worker}"
    # Of a limit of nothing there are no shares: there is something, or there is nothing.
    ends = (it.low, it.high) if it.limit else (None, None)
    return CriterionRow(
        text=one_line(it.criterion),
        basis=one_line(", ".join(part for part in (basis, it.window, worker) if part)),
        reason=one_line(it.reason) if it.verdict != PASS else "",
        verdict=it.verdict,
        decides=it.decides,
        observed=observed(it),
        limit=limit(it),
        bar=LimitBar.of(
            *(_ratio(value, it.limit) for value in (it.observed, *ends)),
            tone=tone(it.verdict) if it.decides else "unsure",
        ),
        interval=interval(it),
        n=it.samples,
        decided=decided(it),
    )


def _ratio(value: float | None, of: float) -> float | None:
    if value is None:
        return None
    if of == 0:
        return 0.0 if value == 0 else float("inf")
    return value / of


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
