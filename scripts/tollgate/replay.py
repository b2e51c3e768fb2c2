"""What each label of an execution was meant to send beside what it sent. Pure.

The schedules of the plan are joined with the samples of their thread groups; response times come
out as counts like the service times, and how each schedule was kept as plain numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tollgate.bins import SECONDS, Bins
from tollgate.counts import Counts
from tollgate.facts import ScheduleFacts
from tollgate.jtl_samples import Samples
from tollgate.plan_model import Plan, ThreadGroup
from tollgate.schedule import (
    ClosedLoop,
    Joined,
    Rows,
    Schedule,
    expected_schedules,
    join,
    summarise,
)

# Thread numbers stay below this; JMeter numbers thread groups and the threads in each.
_THREADS = 1 << 32


@dataclass(frozen=True)
class Replay:
    """response: response-time counts by bin of the intended start, for labels with a schedule.
    lateness: likewise, of how late each was sent, in whole milliseconds rounded up.
    facts: one entry a schedule. closed: the reason for each label that follows none.
    problems: one line for each schedule that nobody could join with its samples."""

    response: dict[str, Counts]
    facts: tuple[ScheduleFacts, ...]
    closed: dict[str, str]
    problems: tuple[str, ...] = ()
    lateness: dict[str, Counts] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """How one schedule was kept: the counts by label, as in Replay, and the facts."""

    response: dict[str, Counts]
    lateness: dict[str, Counts]
    facts: ScheduleFacts


@dataclass(frozen=True)
class Queue:
    """A schedule and the labels in the file that its thread group sends.

    governed: those that the schedule is about. labels: all of them, governed ones first.
    """

    schedule: Schedule
    labels: tuple[str, ...]
    governed: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What to call it: its labels in the file, or else in the plan."""
        return self.governed or tuple(label.text for label in self.schedule.labels)

    def until(self, until_s: float | None, origin_ms: int, test_start_ms: int | None) -> Queue:
        """The same where the load was cut short at until_s, seconds from origin_ms."""
        if until_s is None:
            return self
        end_s = until_s - ((test_start_ms or origin_ms) - origin_ms) / 1000
        end_s = max(0.0, min(end_s, self.schedule.end_s or end_s))
        return replace(self, schedule=replace(self.schedule, end_s=end_s))


def queues_of(plan: Plan, labels: Collection[str]) -> tuple[tuple[Queue, ...], dict[str, str]]:
    """The plan's schedules, and the reason for each label that follows none.

    labels: of the samplers in the file.
    """
    expected = expected_schedules(plan)
    closed = {label: it.reason for label, it in expected.items() if isinstance(it, ClosedLoop)}
    queues = []
    for schedule in {id(it): it for it in expected.values() if isinstance(it, Schedule)}.values():
        sent = _labels_of_group(plan, schedule, labels)
        governed = tuple(label for label in sent if schedule.matches(label))
        queues.append(Queue(schedule, tuple(sent), governed))
    return tuple(queues), closed


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
    queues, closed = queues_of(plan, samples)
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
    rows, label_of = _rows(queue, {label: samples[label] for label in queue.labels})
    start = None if test_start_ms is None else float(test_start_ms)
    joined = join(queue.schedule, rows, start)
    ok = np.concatenate([samples[label].ok for label in queue.governed] or [np.zeros(0, bool)])
    waited = joined.response_ms - rows.elapsed_ms[rows.is_governed]

    def counted(values: np.ndarray) -> dict[str, Counts]:
        return {
            label: _counts(joined, values, label_of == number, ok, origin_ms, bins)
            for number, label in enumerate(queue.governed)
        }

    facts = _facts(queue.names, joined, origin_ms + from_s * 1000)
    return Kept(counted(joined.response_ms), counted(waited), facts)


def _labels_of_group(plan: Plan, schedule: Schedule, labels: Collection[str]) -> list[str]:
    """The labels seen in the file that the schedule's thread group sends, governed ones first."""
    group = next((it for it in plan.groups if _is_of(schedule, it)), None)
    known = [sampler.label for sampler in group.samplers] if group else []
    seen = [label for label in labels if any(each.matches(label) for each in known)]
    return sorted(seen, key=lambda label: not schedule.matches(label))


def _is_of(schedule: Schedule, group: ThreadGroup) -> bool:
    return any(sampler.label in schedule.labels for sampler in group.samplers)


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


def _counts(
    joined: Joined,
    values: np.ndarray,
    picked: np.ndarray,
    ok: np.ndarray,
    origin_ms: int,
    bins: Bins,
) -> Counts:
    """The picked rows' values, in ms; rows without an event of their own are left out."""
    picked = picked & (joined.event >= 0)
    second = np.floor((joined.intended_ms[picked] - origin_ms) / 1000).astype(np.int64)
    return Counts.of(bins.begin(second), values[picked], ok[picked], width=bins.width_s)


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
    )
