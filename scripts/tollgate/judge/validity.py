"""Whether a measurement is sound: every reason for INVALID, whose fault it is, and what only warns.
Pure.

Lateness, rule 2 (criterion.py has rule 1). Whatever the criteria say, the load has to be the one
that was meant. A schedule is broken where more than FAR_LATE_SHARE of its measured requests were
sent more than FAR_LATE_MS late, or where the pattern of its arrivals is lost: the generator has
moved more than DISPLACED_SHARE of them to a different second from the scheduled one. One
request, of a few, may always be late.

Lateness that is not the generator's was brought about by the service, or by the plan's own pauses.
It hides what a free thread would have met, so that rule 2 holds for it as well, unless the
execution fails by itself: a service that hangs has failed, and is no broken measurement.

Warnings stand beside a verdict: its reader should know them, and they change none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from tollgate.base.text import format_number
from tollgate.judge.capacity import capacity_warnings
from tollgate.judge.comparison import comparison_warnings
from tollgate.judge.cut_short import (
    END_SLACK_S,
    cut_short_reasons,
    cut_short_warnings,
    is_cut_short,
    measured_nothing,
)
from tollgate.judge.facts import JudgeSettings, MeasuredExecution, MeasuredRun, StoppedThreads
from tollgate.judge.failures import failure_warnings, never_sent_reasons
from tollgate.judge.verdicts import (
    FAIL,
    GENERATOR,
    INVALID,
    MACHINE,
    OPERATOR,
    SERVICE,
    BadVerdict,
    FaultName,
    Reason,
    invalid,
)
from tollgate.judge.workers import judges_restarts, resource_reasons, resource_warnings
from tollgate.schedule.attribution import FAR_LATE_MS
from tollgate.schedule.model import ScheduleFacts

# A Poisson stream of rate r pauses for longer than 13.8 / r seconds once in a million times; where
# the rate changes with time, it leaves out a stretch in which 13.8 requests are due as rarely.
PAUSE_FACTOR = -math.log(1e-6)
#: What a JVM exits with under -XX:+ExitOnOutOfMemoryError, which the launcher sets.
OUT_OF_MEMORY = 3

#: The p99 of the lateness must lie below FAR_LATE_MS.
FAR_LATE_SHARE = 0.01
#: Three requests in four still met the second that they were meant for. Two unlike Poisson streams
#: of one request a second differ by half of them, of ten by a sixth.
DISPLACED_SHARE = 0.25


def run_reasons(run: MeasuredRun, settings: JudgeSettings) -> Iterator[Reason]:
    """What is wrong with the run as a whole."""
    if run.interrupted and not settings.cut_short_counts:
        yield invalid(OPERATOR, "the run was interrupted")
    for problem in run.problems:
        yield invalid(MACHINE, problem)
    if not run.executions:
        why = "was interrupted before any load" if run.interrupted else "has no executions"
        yield invalid(OPERATOR, f"nothing ran: the run {why}")
    elif not any(one.can_fail for one in run.executions):
        yield invalid(OPERATOR, "no criterion can fail this run, so it proves nothing")


def execution_reasons(
    execution: MeasuredExecution, settings: JudgeSettings, is_excused: bool, has_failed: bool
) -> Iterator[Reason]:
    """What is wrong with one execution.

    is_excused: the missing rest of the run is no fault of its own: the samples show that the
    criterion which stopped the run had to, or a problem of the run ended it. has_failed: whether
    one of its criteria fails it.
    """
    is_short = is_cut_short(execution)
    if is_short:
        yield from cut_short_reasons(execution, settings)
    for problem in execution.facts.machine_problems:
        yield invalid(MACHINE, problem)
    if measured_nothing(execution):
        return  # so that there is nothing else to be said of it
    yield from never_sent_reasons(execution, settings.missing_share)
    for line in execution.facts.plan_faults:
        yield invalid(OPERATOR, line)
    yield from _workers(execution)
    yield from resource_reasons(execution)
    if not is_short:  # an interruption may end JMeter in the middle of a line
        yield from _accidents(execution, is_excused)
    for schedule in execution.schedules:
        if not is_excused:
            yield from _unsent(schedule, settings, execution.facts.stopped)
        yield from _lateness(schedule, has_failed)


def _accidents(execution: MeasuredExecution, is_excused: bool) -> Iterator[Reason]:
    facts, has_ended_itself = execution.facts, ended_itself(execution)
    if facts.generator_error:
        yield invalid(GENERATOR, facts.generator_error)
    if facts.generator_exit and not has_ended_itself:
        is_memory = facts.generator_exit == OUT_OF_MEMORY
        hint = ": it ran out of memory, see jmeter.out; more of it: HEAP='-Xms512m -Xmx2g'"
        text = f"JMeter exited with code {facts.generator_exit}{hint if is_memory else ''}"
        yield invalid(GENERATOR, text)
    if facts.jtl_error:
        yield invalid(GENERATOR, facts.jtl_error)
    if facts.cut_off_line and not has_ended_itself:
        yield invalid(GENERATOR, f"samples were cut off in line {facts.cut_off_line} of the JTL")
    for line in facts.silent:
        yield invalid(GENERATOR, line)
    for early in facts.early_ends:
        yield invalid(SERVICE if early.by_service else GENERATOR, early.line)
    if not any(data.service.total for data in execution.labels.values()):
        if not (execution.capacity and execution.capacity.ceiling_trials):
            yield invalid(GENERATOR, "the execution gave no samples: see jmeter.log for why not")
    elif not is_excused:
        yield from _shortness(execution)


def ended_itself(execution: MeasuredExecution) -> bool:
    """Whether it was a comparison that had found all it could, an execution that a look had ended,
    or a load that was ended before its time. A JMeter that then goes on is ended by force: no
    sample that counts is touched by that."""
    comparison, course = execution.comparison, execution.course
    has_decided = comparison is not None and comparison.record.decided_s is not None
    was_ended = course is not None and course.ended
    return has_decided or was_ended or execution.facts.ended_by_force


def _workers(execution: MeasuredExecution) -> Iterator[Reason]:
    for event in execution.facts.worker_events if not execution.capacity else ():
        yield invalid(SERVICE, event.text)
    for count in execution.facts.workers:
        workers = f"workers of {count.app}" if count.app else "workers"
        seen = count.seen
        if judges_restarts(execution) and count.seen_or_restarting is not None:
            seen = count.seen_or_restarting
        if seen is None:
            yield invalid(OPERATOR, f"{count.asked} {workers} were asked for and none were seen")
        elif seen != count.asked:
            problem = f"{seen} {workers} served where {count.asked} were asked for"
            yield invalid(OPERATOR, problem)


def _shortness(execution: MeasuredExecution) -> Iterator[Reason]:
    facts = execution.facts
    if facts.stopped_by:
        problem = "stopped early by a criterion that the samples do not bear out"
        yield invalid(OPERATOR, f"{problem}: {facts.stopped_by}")
    due_s, ended_s = execution.due_s, facts.ended_s
    is_told = any(it.by != GENERATOR for it in facts.stopped.values())
    if due_s is None or facts.early_ends or is_told:
        return
    services = [data.service for data in execution.labels.values() if data.service.total]
    if execution.forecast:
        due_s = min(due_s, execution.forecast.silent_from(PAUSE_FACTOR))
    elif ended_s is None:
        # For so long a stream of that many samples may be silent without its having ended.
        due_s -= PAUSE_FACTOR * due_s / sum(each.total for each in services)
    if ended_s is None:
        last_s = facts.last_start_s
        last_of = (each.seconds[-1] + each.width for each in services)
        ended_s = float(max(last_of)) if last_s is None else math.floor(last_s) + 1.0
    if ended_s < due_s - END_SLACK_S:
        measured = format_number(max(0.0, ended_s - execution.warmup_s))
        text = f"measured {measured} s of {format_number(execution.measured_s or 0.0)} s"
        yield invalid(GENERATOR, text)


def _lateness(schedule: ScheduleFacts, has_failed: bool) -> Iterator[Reason]:
    """Rule 2. has_failed: whether the execution fails by one of its criteria."""
    tolerated = max(1.0, FAR_LATE_SHARE * schedule.measured)
    of = f"of {schedule.measured} requests of {', '.join(schedule.labels)}"
    second = f"more than {format_number(FAR_LATE_MS / 1000)} s late"
    more = "give it more of the machine, or send less"
    if schedule.generator_far_late > tolerated:
        text = f"the generator sent {schedule.generator_far_late} {of} {second}: {more}"
        yield invalid(GENERATOR, text)
    elif schedule.displaced > max(1.0, DISPLACED_SHARE * schedule.measured):
        text = (
            f"the generator sent {schedule.displaced} {of} in a different second from the "
            f"scheduled one, so that the load was another one: {more}"
        )
        yield invalid(GENERATOR, text)
    elif schedule.serial and schedule.far_late > tolerated and not has_failed:
        text = (
            f"{schedule.far_late} {of} were sent {second}: they waited for {_sections(schedule)}, "
            "where one thread is at a time, so that the service did not get the load that was meant"
        )
        yield invalid(OPERATOR, text)
    elif schedule.far_late > tolerated and not has_failed:
        text = (
            f"{schedule.far_late} {of} were sent {second}, while all threads were busy: the "
            "service did not get the load that was meant; give the thread group more threads"
        )
        yield invalid(SERVICE, text)


def _sections(schedule: ScheduleFacts) -> str:
    return f"the Critical Section {' or '.join(map(repr, schedule.serial))} of the plan"


def _unsent(
    schedule: ScheduleFacts, settings: JudgeSettings, stopped: Mapping[str, StoppedThreads]
) -> Iterator[Reason]:
    tolerated = max(1.0, settings.missing_share * schedule.intended)
    name = ", ".join(schedule.labels)
    of = f"of {schedule.intended} scheduled requests of {name} were not sent"
    too_many = f"requests of {name} were sent that no schedule asked for"
    # How long those of a busy service would have taken is not known; leaving them out would
    # flatter it.
    slow = StoppedThreads(GENERATOR, "the generator was too slow")
    cause = next((stopped[it] for it in schedule.labels if it in stopped), slow)
    plans = "the plan's own pauses are too long"
    if schedule.serial:
        plans = f"they waited for {_sections(schedule)}, where one thread is at a time"
    rules: tuple[tuple[BadVerdict, FaultName, int, str], ...] = (
        (INVALID, cause.by, schedule.missing_generator, f"{of}: {cause.why}"),
        (INVALID, OPERATOR, schedule.extra, too_many),
        (INVALID, OPERATOR, schedule.missing_plan, f"{of}: {plans}"),
        (FAIL, SERVICE, schedule.missing_service, f"{of}: all threads were waiting for answers"),
    )
    for verdict, fault, requests, text in rules:
        if requests > tolerated:
            yield Reason(verdict, fault, f"{requests} {text}")


def warnings_of(execution: MeasuredExecution, settings: JudgeSettings) -> Iterator[str]:
    """One line for each thing."""
    if execution.capacity:
        yield from capacity_warnings(execution)
    else:
        yield from failure_warnings(execution)
    yield from _by_service_time(execution, settings)
    if execution.facts.url:
        yield (
            f"asked was {execution.facts.url}, which is not the run's own: it was neither started "
            "nor watched, and who else asked it meanwhile is not known"
        )
    yield from execution.facts.notes
    for schedule in execution.schedules:
        if schedule.unasked:
            yield (
                f"for {schedule.unasked} of {schedule.intended + schedule.unasked} arrivals the "
                f"plan sent none of {', '.join(schedule.labels)}, by its own choice"
            )
    told = {it.text for it in never_sent_reasons(execution, settings.missing_share)}
    yield from (it.line for it in execution.facts.never_sent if it.line not in told)
    exported = execution.facts.exported
    if exported and exported.samples != exported.of:
        yield (
            f"{exported.line}: the collector has not taken the others; `tollgate export` sends all "
            "of them again"
        )
    yield from cut_short_warnings(execution, settings)
    yield from resource_warnings(execution)
    if execution.comparison:
        yield from comparison_warnings(execution.comparison)
    if not execution.can_fail:
        yield "no criterion can fail this execution"


def _by_service_time(execution: MeasuredExecution, settings: JudgeSettings) -> Iterator[str]:
    latency = {c.label for c in execution.criteria if c.may_respond and c.fail}
    closed = [
        data.name
        for data in execution.labels.values()
        if data.response is None and not data.is_transaction and latency & {data.name, ""}
    ]
    if closed and settings.latency == "response":
        yield (
            f"{', '.join(dict.fromkeys(closed))}: judged by service time, for want of a schedule; "
            "a slow answer holds back the requests behind it, and their waiting is left out "
            "(coordinated omission)"
        )
