"""verdict.json: its models and its content. Pure."""

from __future__ import annotations

from typing import Any, Literal

from tollgate.base.fields import Amount
from tollgate.forecast.model import ForecastResult
from tollgate.judge.facts import EngineFacts, MeasuredExecution, MeasuredRun
from tollgate.judge.verdicts import (
    CriterionResult,
    ExecutionVerdict,
    Reason,
    RunVerdict,
    VerdictName,
)
from tollgate.report.json_capacity import (
    CapacityEntry,
    ScalingEntry,
    capacity_content,
    scaling_content,
)
from tollgate.report.json_comparison import ComparisonEntry, comparison_content
from tollgate.report.json_model import Environment, Model, content, finite
from tollgate.schedule.model import ScheduleFacts
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.model import Reload, WorkerOutage
from tollgate.workers.processes import WorkerFacts

TITLE = "Tollgate's verdict.json"


class ExecutionEntry(Model):
    """One plan against one target."""

    name: str
    """The scenario's name in taurus.yml."""
    verdict: VerdictName
    """The worst of this execution's reasons."""
    reasons: tuple[Reason, ...]
    """Everything that keeps this execution from PASS."""
    warnings: list[str]
    """What a reader should know and what changes no verdict, one line each."""
    lint: list[str]
    """What was noticed of the plan and what changes no verdict, one line each, e.g. samplers
    without an assertion."""
    url: str | None
    """The service that was asked where the run did not start it, with its port; null where it did,
    or where the plan alone knows."""
    warmup_s: Amount
    """Seconds from the start that are not judged."""
    measured_s: Amount | None
    """Seconds after the warm-up that were to be measured, where a look ended the execution those
    until then; null: until the load ended by itself."""
    budget_s: Amount | None
    """Seconds after the warm-up that were to be measured at most; null for an execution that is
    looked at once, at its end."""
    schedules: tuple[ScheduleFacts, ...]
    """How each schedule of the plan was kept; empty for closed loops, and where `engines` has those
    of each engine."""
    engines: tuple[EngineFacts, ...]
    """The engines that sent the load, each a share of it; empty where one JMeter sent all."""
    criteria: tuple[CriterionResult, ...]
    """Every criterion, in the order of taurus.yml."""
    forecast: ForecastResult | None
    """How the load kept to the forecast of production; null where the plan follows none."""
    comparison: ComparisonEntry | None
    """How head differs from base; null where the execution compares nothing."""
    capacity: CapacityEntry | None
    """The highest rate that keeps the limits; null where it was not searched for."""
    workers: tuple[WorkerFacts, ...]
    """What was seen of each worker of the targets; empty if they were not watched."""
    memory_limit_bytes: Amount | None
    """RSS in bytes at which PM2 restarts a worker, of several targets the lowest; null where there
    is no limit."""
    watching: Amount | None
    """CPU time that watching the workers took, the watcher and PM2's daemon together, as a share of
    one core; null where not known."""
    background_cpu: BackgroundCpu | None
    """Background CPU load while the execution measured; null where not known."""
    outages: tuple[WorkerOutage, ...]
    """Every process of the targets' workers that ended while the load went on."""
    reloads: tuple[Reload, ...]
    """Every `pm2 reload` of the run's own timetable: modules.targets.reload-every."""


class VerdictFile(Model):
    """The verdict on one run and everything it rests on. Numbers that the samples set no bound to,
    or that could not be observed, are null: JSON knows no infinity."""

    verdict: VerdictName
    """The worst of the run's own reasons and of the verdicts of all executions. PASS: holds. FAIL:
    violated beyond doubt. INCONCLUSIVE: too little or too noisy data to decide. INVALID: the
    measurement itself is broken. INVALID beats FAIL beats INCONCLUSIVE beats PASS."""
    exit_code: Literal[0, 1, 2, 3]
    """What bzt and `tollgate judge` exit with: 0 PASS (or INCONCLUSIVE where
    modules.verdict.inconclusive-passes is true, and of a share that is left to be merged), 3 FAIL,
    1 INVALID or INCONCLUSIVE, 2 interrupted."""
    kind: str
    """The kind of run, e.g. `check`: modules.verdict.kind."""
    reasons: tuple[Reason, ...]
    """Everything that keeps the run from PASS, worst first: the run's own reasons and those of all
    executions, these with the execution's name and `: ` in front. Empty for PASS."""
    environment: Environment
    """The machine and the versions that the verdict holds for."""
    executions: list[ExecutionEntry]
    """One entry for each execution of taurus.yml, in its order."""
    scaling: ScalingEntry | None
    """How much more the second execution can take than the first; null unless the capacity of two
    is known."""


def to_dict(verdict: RunVerdict, run: MeasuredRun, kind: str, environment: dict) -> dict[str, Any]:
    """The content of verdict.json."""
    pairs = zip(verdict.executions, run.executions, strict=True)
    return finite(
        content(
            VerdictFile,
            verdict,
            kind=kind,
            environment=environment,
            executions=[_execution(each, facts) for each, facts in pairs],
            scaling=scaling_content(verdict.executions),
        )
    )


def _execution(judged: ExecutionVerdict, execution: MeasuredExecution) -> dict[str, Any]:
    resources = execution.resources
    return content(
        ExecutionEntry,
        judged,
        url=execution.facts.url,
        warmup_s=execution.warmup_s,
        measured_s=execution.measured_s,
        budget_s=execution.course and execution.course.budget_s,
        schedules=execution.schedules,
        engines=execution.engines,
        comparison=comparison_content(judged.comparison),
        capacity=capacity_content(judged.capacity),
        memory_limit_bytes=resources.memory_limit,
        watching=resources.watching_cpu,
        outages=resources.outages,
        reloads=resources.reloads,
    )
