"""Gathers, from the folder of a run alone, everything that judge needs.

The live run and `tollgate judge` both come through here, so they can't disagree.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tollgate.base.text import format_duration
from tollgate.capacity import record as capacity_record
from tollgate.capacity import trials as capacity_trials
from tollgate.capacity.arrivals import NOTHING
from tollgate.compare import facts as compare_facts
from tollgate.compare.record import CompareRecord
from tollgate.criteria.check import check, lower_bound_errors
from tollgate.criteria.grammar import Criterion, parse_all
from tollgate.forecast.facts import forecast_facts
from tollgate.forecast.model import Followed, ForecastFacts, from_record
from tollgate.gather import labels as evidence_labels
from tollgate.gather import workers as evidence_workers
from tollgate.gather.clock import steps_seen, with_clock
from tollgate.gather.ends import with_early_ends, with_silent
from tollgate.gather.engines import gather_engines, share_name
from tollgate.gather.interim import ExecutionContext, ended
from tollgate.gather.unjudgeable import unjudgeable
from tollgate.gather.waits import with_waits
from tollgate.judge.facts import (
    ExecutionFacts,
    InterimHistory,
    JudgeSettings,
    MeasuredExecution,
    MeasuredRun,
)
from tollgate.judge.levels import estimates
from tollgate.judge.workers import events_left
from tollgate.plan.model import Plan
from tollgate.plan.read import read_plan
from tollgate.record.manifest import NAME, Manifest, ManifestError, check_seal, is_sealed
from tollgate.record.manifest import Execution as Planned
from tollgate.samples.counts import Jtl, read_jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.order import step_back
from tollgate.samples.store import Store, open_store
from tollgate.schedule.replay import foreseen_problems, replay_jtl
from tollgate.stats.bins import Bins
from tollgate.workers.reading import TargetsWatched

#: Said of a run of an earlier version, and of one whose seal was taken away.
UNSEALED = f"{NAME} has no seal: it does not show whether criteria or settings were edited"


class EvidenceError(Exception):
    """Criteria that can't be judged; one line for each."""


def gather(run: Path, manifest: Manifest) -> tuple[MeasuredRun, JudgeSettings]:
    """Everything about a run. Raises ManifestError, PlanError or EvidenceError: then the folder is
    not what a run left. A JTL that can't be read is a fact
    about the run, not an error."""
    settings = _settings(run, manifest)
    if manifest.engines:
        return gather_engines(run, manifest, gather), settings
    compare_facts.check_record(run, manifest)
    capacity_record.check_records(run, manifest)
    executions = tuple(_execution(each) for each in examined(run, manifest))
    problems = (manifest.problem,) if manifest.problem else ()
    share = share_name(manifest)
    sealed = is_sealed(manifest)
    return MeasuredRun(executions, manifest.interrupted, problems, share, sealed), settings


def examined(run: Path, manifest: Manifest) -> list[ExecutionContext]:
    """What each execution is looked at with. Raises as gather does."""
    settings, planned = _settings(run, manifest), manifest.executions
    plans = [read_plan(run / it.plan, it.properties) for it in planned]
    pairs = zip(planned, plans, strict=True)
    criteria = [criteria_of(manifest, execution, plan) for execution, plan in pairs]
    family = estimates(criteria)
    return [
        ExecutionContext(run, manifest, *each, settings, family, _bins(each[0], each[2]))
        for each in zip(planned, plans, criteria, strict=True)
    ]


def _settings(run: Path, manifest: Manifest) -> JudgeSettings:
    try:
        return JudgeSettings(**manifest.settings)
    except (TypeError, ValueError) as error:
        reason = str(error).removeprefix("JudgeSettings.__init__() ")
        raise ManifestError(f"{run / NAME} can't be read: settings: {reason}") from None


def criteria_of(manifest: Manifest, planned: Planned, plan: Plan) -> tuple[Criterion, ...]:
    """The criteria of one execution, checked against its plan. Raises EvidenceError, also for a
    schedule that can not be proven."""
    try:
        criteria = parse_all([*manifest.criteria, *planned.criteria], plan.labels)
    except ValueError as error:
        raise EvidenceError(str(error)) from None
    errors = check(
        criteria,
        evidence_labels.names_of(plan.sampler_labels),
        plan.label_patterns,
        evidence_labels.names_of(plan.transaction_labels),
        planned.measured or None,
    )
    is_watched = bool(planned.targets) or _is_of_remote(manifest)
    problems = [
        *map(str, errors),
        *evidence_labels.alike_problems(plan),
        *capacity_record.criteria_problems(criteria, manifest),
        *unjudgeable(criteria, planned, plan, _followed(planned), is_watched),
        *foreseen_problems(plan, planned.warmup + planned.measured),
    ]
    if problems:
        raise EvidenceError("\n".join(problems))
    return tuple(it for it in criteria if not it.is_of_capacity or it.label == planned.name)


