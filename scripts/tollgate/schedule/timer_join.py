"""The schedule of a Precise Throughput Timer joined with the samples of its thread group. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tollgate.samples.single import Samples
from tollgate.schedule.join import NO_EVENT, Rows
from tollgate.schedule.lateness import join, summarise
from tollgate.schedule.queues import Queue, ScheduleOutcome, unanswered_of
from tollgate.schedule.sections import Held
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

# Thread numbers stay below this; JMeter numbers thread groups and the threads in each.
_THREADS = 1 << 32


def join_timer(
    queue: Queue,
    samples: Mapping[str, Samples],
    origin_ms: int,
    test_start_ms: int,
    from_s: float,
    bins: Bins,
    held: Held | None = None,
    ends: Mapping[str, int] | None = None,
) -> ScheduleOutcome:
    """Join the queue with all samples of its labels, in memory some 330 bytes a sample.

    origin_ms: zero of the seconds in the result. test_start_ms: TESTSTART.MS. from_s: lateness is
    summed up over events from here on; whether everything was sent, always. held, ends: as in join.
    """
    samples = {
        label: samples[label].of_groups(queue.threads[label])
        if label in queue.threads
        else samples[label]
        for label in queue.labels
    }
    rows, label_of = _rows(queue, samples)
    joined = join(queue.schedule, rows, test_start_ms, held, ends)
    ok = np.concatenate([samples[label].ok for label in queue.governed] or [np.zeros(0, bool)])
    governed = rows.is_governed
    has_event = joined.event != NO_EVENT
    begin = np.where(has_event, joined.intended_ms, rows.start_ms[governed])
    second = bins.begin(np.floor((begin - origin_ms) / 1000).astype(np.int64))

    def counted(values: np.ndarray, picked: np.ndarray) -> dict[str, Counts]:
        by_label = {}
        for number, label in enumerate(queue.governed):
            here = picked & (label_of == number)
            if label not in queue.mixed:
                by_label[label] = Counts.of(
                    second[here], values[here], ok[here], width=bins.width_s
                )
        return by_label

    waited = joined.response_ms - rows.elapsed_ms[governed]
    everything = np.ones(len(has_event), bool)
    # Whatever rounds up the waiting rounds up this part of it.
    own = np.nan_to_num(np.ceil(joined.service_ms + joined.plan_ms)).astype(np.int64)
    without_generator_lateness = rows.elapsed_ms[governed] + np.minimum(own, waited)
    return ScheduleOutcome(
        response=counted(joined.response_ms, everything),
        lateness=counted(waited, has_event),
        facts=replace(
            summarise(joined, queue.names, origin_ms + from_s * 1000), serial=queue.schedule.serial
        ),
        unanswered=unanswered_of(queue, joined.missing_ms - origin_ms, bins),
        without_generator_lateness=counted(without_generator_lateness, everything),
    )


def _rows(queue: Queue, samples: Mapping[str, Samples]) -> tuple[Rows, np.ndarray]:
    """The rows of a thread group, governed ones first, and for each of those its label's place."""
    parts = list(samples.values())
    sizes = [len(part) for part in parts]
    governed = sizes[: len(queue.governed)]

    def gathered(arrays: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)

    threads = [part.group.astype(np.int64) * _THREADS + part.number for part in parts]
    rows = Rows(
        start_ms=gathered([part.start_ms for part in parts]),
        elapsed_ms=gathered([part.elapsed_ms for part in parts]),
        thread=gathered(threads),
        is_governed=np.arange(sum(sizes)) < sum(governed),
    )
    return rows, np.repeat(np.arange(len(governed)), governed)
