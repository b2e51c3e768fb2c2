"""verdict.json: its models and its content. Pure."""

from __future__ import annotations

from typing import Any, Literal

from tollgate.base.fields import Amount, Confidence, Count, Interval, Text, Whole, ends
from tollgate.judge.facts import EngineFacts, MeasuredExecution, MeasuredRun
from tollgate.judge.verdicts import CriterionResult, ExecutionVerdict, RunVerdict
from tollgate.outputs.json_capacity import (
    CapacityEntry,
    ScalingEntry,
    capacity_content,
    scaling_content,
)
from tollgate.outputs.json_comparison import ComparisonEntry, comparison_content
from tollgate.outputs.json_forecast import ForecastEntry, forecast_content
from tollgate.outputs.json_model import Environment, Model, content, contents, finite
from tollgate.schedule.model import ScheduleFacts
from tollgate.workers.background_cpu import BackgroundCpu
from tollgate.workers.model import Reload, WorkerOutage
from tollgate.workers.processes import WorkerFacts

TITLE = "Tollgate's verdict.json"
Basis = Literal[
    "samples", "response time", "service time", "time to first byte", "connect time", "looks"
]


class ReasonEntry(Model):
    """One line on why a verdict is not PASS."""

    verdict: Literal["FAIL", "INCONCLUSIVE", "INVALID"]
    """The verdict that this reason alone leads to."""
    fault: Literal["generator", "service", "machine", "operator"]
    """Whose fault it is: of the load generator, the service under test, the machine (too noisy, too
    short, broken), or the operator (what was asked for, or an interruption)."""
    text: Text
    """The reason in words."""


class CriterionEntry(Model):
    """One criterion, judged. observed, limit and interval are in `unit`."""

    criterion: Text
    """The criterion in Taurus's grammar. It states when the run fails, and is its name in
    junit.xml."""
    message: str | None
    """The message that taurus.yml gives it, null without one."""
    label: str
    """The label that it is about; empty: all samplers together."""
    subject: Text
    """What is measured, e.g. `p95`, `fail`, `rc5??`; for all samplers together with its window of
    time behind it."""
    unit: Literal["ms", "%", "count", "bytes", "users", "MB", "min", "MB/min", "ms/min", "/s"]
    """Unit of observed, limit and interval: milliseconds, percent, a plain count, bytes, users, MB
    of 1024 x 1024 bytes, minutes, a slope per minute, or arrivals a second."""
    condition: Literal["<", "<=", "=", ">", ">="]
    """The comparison of observed with limit that makes the run fail."""
    limit: Amount
    """The threshold."""
    observed: float | None
    """The observed value, below 0 for a falling slope; null without samples, too few for a slope,
    and for a time-left without end."""
    interval: Interval | None
    """Lower and upper end of the confidence interval of observed, null where that is an exact count
    or a window's. An end is null where the samples set no bound. It decides PASS: both ends have
    the level of a PASS, over all looks where the execution has a budget. None holds the limit of a
    FAIL."""
    fail_bound: float | None
    """The bound that decides FAIL by violating the limit. It lies farther out than the interval,
    for all estimates of the run and all looks share its level. Null where there is none, or no
    interval."""
    unadjusted_interval: Interval | None
    """The interval that a single look at this estimate alone would have; null where there is
    none."""
    confidence: Confidence
    """The confidence that the interval was made for, as a share of 1."""
    samples: Count
    """Samples of the label in the measured window; for a criterion on workers, looks at the one
    that decided."""
    samples_needed: Whole | None
    """About how many samples would settle an INCONCLUSIVE; null where that is not the question."""
    basis: Literal[
        "samples",
        "response time",
        "service time",
        "time to first byte",
        "connect time",
        "looks",
        "trials",
    ]
    """What the values are of: `response time` counts from the intended start, `service time` is
    JMeter's elapsed, `looks` are those at workers, `trials` those of a search for capacity."""
    window: str | None
    """The worst window of a criterion with one, in seconds since the start, e.g. `12-22 s`; null
    for the others."""
    decides: bool
    """false for `as non-failed`: reported, but without a say in the verdict."""
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]
    """The verdict on this criterion alone."""
    reason: str
    """Why, in words."""
    worker: str | None
    """The worker that decided, for a criterion on workers; null for the others."""
    decided_after_s: Amount | None
    """From which look on, in seconds of measuring, it has had its verdict; null where it is open,
    and in an execution without a budget."""
    message_line: Text
    """All of it in one line, e.g. `p95 of search = 231 ms (limit 250 ms, 95 % CI 219-244,
    n=412)`."""


class ExecutionEntry(Model):
    """One plan against one target."""

    name: str
    """The scenario's name in taurus.yml."""
    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]
    """The worst of this execution's reasons."""
    reasons: list[ReasonEntry]
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
    criteria: list[CriterionEntry]
    """Every criterion, in the order of taurus.yml."""
    forecast: ForecastEntry | None
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

    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]
    """The worst of the run's own reasons and of the verdicts of all executions. PASS: holds. FAIL:
    violated beyond doubt. INCONCLUSIVE: too little or too noisy data to decide. INVALID: the
    measurement itself is broken. INVALID beats FAIL beats INCONCLUSIVE beats PASS."""
    exit_code: Literal[0, 1, 2, 3]
    """What bzt and `tollgate judge` exit with: 0 PASS (or INCONCLUSIVE where
    modules.verdict.inconclusive-passes is true, and of a share that is left to be merged), 3 FAIL,
    1 INVALID or INCONCLUSIVE, 2 interrupted."""
    kind: str
    """The kind of run, e.g. `check`: modules.verdict.kind."""
    reasons: list[ReasonEntry]
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
            reasons=contents(ReasonEntry, verdict.reasons),
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
        reasons=contents(ReasonEntry, judged.reasons),
        url=execution.facts.url,
        warmup_s=execution.warmup_s,
        measured_s=execution.measured_s,
        budget_s=execution.course and execution.course.budget_s,
        schedules=execution.schedules,
        engines=execution.engines,
        criteria=[_criterion(each) for each in judged.criteria],
        forecast=forecast_content(execution.forecast, judged.forecast),
        comparison=comparison_content(judged.comparison),
        capacity=capacity_content(judged.capacity),
        memory_limit_bytes=resources.memory_limit,
        watching=resources.watching_cpu,
        outages=resources.outages,
        reloads=resources.reloads,
    )


def _criterion(result: CriterionResult) -> dict[str, Any]:
    return content(
        CriterionEntry,
        result,
        interval=ends(result.low, result.high),
        unadjusted_interval=result.unadjusted,
        message_line=result.line,
    )
