"""Gathers, from the folder of a run alone, everything that judge needs.

The live run and `tollgate judge` both come through here, so they can't disagree.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tollgate.base.text import format_duration
from tollgate.capacity import record as capacity_record
from tollgate.capacity import trials as capacity_trials
from tollgate.capacity.arrivals import NOTHING
from tollgate.compare import facts as compare_facts
from tollgate.compare.result import not_compared
from tollgate.forecast.facts import forecast_facts
from tollgate.gather import workers
from tollgate.gather.clock import set_back, steps_seen
from tollgate.gather.context import ExecutionContext, contexts, settings_of
from tollgate.gather.early_decisions import looks_again, measured_until
from tollgate.gather.ends import (
    accepted_errors,
    data_ended,
    groups_ended_early,
    never_sent,
    not_followed,
    silent_groups,
    unlike_the_plan,
)
from tollgate.gather.engines import gather_engines, share_name
from tollgate.gather.samples import joined
from tollgate.gather.unfilled import unfilled
from tollgate.gather.waits import Waits, waits_at_end
from tollgate.judge.ended_early import EarlyEnds
from tollgate.judge.facts import (
    ExecutionFacts,
    InterimHistory,
    JudgeSettings,
    MeasuredExecution,
    MeasuredRun,
)
from tollgate.judge.workers import events_left
from tollgate.record.manifest import NAME, Manifest, check_seal, is_sealed
from tollgate.record.sealed_files import check_plans, check_watched
from tollgate.samples.counts import Jtl, read_jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.store import Store, open_store
from tollgate.schedule.silent import Silent

#: Said of a run of an earlier version, and of one whose seal was taken away.
UNSEALED = f"{NAME} has no seal: it does not show whether criteria or settings were edited"


def gather(run: Path, manifest: Manifest) -> tuple[MeasuredRun, JudgeSettings]:
    """Everything about a run. Raises ManifestError, PlanError or EvidenceError: then the folder is
    not what a run left. A JTL that can't be read is a fact about the run, not an error."""
    settings = settings_of(run, manifest)
    _refuse_changed(run, manifest)
    if manifest.engines:
        return gather_engines(run, manifest, gather), settings
    measured = MeasuredRun(
        executions=tuple(_execution(context) for context in contexts(run, manifest)),
        interrupted=manifest.interrupted,
        problems=(manifest.problem,) if manifest.problem else (),
        share=share_name(manifest),
        is_sealed=is_sealed(manifest),
    )
    return measured, settings


def _refuse_changed(run: Path, manifest: Manifest) -> None:
    """Raise ManifestError where a file beside the samples is not as the run left it."""
    if not manifest.engines:  # whose shares are looked at one by one
        compare_facts.check_record(run, manifest)
        capacity_record.check_records(run, manifest)
        check_plans(manifest, run)
    check_watched(manifest, run)


def _execution(of: ExecutionContext) -> MeasuredExecution:
    planned, compared = of.planned, of.compared
    try:
        check_seal(planned, of.run)
        with open_store(of.run / planned.jtl) as store:
            return _measured(of, store)
    except (JtlError, OSError) as error:
        watched = workers.watched(of, None)
        labels = compared and compare_facts.labels_of(of.plan, compared.uncompared)
        facts = replace(
            _facts_of_record(of),
            workers=watched.counts,
            worker_events=watched.events,
            machine_problems=(*watched.problems, *steps_seen(planned)),
            jtl_error=str(error),
        )
        return MeasuredExecution(
            name=planned.name,
            labels={},
            criteria=of.criteria,
            warmup_s=planned.warmup,
            measured_s=compare_facts.due_s(planned, compared),
            facts=facts,
            resources=watched.resources,
            comparison=compared and not_compared(compared, labels),
            capacity=capacity_trials.gather(of.run, planned.name, None),
        )


