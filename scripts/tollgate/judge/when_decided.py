"""The course of an execution that may end early: what its looks decide, and when. Pure.

An execution ends at the first look at which its verdict is settled:

- An estimate that decides has failed. Its end of the interval is a repeated one (levels.py), so
  that a FAIL stays right whatever comes later, and nothing that is still open could undo it.
- A count that decides has passed an upper limit: it only grows. Below its limit it is open until
  the end of the budget, for how far it comes depends on when the execution ends.
- Or the least time has been measured, and each criterion that decides holds, or a share or a window
  does not. A share may still recover before that, so that it is judged over the least time at
  least, as by a run of that length.

What is open at the end of the budget is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tollgate.base.text import format_duration
from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import InterimHistory, MeasuredExecution
from tollgate.judge.verdicts import FAIL, INCONCLUSIVE, PASS, CriterionResult

_DECIDED = (PASS, FAIL)


def is_settled(
    criteria: Sequence[Criterion], results: Sequence[CriterionResult], course: InterimHistory
) -> bool:
    """Whether the verdict of an execution is settled at the last look of its course."""
    deciding = [pair for pair in zip(criteria, results, strict=True) if pair[0].fail]
    failed = [pair for pair in deciding if pair[1].verdict == FAIL]
    # More samples could not undo a FAIL that an interval shows, or a count that has passed its
    # limit: other counts have not failed yet.
    finals = (it.is_count or (it.is_estimate and found.low is not None) for it, found in failed)
    if any(finals):
        return True
    if course.looks_s[-1] < course.least_s:
        return False
    return bool(failed) or all(it.verdict == PASS for _, it in deciding)


def noted(course: InterimHistory, results: Sequence[CriterionResult]) -> InterimHistory:
    """The course with what its last look has found."""
    now = {it.criterion: (it.verdict, it.decided_after_s or course.looks_s[-1]) for it in results}
    return replace(course, since=now)


def with_decision_time(
    execution: MeasuredExecution, results: Sequence[CriterionResult]
) -> tuple[CriterionResult, ...]:
    """The results with when each was decided, and with what to do about those that were not."""
    course = execution.course
    if course is None:
        return tuple(results)
    pairs = zip(execution.criteria, results, strict=True)
    counted = (_with_open_count(*pair, course) for pair in pairs)
    repeated = course.is_repeated
    return tuple(_with_time(replace(it, is_repeated=repeated), course) for it in counted)


def _with_open_count(
    criterion: Criterion, result: CriterionResult, course: InterimHistory
) -> CriterionResult:
    """The result; a count that has not passed its limit is open until all is measured. `>0` of a
    count says the same as of a share, and is judged as that."""
    limit, value = criterion.threshold, result.observed
    is_all = course.is_over or course.looks_s[-1] >= course.budget_s
    if is_all or not criterion.is_count or value is None or result.verdict not in _DECIDED:
        return result
    has_passed = value >= limit if criterion.condition in (">=", "<") else value > limit
    if has_passed or (criterion.condition, limit) in ((">", 0), (">=", 1)):
        return result
    reason = (
        f"a count so far, which only all of the budget ({format_duration(course.budget_s)}) "
        "decides: a "
        "share, or a count `over` a window, is decided sooner"
    )
    return replace(result, verdict=INCONCLUSIVE, reason=reason)


def _with_time(result: CriterionResult, course: InterimHistory) -> CriterionResult:
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
        why = f"open when a look ended the execution after {format_duration(last_s)}"
    elif last_s >= course.budget_s:
        why = (
            f"not decided in all of the budget, {format_duration(course.budget_s)}: raise "
            "modules.stop-when-decided.budget, send more requests, or move the limit"
        )
    else:
        return result
    return replace(result, reason=f"{result.reason}; {why}")
