"""An open model's arrivals joined with any number of samples, in memory that has a bound.

Arrival n belongs to the first sample of thread n, and the later ones follow that, not the schedule.
So it is enough to go through the samples in order of their start and to remember which arrivals
have had theirs: a byte for each, and 8 bytes for how late it was.
"""

from __future__ import annotations

import math

import numpy as np

from tollgate.samples.counts import Jtl
from tollgate.samples.order import Step, early_step, largest
from tollgate.samples.single import Batch, SampleBatches
from tollgate.samples.store import Store
from tollgate.schedule.attribution import FAR_LATE_MS, LATE_MS
from tollgate.schedule.lateness import Displacement, percentile
from tollgate.schedule.model import ScheduleFacts
from tollgate.schedule.open_model import OpenModelArrivals, first_of_arrivals
from tollgate.schedule.queues import Queue, ScheduleOutcome, unanswered_of
from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

# Rows of counts that are put together in one go: sorting them by and by keeps memory bounded.
_GATHERED = 200_000


def join_open(
    queue: Queue, store: Store, jtl: Jtl, test_start_ms: int, from_s: float, bins: Bins
) -> ScheduleOutcome:
    """Join the queue of an open model with the samples of the store, which jtl counts.

    test_start_ms: TESTSTART.MS. from_s: as in OpenJoin.
    """
    batches = SampleBatches(store, [(it, queue.threads.get(it)) for it in queue.governed])
    joined = OpenJoin(queue, test_start_ms, jtl.origin_ms, from_s, bins)
    for batch in batches:
        joined.add(batch)
    return joined.outcome(batches.threads_outside(joined.arrivals.count))


class OpenJoin:
    """One schedule. Batches are added in order of their start; then it has the outcome. arrivals:
    all of the schedule's.

    queue: of an open model; batches have its governed labels by their numbers. test_start_ms:
    TESTSTART.MS. origin_ms: zero of the seconds in the response times. from_s: lateness is summed
    up over arrivals from here on.
    """

    def __init__(
        self, queue: Queue, test_start_ms: float, origin_ms: int, from_s: float, bins: Bins
    ) -> None:
        if not isinstance(queue.schedule.replay, OpenModelArrivals):
            raise TypeError("a timer's schedule is joined by timer_join.py")
        self.arrivals = queue.schedule.replay
        self._queue, self._start_ms = queue, test_start_ms
        self._intended = self.arrivals.count_before(queue.schedule.end_s)
        self._origin_ms, self._from_ms, self._bins = origin_ms, origin_ms + from_s * 1000, bins
        self._response = {it: _Gathered(bins) for it in queue.governed if it not in queue.mixed}
        self._waited = {it: _Gathered(bins) for it in self._response}
        # Untouched pages of them take no memory.
        self._is_seen = np.zeros(self.arrivals.count, np.bool_)
        self._lateness_ms = np.empty(self.arrivals.count)
        self._displacement = Displacement()
        self._sent = self._measured = 0
        self._step: Step | None = None

    def add(self, batch: Batch) -> None:
        """Join the samples of the batch."""
        rows, numbers = first_of_arrivals(batch.number, self._is_seen)
        due_ms = self.arrivals.at(numbers) * 1000
        self._sent += int(np.count_nonzero(numbers < self._intended))
        self._measure(batch.start_ms[rows], due_ms)
        begin_ms = batch.start_ms.astype(np.float64)
        waited = np.zeros(len(begin_ms), np.int64)
        begin_ms[rows] = due_ms + self._start_ms
        waited[rows] = np.maximum(batch.start_ms[rows] - np.floor(begin_ms[rows]), 0)
        second = self._bins.begin(np.floor((begin_ms - self._origin_ms) / 1000).astype(np.int64))
        has_event = np.zeros(len(second), bool)
        has_event[rows] = True
        # The later samples of an arrival have no intended start: they count by their own.
        response_ms = batch.elapsed_ms + waited
        for number, label in enumerate(self._queue.governed):
            if label in self._response:
                here = batch.label == number
                self._response[label].add(self._counts(batch, here, second, response_ms))
                self._waited[label].add(self._counts(batch, here & has_event, second, waited))

    def _counts(self, batch: Batch, here: np.ndarray, second: Ints, values: Ints) -> Counts:
        return Counts.of(second[here], values[here], batch.ok[here], width=self._bins.width_s)

    def _measure(self, start_ms: Ints, due_ms: Floats) -> None:
        """Take in how late requests were. due_ms: since the test began."""
        lateness = start_ms - self._start_ms - due_ms
        intended_ms = due_ms + self._start_ms
        measured = intended_ms >= self._from_ms
        # As precise as a time of the epoch, like the other schedules' in lateness.py.
        measured_due_ms = intended_ms[measured] - self._start_ms
        self._displacement.add(measured_due_ms, np.maximum(lateness[measured], 0))
        end = self._measured + np.count_nonzero(measured)
        self._lateness_ms[self._measured : end] = lateness[measured]
        self._measured = int(end)
        self._step = largest([self._step, early_step(intended_ms, lateness)])

    def outcome(self, threads_outside: int) -> ScheduleOutcome:
        """How the schedule was kept. threads_outside: threads of its labels that no arrival has.

        Response times are by bin of the intended start, or of its own where a sample had none;
        lateness is of those that had one, in whole milliseconds rounded up.
        """
        unsent = self.arrivals.at(np.flatnonzero(~self._is_seen[: self._intended]))
        due_ms = unsent * 1000 + self._start_ms - self._origin_ms
        return ScheduleOutcome(
            response={label: it.counts for label, it in self._response.items()},
            lateness={label: it.counts for label, it in self._waited.items()},
            facts=self.facts(threads_outside),
            unanswered=unanswered_of(self._queue, due_ms, self._bins),
            step=self._step,
        )

    def facts(self, threads_outside: int) -> ScheduleFacts:
        """Each arrival has a thread of its own, so nothing but the generator delays or drops it."""
        lateness_ms = self._lateness_ms[: self._measured]
        far_late = int(np.count_nonzero(lateness_ms > FAR_LATE_MS))
        late = int(np.count_nonzero(lateness_ms > LATE_MS))
        p50, p99, longest = (percentile(lateness_ms, it) for it in (50, 99, 100))
        return ScheduleFacts(
            labels=self._queue.names,
            intended=self._intended,
            sent=self._sent,
            missing_generator=self._intended - self._sent,
            lateness_p50_ms=p50,
            lateness_p99_ms=p99,
            lateness_max_ms=longest,
            generator_p99_ms=p99 if math.isnan(p99) else max(p99, 0.0),
            late_generator=late,
            extra=threads_outside,
            measured=self._measured,
            far_late=far_late,
            generator_far_late=far_late,
            displaced=self._displacement.requests,
        )


class _Gathered:
    """Counts that are put together whenever those that came in outgrow those that were there."""

    def __init__(self, bins: Bins) -> None:
        self._parts = [Counts.of([], [], width=bins.width_s)]
        self._held = self._merged = 0

    def add(self, counts: Counts) -> None:
        self._parts.append(counts)
        self._held += len(counts.n)
        if self._held > self._merged + max(self._merged, _GATHERED):
            self._parts = [self.counts]
            self._held = self._merged = len(self._parts[0].n)

    @property
    def counts(self) -> Counts:
        return Counts.merged(self._parts)
