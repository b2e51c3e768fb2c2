"""What an execution is judged with: its plan, read once, and its criteria, checked against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.base.records import parse
from tollgate.base.text import UserError
from tollgate.capacity import record as capacity_record
from tollgate.compare import facts as compare_facts
from tollgate.compare.record import CompareRecord
from tollgate.criteria.check import check, lower_bound_errors, never_sent_errors
from tollgate.criteria.grammar import Criterion, parse_all
from tollgate.forecast import criteria as forecast_criteria
from tollgate.judge.facts import JudgeSettings
from tollgate.judge.levels import estimates
from tollgate.judge.unjudgeable import unjudgeable
from tollgate.plan.model import Plan, PlanLabel
from tollgate.plan.read import read_plan
from tollgate.record.manifest import NAME, Execution, Manifest, ManifestError
from tollgate.schedule.replay import foreseen_problems
from tollgate.stats.bins import Bins


class EvidenceError(UserError):
    """Criteria that can't be judged; one line for each."""


@dataclass(frozen=True)
class RecordedExecution:
    """An execution, as the record of its run has it."""

    run: Path
    """The folder of the run."""
    manifest: Manifest
    """The record of the run; while it is under way, as far as that has come."""
    planned: Execution
    """The execution in that record."""

    @property
    def is_of_remote(self) -> bool:
        """Whether it is the share of a remote engine, whose controller wrote the samples, and
        watched the workers."""
        share = self.manifest.share
        return bool(share and share.get("host"))

    @property
    def interrupted(self) -> bool:
        """Whether the run was, before the execution had ended by itself."""
        return self.manifest.interrupted and not self._had_ended(self.manifest.interrupted_at)

    @property
    def stopped_by(self) -> str | None:
        """The criterion that ended the run before the execution had ended by itself, or else the
        execution alone."""
        is_of_run = self.manifest.stopped_by and not self._had_ended(self.manifest.stopped_at)
        return self.manifest.stopped_by if is_of_run else self.planned.stopped_by

    def _had_ended(self, moment: float | None) -> bool:
        """Whether it had ended by itself, in time or too early, before that moment; not if the
        moment is unknown, as in runs of before."""
        ended = self.planned.ended
        return ended is not None and moment is not None and ended < moment


@dataclass(frozen=True)
class ExecutionContext(RecordedExecution):
    """An execution, and what it is judged with."""

    plan: Plan
    criteria: tuple[Criterion, ...]
    compared: CompareRecord | None
    """The record of the comparison that it is, None for none."""
    settings: JudgeSettings
    family: int = 0
    """How many estimates its run has."""

    @property
    def bins(self) -> Bins:
        """As the check of the criteria took them to be. Where the time to measure was not set, it
        is known now, but windows were not checked against it: then each second is counted by
        itself."""
        planned = self.planned
        measured = planned.interim.budget_s if planned.interim else planned.measured or None
        has_windows = any(criterion.timeframe_s for criterion in self.criteria)
        if measured is None and planned.began and planned.ended and not has_windows:
            measured = planned.ended - planned.began - planned.warmup
        return Bins.of(planned.warmup, measured)


def contexts(run: Path, manifest: Manifest) -> list[ExecutionContext]:
    """Those of all executions. Raises ManifestError, PlanError and EvidenceError, also for a
    schedule that can not be proven, and for labels that can't be compared."""
    settings = settings_of(run, manifest)
    recorded = [RecordedExecution(run, manifest, planned) for planned in manifest.executions]
    checked = [_checked(execution, settings) for execution in recorded]
    family = estimates([context.criteria for context in checked])
    return [replace(context, family=family) for context in checked]


def settings_of(run: Path, manifest: Manifest) -> JudgeSettings:
    """How strictly a run is judged. Raises ManifestError."""
    try:
        return parse(JudgeSettings, manifest.settings)
    except ValueError as error:
        raise ManifestError(f"{run / NAME} can't be read: settings: {error}") from None


def refuse_lower_bounds(criteria: Iterable[Criterion]) -> None:
    """For the criteria of a new run. Raises EvidenceError."""
    if errors := lower_bound_errors(criteria):
        raise EvidenceError("\n".join(map(str, errors)))


def refuse_never_sent(criteria: Iterable[Criterion], plan: Plan) -> None:
    """For the criteria of a new run. Raises EvidenceError."""
    if errors := never_sent_errors(criteria, plan.never_sent, plan.labels):
        raise EvidenceError("\n".join(map(str, errors)))


def _checked(recorded: RecordedExecution, settings: JudgeSettings) -> ExecutionContext:
    """The context of an execution whose criteria fit its plan. Raises as `contexts` does."""
    run, manifest, planned = recorded.run, recorded.manifest, recorded.planned
    plan = read_plan(run / planned.plan, planned.properties)
    try:
        criteria = parse_all([*manifest.criteria, *planned.criteria], plan.labels)
    except ValueError as error:
        raise EvidenceError(str(error)) from None
    problems = [*_problems(recorded, plan, criteria)]
    compared = compare_facts.record_of(run, planned)
    if compared and not problems:
        problems = compare_facts.label_problems(compared, plan)
    if problems:
        raise EvidenceError("\n".join(problems))
    criteria = tuple(it for it in criteria if not it.is_of_capacity or it.label == planned.name)
    if compared:  # what was not asked keeps no limit and breaks none
        criteria = tuple(it for it in criteria if it.label not in compared.left_out)
    return ExecutionContext(run, manifest, planned, plan, criteria, compared, settings)


def _problems(
    recorded: RecordedExecution, plan: Plan, criteria: tuple[Criterion, ...]
) -> Iterator[str]:
    """Why the execution can't be judged by the criteria, or its schedule not be proven."""
    planned = recorded.planned
    sampled, transactions = map(known_names, (plan.sampler_labels, plan.transaction_labels))
    measured = planned.measured or None
    yield from map(str, check(criteria, sampled, plan.label_patterns, transactions, measured))
    for name in known_names(plan.parent_labels):
        if name in transactions:
            yield f"the plan {plan.path.name} has {alike(name)}"
    yield from capacity_record.criteria_problems(criteria, recorded.manifest)
    if planned.forecast:
        what, properties = f"{planned.name}: the plan {planned.plan}", planned.properties
        yield from forecast_criteria.problems(planned.forecast, what, properties, plan, criteria)
    yield from unjudgeable(criteria, planned, plan, recorded.is_of_remote)
    yield from foreseen_problems(plan, planned.warmup + planned.measured)


def known_names(labels: Iterable[PlanLabel]) -> list[str]:
    """Those of the labels that are known before the run."""
    return [label.text for label in labels if not label.pattern]


def alike(name: str) -> str:
    """What is wrong with Transaction Controllers whose rows look alike."""
    return (
        f"Transaction Controllers named {name!r} with 'Generate parent sample' and without, whose "
        "rows look alike; rename one of them in the plan"
    )
