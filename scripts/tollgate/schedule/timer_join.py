"""The schedule of a Precise Throughput Timer joined with the samples of its thread group. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tollgate.samples.single import Samples
from tollgate.schedule.join import NO_EVENT, Rows
from tollgate.schedule.lateness import Joined, join, summarise
from tollgate.schedule.model import ScheduleFacts
from tollgate.schedule.queues import Queue, ScheduleOutcome, unanswered_of
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

# Thread numbers stay below this; JMeter numbers thread groups and the threads in each.
_THREADS = 1 << 32


def join_timer(
    queue: Queue,
    samples: Mapping[str, Samples],
    origin_ms: int,
    test_start_ms: int | None,
    from_s: float,
    bins: Bins,
) -> ScheduleOutcome:
    """Join the queue with all samples of its labels, in memory some 330 bytes a sample.

    origin_ms: zero of the seconds in the result. test_start_ms: TESTSTART.MS, None estimates it.
    from_s: lateness is summed up over events from here on; whether everything was sent, always.
    """
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
    without_generator_lateness = rows.elapsed_ms[governed] + np.minimum(own, waited)
    return ScheduleOutcome(
        response=counted(joined.response_ms, everything),
        lateness=counted(waited, has_event),
        facts=facts,
        unanswered=unanswered_of(queue, joined.missing_ms - origin_ms, bins),
        without_generator_lateness=counted(without_generator_lateness, everything),
    )


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

    threads = [part.group.astype(np.int64) * _THREADS + part.number for part in parts]
    rows = Rows(
        start_ms=gathered([part.start_ms for part in parts]),
        elapsed_ms=gathered([part.elapsed_ms for part in parts]),
        thread=gathered(threads),
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