def refuse_lower_bounds(criteria: Iterable[Criterion]) -> None:
    """For criteria that somebody writes now. Raises EvidenceError."""
    if errors := lower_bound_errors(criteria):
        raise EvidenceError("\n".join(map(str, errors)))


def _is_of_remote(manifest: Manifest) -> bool:
    """Whether it is the share of a remote engine, whose controller wrote the samples, and watched
    the workers."""
    return bool(manifest.share and manifest.share.get("host"))


def check_comparison(run: Path, planned: Planned, plan: Plan) -> CompareRecord | None:
    """The record of the comparison that the execution is, None if it is none. Raises EvidenceError
    for labels that can't be compared, and ManifestError."""
    record = compare_facts.record_of(run, planned)
    if record and (problems := compare_facts.label_problems(record, plan)):
        raise EvidenceError("\n".join(problems))
    return record


def _execution(of: ExecutionContext) -> MeasuredExecution:
    run, manifest, planned, plan, criteria = of.run, of.manifest, of.planned, of.plan, of.criteria
    record = check_comparison(run, planned, plan)
    try:
        with _sealed(planned, run), open_store(run / planned.jtl) as store:
            return _read(of, record, store)
    except (JtlError, OSError) as error:
        watched = evidence_workers.watched(run, manifest, planned, None)
        facts = _facts(manifest, planned, None, watched, jtl_error=str(error))
        times = planned.warmup, compare_facts.due_s(planned, record)
        nothing = MeasuredExecution(
            planned.name, {}, criteria, *times, (), facts, watched.resources
        )
        return replace(
            nothing,
            comparison=record and compare_facts.nothing(plan, record),
            capacity=capacity_trials.gather(run, planned.name, None),
        )


@contextmanager
def _sealed(planned: Planned, run: Path) -> Iterator[None]:
    """Check the seal of the samples beside what is read of them. Raises ManifestError for a broken
    one, whatever that came to."""
    with ThreadPoolExecutor(1) as beside:
        seal = beside.submit(check_seal, planned, run)
        try:
            yield
        finally:
            seal.result()


def _read(of: ExecutionContext, record: CompareRecord | None, store: Store) -> MeasuredExecution:
    """All that the samples tell. Raises JtlError and OSError."""
    run, manifest, planned, plan, bins = of.run, of.manifest, of.planned, of.plan, of.bins
    jtl = read_jtl(store, bins=bins)
    parents = evidence_labels.parent_samples(plan, jtl)
    watched = evidence_workers.watched(run, manifest, planned, jtl)
    facts = _facts(manifest, planned, jtl, watched)
    seen, course = _looked(of, store, jtl)
    if seen:
        stopped_by = facts.stopped_by if planned.stop else None
        facts = replace(facts, ended_s=seen.facts.ended_s, stopped_by=stopped_by)
    cut_s = facts.ended_s if facts.interrupted or planned.stop_requested_at or seen else None
    until_s = compare_facts.until_s(planned, record, cut_s)
    replayed = replay_jtl(plan, store, jtl, planned.warmup, until_s, bins)
    facts = replace(facts, machine_problems=(*facts.machine_problems, *replayed.problems))
    # Batches of remote engines overtake one another.
    step = None if _is_of_remote(manifest) else step_back(store, parents)
    facts = with_clock(facts, planned, jtl, step, replayed.steps)
    facts = with_silent(facts, plan, store, jtl, until_s)
    facts = with_early_ends(facts, plan, planned, store, jtl, until_s, parents)
    resources = evidence_workers.with_losses(
        store, manifest, planned, jtl, watched.resources, facts.ended_s, parents
    )
    searched = capacity_trials.gather(run, planned.name, store)
    labels = evidence_labels.labels_of(jtl, replayed, parents)
    if searched:  # what showed how much the generator can send, no service was asked for
        for is_pass in (False, True):
            labels.pop((NOTHING, is_pass), None)
    execution = MeasuredExecution(
        name=planned.name,
        labels=labels,
        criteria=of.criteria,
        warmup_s=planned.warmup,
        measured_s=compare_facts.due_s(planned, record),
        schedules=replayed.facts,
        unanswered=replayed.unanswered,
        facts=replace(facts, worker_events=events_left(facts.worker_events, resources.outages)),
        resources=resources,
        forecast=_forecast(store, planned, jtl, facts.ended_s, parents),
        comparison=record and compare_facts.gather(store, planned, plan, record, cut_s),
        capacity=searched,
    )
    if seen:
        return ended(execution, seen, course)
    # A comparison that ends itself looks at no request that may still be under way.
    if not record:
        is_complete = planned.exit_code != -signal.SIGKILL and not _is_of_remote(manifest)
        execution = with_waits(execution, plan, planned, store, jtl, bins, is_complete)
    return replace(execution, course=course and _at_the_end(course, execution))


