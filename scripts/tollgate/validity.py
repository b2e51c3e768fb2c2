"""Whether a measurement is sound at all: every reason for INVALID, and whose fault it is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tollgate.facts import Execution, Run, ScheduleFacts, Settings
from tollgate.verdicts import (
    FAIL,
    GENERATOR,
    INVALID,
    MACHINE,
    OPERATOR,
    SERVICE,
    Reason,
    figure,
)

# A Poisson stream of rate r pauses for longer than 13.8 / r seconds once in a million times.
PAUSE_FACTOR = -math.log(1e-6)
# JMeter ends threads at its own pace, and seconds are whole.
END_SLACK_S = 1.0


def run_reasons(run: Run) -> Iterator[Reason]:
    """What is wrong with the run as a whole."""
    if run.interrupted:
        yield _invalid(OPERATOR, "the run was interrupted")
    for problem in run.problems:
        yield _invalid(MACHINE, problem)
    if not run.executions:
        yield _invalid(OPERATOR, "nothing ran: the run has no executions")
    elif not any(criterion.fail for one in run.executions for criterion in one.criteria):
        yield _invalid(OPERATOR, "no criterion can fail this run, so it proves nothing")


def execution_reasons(
    execution: Execution, settings: Settings, stop_is_confirmed: bool
) -> Iterator[Reason]:
    """What is wrong with one execution.

    stop_is_confirmed: the samples show that the criterion which stopped the run had to, so that
    the missing rest of the run is no fault.
    """
    yield from _accidents(execution)
    yield from _workers(execution)
    if not any(data.service.total for data in execution.labels.values()):
        yield _invalid(GENERATOR, "the execution gave no samples")
    elif not stop_is_confirmed:
        yield from _shortness(execution)
    for schedule in execution.schedules:
        if not stop_is_confirmed:
            yield from _unsent(schedule, settings)
        yield from _lateness(schedule, execution, settings)


def _accidents(execution: Execution) -> Iterator[Reason]:
    facts = execution.facts
    for problem in facts.machine_problems:
        yield _invalid(MACHINE, problem)
    if facts.generator_error:
        yield _invalid(GENERATOR, facts.generator_error)
    if facts.generator_exit:
        yield _invalid(GENERATOR, f"JMeter exited with code {facts.generator_exit}")
    if facts.jtl_error:
        yield _invalid(GENERATOR, facts.jtl_error)
    if facts.cut_off_line:
        yield _invalid(GENERATOR, f"samples were cut off in line {facts.cut_off_line} of the JTL")


def _workers(execution: Execution) -> Iterator[Reason]:
    facts = execution.facts
    for event in facts.worker_events:
        yield _invalid(SERVICE, event)
    if facts.workers_asked is None:
        return
    if facts.workers_seen is None:
        yield _invalid(OPERATOR, f"{facts.workers_asked} workers were asked for and none were seen")
    elif facts.workers_seen != facts.workers_asked:
        problem = f"{facts.workers_seen} workers served where {facts.workers_asked} were asked for"
        yield _invalid(OPERATOR, problem)


def _shortness(execution: Execution) -> Iterator[Reason]:
    if execution.facts.stopped_by:
        problem = "stopped early by a criterion that the samples do not bear out: "
        yield _invalid(OPERATOR, problem + execution.facts.stopped_by)
    if execution.measured_s is None:
        return
    due = execution.warmup_s + execution.measured_s
    ended, slack = execution.facts.ended_s, END_SLACK_S
    if ended is None:
        ended, slack = _last_second(execution), END_SLACK_S + _longest_pause(execution, due)
    if ended < due - slack:
        measured = max(0.0, ended - execution.warmup_s)
        problem = f"measured {figure(measured)} s of {figure(execution.measured_s)} s"
        yield _invalid(GENERATOR, problem)


def _last_second(execution: Execution) -> float:
    seconds = [data.service.seconds for data in execution.labels.values()]
    return float(max(each[-1] for each in seconds if len(each))) + 1


def _longest_pause(execution: Execution, due: float) -> float:
    """How long a stream of that many samples may be silent without its having ended."""
    total = sum(data.service.total for data in execution.labels.values())
    return PAUSE_FACTOR * due / total


def _unsent(schedule: ScheduleFacts, settings: Settings) -> Iterator[Reason]:
    tolerated = max(1.0, settings.missing_share * schedule.intended)
    name = ", ".join(schedule.labels)
    of = f"of {schedule.intended} scheduled requests of {name} were not sent"
    if schedule.missing_generator > tolerated:
        yield _invalid(GENERATOR, f"{schedule.missing_generator} {of}: the generator was too slow")
    if schedule.extra > tolerated:
        text = f"{schedule.extra} requests of {name} were sent that no schedule asked for"
        yield _invalid(OPERATOR, text)
    if schedule.missing_plan > tolerated:
        yield _invalid(
            OPERATOR, f"{schedule.missing_plan} {of}: the plan's own pauses are too long"
        )
    if schedule.missing_service > tolerated:
        # Nobody knows how long they would have taken; leaving them out would flatter the service.
        text = f"{schedule.missing_service} {of}: all threads were waiting for answers"
        yield Reason(FAIL, SERVICE, text)


def _lateness(
    schedule: ScheduleFacts, execution: Execution, settings: Settings
) -> Iterator[Reason]:
    limits = [c.threshold for c in execution.criteria if c.is_latency and c.fail]
    if not limits:
        return
    budget = max(settings.lateness_floor_ms, settings.lateness_share * min(limits))
    if schedule.generator_p99_ms > budget:
        yield _invalid(
            GENERATOR,
            f"the generator sent {', '.join(schedule.labels)} late: p99 "
            f"{figure(schedule.generator_p99_ms, budget)} ms, budget {figure(budget)} ms",
        )


def _invalid(fault: str, text: str) -> Reason:
    return Reason(INVALID, fault, text)
