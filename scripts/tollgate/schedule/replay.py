"""What each label of an execution was meant to send beside what it sent. Pure.

The schedules of the plan are joined with the samples of their thread groups; response times come
out as counts like the service times, and how each schedule was kept as plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from tollgate.plan import Plan
from tollgate.samples import Samples, Step, early_step
from tollgate.schedule.join import NO_EVENT
from tollgate.schedule.model import NEVER_MS, TIMED_OUT, ScheduleFacts, Unsent
from tollgate.schedule.queues import Queue, queues_of
from tollgate.schedule.schedule import Joined, Rows, join, summarise
from tollgate.stats import SECONDS, Bins, Counts

# Thread numbers stay below this; JMeter numbers thread groups and the threads in each.
_THREADS = 1 << 32


@dataclass(frozen=True)
class Replay:
    """response: response-time counts of all samples of each label with a schedule, by bin of the
    intended start; those that had none, such as the later ones of an arrival, count by their own
    start and the time that they took.
    lateness: of those that had one, how late each was sent, in whole milliseconds rounded up.
    punctual: response times without the generator's own part of the lateness, of labels for which
    that is less than all of it.
    facts: one entry a schedule. unsent: what was due and not sent, one entry a schedule in which
    anything was. closed: the reason for each label that follows none.
    problems: one line for each schedule that nobody could join with its samples. steps: one for
    each open model with an arrival that was sent before it was due, which only a clock can do."""

    response: dict[str, Counts]
    facts: tuple[ScheduleFacts, ...]
    closed: dict[str, str]
    problems: tuple[str, ...] = ()
    lateness: dict[str, Counts] = field(default_factory=dict)
    punctual: dict[str, Counts] = field(default_factory=dict)
    unsent: tuple[Unsent, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Kept:
    """How one schedule was kept: the counts by label and the step, as in Replay, the facts, and
    what was not sent."""

    response: dict[str, Counts]
    lateness: dict[str, Counts]
    facts: ScheduleFacts
    unsent: Unsent
    punctual: dict[str, Counts] = field(default_factory=dict)
    step: Step | None = None


def replay(
    plan: Plan,
    samples: Mapping[str, Samples],
    origin_ms: int,
    test_start_ms: int | None,
    from_s: float,
    until_s: float | None = None,
) -> Replay:
    """Join every schedule of the plan with the samples, by label, of one execution, by the second.

    origin_ms: zero of the seconds in the result. test_start_ms: TESTSTART.MS, None estimates it.
    from_s: lateness is summed up over events from here on; whether everything was sent, always.
    until_s: when the load was cut short; what was due from then on did not have to be sent.
    """
    threads = {label: each.seen_groups for label, each in samples.items()}
    queues, closed = queues_of(plan, samples, threads)
    queues = tuple(queue.until(until_s, origin_ms, test_start_ms) for queue in queues)
    kept = [
        join_queue(queue, samples, origin_ms, test_start_ms, from_s, SECONDS) for queue in queues
    ]
    return together(kept, closed)


def together(
    kept: Collection[Kept], closed: dict[str, str], problems: Collection[str] = ()
) -> Replay:
    """The Replay of schedules that were joined one by one."""
    return Replay(
        response={label: counts for each in kept for label, counts in each.response.items()},
        facts=tuple(each.facts for each in kept),
        closed=closed,
        problems=tuple(problems),
        lateness={label: counts for each in kept for label, counts in each.lateness.items()},
        punctual={label: counts for each in kept for label, counts in each.punctual.items()},
        unsent=tuple(each.unsent for each in kept if each.unsent.counts.total),
        steps=tuple(each.step for each in kept if each.step),
    )


def join_queue(
    queue: Queue,
    samples: Mapping[str, Samples],
    origin_ms: int,
    test_start_ms: int | None,
    from_s: float,
    bins: Bins,
) -> Kept:
    """Join one schedule; arguments as in `replay`."""
    samples = {label: _own(queue, label, samples[label]) for label in queue.labels}
    rows, label_of = _rows(queue, samples)
    start = None if test_start_ms is None else float(test_start_ms)
    joined = join(queue.schedule, rows, start)
    ok = np.concatenate([samples[label].ok for label in queue.governed] or [np.zeros(0, bool)])
    governed = rows.is_governed
    has_event = joined.event != NO_EVENT
    begin = np.where(has_event, joined.intended_ms, rows.start_ms[governed])
    second = bins.begin(np.floor((begin - origin_ms) / 1000).astype(np.int64))

    def counted(values: np.ndarray, picked: np.ndarray) -> dict[str, Counts]:
        found = {}
        for number, label in enumerate(queue.governed):
            here = picked & (label_of == number)
            counts = Counts.of(second[here], values[here], ok[here], width=bins.width_s)
            found |= {} if label in queue.mixed else {label: counts}
        return found

    facts = _facts(queue.names, joined, origin_ms + from_s * 1000)
    waited = joined.response_ms - rows.elapsed_ms[governed]
    everything = np.ones(len(has_event), bool)
    # Whatever rounds up the waiting rounds up this part of it.
    own = np.nan_to_num(np.ceil(joined.service_ms + joined.plan_ms)).astype(np.int64)
    is_part = not queue.schedule.by_thread
    punctual = rows.elapsed_ms[governed] + np.minimum(own, waited)
    due = joined.intended_ms[has_event]
    step = early_step(due, joined.lateness_ms[has_event]) if queue.schedule.by_thread else None
    return Kept(
        response=counted(joined.response_ms, everything),
        lateness=counted(waited, has_event),
        facts=facts,
        unsent=unsent_of(queue, joined.missing_ms - origin_ms, bins),
        punctual=counted(punctual, everything) if is_part else {},
        step=step,
    )


def unsent_of(queue: Queue, due_ms: np.ndarray, bins: Bins) -> Unsent:
    """What was due at these milliseconds since the execution's start and not sent."""
    timeout_ms = queue.schedule.timeout_ms
    slow_ms = np.full(len(due_ms), NEVER_MS if timeout_ms is None else math.ceil(timeout_ms))
    second = bins.begin(np.floor(due_ms / 1000).astype(np.int64))
    failed = np.zeros(len(due_ms), bool)
    counts = Counts.of(second, slow_ms, failed, codes=(TIMED_OUT,), width=bins.width_s)
    return Unsent(queue.names, counts)


