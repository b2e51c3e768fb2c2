"""What Markdown, the console and pages share: parts of a result as short text, one line each. Pure.

Text of unknown origin is made fit for a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tollgate.base.text import duration, format_interval, format_number, short
from tollgate.compare import words
from tollgate.criteria.subjects import MIB
from tollgate.forecast.check import HELD, NOT_REACHED
from tollgate.forecast.model import ForecastResult, PartResult
from tollgate.judge.forecast import requests, signed, worst_part
from tollgate.judge.verdicts import PASS, CriterionResult, ExecutionVerdict, RunVerdict, unit_suffix
from tollgate.judge.workers import MB_PER_MIN
from tollgate.workers.processes import WorkerFacts


def beyond(verdict: RunVerdict) -> Iterator[str]:
    """What the verdict's line says beside it: that head answers something else; and what a PASS
    leaves out: informational, and worse beyond doubt."""
    compared = [it.comparison for it in verdict.executions if it.comparison]
    yield from filter(None, map(words.unlike, compared))
    if verdict.verdict == PASS:
        yield from filter(None, map(words.beyond, compared))


def observed(result: CriterionResult) -> str:
    """The observed value with its unit, `-` without samples."""
    return _with_unit(result, result.observed)


def _with_unit(result: CriterionResult, value: float | None) -> str:
    if value is None:
        return "-"
    return format_number(value, against=result.limit) + unit_suffix(result.unit)


def limit(result: CriterionResult) -> str:
    """The limit with its unit."""
    return _with_unit(result, result.limit)


def interval(result: CriterionResult) -> str:
    """The confidence interval, `exact` for what was counted, `-` without samples."""
    if result.observed is None:
        return "-"
    if result.low is None or result.high is None:
        return "exact"
    return format_interval(result.low, result.high, against=result.limit)


def unadjusted(result: CriterionResult) -> str:
    """The interval of a single look at this estimate alone."""
    ends = result.unadjusted_interval
    return format_interval(*ends, against=result.limit) if ends else "-"


def fail_bound(result: CriterionResult) -> str:
    """The bound that decides FAIL, with its unit."""
    return _with_unit(result, result.fail_bound)


def course(execution: ExecutionVerdict) -> str:
    """` after 40 s of at most 240`, empty for an execution that is looked at once."""
    if execution.course is None:
        return ""
    last_s, budget_s = execution.course.looks_s[-1], execution.course.budget_s
    return f" after {format_number(last_s)} s of at most {format_number(budget_s)}"


def decided(result: CriterionResult) -> str:
    """From which look on it has had its verdict."""
    after_s = result.decided_after_s
    return "open" if after_s is None else f"{format_number(after_s)} s"


def forecast_line(result: ForecastResult) -> str:
    """`forecast: 24 of 24 steps held, 1,432 of 1,431 requests, worst step 8 (07:00) +1.3 %`."""
    judged = [each for each in result.steps if each.outcome != NOT_REACHED]
    held = sum(each.outcome == HELD for each in judged)
    parts = [f"forecast: {held} of {len(judged)} steps held"]
    if len(judged) < len(result.steps):
        parts.append(f"{len(result.steps) - len(judged)} not reached")
    if judged:
        parts.append(f"{_of_forecast(result.total)} requests")
        worst = worst_part(judged)
        error = worst.error_percent
        by = f" {signed(error)} %" if error is not None else ""
        place = result.steps.index(worst) + 1
        parts.append(f"worst step {place} ({worst.name}){by}: {_of_forecast(worst)}")
    return ", ".join(parts)


def _of_forecast(part: PartResult) -> str:
    return f"{part.sent:,} of {requests(part.forecast)}"


def worker_lines(judged: ExecutionVerdict) -> list[str]:
    """A line on each worker, where a criterion or a change of processes makes them of interest:
    `worker 1: RSS 66 to 124 MB, 0.2 MB/min (-1 to 1.4); cpu 12 %; loop delay p95 31 ms`."""
    is_judged = any(result.worker is not None for result in judged.criteria)
    has_changed = any(len(worker.pids) > 1 for worker in judged.workers)
    shown = judged.workers if is_judged or has_changed else ()
    return [f"worker {it.worker}: {'; '.join([*_memory(it), *_others(it)])}" for it in shown]


def _memory(worker: WorkerFacts) -> list[str]:
    if worker.rss_first_bytes is None or worker.rss_last_bytes is None:
        return ["RSS not known"]
    text = f"RSS {worker.rss_first_bytes / MIB:.0f} to {worker.rss_last_bytes / MIB:.0f} MB"
    if (slope := worker.rss_slope) is None:
        return [f"{text}, too few looks for a slope"]
    value, low, high = (each * MB_PER_MIN for each in (slope.value, slope.low, slope.high))
    text += f", {format_number(value)} MB/min ({format_interval(low, high)})"
    if worker.time_left_s is not None and math.isfinite(worker.time_left_s):
        unit, name = duration(worker.time_left_s)
        text += f", {short(worker.time_left_s / unit)} {name} to its limit"
    return [text]


def _others(worker: WorkerFacts) -> list[str]:
    means = (
        ("cpu", worker.cpu_percent, "%"),
        ("loop delay p50", worker.loop_delay_p50_ms, "ms"),
        ("loop delay p95", worker.loop_delay_p95_ms, "ms"),
    )
    parts = [f"{name} {format_number(it)} {unit}" for name, it, unit in means if it is not None]
    if worker.requests is not None:
        parts.append(f"{worker.requests} requests")
    if len(worker.pids) > 1:
        parts.append(f"{len(worker.pids)} processes, {worker.restarts} restarts")
    return parts
