"""Counts, criteria and facts to a verdict: the last word on a run.

How each kind of criterion is judged:

- Latencies (percentiles, means, deviation) of the whole run are estimates, so that the 95 %
  interval decides: PASS if all of it respects the limit, FAIL if all of it violates the limit,
  INCONCLUSIVE if the limit lies inside or the samples are too few. So are slopes (trend.py) and
  means of what was seen of workers (resources.py). levels.py says how sure each end of it is.
- Counts and shares (hits, succ, fail, rc, in numbers or percent, bytes, concurr) are facts of
  this run, counted without error, and so are criteria on a window of time: they are compared
  exactly. Whoever writes `fail>1%` asks about the requests of this run; were it judged by interval,
  240 requests without a failure could not pass. A share's interval is reported all the same.
- A scheduled request that was not sent counts as failed, and as slow as its timeout: a criterion
  that holds only without it is INCONCLUSIVE.
- Lateness of the generator counts in response times; criterion.py has the rule on it.
- Failed samples count in latencies, as in Taurus; the reason says how many there were. Fast
  failures flatter a latency: failures.py says what becomes of those that no criterion covers.

INVALID beats FAIL beats INCONCLUSIVE beats PASS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tollgate.base.exit_codes import ExitCode
from tollgate.criteria.grammar import Criterion
from tollgate.forecast.check import check_forecast
from tollgate.judge.capacity import capacity_reasons, judge_capacity
from tollgate.judge.comparison import comparison_reasons
from tollgate.judge.criterion import judge_criterion
from tollgate.judge.cut_short import (
    CriterionStop,
    is_cut_short,
    left_out,
    measured_nothing,
    stop_of,
)
from tollgate.judge.engines import engine_reasons, left_to_merge
from tollgate.judge.facts import JudgeSettings, MeasuredExecution, MeasuredRun
from tollgate.judge.failures import failure_reasons, without_times_of_failures
from tollgate.judge.forecast import forecast_reasons
from tollgate.judge.levels import holm_results
from tollgate.judge.observe import Levels
from tollgate.judge.validity import execution_reasons, run_reasons, warnings_of
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    LOOKS,
    MACHINE,
    OPERATOR,
    ORDER,
    PASS,
    SERVICE,
    CriterionResult,
    ExecutionVerdict,
    FaultName,
    Reason,
    RunVerdict,
    invalid,
    worst,
)
from tollgate.judge.when_decided import with_decision_time
from tollgate.judge.workers import judge_resource
from tollgate.workers.processes import worker_facts


def judge(run: MeasuredRun, settings: JudgeSettings | None = None) -> RunVerdict:
    """The verdict on a run; a pure function of its arguments."""
    settings = settings or JudgeSettings()
    # A share's samples say nothing of the criteria: those are about the samples of all engines.
    results = [()] * len(run.executions) if run.share else results_of(run.executions, settings)
    stop = stop_of(run.executions, results)
    executions = tuple(
        _judged(one, settings, judged, stop, is_broken=bool(run.problems))
        for one, judged in zip(run.executions, results, strict=True)
    )
    own = tuple(run_reasons(run, settings))
    verdict = worst([*(reason.verdict for reason in own), *(one.verdict for one in executions)])
    reasons = [*own, *(one.named(reason) for one in executions for reason in one.reasons)]
    reasons.sort(key=lambda reason: -ORDER.index(reason.verdict))
    exit_code: Any = ExitCode[verdict]  # one of those that a verdict has
    if run.interrupted:
        exit_code = ExitCode.INTERRUPTED
    elif verdict == INCONCLUSIVE and settings.inconclusive_passes:
        exit_code = ExitCode.PASS
    judged_run = RunVerdict(verdict, exit_code, tuple(reasons), executions, run.share)
    return left_to_merge(judged_run) if run.share and run.is_sealed else judged_run


def results_of(
    executions: Sequence[MeasuredExecution], settings: JudgeSettings, family: int = 0
) -> list[tuple[CriterionResult, ...]]:
    """The results of each execution's criteria. family: how many estimates the run has (levels.py),
    where these executions are not all of it."""
    by_execution = holm_results(executions, settings, _result, family)
    return [
        with_decision_time(execution, [*without_times_of_failures(execution, results)])
        for execution, results in zip(executions, by_execution, strict=True)
    ]


def _judged(
    execution: MeasuredExecution,
    settings: JudgeSettings,
    results: tuple[CriterionResult, ...],
    stop: CriterionStop | None,
    *,
    is_broken: bool,
) -> ExecutionVerdict:
    """The verdict on one execution. stop: of the whole run, None for none. is_broken: a problem has
    ended the run, which is the reason for all that is missing."""
    forecast = None
    if execution.forecast:
        tolerance, confidence = settings.forecast_tolerance, settings.confidence
        forecast = check_forecast(execution.forecast, tolerance, confidence)
    if excuse := left_out(execution, stop):
        problems = execution.facts.machine_problems
        reasons = [excuse, *(invalid(MACHINE, problem) for problem in problems)]
    else:
        is_excused = is_broken or (stop is not None and stop.is_confirmed(execution))
        has_failed = any(result.decides and result.verdict == FAIL for result in results)
        reasons = [
            *execution_reasons(execution, settings, is_excused, has_failed),
            *engine_reasons(execution, settings, has_failed),
            *(forecast_reasons(forecast) if forecast else ()),
            *failure_reasons(execution),
            *_found_reasons(execution, results),
        ]
    verdict = worst(reason.verdict for reason in reasons)
    warnings = tuple(warnings_of(execution, settings))
    workers = worker_facts(execution.resources, settings.confidence, *execution.window)
    return ExecutionVerdict(
        name=execution.name,
        verdict=verdict,
        reasons=tuple(reasons),
        warnings=warnings,
        criteria=results,
        workers=workers,
        forecast=forecast,
        comparison=execution.comparison,
        capacity=execution.capacity,
        lint=execution.facts.lint,
        course=execution.course,
        background_cpu=execution.resources.background_cpu,
        exported=execution.facts.exported,
    )


def _result(
    criterion: Criterion, execution: MeasuredExecution, settings: JudgeSettings, levels: Levels
) -> CriterionResult:
    if criterion.is_of_capacity and execution.capacity:
        return judge_capacity(criterion, execution.capacity)
    judge_one = judge_resource if criterion.is_of_workers else judge_criterion
    return judge_one(criterion, execution, settings, levels)


def _found_reasons(
    execution: MeasuredExecution, results: Sequence[CriterionResult]
) -> Iterator[Reason]:
    """What a comparison, a search for capacity and the criteria have found."""
    if measured_nothing(execution):
        return  # an interruption left nothing to judge, which is the reason
    if execution.comparison and not execution.facts.jtl_error:
        yield from comparison_reasons(execution.comparison)
    if not execution.facts.jtl_error:
        yield from capacity_reasons(execution)
    for result in results:
        if not result.decides or result.verdict == PASS:
            continue
        # An uncertain result is the fault of too short or too noisy a measurement.
        fault: FaultName = SERVICE if result.verdict in (FAIL, INVALID) else MACHINE
        if result.verdict == INVALID and (result.basis == LOOKS or is_cut_short(execution)):
            # Of what was not watched or has no limit; or the run was interrupted before any sample.
            fault = OPERATOR
        yield Reason(result.verdict, result.fault or fault, result.line_with_reason)