def _own(queue: Queue, label: str, samples: Samples) -> Samples:
    """The label's samples without those of other thread groups."""
    return samples.of_groups(queue.threads[label]) if label in queue.threads else samples


def _rows(queue: Queue, samples: Mapping[str, Samples]) -> tuple[Rows, np.ndarray]:
    """The rows of a thread group, governed ones first, and for each of those its label's place."""
    parts = list(samples.values())
    sizes = [len(part) for part in parts]
    governed = sizes[: len(queue.governed)]
    is_governed = np.arange(sum(sizes)) < sum(governed)

    def gathered(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)

    if queue.schedule.by_thread:
        thread = gathered([part.number for part in parts])
    else:
        thread = gathered([part.group.astype(np.int64) * _THREADS + part.number for part in parts])
    rows = Rows(
        start_ms=gathered([part.start_ms for part in parts]),
        elapsed_ms=gathered([part.elapsed_ms for part in parts]),
        thread=thread,
        governed=is_governed,
    )
    return rows, np.repeat(np.arange(len(governed)), governed)


def _facts(labels: tuple[str, ...], joined: Joined, from_ms: float) -> ScheduleFacts:
    summary = summarise(joined, np.nan_to_num(joined.intended_ms, nan=-np.inf) >= from_ms)
    sent = joined.intended - len(joined.missing)
    return ScheduleFacts(
        labels=labels,
        intended=joined.intended,
        sent=sent,
        missing_service=summary.missing_service,
        missing_plan=summary.missing_plan,
        missing_generator=summary.missing_generator,
        lateness_p50_ms=summary.lateness_p50,
        lateness_p99_ms=summary.lateness_p99,
        lateness_max_ms=summary.lateness_max,
        generator_p99_ms=summary.generator_p99,
        late_service=summary.late_service,
        late_plan=summary.late_plan,
        late_generator=summary.late_generator,
        extra=joined.extra,
        origin_is_estimated=joined.origin_is_estimated,
        measured=summary.picked,
        far_late=summary.far_late,
        generator_far_late=summary.generator_far_late,
        displaced=summary.displaced,
    )
