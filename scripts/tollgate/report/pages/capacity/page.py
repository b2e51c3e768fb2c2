"""A search for capacity in index.html: the answer, times by rate, and every trial. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tollgate.base.text import format_interval, format_number
from tollgate.capacity.model import CurvePoint, Searched, Trial
from tollgate.judge.verdicts import PASS, ExecutionVerdict, RunVerdict
from tollgate.report import capacity as words
from tollgate.report.pages.kit.charts import (
    CHANGE,
    DOTS,
    JOINED,
    UNCOUNTED,
    Axis,
    Chart,
    ChartSpan,
    Series,
)
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
    """What the page of a search has more than that of any run. sentence: the answer, empty where
    the verdict's own says more. answers: of each execution, in a table. scaling: a line, or empty.
    together: a chart of all executions, None for one. each: a chart of each. trials: a table."""

    sentence: str
    answers: Table
    scaling: str
    together: Chart | None
    each: Sequence[Chart]
    trials: Table
    leaks: str


def part(verdict: RunVerdict) -> CapacityPart | None:
    """Of a run that was judged; None where no capacity was searched for."""
    found = [it for it in verdict.executions if it.capacity]
    if not found:
        return None
    drawn = [it for it in found if it.capacity.trials]
    return CapacityPart(
        sentence=_sentence(verdict, found),
        answers=_answers(found),
        scaling=next(words.scaling_line(verdict.executions), ""),
        together=_together(drawn) if len(drawn) > 1 else None,
        each=[_of_one(it.name, it.capacity) for it in drawn],
        trials=_trials(drawn),
        leaks=words.LEAKS,
    )


def _sentence(verdict: RunVerdict, found: Sequence[ExecutionVerdict]) -> str:
    if verdict.verdict != PASS:
        return ""
    each = [f"{it.name} {words.estimate(it.capacity.result)}" for it in found]
    return f"The highest rate that keeps the limits: {'; '.join(each)}."


def _answers(found: Sequence[ExecutionVerdict]) -> Table:
    columns = (
        Column("execution"),
        *numeric("capacity, /s", "95 % interval", "last pass", "first failure", "ceiling"),
        Column("held out"),
    )
    rows = []
    for it in found:
        result, ceiling = it.capacity.result, it.capacity.ceiling
        ends = "-" if result.low is None else format_interval(result.low, result.high)
        rates = (result.last_pass, result.first_fail, ceiling)
        tried = result.holdout and words.holdout(result.holdout, it.capacity)
        last = tried or result.reason or "-"
        rows.append((it.name, _rate(result.estimate), ends, *map(_rate, rates), last))
    first = found[0].capacity
    caption = f"The highest rate of {', '.join(first.of)} {words.limits(first)}"
    return Table(caption, columns, rows, "cards")


def _rate(value: float | None) -> str:
    return "-" if value is None else format_number(value)


def _together(found: Sequence[ExecutionVerdict]) -> Chart:
    """The p95 of all executions."""
    series = []
    for at, it in enumerate(found):
        series += [*_curve(it.name, it.capacity, "p95", at), _dots(f"{it.name}, trials", it, at)]
    ends = "; ".join(f"{it.name} {words.estimate(it.capacity.result)}" for it in found)
    return Chart(
        title="p95 by rate",
        summary=f"{ends}.",
        x=_axis_of_rates([it.capacity for it in found]),
        y=Axis("p95, ms", log=True, base=10),
        series=tuple(series),
        numbers=_curve_table("p95 by rate", {it.name: _of(it, "p95") for it in found}),
        limit=_limit_ms(found[0].capacity),
        spans=tuple(span for it in found for span in _interval(it.name, it.capacity)),
    )


def _of_one(name: str, searched: Searched) -> Chart:
    """Its percentiles near the interval, with the trials there and what was held out."""
    near = _near(searched)
    curves = [
        series for at, each in enumerate(PERCENTILES) for series in _curve(each, near, each, at)
    ]
    dots = [
        _points("p95 of each trial", near.trials, 1),
        *([_points("held out", [searched.result.holdout], 3)] if searched.result.holdout else []),
    ]
    found = searched.result
    ends = [
        f"{what} {format_number(rate)}/s"
        for what, rate in (("last pass", found.last_pass), ("first failure", found.first_fail))
        if rate is not None
    ]
    return Chart(
        title=f"{name}: response times by rate",
        summary=f"{'; '.join([words.estimate(found), *ends])}.",
        x=_axis_near(near),
        y=Axis("response time, ms", log=True, base=10),
        series=(*curves, *dots),
        numbers=_curve_table(f"{name}: response times by rate", searched.result.curves or {}),
        limit=_limit_ms(searched),
        spans=tuple(_interval("95 % interval", searched)),
        note="Bands hold the median of neighbouring trials with about 94 % confidence. Trials far "
        "below the interval are not drawn here.",
    )


def _near(searched: Searched) -> Searched:
    """Without the trials and points far below the interval; as it is where there is none."""
    found = searched.result
    least = _FROM * found.low if found.low is not None else 0.0
    curves = {
        name: tuple(it for it in points if it.rate >= least)
        for name, points in (found.curves or {}).items()
    }
    return replace(
        searched,
        trials=tuple(it for it in searched.trials if it.achieved >= least),
        result=replace(found, curves=curves),
    )


def _curve(label: str, searched: Searched, percentile: str, colour: int) -> list[Series]:
    points = (searched.result.curves or {}).get(percentile, ())
    points = [it for it in points if math.isfinite(it.ms)]
    if not points:
        return []
    return [
        Series(
            label,
            [it.rate for it in points],
            [_ms(it.ms) for it in points],
            [_ms(it.low_ms) for it in points],
            [_ms(it.high_ms) for it in points],
            draw=JOINED,
            colour=colour % _PALETTE,
        )
    ]


def _dots(label: str, execution: ExecutionVerdict, colour: int) -> Series:
    return _points(label, execution.capacity.trials, colour)


def _points(label: str, trials: Sequence[Trial], colour: int) -> Series:
    shown = sorted(
        (each.achieved, _ms(each.p95_ms)) for each in trials if math.isfinite(each.p95_ms)
    )
    rates, times = zip(*shown, strict=True) if shown else ((), ())
    return Series(label, list(rates), list(times), draw=DOTS, colour=colour % _PALETTE)


def _ms(value: float) -> float:
    """Fit for a logarithmic axis."""
    return max(value, _LEAST_MS)


def _axis_of_rates(found: Sequence[Searched]) -> Axis:
    rates = [each.achieved for it in found for each in it.trials]
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
    return next((each for each in searched.thresholds_ms if each is not None), None)


def _interval(label: str, searched: Searched) -> list[ChartSpan]:
    found = searched.result
    if found.low is None or found.high is None:
        return []
    spans = [ChartSpan(found.low, found.high, UNCOUNTED, label)]
    if found.holdout:
        rate = found.holdout.achieved
        spans.append(ChartSpan(rate, rate, CHANGE, "held out"))
    return spans


def _of(execution: ExecutionVerdict, percentile: str) -> Sequence[CurvePoint]:
    return (execution.capacity.result.curves or {}).get(percentile, ())


def _curve_table(caption: str, curves: Mapping[str, Sequence[CurvePoint]]) -> Table:
    rows = [
        (name, format_number(it.rate), format_number(it.ms), format_interval(it.low_ms, it.high_ms))
        for name, points in curves.items()
        for it in points
    ]
    columns = (Column("curve"), Column("rate, /s"), *numeric("ms", "band"))
    return Table(caption, columns, rows, is_grouped=True)


def _trials(found: Sequence[ExecutionVerdict]) -> Table:
    """Every trial in its order, those of the ceiling first."""
    columns = (
        *(Column("execution"), Column("trial")),
        *numeric("began, s", "asked, /s", "sent, /s", "n", "p50", "p95", "p99", "generator, cores"),
        Column("outcome"),
    )
    rows = [
        (it.name, *_row(each, it.capacity))
        for it in found
        for each in (*it.capacity.ceiling_trials, *it.capacity.trials)
    ]
    caption = "Every trial; times in ms from when a request was due"
    return Table(caption, columns, rows, is_grouped=True)


def _row(trial: Trial, searched: Searched) -> tuple[str, ...]:
    times = (trial.p50_ms, trial.p95_ms, trial.p99_ms)
    return (
        f"{trial.ask.purpose} {trial.ask.number}",
        "-" if trial.ask.purpose == "ceiling" else f"{trial.began_s:.0f}",
        format_number(trial.ask.rate),
        format_number(trial.achieved),
        f"{trial.n:,}",
        *(format_number(each) if math.isfinite(each) else "-" for each in times),
        format_number(trial.generator_cpu),
        words.outcome(trial, searched),
    )
