"""How sure each end of an interval is, and how the estimates of a run share its false alarms. Pure.

PASS is decided by an interval both of whose ends have the level of a PASS. A run passes if every
one of its criteria holds, so that many of them make no PASS likelier (R. Berger 1982,
"Multiparameter hypothesis testing and acceptance sampling": the intersection-union test), and the
level needs no sharing among them. Many looks make it likelier, so that it is spent over those that
can end the execution with a PASS (stats/sequential.py). With one look it is 2.5 % on each side, for
a confidence of 95 %; with several it is PASS_SHARE of that, by PASS_EXPONENT. Noise that lasts for
seconds makes intervals too narrow (docs/intervals.md), and most where the mean is low by chance,
which several looks seek out. Both are chosen by simulation, so that also then a run at its limit
passes in at most 5 % (docs/criteria-explained.md).

FAIL is decided by a bound of its own, farther out. One false alarm fails the whole run: all
estimates of all its executions share one level by Holm (stats/holm.py), and so do all looks at
them, evenly. Holm at each look, with each estimate's level spent over its own looks, holds the
level of the run: Ye, Li, Liu and Yao (2013, "A group sequential Holm procedure with multiple
primary endpoints"). The bound never lies within the interval, so that no interval holds the limit
of a FAIL.

An execution's looks count the estimates of the others as not refused, so that they can be made from
its own samples alone. With one look and one estimate the bound is an end of the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice

from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import JudgeSettings, MeasuredExecution
from tollgate.judge.observe import Levels
from tollgate.judge.verdicts import FAIL, CriterionResult
from tollgate.stats.holm import holm
from tollgate.stats.sequential import nominal_level

#: Judges one criterion of an execution.
Judge = Callable[[Criterion, MeasuredExecution, JudgeSettings, Levels], CriterionResult]
#: How much of the error of a PASS several looks spend, and how: of a budget of 240 s the look at
#: 30 s spends 59 % of it. Exponents of 1/2 and 1 let 1.4 and 1.8 times as many runs at their limit
#: pass, and decide fewer at that look.
PASS_SHARE, PASS_EXPONENT = 0.4, 0.25


def estimates(executions: Sequence[Sequence[Criterion]]) -> int:
    """How many estimates share the false alarms of a run, by the criteria of its executions."""
    return sum(each.fail and each.is_estimate for criteria in executions for each in criteria)


def holm_results(
    executions: Sequence[MeasuredExecution], settings: JudgeSettings, judge: Judge, family: int = 0
) -> list[tuple[CriterionResult, ...]]:
    """The results of each execution's criteria, whose estimates share the error (stats/holm.py).

    family: how many estimates the run has, where `executions` are not all of it."""
    error = (1 - settings.confidence) / 2
    tests = [(execution, each) for execution in executions for each in execution.criteria]

    @cache
    def result_at(number: int, share: float) -> CriterionResult:
        execution, criterion = tests[number]
        hold = _hold_level(execution, error)
        fail = min(hold, _fail_level(execution, share))
        return judge(criterion, execution, settings, Levels(fail, hold, error))

    def fails(number: int, share: float) -> bool:
        return result_at(number, share).verdict == FAIL

    # What has no say, or was counted, takes no part of the error.
    weights = {number: 1 for number, (_, it) in enumerate(tests) if it.fail and it.is_estimate}
    shares, _ = holm(weights, error, fails, others=max(0, family - len(weights)))
    results = (result_at(number, shares.get(number, error)) for number in range(len(tests)))
    return [tuple(islice(results, len(execution.criteria))) for execution in executions]


def _fail_level(execution: MeasuredExecution, share: float) -> float:
    """The level of a single test at the last of the execution's looks."""
    if execution.course is None:
        return share
    fractions = execution.course.fractions
    return share if fractions == (1.0,) else nominal_level(fractions, share)


def _hold_level(execution: MeasuredExecution, error: float) -> float:
    """The level of each end of the interval at the last of the looks that can pass."""
    if execution.course is None or not execution.course.is_repeated:
        return error
    return nominal_level(execution.course.pass_fractions, PASS_SHARE * error, PASS_EXPONENT)
