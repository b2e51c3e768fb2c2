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
from tollgate.gather import ends, workers
from tollgate.gather.clock import set_back, steps_seen
from tollgate.gather.context import ExecutionContext, RecordedExecution, contexts, settings_of
from tollgate.gather.early_decisions import ended_by_look
from tollgate.gather.engines import gather_engines, share_name
from tollgate.gather.samples import ExecutionSamples, joined
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
from tollgate.record.manifest import NAME, Manifest, check_seal, is_sealed
from tollgate.record.sealed_files import check_plans, check_watched
from tollgate.samples.counts import Jtl, read_jtl
from tollgate.samples.layout import JtlError
from tollgate.samples.slowest import slowest
from tollgate.samples.store import Store, open_store
from tollgate.schedule.silent import Silent

#: Said of a run of an earlier version, and of one whose seal was taken away.
UNSEALED = f"{NAME} has no seal: it does not show whether criteria or settings were edited"


def gather(run: Path, manifest: Manifest) -> tuple[MeasuredRun, JudgeSettings]:
    """Everything about a run. Raises ManifestError, PlanError or EvidenceError: then the folder is
    not what a run left. A JTL that can't be read is a fact about the run, not an error."""
    _refuse_changed(run, manifest)
    settings = settings_of(run, manifest)
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
    check_watched(manifest, run)
    if not manifest.engines:  # whose shares are looked at one by one
        check_plans(manifest, run)
        compare_facts.check_record(run, manifest)


def _execution(context: ExecutionContext) -> MeasuredExecution:
    capacity_record.check_seal(context.run, context.planned, context.manifest.kind)
    try:
        check_seal(context.planned, context.run)
        with open_store(context.run / context.planned.jtl) as store:
            jtl = read_jtl(store, bins=context.bins)
            look, course = ended_by_look(context, store, jtl)
            if look is not None:
                return _at_look(context, store, jtl, look)
            return _at_end(context, store, jtl, course)
    except (JtlError, OSError) as error:
        return _unread(context, str(error))


def _unread(context: ExecutionContext, problem: str) -> MeasuredExecution:
    """What is known without samples. problem: why they can't be read."""
    planned, compared, comparison = context.planned, context.compared, None
    targets = workers.watched(context, None)
    if compared:
        labels = compare_facts.labels_of(context.plan, compared.uncompared)
        comparison = not_compared(compared, labels)
    return MeasuredExecution(
        name=planned.name,
        labels={},
        criteria=context.criteria,
        warmup_s=planned.warmup,
        measured_s=compare_facts.due_s(planned, compared),
        facts=replace(workers.with_workers(_facts_of_record(context), targets), jtl_error=problem),
        resources=targets.resources,
        comparison=comparison,
        capacity=capacity_trials.gather(context.run, planned.name, None),
    )


def _at_look(
    context: ExecutionContext, store: Store, jtl: Jtl, look: MeasuredExecution
) -> MeasuredExecution:
    """An execution that a look or a stop has ended. look: what was measured until then, by which
    alone it is judged."""
    planned, facts, cut_s = context.planned, _facts_of_record(context, jtl), look.facts.ended_s
    # What ended the run after a look is nothing to this execution.
    stopped_by = facts.stopped_by if planned.stop else None
    facts = replace(facts, ended_s=cut_s, stopped_by=stopped_by)
    samples = joined(context, store, jtl, compare_facts.until_s(planned, context.compared, cut_s))
    return _completed(replace(look, facts=facts), samples, Waits(), cut_s)


def _at_end(
    context: ExecutionContext, store: Store, jtl: Jtl, course: InterimHistory | None
) -> MeasuredExecution:
    """An execution that is judged by all that it has measured. course: of its looks, to which its
    end is added; None where there is none."""
    planned, compared, facts = context.planned, context.compared, _facts_of_record(context, jtl)
    cut_s = facts.ended_s if facts.interrupted or planned.stop_requested_at else None
    samples = joined(context, store, jtl, compare_facts.until_s(planned, compared, cut_s))
    # A comparison judges no request that may still be under way.
    waits = Waits(samples.labels) if compared else waits_at_end(samples, facts.interrupted)
    execution = MeasuredExecution(
        name=planned.name,
        labels=waits.labels,
        criteria=context.criteria,
        warmup_s=planned.warmup,
        measured_s=compare_facts.due_s(planned, compared),
        unanswered=samples.replayed.unanswered,
        facts=facts,
    )
    execution = _completed(execution, samples, waits, cut_s)
    if execution.capacity:  # what showed how much the generator can send, no service was asked for
        labels = {key: data for key, data in execution.labels.items() if key[0] != NOTHING}
        execution = replace(execution, labels=labels)
    if course is None:
        return execution
    from_s, to_s = execution.window
    course = course.at(max(to_s - from_s, *course.looks_s, 0.0))
    return replace(execution, course=replace(course, is_over=True))


