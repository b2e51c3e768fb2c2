"""What an interruption and an early stop mean for the verdict on an execution. Pure.

An interrupted run is INVALID by default: it was to measure more than it did. Where
`cut-short-counts` is true, what was measured until then is judged, and a warning says so. An
execution that never began, or was ended in its warm-up, measured nothing and is INVALID always.

A criterion on a window of time may stop the whole run early. Where the samples confirm it, the run
has failed, and what is missing of it is no fault: neither the rest of the execution in which it
happened, nor the executions that were to come. Where they do not, too little was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tollgate.base.text import format_duration
from tollgate.judge.facts import JudgeSettings, MeasuredExecution
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    OPERATOR,
    SERVICE,
    CriterionResult,
    Reason,
    invalid,
)

#: JMeter ends threads at its own pace, and seconds are whole.
END_SLACK_S = 1.0


def is_cut_short(execution: MeasuredExecution) -> bool:
    """Whether the interruption of the run took some of this execution away."""
    ended, due = execution.facts.ended_s, _last_request_due(execution)
    finished = ended is not None and due is not None and ended >= due - END_SLACK_S
    return execution.facts.interrupted and not finished


def measured_nothing(execution: MeasuredExecution) -> bool:
    """Whether the interruption came before the execution's load, or in its warm-up."""
    ended = execution.facts.ended_s
    return is_cut_short(execution) and (ended is None or ended <= execution.warmup_s)


def cut_short_reasons(execution: MeasuredExecution, settings: JudgeSettings) -> Iterator[Reason]:
    """Why an execution that was cut short can't be judged, if it can't."""
    facts, ended = execution.facts, execution.facts.ended_s
    if facts.generator_error:
        yield invalid(OPERATOR, "it never began: the run was interrupted before")
    elif ended is None:
        yield invalid(OPERATOR, f"cut short, and there are no samples: {facts.jtl_error}")
    elif ended <= execution.warmup_s:
        yield invalid(OPERATOR, f"{_cut_line(execution)}, in the warm-up: nothing was measured")
    elif not settings.cut_short_counts:
        yield invalid(OPERATOR, _cut_line(execution))


def cut_short_warnings(execution: MeasuredExecution, settings: JudgeSettings) -> Iterator[str]:
    """What stands beside a verdict on a part of what was to be measured."""
    if is_cut_short(execution) and not any(cut_short_reasons(execution, settings)):
        yield f"{_cut_line(execution)}: judged by what was measured until then"


def _cut_line(execution: MeasuredExecution) -> str:
    of = "" if execution.due_s is None else f" of {format_duration(execution.due_s)}"
    return f"cut short after {format_duration(max(0.0, execution.facts.ended_s or 0.0))}{of}"


def _last_request_due(execution: MeasuredExecution) -> float | None:
    """The end of the load; closed hours at the end of a forecast are none."""
    due = execution.due_s
    # A JMeter that had to be killed in such hours was cut short all the same: it had not ended.
    if due is None or execution.forecast is None or execution.facts.generator_exit:
        return due
    return min(due, execution.forecast.silent_from())


@dataclass(frozen=True)
class CriterionStop:
    """criterion: its text. confirmed_in: the executions whose samples show that it had to trip."""

    criterion: str
    confirmed_in: tuple[str, ...]

    def is_confirmed(self, execution: MeasuredExecution) -> bool:
        """Whether this execution's own samples bear it out."""
        return execution.facts.stopped_by is not None and execution.name in self.confirmed_in


def stop_of(
    executions: Sequence[MeasuredExecution], results: Sequence[Sequence[CriterionResult]]
) -> CriterionStop | None:
    """What stopped the run early, None for nothing. results: those of each execution's criteria.

    In runs of before an execution may have ended and the next one have begun before Taurus noticed.
    So it is not asked whose samples it was about; the samples are.
    """
    text = next((it.facts.stopped_by for it in executions if it.facts.stopped_by is not None), None)
    if text is None:
        return None
    confirmed = [
        execution.name
        for execution, judged in zip(executions, results, strict=True)
        for criterion, result in zip(execution.criteria, judged, strict=True)
        if criterion.text == (execution.facts.stopped_by or text)
        and result.decides
        and result.verdict == FAIL
    ]
    return CriterionStop(text, tuple(dict.fromkeys(confirmed)))


def left_out(execution: MeasuredExecution, stop: CriterionStop | None) -> Reason | None:
    """Why an execution is not judged: the stop kept it from its load, or ended it for what another
    had shown. None for one that is judged."""
    if stop is None or execution.facts.stopped_by is None or stop.is_confirmed(execution):
        return None
    # Who has no samples because JMeter broke has begun; who has none because it never started has
    # an error that says so.
    began = execution.facts.generator_error is None
    if began and not stop.confirmed_in:
        return None  # ended without cause, as far as its samples show
    what = "not run to its end" if began else "not run"
    text = f"{what}: the run was stopped early by {stop.criterion!r}"
    if stop.confirmed_in:
        return Reason(INCONCLUSIVE, SERVICE, f"{text} in {', '.join(stop.confirmed_in)}")
    return invalid(OPERATOR, text)
