"""An open model's arrivals joined with any number of samples, in memory that has a bound.

Arrival n belongs to the first sample of thread n, and the later ones follow that, not the schedule.
So it is enough to go through the samples in order of their start and to remember which arrivals
have had theirs: a bit for each, and 8 bytes for how late it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tollgate.samples.counts import Jtl
from tollgate.samples.order import Step, early_step, largest
from tollgate.samples.single import Batch, SampleBatches
from tollgate.samples.store import Store
from tollgate.schedule.attribution import FAR_LATE_MS, LATE_MS
from tollgate.schedule.join import Floats, Ints
from tollgate.schedule.lateness import Displacement, percentile
from tollgate.schedule.model import Schedule, ScheduleFacts
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.queues import Queue, ScheduleOutcome, unanswered_of
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

# Rows of counts that are put together in one go: sorting them by and by keeps memory bounded.
_GATHERED = 200_000


def join_open(
    queue: Queue, store: Store, jtl: Jtl, test_start_ms: int | None, from_s: float, bins: Bins
) -> ScheduleOutcome:
    """Join the queue of an open model with the samples of the store, which jtl counts.

    test_start_ms: TESTSTART.MS, None estimates it. from_s: as in OpenJoin.
    """
    batches = SampleBatches(store, [(it, queue.threads.get(it)) for it in queue.governed])
    start_ms = test_start_ms
    if start_ms is None:
        starts = (batch.start_ms for batch in batches)
        start_ms = estimate_test_start_ms(queue.schedule.replay, starts)
    joined = OpenJoin(
        queue.schedule, len(queue.governed), float(start_ms), jtl.origin_ms, from_s, bins
    )
    for batch in batches:
        joined.add(batch)
    judged = [
        (number, label) for number, label in enumerate(queue.governed) if label not in queue.mixed
    ]
    facts = joined.facts(queue.names, batches.threads_outside(queue.schedule.replay.count))
    return ScheduleOutcome(
        response={label: joined.response(number) for number, label in judged},
        lateness={label: joined.lateness(number) for number, label in judged},
        facts=replace(facts, origin_is_estimated=test_start_ms is None),
        unanswered=unanswered_of(queue, joined.unsent_ms(), bins),
        step=joined.step,
    )


class OpenJoin:
    """One schedule. Batches are added in order of their start; then it tells what it saw.

    schedule: an open model's. labels: how many it has; batches have them by their numbers. step: as
    in Kept.
    test_start_ms: TESTSTART.MS. origin_ms: zero of the seconds in the response times. from_s:
    lateness is summed up over arrivals from here on.
    """

    def __init__(
        self,
        schedule: Schedule,
        labels: int,
        test_start_ms: float,
        origin_ms: int,
        from_s: float,
        bins: Bins,
    ) -> None:
        self._arrivals, self._start_ms = schedule.replay, test_start_ms
        self._intended = self._arrivals.count_before(schedule.end_s)
        self._origin_ms, self._from_ms, self._bins = origin_ms, origin_ms + from_s * 1000, bins
        self._response = {label: _Gathered() for label in range(labels)}
        self._waited = {label: _Gathered() for label in range(labels)}
        self._seen = _Bits(self._arrivals.count)
        # Untouched pages of it take no memory.
        self._lateness_ms = np.empty(self._arrivals.count)
        self._displacement = Displacement()
        self._sent = self._late = self._far_late = self._measured = 0
        self.step: Step | None = None

    def add(self, batch: Batch) -> None:
        """Join the samples of the batch."""
        rows, due_ms = self._firsts(batch)
        begin_ms = batch.start_ms.astype(np.float64)
        waited = np.zeros(len(begin_ms), np.int64)
        begin_ms[rows] = due_ms + self._start_ms
        waited[rows] = np.maximum(batch.start_ms[rows] - np.floor(begin_ms[rows]), 0)
        second = self._bins.begin(np.floor((begin_ms - self._origin_ms) / 1000).astype(np.int64))
        has_event = np.zeros(len(second), bool)
        has_event[rows] = True
        # The later samples of an arrival have no intended start: they count by their own.
        response_ms = batch.elapsed_ms + waited
        for label, gathered in self._response.items():
            here = batch.label == label
            gathered.add(self._counts(batch, here, second, response_ms))
            self._waited[label].add(self._counts(batch, here & has_event, second, waited))

    def _counts(self, batch: Batch, here: np.ndarray, second: Ints, values: Ints) -> Counts:
        return Counts.of(second[here], values[here], batch.ok[here], width=self._bins.width_s)

    def _firsts(self, batch: Batch) -> tuple[Ints, Floats]:
        """The rows that are the first of their arrival, and when it was due in ms; summed up."""
        arrival = batch.number - 1
        inside = np.flatnonzero((arrival >= 0) & (arrival < self._arrivals.count))
        arrival, first = np.unique(arrival[inside], return_index=True)
        unseen = ~self._seen.has(arrival)
        arrival, rows = arrival[unseen], inside[first[unseen]]
        self._seen.add(arrival)
        self._sent += int(np.count_nonzero(arrival < self._intended))
        start, due = batch.start_ms[rows], self._arrivals.at(arrival) * 1000
        lateness = start - self._start_ms - due
        intended_ms = due + self._start_ms
        measured = intended_ms >= self._from_ms
        # As precise as a time of the epoch, like the other schedules' in lateness.py.
        self._sum_up(lateness[measured], intended_ms[measured] - self._start_ms)
        self.step = largest([self.step, early_step(intended_ms, lateness)])
        return rows, due

    def _sum_up(self, lateness_ms: Floats, due_ms: Floats) -> None:
        self._lateness_ms[self._measured : self._measured + len(lateness_ms)] = lateness_ms
        self._displacement.add(due_ms, np.maximum(lateness_ms, 0))
        self._measured += len(lateness_ms)
        self._late += int(np.count_nonzero(lateness_ms > LATE_MS))
        self._far_late += int(np.count_nonzero(lateness_ms > FAR_LATE_MS))

    def unsent_ms(self) -> Floats:
        """When the arrivals were due that had to be sent and were not, in ms since origin_ms."""
        arrivals = self._seen.lacking(self._intended)
        return self._arrivals.at(arrivals) * 1000 + self._start_ms - self._origin_ms

    def response(self, label: int) -> Counts:
        """Response times by bin of the intended start, or of its own where a sample had none."""
        return self._response[label].counts(Counts.of([], [], width=self._bins.width_s))

    def lateness(self, label: int) -> Counts:
        """How late those with an intended start were sent, in whole milliseconds rounded up."""
        return self._waited[label].counts(Counts.of([], [], width=self._bins.width_s))

    def facts(self, names: tuple[str, ...], threads_outside: int) -> ScheduleFacts:
        """How the schedule was kept. threads_outside: threads of its labels that no arrival has.

        Each arrival has a thread of its own, so nothing but the generator delays or drops it.
        """
        lateness_ms = self._lateness_ms[: self._measured]
        p50, p99, longest = (percentile(lateness_ms, it) for it in (50, 99, 100))
        return ScheduleFacts(
            labels=names,
            intended=self._intended,
            sent=self._sent,
            missing_generator=self._intended - self._sent,
            lateness_p50_ms=p50,
            lateness_p99_ms=p99,
            lateness_max_ms=longest,
            generator_p99_ms=p99 if math.isnan(p99) else max(p99, 0.0),
            late_generator=self._late,
            extra=threads_outside,
            measured=self._measured,
            far_late=self._far_late,
            generator_far_late=self._far_late,
            displaced=self._displacement.requests,
        )


def estimate_test_start_ms(arrivals: OpenModelArrivals, starts_ms: Iterable[Ints]) -> float:
    """As estimate_origin_ms, for starts that come sorted and in batches."""
    steps, due = arrivals.by_step(), np.empty(0)
    least, earliest = math.inf, None
    for starts in starts_ms:
        if earliest is None and len(starts):
            earliest = float(starts[0])
        while len(due) < len(starts) and (step := next(steps, None)) is not None:
            due = np.concatenate([due, step])
        count = min(len(due), len(starts))
        least = min(least, float((starts[:count] - due[:count] * 1000).min(initial=math.inf)))
        due = due[count:]
        if count < len(starts):
            break
    return float(math.ceil(least)) if math.isfinite(least) else earliest or 0.0


class _Bits:
    """Which of the numbers from 0 on have been added, a bit for each."""

    def __init__(self, count: int) -> None:
        self._bytes = np.zeros(count // 8 + 1, dtype=np.uint8)

    def has(self, numbers: Ints) -> np.ndarray:
        return (self._bytes[numbers >> 3] >> (numbers & 7).astype(np.uint8) & 1).astype(bool)

    def add(self, numbers: Ints) -> None:
        bit = np.left_shift(1, numbers & 7).astype(np.uint8)
        np.bitwise_or.at(self._bytes, numbers >> 3, bit)

    def lacking(self, count: int) -> Ints:
        """Those below `count` that have not been added."""
        return np.flatnonzero(np.unpackbits(self._bytes, count=count, bitorder="little") == 0)


class _Gathered:
    """Counts that are put together whenever those that came in outgrow those that were there."""

    def __init__(self) -> None:
        self._parts: list[Counts] = []
        self._held = self._merged = 0

    def add(self, counts: Counts) -> None:
        self._parts.append(counts)
        self._held += len(counts.n)
        if self._held > self._merged + max(self._merged, _GATHERED):
            merged = Counts.merged(self._parts)
            self._parts, self._held, self._merged = [merged], len(merged.n), len(merged.n)

    def counts(self, empty: Counts) -> Counts:
        return Counts.merged([empty, *self._parts])
