"""The course of an execution that may end early: what its looks decide, and when. Pure.

An execution ends at the first look at which its verdict is settled:

- An estimate that decides has failed. Its end of the interval is a repeated one (levels.py), so
  that a FAIL stays right whatever comes later, and nothing that is still open could undo it.
- Or the least time has been measured, and each criterion that decides holds, or one that is counted
  exactly does not. What is counted may still recover before that, as a share of failures may, so
  that it is judged over the least time at least, as by a run of that length.

What is open at the end of the budget is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tollgate.base import lasting
from tollgate.criteria import Criterion
from tollgate.judge.facts import Course, MeasuredExecution
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, PASS, CriterionResult

_DECIDED = (PASS, FAIL)


def is_settled(
    criteria: Sequence[Criterion], results: Sequence[CriterionResult], course: Course
) -> bool:
    """Whether the verdict of an execution is settled at the last look of its course."""
    deciding = [pair for pair in zip(criteria, results, strict=True) if pair[0].fail]
    if any(each.is_estimate and it.verdict == FAIL for each, it in deciding):
        return True
    if course.looks_s[-1] < course.least_s:
        return False
    verdicts = [it.verdict for _, it in deciding]
    return FAIL in verdicts or all(it == PASS for it in verdicts)


def noted(course: Course, results: Sequence[CriterionResult]) -> Course:
    """The course with what its last look has found."""
    now = {it.criterion: (it.verdict, it.decided_after_s or course.looks_s[-1]) for it in results}
    return replace(course, since=now)


def told_when(
    execution: MeasuredExecution, results: Sequence[CriterionResult]
) -> tuple[CriterionResult, ...]:
    """The results with when each was decided, and with what to do about those that were not."""
    course = execution.course
    if course is None:
        return tuple(results)
    return tuple(_told_when(each, course) for each in results)


def _told_when(result: CriterionResult, course: Course) -> CriterionResult:
    last_s = course.looks_s[-1]
    if result.verdict in _DECIDED:
        before, since_s = course.since.get(result.criterion, ("", last_s))
        since_s = since_s if before == result.verdict else last_s
        if result.verdict == PASS:  # nothing has passed before the least time, unless it ended
            since_s = min(last_s, max(since_s, course.least_s))
        return replace(result, decided_after_s=since_s)
    if result.verdict != INCONCLUSIVE or not result.decides:
        return result
    if course.ended and last_s < course.budget_s:
        why = f"open when a look ended the execution after {lasting(last_s)}"
    elif last_s >= course.budget_s:
        why = (
            f"not decided in {lasting(course.budget_s)}, which is all of the budget: allow more "
            "(modules.looks.budget), send more requests, or move the limit"
        )
    else:
        return result
    return replace(result, reason=f"{result.reason}; {why}")
