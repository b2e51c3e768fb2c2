"""A search for capacity as a part of its execution's verdict.

- A capacity that was found makes PASS; a service that breaks its limits at the lowest rate FAIL.
- One that the generator could not reach, or hardly, makes the run INVALID: the generator, not the
  service.
- A search that came to no answer is INCONCLUSIVE.
- `capacity of fork<120/s` is judged by the 95 % interval: FAIL where all of it violates the limit,
  PASS where none of it does.
- A search overruns the service on purpose. So its failed requests and the workers that died of it
  are reported, but decide nothing by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tollgate.base.text import format_number
from tollgate.capacity.model import Searched
from tollgate.criteria.grammar import Criterion
from tollgate.judge.criterion import Judgement, result
from tollgate.judge.facts import MeasuredExecution
from tollgate.judge.observe import Observation
from tollgate.judge.verdicts import (
    FAIL,
    GENERATOR,
    INCONCLUSIVE,
    INVALID,
    MACHINE,
    PASS,
    SERVICE,
    TRIALS,
    BadVerdict,
    CriterionResult,
    FaultName,
    Reason,
    invalid,
)

CONFIDENCE = 0.95
_BY_STATUS: dict[str, tuple[BadVerdict, FaultName]] = {
    "below": (FAIL, SERVICE),
    "unsaturated": (INVALID, GENERATOR),
    "generator": (INVALID, GENERATOR),
    "open": (INCONCLUSIVE, MACHINE),
}


def capacity_reasons(execution: MeasuredExecution) -> Iterator[Reason]:
    """What keeps a search from PASS."""
    searched = execution.capacity
    if searched is None:
        return
    if searched.problem:
        yield invalid(SERVICE, f"the search ended before its time: {searched.problem}")
    elif not searched.is_over and not execution.facts.interrupted:  # which is a reason by itself
        count = len(searched.trials)
        trials = "one trial" if count == 1 else f"{count} trials"
        yield invalid(GENERATOR, f"the search was cut short after {trials}")
    unsound = sum(not each.sound for each in searched.trials)
    if searched.result.status in _BY_STATUS:
        verdict, fault = _BY_STATUS[searched.result.status]
        yield Reason(verdict, fault, f"capacity: {searched.result.reason}")
    if unsound and 2 * unsound > len(searched.trials):
        yield Reason(
            INVALID,
            GENERATOR,
            f"the generator was late, or lost requests, in {unsound} of {len(searched.trials)} "
            "trials: give it more of the machine",
        )


def capacity_warnings(execution: MeasuredExecution) -> Iterator[str]:
    """What a reader should know, and what changes no verdict."""
    searched = execution.capacity
    if searched is None:
        return
    unsound = sum(not each.sound for each in searched.trials)
    if unsound:
        yield (
            f"{unsound} of {len(searched.trials)} trials say nothing of the service: the generator "
            "was late in them, or lost requests"
        )
    for event in execution.facts.worker_events:
        yield f"while rates were tried that may overrun the service: {event.text}"


def judge_capacity(criterion: Criterion, searched: Searched) -> CriterionResult:
    """One criterion on the capacity."""
    judged = result(criterion, _judged(criterion, searched), CONFIDENCE, TRIALS)
    return replace(judged, low=searched.result.low, high=searched.result.high)


def _judged(criterion: Criterion, searched: Searched) -> Judgement:
    capacity = searched.result
    value = math.nan if capacity.estimate is None else capacity.estimate
    low, high = capacity.low, capacity.high
    seen = Observation(value, len(searched.trials))
    if capacity.status == "below":
        low, high = 0.0, high or 0.0
    if low is None or high is None:
        reason = f"there is no interval: {capacity.reason}"
        return Judgement(INCONCLUSIVE, reason, seen, fault=MACHINE)
    ends = criterion.violates(low), criterion.violates(high)
    if all(ends):
        return Judgement(FAIL, "the whole interval violates the limit", seen, fault=SERVICE)
    if not any(ends):
        return Judgement(PASS, "", seen, fault=SERVICE)
    limit = format_number(criterion.threshold)
    reason = f"the interval holds the limit of {limit}/s: allow more time"
    return Judgement(INCONCLUSIVE, reason, seen, fault=MACHINE)
