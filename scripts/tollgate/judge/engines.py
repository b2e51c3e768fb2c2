"""A load that several engines have sent: their measurements as one, and what is wrong with any of
them. Pure.

Each engine's seconds count from its own start, so that its part of the measured window is its own,
and the samples of all of them are judged together: percentiles are of all samples, never averages
of percentiles. Whether each sent its share, and in time, is proven of each by itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tollgate.base.text import format_duration
from tollgate.forecast.model import ForecastFacts, StepFacts
from tollgate.judge.facts import (
    EngineFacts,
    ExecutionFacts,
    JudgeSettings,
    LabelData,
    MeasuredExecution,
)
from tollgate.judge.validity import execution_reasons
from tollgate.judge.verdicts import INCONCLUSIVE, OPERATOR, Reason, RunVerdict, invalid
from tollgate.samples.slowest import MOST
from tollgate.stats.counts import Counts
from tollgate.stats.totals import Totals

#: Of the longest time that an engine measures, so much they must all measure together: else the
#: load was, for more than a tenth of the time, less than what is judged.
SHARED = 0.9


def together(
    parts: Sequence[MeasuredExecution], engines: Sequence[EngineFacts] = ()
) -> MeasuredExecution:
    """The same execution on several engines as one. engines: what is known of each of them."""
    first = parts[0]
    labels: dict[tuple[str, bool], list[LabelData]] = defaultdict(list)
    for part in parts:
        for key, data in part.labels.items():
            labels[key].append(data)
    forecasts = [part.forecast for part in parts if part.forecast]
    slowest = [request for part in parts for request in part.slowest]
    return replace(
        first,
        labels={key: _label(own) for key, own in labels.items()},
        schedules=(),
        unanswered=tuple(it for part in parts for it in part.unanswered),
        facts=ExecutionFacts(
            url=first.facts.url,
            notes=tuple(dict.fromkeys(it for part in parts for it in part.facts.notes)),
            lint=tuple(dict.fromkeys(it for part in parts for it in part.facts.lint)),
            rows=_sum(part.facts.rows for part in parts),
            acknowledged=_sum(part.facts.acknowledged for part in parts),
        ),
        forecast=_forecast(forecasts) if forecasts else None,
        slowest=tuple(sorted(slowest, key=lambda request: -request.elapsed_ms)[:MOST]),
        engines=tuple(engines),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """None where one of them is not known."""
    every = list(counts)
    numbers = [it for it in every if it is not None]
    return sum(numbers) if len(numbers) == len(every) else None


def _label(parts: Sequence[LabelData]) -> LabelData:
    def merged(counts: Iterable[Counts | None]) -> Counts | None:
        own = [it for it in counts if it is not None]
        return Counts.merged(own) if len(own) == len(parts) else None

    totals = [it.totals for it in parts if it.totals is not None]
    return replace(
        parts[0],
        service=Counts.merged(it.service for it in parts),
        response=merged(it.response for it in parts),
        lateness=merged(it.lateness for it in parts),
        without_generator_lateness=merged(it.without_generator_lateness for it in parts),
        totals=Totals.merged(totals) if len(totals) == len(parts) else None,
    )


def _forecast(parts: Sequence[ForecastFacts]) -> ForecastFacts:
    """What all engines were to send, and sent, in each step."""
    steps = []
    for each in zip(*(part.steps for part in parts), strict=True):
        sent: Counter[str] = Counter()
        for step in each:
            sent.update(step.sent_by_label)
        load = replace(each[0].step, tps=math.fsum(step.step.tps for step in each))
        steps.append(StepFacts(load, dict(sorted(sent.items())), all(it.reached for it in each)))
    lines = zip(*(part.timeline for part in parts), strict=False)
    timeline = tuple((math.fsum(a for a, _ in it), math.fsum(b for _, b in it)) for it in lines)
    return replace(parts[0], steps=tuple(steps), timeline=timeline)


def engine_of(
    name: str, execution: MeasuredExecution, began_s: float, machine: str = ""
) -> EngineFacts:
    """began_s: the zero of the execution's seconds, in seconds since the epoch."""
    from_s, to_s = execution.window
    requests = [it for it in execution.labels.values() if not it.is_transaction]
    counts = Counts.merged(it.service.window(from_s, to_s) for it in requests)
    labels = {
        key: LabelData(data.name, _by_second(data.service), is_transaction=data.is_transaction)
        for key, data in execution.labels.items()
    }
    forecast = execution.forecast and replace(execution.forecast, timeline=())
    return EngineFacts(
        name=name,
        execution=replace(execution, labels=labels, unanswered=(), forecast=forecast),
        from_s=began_s + from_s,
        to_s=began_s + to_s,
        requests=counts.total,
        failed=counts.errors,
        p50_ms=counts.percentile(50),
        p95_ms=counts.percentile(95),
        p99_ms=counts.percentile(99),
        machine=machine,
    )


def _by_second(counts: Counts) -> Counts:
    nothing = np.zeros(len(counts.n), np.int64)
    return Counts.of(counts.second, nothing, counts.ok, n=counts.n, width=counts.width)


def shared_s(engines: Iterable[EngineFacts]) -> tuple[float, float]:
    """(for how long all of them measured at the same time, the longest that any did), in s."""
    engines = list(engines)
    both = min(it.to_s for it in engines) - max(it.from_s for it in engines)
    return max(0.0, both), max(it.to_s - it.from_s for it in engines)


def engine_reasons(
    execution: MeasuredExecution, settings: JudgeSettings, has_failed: bool
) -> Iterator[Reason]:
    """What is wrong with any of the engines, each line with its name."""
    if not execution.engines:
        return
    both_s, longest_s = shared_s(execution.engines)
    if both_s < SHARED * longest_s:
        last = max(execution.engines, key=lambda engine: engine.from_s)
        first = min(execution.engines, key=lambda engine: engine.to_s)
        after = format_duration(last.from_s - first.from_s)
        text = (
            f"engine {last.name} began to measure {after} after engine {first.name}, so that of "
            f"{format_duration(longest_s)} all measured together for {format_duration(both_s)}: "
            "give shares one "
            f"START_AT; those of ENGINES begin together unless {last.name} was held up, see its log"
        )
        yield invalid(OPERATOR, text)
    for each in execution.engines:
        for reason in execution_reasons(each.execution, settings, False, has_failed):
            yield replace(reason, text=f"engine {each.name}: {reason.text}")


def left_to_merge(verdict: RunVerdict) -> RunVerdict:
    """The verdict on a share, which gates nothing. What is wrong with it becomes a warning."""
    executions = tuple(
        replace(
            each,
            verdict=INCONCLUSIVE,
            reasons=(),
            warnings=(*(f"{it.verdict}: {it.text}" for it in each.reasons), *each.warnings),
        )
        for each in verdict.executions
    )
    text = (
        f"engine {verdict.share} sent its share of a load: `tollgate merge` judges it together "
        "with those of the other engines"
    )
    reasons = (Reason(INCONCLUSIVE, OPERATOR, text),)
    return RunVerdict(INCONCLUSIVE, 0, reasons, executions, verdict.share)
