"""What an execution is judged with: its plan, read once, and its criteria, checked against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
class ExecutionContext:
    """An execution, and what it is judged with. compared: the record of the comparison that it
    is, None for none. family: how many estimates its run has."""

    run: Path
    manifest: Manifest
    planned: Execution
    plan: Plan
    criteria: tuple[Criterion, ...]
    compared: CompareRecord | None
    settings: JudgeSettings
    family: int

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
    checked = [_checked(run, manifest, planned) for planned in manifest.executions]
    family = estimates([criteria for *_, criteria, _ in checked])
    return [ExecutionContext(run, manifest, *each, settings, family) for each in checked]


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


def is_of_remote(manifest: Manifest) -> bool:
    """Whether it is the share of a remote engine, whose controller wrote the samples, and watched
    the workers."""
    return bool(manifest.share and manifest.share.get("host"))


def _checked(
    run: Path, manifest: Manifest, planned: Execution
) -> tuple[Execution, Plan, tuple[Criterion, ...], CompareRecord | None]:
    plan = read_plan(run / planned.plan, planned.properties)
    try:
        criteria = parse_all([*manifest.criteria, *planned.criteria], plan.labels)
    except ValueError as error:
        raise EvidenceError(str(error)) from None
    sampled, transactions = map(known_names, (plan.sampler_labels, plan.transaction_labels))
    measured = planned.measured or None
    problems = [*map(str, check(criteria, sampled, plan.label_patterns, transactions, measured))]
    for name in known_names(plan.parent_labels):
        if name in transactions:
            problems.append(f"the plan {plan.path.name} has {alike(name)}")
    problems += capacity_record.criteria_problems(criteria, manifest)
    if planned.forecast:
        what, given = f"{planned.name}: the plan {planned.plan}", planned.properties
        problems += forecast_criteria.problems(planned.forecast, what, given, plan, criteria)
    problems += unjudgeable(criteria, planned, plan, is_of_remote(manifest))
    problems += foreseen_problems(plan, planned.warmup + planned.measured)
    compared = compare_facts.record_of(run, planned)
    if compared and not problems:
        problems = compare_facts.label_problems(compared, plan)
    if problems:
        raise EvidenceError("\n".join(problems))
    criteria = tuple(it for it in criteria if not it.is_of_capacity or it.label == planned.name)
    if compared:  # what was not asked keeps no limit and breaks none
        criteria = tuple(it for it in criteria if it.label not in compared.left_out)
    return planned, plan, criteria, compared


def known_names(labels: Iterable[PlanLabel]) -> list[str]:
    """Those of the labels that are known before the run."""
    return [label.text for label in labels if not label.pattern]


def alike(name: str) -> str:
    """What is wrong with Transaction Controllers whose rows look alike."""
    return (
        f"Transaction Controllers named {name!r} with 'Generate parent sample' and without, whose "
        "rows look alike; rename one of them in the plan"
    )
