"""A search for capacity in index.html: the answer, times by rate, and every trial. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tollgate.base.text import format_interval, format_number
from tollgate.capacity.model import CurvePoint, Searched, Trial
from tollgate.judge.verdicts import ExecutionVerdict, RunVerdict
from tollgate.report import capacity as words
from tollgate.report.pages.kit.charts import Axis, Chart, ChartSpan, Series
from tollgate.report.table import Column, Table, numeric

#: Percentiles that have a curve.
PERCENTILES = ("p50", "p95", "p99")
#: Each execution's own chart begins at this part of the lower end of the interval, so that what
#: decided is seen; the chart of all executions has every trial.
_FROM = 0.6
#: Colours of the page's palette.
_PALETTE = 6
_LEAST_MS = 1.0


@dataclass(frozen=True)
class CapacityPart:
    """What the page of a search has more than that of any run. found: the executions that
    were searched. together: a chart of all executions, None for one. each: a chart of each."""

    found: Sequence[ExecutionVerdict]
    together: Chart | None
    each: Sequence[Chart]


def part(verdict: RunVerdict) -> CapacityPart | None:
    """Of a run that was judged; None where no capacity was searched for."""
    searched = [it for it in verdict.executions if it.capacity]
    if not searched:
        return None
    drawn = [it for it in searched if it.capacity.trials]
    return CapacityPart(
        searched,
        _together(drawn) if len(drawn) > 1 else None,
        [_of_one(it.name, it.capacity) for it in drawn],
    )


def _together(executions: Sequence[ExecutionVerdict]) -> Chart:
    """The p95 of all executions."""
    series = []
    for at, execution in enumerate(executions):
        series += [*_curve(execution.name, execution.capacity, "p95", at)]
        series += [_points(f"{execution.name}, trials", execution.capacity.trials, at)]
    ends = "; ".join(f"{it.name} {words.estimate(it.capacity.result)}" for it in executions)
    curves = {it.name: (it.capacity.result.curves or {}).get("p95", ()) for it in executions}
    return Chart(
        title="p95 by rate",
        summary=f"{ends}.",
        x=_axis_of_rates([it.capacity for it in executions]),
        y=Axis("p95, ms", log=True, base=10),
        series=tuple(series),
        numbers=_curve_table("p95 by rate", curves),
        limit=_limit_ms(executions[0].capacity),
        spans=tuple(span for it in executions for span in _interval(it.name, it.capacity)),
    )


def _of_one(name: str, searched: Searched) -> Chart:
    """Its percentiles near the interval, with the trials there and what was held out."""
    near, result = _near(searched), searched.result
    series = [it for at, each in enumerate(PERCENTILES) for it in _curve(each, near, each, at)]
    series.append(_points("p95 of each trial", near.trials, 1))
    if result.holdout:
        series.append(_points("held out", [result.holdout], 3))
    ends = [words.estimate(result), *words.ends(result)]
    return Chart(
        title=f"{name}: response times by rate",
        summary=f"{'; '.join(ends)}.",
        x=_axis_near(near),
        y=Axis("response time, ms", log=True, base=10),
        series=tuple(series),
        numbers=_curve_table(f"{name}: response times by rate", result.curves or {}),
        limit=_limit_ms(searched),
        spans=tuple(_interval("95 % interval", searched)),
        note="Bands hold the median of neighbouring trials with about 94 % confidence. Trials far "
        "below the interval are not drawn here.",
    )


def _near(searched: Searched) -> Searched:
    """Without the trials and points far below the interval; as it is where there is none."""
    result = searched.result
    least = _FROM * result.low if result.low is not None else 0.0
    drawn = (result.curves or {}).items()
    curves = {name: tuple(it for it in points if it.rate >= least) for name, points in drawn}
    trials = tuple(it for it in searched.trials if it.achieved >= least)
    return replace(searched, trials=trials, result=replace(result, curves=curves))


def _curve(label: str, searched: Searched, percentile: str, colour: int) -> list[Series]:
    points = (searched.result.curves or {}).get(percentile, ())
    points = [it for it in points if math.isfinite(it.ms)]
    if not points:
        return []
    names = ("ms", "low_ms", "high_ms")
    y, low, high = ([_ms(getattr(it, name)) for it in points] for name in names)
    return [Series(label, [it.rate for it in points], y, low, high, colour=colour % _PALETTE)]


def _points(label: str, trials: Sequence[Trial], colour: int) -> Series:
    shown = sorted((it.achieved, _ms(it.p95_ms)) for it in trials if math.isfinite(it.p95_ms))
    rates, times = [rate for rate, _ in shown], [ms for _, ms in shown]
    return Series(label, rates, times, draw="dots", colour=colour % _PALETTE)


def _ms(value: float) -> float:
    """Fit for a logarithmic axis."""
    return max(value, _LEAST_MS)


def _axis_of_rates(searches: Sequence[Searched]) -> Axis:
    rates = [each.achieved for it in searches for each in it.trials]
    low, high = max(min(rates), 0.5), max(*rates, 1.0)
    ticks = [2.0**at for at in range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)]
    return Axis("arrivals a second", log=True, ticks=tuple(ticks), low=low / 1.1, high=high * 1.1)


def _axis_near(near: Searched) -> Axis:
    """Linear, where an interval says how narrow it is."""
    if near.result.low is None:
        return _axis_of_rates([near])
    rates = [near.result.low, near.result.high, *(it.achieved for it in near.trials)]
    return Axis("arrivals a second", low=0.98 * min(rates), high=1.02 * max(rates))


def _limit_ms(searched: Searched) -> float | None:
    return next((it.threshold for it in searched.parsed_limits if it.threshold is not None), None)


def _interval(label: str, searched: Searched) -> list[ChartSpan]:
    result = searched.result
    if result.low is None or result.high is None:
        return []
    spans = [ChartSpan(result.low, result.high, "uncounted", label)]
    if result.holdout:
        rate = result.holdout.achieved
        spans.append(ChartSpan(rate, rate, "change", "held out"))
    return spans


def _curve_table(caption: str, curves: Mapping[str, Sequence[CurvePoint]]) -> Table:
    rows = [
        (
            name,
            format_number(point.rate),
            format_number(point.ms),
            format_interval(point.low_ms, point.high_ms),
        )
        for name, points in curves.items()
        for point in points
    ]
    columns = (Column("curve"), Column("rate, /s"), *numeric("ms", "band"))
    return Table(caption, columns, rows, is_grouped=True)
