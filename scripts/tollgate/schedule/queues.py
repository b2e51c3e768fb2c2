"""The schedules of a plan, each with the labels of a file that its thread group sent, and how each
was kept. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tollgate.plan.model import Plan
from tollgate.samples.order import Step
from tollgate.schedule.model import NEVER_MS, TIMED_OUT, Schedule, ScheduleFacts, Unanswered
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.threads import may_send, senders
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

#: Stands for the names of threads where a file has none.
NO_NAMES = ("",)


@dataclass(frozen=True)
class Queue:
    """A schedule and the labels in the file that its thread group sends.

    labels: all of them, governed ones first. governed: those that the schedule is about.
    threads: for labels that another thread group may send as well, the names of those threads that
    the schedule's may have, without their last number; rows of others are not its own.
    mixed: governed labels of which not all rows are surely its own.
    locked: labels in the file whose requests may have a Critical Section that it waits for.
    place: of its thread group in plan.groups.
    """

    schedule: Schedule
    labels: tuple[str, ...]
    governed: tuple[str, ...]
    threads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mixed: frozenset[str] = frozenset()
    locked: tuple[str, ...] = ()
    place: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """What to call it: its labels in the file, or else in the plan."""
        return self.governed or tuple(label.text for label in self.schedule.labels)

    def until(self, until_s: float | None, origin_ms: int, test_start_ms: int) -> Queue:
        """The same where the load was cut short at until_s, seconds from origin_ms."""
        if until_s is None:
            return self
        # In whole microseconds: differences of seconds would put an end behind its own millisecond.
        end_s = round(until_s * 1000 - (test_start_ms - origin_ms), 3) / 1000
        end_s = max(0.0, min(end_s, self.schedule.end_s or end_s))
        return replace(self, schedule=replace(self.schedule, end_s=end_s))


@dataclass(frozen=True)
class ScheduleOutcome:
    """How one schedule was kept: the counts by label and the step, as in Replay, the facts, and
    what was not sent."""

    response: dict[str, Counts]
    lateness: dict[str, Counts]
    facts: ScheduleFacts
    unanswered: Unanswered
    without_generator_lateness: dict[str, Counts] = field(default_factory=dict)
    step: Step | None = None


def queues_of(
    plan: Plan, labels: Collection[str], threads: Mapping[str, Collection[str]] | None = None
) -> tuple[tuple[Queue, ...], dict[str, str]]:
    """The plan's schedules, and the reason for each label that follows none.

    labels: of the samplers in the file. threads: for each of them, the names of the threads that
    sent it, without their last number; only those of labels in some Queue's `threads` matter.
    """
    expected, schedules = schedules_of(plan)
    closed = {label: it for label, it in expected.items() if isinstance(it, str)}
    queues = tuple(_queue(plan, *it, labels, threads or {}) for it in schedules)
    for queue in queues:
        for label in queue.mixed:
            closed[label] = f"'{label}' is sent by more than one thread group"
    return queues, closed


def _queue(
    plan: Plan,
    place: int,
    schedule: Schedule,
    labels: Collection[str],
    threads: Mapping[str, Collection[str]],
) -> Queue:
    """The queue of the schedule of plan.groups[place]."""
    sent, own, mixed = [], {}, set()
    for label in labels:
        groups = may_send(plan, label)
        if place not in groups:
            continue
        if len(groups) > 1:
            by_name = {name: senders(plan, groups, name) for name in threads.get(label, NO_NAMES)}
            own[label] = tuple(name for name, it in by_name.items() if place in it)
            if not own[label]:
                continue
            if schedule.matches(label) and any(it != [place] for it in by_name.values()):
                mixed.add(label)
        sent.append(label)
    sent.sort(key=lambda label: not schedule.matches(label))
    governed = tuple(label for label in sent if schedule.matches(label))
    locked = tuple(it for it in labels if any(one.matches(it) for one in schedule.sections))
    return Queue(schedule, tuple(sent), governed, own, frozenset(mixed), locked, place)


def unanswered_of(queue: Queue, due_ms: np.ndarray, bins: Bins) -> Unanswered:
    """What was due at these milliseconds since the execution's start and not sent."""
    timeout_ms = queue.schedule.timeout_ms
    slow_ms = np.full(len(due_ms), NEVER_MS if timeout_ms is None else math.ceil(timeout_ms))
    second = bins.begin(np.floor(due_ms / 1000).astype(np.int64))
    failed = np.zeros(len(due_ms), bool)
    counts = Counts.of(second, slow_ms, failed, codes=(TIMED_OUT,), width=bins.width_s)
    return Unanswered(queue.names, counts)
