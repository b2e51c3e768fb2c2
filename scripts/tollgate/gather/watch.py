"""What is decided by the samples of an execution that is under way: its verdict, or that it must be
stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from tollgate.gather.interim import WRITTEN_S, ExecutionContext, Look
from tollgate.judge.verdicts import FAIL, PASS, CriterionResult
from tollgate.record.manifest import Stop
from tollgate.samples.store import Store

#: Seconds between two looks for a reason to stop, at least, and how many times as long as a look.
STOP_EVERY_S, STOP_PAUSE = 5.0, 20


class InterimDecider:
    """Judges all criteria at each interim look, as the verdict will when the run has ended."""

    def __init__(self, context: ExecutionContext) -> None:
        self.context = context
        self.every_s = context.planned.interim.every_s
        self.course = context.course
        self.last: Look | None = None

    def due_at(self, origin_s: float) -> float | None:
        number, moments = len(self.course.looks_s), self.context.moments
        if number >= len(moments):
            return None
        planned = self.context.planned
        seen_s = planned.warmup + moments[number] + planned.interim.lag_s
        return origin_s + seen_s + WRITTEN_S

    def look(self, store: Store, began: float) -> Look | None:
        look = _begun(self.context, began).look(store, self.course)
        if look:
            self.course, self.last = look.course, look
        return look

    @property
    def is_over(self) -> bool:
        """Whether the last look ends the execution."""
        looks_s = self.course.looks_s
        budget_s = self.context.planned.interim.budget_s
        return self.last is not None and (self.last.settled or looks_s[-1] >= budget_s)

    @property
    def open(self) -> list[str]:
        """The criteria that the last look did not decide, all of them before it."""
        if self.last is None:
            return [each.text for each in self.context.criteria if each.fail]
        return [
            each.criterion
            for each in self.last.results
            if each.decides and each.verdict not in (PASS, FAIL)
        ]


class StopDecider:
    """Judges the criteria that may stop a run by the samples so far, as the verdict does then."""

    every_s = STOP_EVERY_S

    def __init__(self, context: ExecutionContext, now: Callable[[], float] = time.time) -> None:
        """now: seconds since the epoch."""
        self.context, self.now = context, now
        self._asked_at = self._next_at = 0.0

    def due_at(self, _origin_s: float) -> float:
        self._asked_at = self.now()
        return self._next_at

    def look(self, store: Store, began: float) -> tuple[Stop, CriterionResult] | None:
        """The criterion that stops the run, and where."""
        found = _begun(self.context, began).stop(store)
        to_s = self.now()
        self._next_at = to_s + max(STOP_EVERY_S, STOP_PAUSE * (to_s - self._asked_at))
        return found


def _begun(context: ExecutionContext, began: float) -> ExecutionContext:
    return replace(context, planned=replace(context.planned, began=began))


def outcome(look: Look) -> str:
    """`fails after 10 s: p95 of search = ...`, `every criterion is decided after 30 s`."""
    at_s = look.course.looks_s[-1]
    failed = [each for each in look.results if each.decides and each.verdict == FAIL]
    if failed:
        return f"fails after {at_s:g} s: {failed[0].line}"
    if look.settled:
        return f"every criterion is decided after {at_s:g} s"
    return f"not decided after {at_s:g} s, all of the budget"
