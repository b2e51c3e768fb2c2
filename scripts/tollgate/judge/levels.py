"""How sure each end of an interval is, and how the estimates of a run share its false alarms. Pure.

An interval has two ends, and each decides something else. The end towards the limit's good side
decides PASS, and has the plain one-sided level (2.5 % for a confidence of 95 %): a run passes if
every one of its criteria holds, so that many of them make no PASS likelier (R. Berger 1982,
"Multiparameter hypothesis testing and acceptance sampling": the intersection-union test). Many
looks do, where the true value is just at the limit; docs/criteria.md says how much. The other end
decides FAIL, and one false alarm fails the whole run: all estimates of all its executions share one
level by Holm (1979, "A simple sequentially rejective multiple test procedure"), and so do all looks
at them (stats/sequential.py). Holm at each look, with each estimate's level spent over its own
looks, holds the level of the run: Ye, Li, Liu and Yao (2013, "A group sequential Holm procedure
with multiple primary endpoints").

An execution's looks count the estimates of the others as not refused, so that they can be made from
its own samples alone. With one look and one estimate both ends are those of the plain interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tollgate.criteria import Criterion
from tollgate.judge.facts import JudgeSettings, MeasuredExecution
from tollgate.judge.observe import Levels
from tollgate.judge.verdicts import FAIL, CriterionResult
from tollgate.stats import nominal_level

#: Judges one criterion of an execution.
Judge = Callable[[Criterion, MeasuredExecution, Levels], CriterionResult]


def estimates(executions: Sequence[Sequence[Criterion]]) -> int:
    """How many estimates share the false alarms of a run, by the criteria of its executions."""
    return sum(each.fail and each.is_estimate for criteria in executions for each in criteria)


@dataclass(frozen=True)
class _Place:
    """One criterion of one execution."""

    execution: MeasuredExecution
    criterion: Criterion


def shared_results(
    executions: Sequence[MeasuredExecution],
    settings: JudgeSettings,
    judge: Judge,
    family: int = 0,
) -> list[tuple[CriterionResult, ...]]:
    """The results of each execution's criteria. family: how many estimates the run has, where
    `executions` are not all of it."""
    error = (1 - settings.confidence) / 2
    places = [[_Place(it, criterion) for criterion in it.criteria] for it in executions]
    found: dict[int, CriterionResult] = {}

    def result_of(place: _Place, share: float) -> CriterionResult:
        level = _level(place.execution, share)
        return judge(place.criterion, place.execution, Levels(level, error))

    still = []
    for place in (it for row in places for it in row):
        if place.criterion.fail and place.criterion.is_estimate:
            still.append(place)
        else:  # what has no say takes no part of the level
            found[id(place)] = result_of(place, error)
    family = max(family, len(still))
    while still:
        share = error / family
        found |= {id(place): result_of(place, share) for place in still}
        left = [place for place in still if found[id(place)].verdict != FAIL]
        if len(left) == len(still):
            break
        family -= len(still) - len(left)
        still = left
    return [tuple(found[id(place)] for place in row) for row in places]


def _level(execution: MeasuredExecution, share: float) -> float:
    """The level of a single test at the last of the execution's looks."""
    if execution.course is None:
        return share
    fractions = execution.course.fractions
    return share if fractions == (1.0,) else nominal_level(fractions, share)