def _looked(
    of: ExecutionContext, store: Store, jtl: Jtl
) -> tuple[MeasuredExecution | None, InterimHistory | None]:
    """What was measured until a look or a stop ended the execution, None where neither did, and
    the course of all looks, None where there is none."""
    look = course = None
    if of.planned.interim:
        ended = of.planned.ended
        look, course = of.replayed(store, None if ended is None else ended - jtl.origin_ms / 1000)
    if stop := of.planned.stop:
        course = course and course.at(max(stop.measured_s, *course.looks_s, 0.0))
        return of.seen(store, stop, course), course
    return look and look.execution, course


def _at_the_end(course: InterimHistory, execution: MeasuredExecution) -> InterimHistory:
    """The course with a last look, at all that was measured."""
    from_s, to_s = execution.window
    return replace(course.at(max(to_s - from_s, *course.looks_s, 0.0)), is_over=True)


def _forecast(
    store: Store, planned: Planned, jtl: Jtl, ended_s: float | None, parents: Collection[str]
) -> ForecastFacts | None:
    followed = _followed(planned)
    return followed and forecast_facts(store, followed, jtl.origin_ms, ended_s, parents)


def _followed(planned: Planned) -> Followed | None:
    try:
        return None if planned.forecast is None else from_record(planned.forecast)
    except ValueError as error:
        raise ManifestError(f"{NAME} can't be read: {planned.name}: {error}") from None


def _bins(planned: Planned, criteria: tuple[Criterion, ...]) -> Bins:
    """As the check of the criteria took them to be. Where the time to measure was not set, it is
    known now, but windows were not checked against it: then each second is counted by itself."""
    measured = planned.interim.budget_s if planned.interim else planned.measured or None
    has_windows = any(criterion.timeframe_s for criterion in criteria)
    if measured is None and planned.began and planned.ended and not has_windows:
        measured = planned.ended - planned.began - planned.warmup
    return Bins.of(planned.warmup, measured)


def _ended_before(planned: Planned, moment: float | None) -> bool:
    """Whether the execution had ended by itself, in time or too early, before the interruption or
    the early stop at that moment; not if the moment is unknown, as in runs of before."""
    known = planned.ended is not None and moment is not None
    return known and planned.ended < moment


def _generator_error(planned: Planned) -> str | None:
    if planned.ended is None:
        return "the run is under way or was killed: its samples have no seal"
    return None if planned.began else "JMeter was never started"


def _facts(
    manifest: Manifest,
    planned: Planned,
    jtl: Jtl | None,
    watched: TargetsWatched,
    jtl_error: str | None = None,
) -> ExecutionFacts:
    began, ended = evidence_workers.span(planned, jtl)
    interrupted = manifest.interrupted and not _ended_before(planned, manifest.interrupted_at)
    stopped = bool(manifest.stopped_by) and not _ended_before(planned, manifest.stopped_at)
    told_s = evidence_workers.stop_requested_s(planned, jtl)
    ends = [ended - began if interrupted or stopped else None, told_s]
    notes = [] if told_s is None else [f"the load was ended after {format_duration(told_s)}"]
    notes += [] if manifest.seal else [UNSEALED]
    return ExecutionFacts(
        interrupted=interrupted,
        ended_s=min((end for end in ends if end is not None), default=None) if jtl else None,
        last_start_s=(jtl.last_start_ms - jtl.origin_ms) / 1000 if jtl else None,
        stopped_by=manifest.stopped_by if stopped else None,
        ended_by_force=planned.ended_by_force,
        generator_exit=planned.exit_code,
        generator_error=_generator_error(planned),
        jtl_error=jtl_error,
        cut_off_line=jtl.cut_line if jtl else None,
        workers=watched.counts,
        worker_events=watched.events,
        machine_problems=(*watched.problems, *steps_seen(planned)),
        notes=(*planned.notes, *notes),
        lint=tuple(planned.lint),
        url=planned.url,
    )