def _completed(
    execution: MeasuredExecution, samples: ExecutionSamples, waits: Waits, cut_s: float | None
) -> MeasuredExecution:
    """The execution with all that its samples and workers tell beside what it is judged by. cut_s:
    when the load was cut short, in seconds since the execution's start; None if it was not. Raises
    JtlError and OSError."""
    context, store, facts = samples.context, samples.store, execution.facts
    planned, compared, forecast, comparison = context.planned, context.compared, None, None
    targets = workers.watched(context, samples.jtl, context.criteria)
    targets = workers.with_lost_requests(targets, samples, facts.ended_s)
    if followed := planned.forecast:
        origin_ms, parents = samples.jtl.origin_ms, samples.parents
        forecast = forecast_facts(store, followed, origin_ms, facts.ended_s, parents)
    if compared:
        comparison = compare_facts.gather(store, planned, context.plan, compared, cut_s)
    from_ms, to_ms = (samples.jtl.origin_ms + 1000 * at_s for at_s in execution.window)
    return replace(
        execution,
        schedules=samples.replayed.facts,
        slowest=slowest(store, from_ms, to_ms, samples.parents),
        facts=_with_samples(workers.with_workers(facts, targets), samples, waits),
        resources=targets.resources,
        forecast=forecast,
        comparison=comparison,
        capacity=capacity_trials.gather(context.run, planned.name, store),
    )


def _with_samples(facts: ExecutionFacts, samples: ExecutionSamples, waits: Waits) -> ExecutionFacts:
    """The facts with what the samples show. Raises JtlError and OSError."""
    planned, store, jtl = samples.context.planned, samples.store, samples.jtl
    cut_short = facts.interrupted or facts.stopped_by
    # Whoever ended JMeter ended its thread groups as well.
    was_ended = cut_short or planned.ended_by_force or planned.exit_code
    silent = Silent() if cut_short else ends.silent_groups(samples)
    early = EarlyEnds() if was_ended else ends.groups_ended_early(samples)
    unlike = () if cut_short else ends.unlike_the_plan(samples)
    sent = unfilled(samples)
    problems = (*samples.replayed.problems, *set_back(samples), *waits.problems)
    doubts = (*silent.doubts, *early.doubts, *sent.doubts, *waits.notes)
    return replace(
        facts,
        machine_problems=(*facts.machine_problems, *problems),
        notes=(*facts.notes, *doubts, *ends.not_followed(samples), *ends.accepted_errors(store)),
        last_start_s=(jtl.last_start_ms - jtl.origin_ms) / 1000,
        cut_off_line=jtl.cut_line,
        silent=silent.faults,
        never_sent=ends.never_sent(store),
        plan_faults=(*unlike, *sent.faults),
        early_ends=early.faults,
        stopped=ends.stopped_threads(samples),
    )


def _facts_of_record(recorded: RecordedExecution, jtl: Jtl | None = None) -> ExecutionFacts:
    """What the run's record says of the execution. jtl: None where the samples can't be read."""
    planned = recorded.planned
    began_s, ended_s = workers.span(planned, jtl)
    notes, generator_error = [*planned.notes], None
    ends_s = [ended_s - began_s] if recorded.interrupted or recorded.stopped_by else []
    if planned.stop_requested_at is not None:
        ends_s.append(max(0.0, planned.stop_requested_at - began_s))
        notes.append(f"the load was ended after {format_duration(ends_s[-1])}")
    if not recorded.manifest.seal:
        notes.append(UNSEALED)
    if planned.ended is None:
        generator_error = "the run is under way or was killed: its samples have no seal"
    elif not planned.began:
        generator_error = "JMeter was never started"
    return ExecutionFacts(
        interrupted=recorded.interrupted,
        ended_s=min(ends_s, default=None) if jtl else None,
        stopped_by=recorded.stopped_by,
        ended_by_force=planned.ended_by_force,
        generator_exit=planned.exit_code,
        generator_error=generator_error,
        machine_problems=steps_seen(planned),
        notes=tuple(notes),
        lint=tuple(planned.lint),
        url=planned.url,
        rows=jtl.rows if jtl else None,
        acknowledged=planned.exported,
    )
