"""verdict.json as a record. Pure."""

from __future__ import annotations

from typing import Any

from tollgate.base.fields import Amount, Count, Inlined, Text, written
from tollgate.capacity.model import Scaling, Searched, Trial
from tollgate.compare import words
from tollgate.compare.model import Finding
from tollgate.compare.result import Comparison
from tollgate.judge.facts import EngineFacts, MeasuredExecution, MeasuredRun
from tollgate.judge.verdicts import ExecutionVerdict, RunVerdict
from tollgate.record.environment import Environment
from tollgate.report import capacity
from tollgate.report.json_model import plain
from tollgate.schedule.model import ScheduleFacts
from tollgate.workers.model import Reload, WorkerOutage

TITLE = "Tollgate's verdict.json"


@written
class SideSamples:
    """Requests of each side."""

    base: Count
    """Requests that went to base."""
    head: Count
    """Requests that went to head."""


@written
class FindingEntry:
    """One metric of one label. What is said stands as of the look that decided it."""

    finding: Inlined[Finding]
    samples: SideSamples
    """Requests of the label in all seconds that count."""
    message_line: Text
    """All of it in one line, e.g. `p95 of sum: head 5.31 ms against base 4.42 ms, +20.1 % (at least
    +17.2 %, at most +23.4 %)`."""


@written
class ComparisonEntry:
    """Base against head, asked at the same time under one load: each arrival went to one of the two
    by the toss of a fair coin."""

    comparison: Inlined[Comparison]
    findings: tuple[FindingEntry, ...]
    """Every metric of every label, those without a say as well; the same ones in every run."""


@written
class TrialEntry:
    """One rate, sent for some seconds."""

    trial: Inlined[Trial]
    keeps: bool
    """Whether all limits held."""


@written
class CapacityEntry:
    """The highest rate of arrivals at which the limits hold. Rates are arrivals a second."""

    searched: Inlined[Searched]
    trials: tuple[TrialEntry, ...]
    """Every trial, in its order, those of the ceiling first."""


@written
class ExecutionEntry:
    """One plan against one target."""

    judged: Inlined[ExecutionVerdict]
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
    comparison: ComparisonEntry | None
    """How head differs from base; null where the execution compares nothing."""
    capacity: CapacityEntry | None
    """The highest rate that keeps the limits; null where it was not searched for."""
    memory_limit_bytes: Amount | None
    """RSS in bytes at which PM2 restarts a worker, of several targets the lowest; null where there
    is no limit."""
    watching: Amount | None
    """CPU time that watching the workers took, the watcher and PM2's daemon together, as a share of
    one core; null where not known."""
    outages: tuple[WorkerOutage, ...]
    """Every process of the targets' workers that ended while the load went on."""
    reloads: tuple[Reload, ...]
    """Every `pm2 reload` of the run's own timetable: modules.targets.reload-every."""


@written
class VerdictFile:
    """The verdict on one run and everything it rests on. Numbers that the samples set no bound to,
    or that could not be observed, are null: JSON knows no infinity."""

    kind: str
    """The kind of run, e.g. `check`: modules.verdict.kind."""
    judged: Inlined[RunVerdict]
    environment: Environment
    """The machine and the versions that the verdict holds for."""
    executions: tuple[ExecutionEntry, ...]
    """One entry for each execution of taurus.yml, in its order."""
    scaling: Scaling | None
    """How much more the second execution can take than the first; null unless the capacity of two
    is known."""


def to_dict(
    verdict: RunVerdict, run: MeasuredRun, kind: str, environment: Environment
) -> dict[str, Any]:
    """The content of verdict.json."""
    pairs = zip(verdict.executions, run.executions, strict=True)
    executions = tuple(_execution(judged, execution) for judged, execution in pairs)
    scaling = capacity.scaling(verdict.executions)
    return plain(VerdictFile(kind, verdict, environment, executions, scaling))


def _execution(judged: ExecutionVerdict, execution: MeasuredExecution) -> ExecutionEntry:
    resources = execution.resources
    return ExecutionEntry(
        judged,
        url=execution.facts.url,
        warmup_s=execution.warmup_s,
        measured_s=execution.measured_s,
        budget_s=execution.course and execution.course.budget_s,
        schedules=execution.schedules,
        engines=execution.engines,
        comparison=judged.comparison and _comparison(judged.comparison),
        capacity=judged.capacity and _capacity(judged.capacity),
        memory_limit_bytes=resources.memory_limit,
        watching=resources.watching_cpu,
        outages=resources.outages,
        reloads=resources.reloads,
    )


def _comparison(comparison: Comparison) -> ComparisonEntry:
    findings = (
        FindingEntry(
            finding,
            SideSamples(*comparison.samples.get(finding.label, (0, 0))),
            words.line(finding, words.effect_of(comparison, finding)),
        )
        for finding in comparison.gate.findings
    )
    return ComparisonEntry(comparison, tuple(findings))


def _capacity(searched: Searched) -> CapacityEntry:
    trials = (*searched.ceiling_trials, *searched.trials)
    entries = (TrialEntry(it, not it.grew and not searched.broken(it)) for it in trials)
    return CapacityEntry(searched, tuple(entries))
