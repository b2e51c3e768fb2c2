"""What an interruption means for the verdict on an execution, in words. Pure.

By default a run that was interrupted is INVALID: it was to measure more than it did. Where
`cut-short-counts` is true, what was measured until then is judged, and the interruption is told.
What never began, or was ended in its warm-up, measured nothing, and nothing can be made of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.base import lasting
from tollgate.judge.facts import Execution, Settings
from tollgate.judge.verdicts import INVALID, OPERATOR, Reason

#: JMeter ends threads at its own pace, and seconds are whole.
END_SLACK_S = 1.0


def is_cut_short(execution: Execution) -> bool:
    """Whether the interruption of the run took some of this execution away."""
    ended, due = execution.facts.ended_s, _last_request_due(execution)
    finished = ended is not None and due is not None and ended >= due - END_SLACK_S
    return execution.facts.interrupted and not finished


def measured_nothing(execution: Execution) -> bool:
    """Whether the interruption came before the execution's load, or in its warm-up."""
    ended = execution.facts.ended_s
    return is_cut_short(execution) and (ended is None or ended <= execution.warmup_s)


def cut_short_reasons(execution: Execution, settings: Settings) -> Iterator[Reason]:
    """Why an execution that was cut short can't be judged, if it can't."""
    facts, ended = execution.facts, execution.facts.ended_s
    if facts.generator_error:
        yield _invalid("it never began: the run was interrupted before")
    elif ended is None:
        yield _invalid(f"cut short, and there are no samples: {facts.jtl_error}")
    elif ended <= execution.warmup_s:
        yield _invalid(f"{_told(execution)}, in the warm-up: nothing was measured")
    elif not settings.cut_short_counts:
        yield _invalid(_told(execution))


def cut_short_warnings(execution: Execution, settings: Settings) -> Iterator[str]:
    """What stands beside a verdict on a part of what was to be measured."""
    if is_cut_short(execution) and not any(cut_short_reasons(execution, settings)):
        yield f"{_told(execution)}: judged by what was measured until then"


def _told(execution: Execution) -> str:
    due = _due(execution)
    of = "" if due is None else f" of {lasting(due)}"
    return f"cut short after {lasting(max(0.0, execution.facts.ended_s))}{of}"


def _due(execution: Execution) -> float | None:
    if execution.measured_s is None:
        return None
    return execution.warmup_s + execution.measured_s


def _last_request_due(execution: Execution) -> float | None:
    """The end of the load; closed hours at the end of a forecast are none."""
    due = _due(execution)
    # A JMeter that had to be killed in such hours was cut short all the same: it had not ended.
    if due is None or execution.forecast is None or execution.facts.generator_exit:
        return due
    return min(due, execution.forecast.silent_from())


def _invalid(text: str) -> Reason:
    return Reason(INVALID, OPERATOR, text)
