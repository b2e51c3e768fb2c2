"""What each label of an execution was meant to send, beside what it sent.

The schedules of the plan are joined with the samples of their thread groups, one at a time;
response times come out as counts like the service times, and how each schedule was kept as plain
numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tollgate.plan.model import Plan
from tollgate.samples.counts import Jtl
from tollgate.samples.order import Step
from tollgate.samples.single import read_samples
from tollgate.samples.store import Store, using
from tollgate.samples.threads import read_threads
from tollgate.schedule.lateness import TooManyEventsError
from tollgate.schedule.model import ScheduleFacts, Unanswered
from tollgate.schedule.open_join import join_open
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.queues import Queue, ScheduleOutcome, queues_of
from tollgate.schedule.sections import held_by
from tollgate.schedule.timer_join import join_timer
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

#: Why nobody knows whether a plan, by its own choice, sent nothing for an arrival.
NO_LOG = "the plan may have chosen so, and JMeter's log does not show how its threads ended"

# A timer's schedule needs all of its samples at once: the join looks for gaps over the whole run.
# With some 330 bytes a sample, these take 1.6 GB; an hour at 1,000 requests a second is less.
MOST_CLOSED = 5_000_000


@dataclass(frozen=True)
class ReplayResult:
    """response: response-time counts of all samples of each label with a schedule, by bin of the
    intended start; those that had none, such as the later ones of an arrival, count by their own
    start and the time that they took.
    lateness: of those that had one, how late each was sent, in whole milliseconds rounded up.
    without_generator_lateness: response times without the generator's own part of the lateness, of
    labels for which that is less than all of it.
    facts: one entry a schedule. unanswered: what was due and not sent, one entry a schedule in
    which anything was. closed: the reason for each label that follows none.
    problems: one line for each schedule that can not be joined with its samples. steps: one for
    each open model with an arrival that was sent before it was due, which only a clock can do."""

    response: dict[str, Counts]
    facts: tuple[ScheduleFacts, ...]
    closed: dict[str, str]
    problems: tuple[str, ...]
    lateness: dict[str, Counts]
    without_generator_lateness: dict[str, Counts]
    unanswered: tuple[Unanswered, ...]
    steps: tuple[Step, ...]


def replay_jtl(
    plan: Plan,
    source: Store | str | Path,
    jtl: Jtl,
    from_s: float,
    until_s: float | None,
    bins: Bins,
    most: int = MOST_CLOSED,
    ends: Mapping[int, Mapping[str, int]] | None = None,
) -> ReplayResult:
    """Join every schedule of the plan with the samples, which jtl counts.

    from_s: lateness is summed up over events from here on; whether everything was sent, always.
    until_s: when the load was cut short; what was due from then on did not have to be sent. Seconds
    since the execution's start. most: samples of a timer's schedule; one with more is a problem,
    not an error: it proves nothing, and judging its labels by service time would drop the waiting
    that the schedule is there to show. So are samples of several JMeters, or of one whose start is
    not known. ends: how the threads of each place in plan.groups ended, by the words of JMeter's
    log, as far as that says it. Raises JtlError.
    """
    kept: list[ScheduleOutcome] = []
    problems: list[str] = []
    with using(source) as store:
        queues, closed = queues_of(plan, jtl.samplers, read_threads(store))
        start_ms = _start_of(jtl)
        if isinstance(start_ms, str):
            return _together([], closed, [start_ms] if queues else [])
        for each in queues:
            queue = each.until(until_s, jtl.origin_ms, start_ms)
            held = held_by(read_samples(store, queue.locked).values(), start_ms)
            ended = (ends or {}).get(queue.place)
            size = sum(jtl.samplers[label].counts.total for label in queue.labels)
            if queue.schedule.by_thread:
                outcome = join_open(queue, store, jtl, start_ms, from_s, bins, held, ended)
                kept.append(outcome)
                # That all before one that was sent have begun does not say that they were through.
                if ended is None and outcome.facts.unasked > 1:
                    problems.append(_unsure(queue, outcome.facts.unasked, NO_LOG))
            elif size > most:
                problems.append(_too_many(queue, size, most))
            else:
                samples = read_samples(store, queue.labels)
                try:
                    outcome = join_timer(
                        queue, samples, jtl.origin_ms, start_ms, from_s, bins, held, ended
                    )
                except TooManyEventsError as problem:
                    problems.append(f"of the timer of {', '.join(queue.names)} {problem}")
                else:
                    # As many rows as events are theirs; of fewer nobody knows which are missing.
                    doubt, missing = queue.schedule.doubt, outcome.facts.missing
                    if not (doubt or ended) and queue.schedule.least < outcome.facts.intended:
                        doubt, missing = NO_LOG, outcome.facts.missing_generator
                    if doubt and missing > 1:
                        closed |= dict.fromkeys(queue.governed, doubt)
                        problems.append(_unsure(queue, missing, doubt))
                    else:
                        kept.append(outcome)
    return _together(kept, closed, problems)


def _unsure(queue: Queue, missing: int, why: str) -> str:
    return (
        f"{missing} scheduled requests of {', '.join(queue.names)} have no sample, and whether the "
        f"generator was to send them is not known: {why}"
    )


def _together(
    kept: Collection[ScheduleOutcome], closed: dict[str, str], problems: Collection[str]
) -> ReplayResult:
    """The result of schedules that were joined one by one."""

    def merged(by_label: Iterable[dict[str, Counts]]) -> dict[str, Counts]:
        return {label: counts for each in by_label for label, counts in each.items()}

    return ReplayResult(
        response=merged(it.response for it in kept),
        facts=tuple(it.facts for it in kept),
        closed=closed,
        problems=tuple(problems),
        lateness=merged(it.lateness for it in kept),
        without_generator_lateness=merged(it.without_generator_lateness for it in kept),
        unanswered=tuple(it.unanswered for it in kept if it.unanswered.counts.total),
        steps=tuple(it.step for it in kept if it.step),
    )


def _start_of(jtl: Jtl) -> int | str:
    """TESTSTART.MS, when the schedules began; or why the samples don't say when that was."""
    if jtl.test_starts_ms is None:
        return (
            "the JTL has no column TESTSTART.MS, the zero of its schedules: add TESTSTART.MS to "
            "JMeter's property sample_variables"
        )
    first_ms, last_ms = jtl.test_starts_ms
    if first_ms == last_ms:
        return first_ms
    return (
        "the samples come from JMeters that began at different times (TESTSTART.MS is "
        f"{first_ms} and {last_ms}), each with its own schedule, and don't show which is "
        "whose: let one JMeter send the load"
    )


def _too_many(queue: Queue, size: int, limit: int) -> str:
    return (
        f"{size} samples belong to the timer of {', '.join(queue.names)}, and "
        f"no more than {limit} can be joined with its schedule: use an Open Model Thread Group, "
        "which has no such limit, or a shorter run"
    )


def foreseen_problems(plan: Plan, length_s: float) -> list[str]:
    """The problems that a run of this length would have, before any load is sent."""
    problems = []
    for queue in queues_of(plan, ())[0]:
        replay = queue.schedule.replay
        if not isinstance(replay, OpenModelArrivals):
            size = int(replay.rate * length_s)
            if size > MOST_CLOSED:
                problems.append(_too_many(queue, size, MOST_CLOSED))
    return problems
