"""What an early stop means for the verdict on each execution, in words. Pure.

A criterion on a window of time may end the whole run before its time. Where the samples bear that
out, the run has failed, and what is missing of it is no fault: neither the rest of the execution
in which it happened, nor the executions that were to come. Where they do not, too little was
measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.judge.facts import Execution
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    OPERATOR,
    SERVICE,
    CriterionResult,
    Reason,
)


@dataclass(frozen=True)
class Stop:
    """criterion: its text. confirmed_in: the executions whose samples show that it had to trip.
    under_way: those that it ended."""

    criterion: str
    confirmed_in: tuple[str, ...]
    under_way: tuple[str, ...]

    def is_confirmed(self, execution: Execution) -> bool:
        """Whether this execution's own samples bear it out."""
        return execution.facts.stopped_by is not None and execution.name in self.confirmed_in


def stop_of(
    executions: Sequence[Execution], results: Sequence[Sequence[CriterionResult]]
) -> Stop | None:
    """What stopped the run early, None for nothing. results: those of each execution's criteria.

    Taurus is some seconds behind: an execution may have ended and the next one have begun before
    it notices. So it is not asked whose samples it was about; the samples are.
    """
    stopped = [each for each in executions if each.facts.stopped_by is not None]
    if not stopped:
        return None
    text = stopped[0].facts.stopped_by
    confirmed = [
        execution.name
        for execution, judged in zip(executions, results, strict=True)
        for criterion, result in zip(execution.criteria, judged, strict=True)
        if criterion.text == text and result.decides and result.verdict == FAIL
    ]
    under_way = [each.name for each in stopped if _began(each)]
    return Stop(text, tuple(dict.fromkeys(confirmed)), tuple(under_way))


def left_out(execution: Execution, stop: Stop | None) -> Reason | None:
    """Why an execution is not judged: the stop kept it from its load, or ended it for what another
    had shown. None for one that is judged."""
    if stop is None or execution.facts.stopped_by is None or stop.is_confirmed(execution):
        return None
    began = _began(execution)
    if began and not stop.confirmed_in:
        return None  # ended without cause, for all that its samples tell
    what = "not run to its end" if began else "not run"
    where = ", ".join(stop.confirmed_in or stop.under_way)
    told = f"{what}: the run was stopped early by {stop.criterion!r}" + (where and f" in {where}")
    if stop.confirmed_in:
        return Reason(INCONCLUSIVE, SERVICE, told)
    return Reason(INVALID, OPERATOR, told)


def _began(execution: Execution) -> bool:
    # Who has no samples because JMeter broke has begun; who has none because it never started has
    # an error that says so.
    return execution.facts.generator_error is None