def _measured(of: ExecutionContext, store: Store) -> MeasuredExecution:
    """All that the samples tell. Raises JtlError and OSError."""
    planned, compared, followed = of.planned, of.compared, of.planned.forecast
    jtl = read_jtl(store, bins=of.bins)
    watched = workers.watched(of, jtl, of.criteria)
    seen, course = _looked(of, store, jtl)
    facts = _facts_of_record(of, jtl, seen)
    cut_s = facts.ended_s if facts.interrupted or planned.stop_requested_at or seen else None
    until_s = compare_facts.until_s(planned, compared, cut_s)
    samples = joined(of, store, jtl, until_s)
    clock = set_back(samples)
    cut_short = facts.interrupted or facts.stopped_by
    silent = Silent() if cut_short else silent_groups(samples, until_s)
    # Whoever ended JMeter ended its thread groups as well.
    was_ended = cut_short or planned.ended_by_force or planned.exit_code
    early = EarlyEnds() if was_ended else groups_ended_early(samples, until_s)
    resources = workers.losses(samples, watched.resources, facts.ended_s)
    searched = capacity_trials.gather(of.run, planned.name, store)
    waits = Waits(samples.labels)
    if not (seen or compared):  # they judge no request that may still be under way
        waits = waits_at_end(samples, facts.interrupted)
    # What showed how much the generator can send, no service was asked for.
    labels = {it: data for it, data in waits.labels.items() if not (searched and it[0] == NOTHING)}
    sent = unfilled(samples)
    doubts = (*silent.doubts, *early.doubts, *sent.doubts, *waits.notes)
    seen_problems = (*watched.problems, *steps_seen(planned))
    facts = replace(
        facts,
        workers=watched.counts,
        worker_events=events_left(watched.events, resources.outages),
        machine_problems=(*seen_problems, *samples.replayed.problems, *clock, *waits.problems),
        notes=(*facts.notes, *doubts, *not_followed(samples), *accepted_errors(store)),
        last_start_s=(jtl.last_start_ms - jtl.origin_ms) / 1000,
        cut_off_line=jtl.cut_line,
        silent=silent.faults,
        never_sent=never_sent(store),
        plan_faults=(*(() if cut_short else unlike_the_plan(samples)), *sent.faults),
        early_ends=early.faults,
        data_ended=data_ended(samples),
    )
    execution = MeasuredExecution(
        name=planned.name,
        labels=seen.labels if seen else labels,
        criteria=of.criteria,
        warmup_s=planned.warmup,
        measured_s=seen.measured_s if seen else compare_facts.due_s(planned, compared),
        schedules=samples.replayed.facts,
        unanswered=seen.unanswered if seen else samples.replayed.unanswered,
        facts=facts,
        resources=resources,
        forecast=followed
        and forecast_facts(store, followed, jtl.origin_ms, facts.ended_s, samples.parents),
        comparison=compared and compare_facts.gather(store, planned, of.plan, compared, cut_s),
        course=course,
        capacity=searched,
    )
    if course is None or seen:
        return execution
    # The last look is at all that was measured.
    from_s, to_s = execution.window
    last = course.at(max(to_s - from_s, *course.looks_s, 0.0))
    return replace(execution, course=replace(last, is_over=True))


def _looked(
    of: ExecutionContext, store: Store, jtl: Jtl
) -> tuple[MeasuredExecution | None, InterimHistory | None]:
    """What was measured until a look or a stop ended the execution, None where neither did, and
    the course of all looks, None where there is none."""
    look = course = None
    if of.planned.interim:
        ended = of.planned.ended
        look, course = looks_again(of, store, ended and ended - jtl.origin_ms / 1000)
    if stop := of.planned.stop:
        course = course and course.at(max(stop.measured_s, *course.looks_s, 0.0))
        return measured_until(of, store, stop, course), course
    return look and look.execution, course


def _facts_of_record(
    of: ExecutionContext, jtl: Jtl | None = None, seen: MeasuredExecution | None = None
) -> ExecutionFacts:
    """What the run's record says of the execution. seen: what was measured until a look or a stop,
    where that ended the load."""
    planned = of.planned
    began, ended = workers.span(planned, jtl)
    interrupted, stopped_by = of.interrupted, of.stopped_by
    notes, ends = list(planned.notes), [ended - began] if interrupted or stopped_by else []
    if planned.stop_requested_at is not None:
        ends.append(max(0.0, planned.stop_requested_at - began))
        notes.append(f"the load was ended after {format_duration(ends[-1])}")
    ended_s = min(ends, default=None) if jtl else None
    if seen:
        stopped_by, ended_s = stopped_by if planned.stop else None, seen.facts.ended_s
    generator_error = None if planned.began else "JMeter was never started"
    if planned.ended is None:
        generator_error = "the run is under way or was killed: its samples have no seal"
    return ExecutionFacts(
        interrupted=interrupted,
        ended_s=ended_s,
        stopped_by=stopped_by,
        ended_by_force=planned.ended_by_force,
        generator_exit=planned.exit_code,
        generator_error=generator_error,
        notes=(*notes, *([] if of.manifest.seal else [UNSEALED])),
        lint=tuple(planned.lint),
        url=planned.url,
        rows=jtl and jtl.rows,
        acknowledged=planned.exported,
    )
