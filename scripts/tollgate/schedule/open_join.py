"""An open model's arrivals joined with any number of samples, in memory that has a bound.

Arrival n belongs to the first sample of thread n, and the later ones follow that, not the schedule.
So it is enough to go through the samples in order of their start and to remember which arrivals
have had theirs: a byte for each, and 8 bytes for how late it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

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
from tollgate.schedule.sections import Held
from tollgate.schedule.threads import LOOPED
from tollgate.stats.arrays import Floats, Ints
from tollgate.stats.bins import Bins
from tollgate.stats.counts import Counts

# Rows of counts that are put together in one go: sorting them by and by keeps memory bounded.
_GATHERED = 200_000
#: How rarely chance alone has the plan send nothing for so many arrivals in a row.
_CHANCE = 1e-6


def join_open(
    queue: Queue,
    store: Store,
    jtl: Jtl,
    test_start_ms: int,
    from_s: float,
    bins: Bins,
    held: Held | None = None,
    ends: Mapping[str, int] | None = None,
) -> ScheduleOutcome:
    """Join the queue of an open model with the samples of the store, which jtl counts.

    test_start_ms: TESTSTART.MS. from_s, held, ends: as in OpenJoin.
    """
    batches = SampleBatches(store, [(it, queue.threads.get(it)) for it in queue.governed])
    joined = OpenJoin(queue, test_start_ms, jtl.origin_ms, from_s, bins, held, ends)
    for batch in batches:
        joined.add(batch)
    return joined.outcome(batches.threads_outside(joined.arrivals.count))


class OpenJoin:
    """One schedule. Batches are added in order of their start; then it has the outcome. arrivals:
    all of the schedule's.

    queue: of an open model; batches have its governed labels by their numbers. test_start_ms:
    TESTSTART.MS. origin_ms: zero of the seconds in the response times. from_s: lateness is summed
    up over arrivals from here on. held: when somebody had a Critical Section for which arrivals
    wait, None for none. ends: how threads ended, by the words of JMeter's log, as far as that says
    it.
    """

    def __init__(
        self,
        queue: Queue,
        test_start_ms: float,
        origin_ms: int,
        from_s: float,
        bins: Bins,
        held: Held | None = None,
        ends: Mapping[str, int] | None = None,
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
        self._held, self._ended = held, None if ends is None else ends.get(LOOPED, 0)
        # Of a lateness the plan's part; all of the rest is the generator's.
        self._plan_ms = np.zeros(self.arrivals.count if held else 0)
        self._own = {it: _Gathered(bins) for it in self._response if held}
        self._displacement = Displacement()
        self._sent = self._measured = 0
        self._step: Step | None = None

    def add(self, batch: Batch) -> None:
        """Join the samples of the batch."""
        rows, numbers = first_of_arrivals(batch.number, self._is_seen)
        due_ms = self.arrivals.at(numbers) * 1000
        self._sent += int(np.count_nonzero(numbers < self._intended))
        plan_ms = self._measure(batch.start_ms[rows], due_ms)
        begin_ms = batch.start_ms.astype(np.float64)
        waited = np.zeros(len(begin_ms), np.int64)
        begin_ms[rows] = due_ms + self._start_ms
        waited[rows] = np.maximum(batch.start_ms[rows] - np.floor(begin_ms[rows]), 0)
        second = self._bins.begin(np.floor((begin_ms - self._origin_ms) / 1000).astype(np.int64))
        has_event = np.zeros(len(second), bool)
        has_event[rows] = True
        # The later samples of an arrival have no intended start: they count by their own.
        response_ms = batch.elapsed_ms + waited
        own_ms = batch.elapsed_ms.copy()
        own_ms[rows] += np.minimum(np.ceil(plan_ms).astype(np.int64), waited[rows])
        for number, label in enumerate(self._queue.governed):
            if label in self._response:
                here = batch.label == number
                self._response[label].add(self._counts(batch, here, second, response_ms))
                self._waited[label].add(self._counts(batch, here & has_event, second, waited))
                if label in self._own:
                    self._own[label].add(self._counts(batch, here, second, own_ms))

    def _counts(self, batch: Batch, here: np.ndarray, second: Ints, values: Ints) -> Counts:
        return Counts.of(second[here], values[here], batch.ok[here], width=self._bins.width_s)

    def _measure(self, start_ms: Ints, due_ms: Floats) -> Floats:
        """Take in how late requests were, and return the plan's part of it. due_ms: since the test
        began."""
        begun_ms: Floats = start_ms - np.float64(self._start_ms)
        lateness: Floats = begun_ms - due_ms
        plan_ms = np.zeros(len(due_ms))
        if self._held:
            plan_ms = np.minimum(self._held.within(due_ms, begun_ms), np.maximum(lateness, 0))
        intended_ms = due_ms + self._start_ms
        measured = intended_ms >= self._from_ms
        # As precise as a time of the epoch, like the other schedules' in lateness.py.
        measured_due_ms = intended_ms[measured] - self._start_ms
        generator_ms = (lateness - plan_ms)[measured]
        self._displacement.add(measured_due_ms, np.maximum(generator_ms, 0))
        end = self._measured + np.count_nonzero(measured)
        self._lateness_ms[self._measured : end] = lateness[measured]
        if self._held:
            self._plan_ms[self._measured : end] = plan_ms[measured]
        self._measured = int(end)
        self._step = largest([self._step, early_step(intended_ms, lateness)])
        return plan_ms

    def outcome(self, threads_outside: int) -> ScheduleOutcome:
        """How the schedule was kept. threads_outside: threads of its labels that no arrival has.

        Response times are by bin of the intended start, or of its own where a sample had none;
        lateness is of those that had one, in whole milliseconds rounded up.
        """
        due_ms = self.arrivals.at(self._missing) * 1000 + self._start_ms - self._origin_ms
        return ScheduleOutcome(
            response={label: it.counts for label, it in self._response.items()},
            lateness={label: it.counts for label, it in self._waited.items()},
            facts=self.facts(threads_outside),
            unanswered=unanswered_of(self._queue, due_ms, self._bins),
            without_generator_lateness={label: it.counts for label, it in self._own.items()},
            step=self._step,
        )

    @cached_property
    def _lost(self) -> int:
        """How many arrivals had to send something and did not, once all samples are in."""
        unsent = self._intended - self._sent
        if self._queue.schedule.least >= self._intended:
            return unsent
        if self._ended is not None:
            # Each of those that were due later and sent something may be one of these ends.
            later = int(np.count_nonzero(self._is_seen[self._intended :]))
            return min(unsent, max(0, self._intended - max(0, self._ended - later)))
        # Before one that was sent JMeter has begun them all. How many of those behind it send
        # nothing shows the share of those before it.
        is_seen = self._is_seen[: self._intended]
        behind = int(is_seen[::-1].argmax()) if self._sent else self._intended
        begun = self._intended - behind
        share = (unsent - behind) / begun if begun else 0.0
        return behind if behind and share**behind < _CHANCE else 0

    @property
    def _missing(self) -> Ints:
        """Their numbers. Where others were to send nothing, it is not known which: the last."""
        unsent = np.flatnonzero(~self._is_seen[: self._intended])
        return unsent[len(unsent) - self._lost :]

    def facts(self, threads_outside: int) -> ScheduleFacts:
        """Each arrival has a thread of its own, so nothing but the generator delays or drops it,
        and a Critical Section of the plan."""
        lateness_ms = self._lateness_ms[: self._measured]
        generator_ms, is_plans = lateness_ms, np.zeros(self._measured, bool)
        missing_plan = 0
        if self._held:
            plan_ms = self._plan_ms[: self._measured]
            generator_ms = lateness_ms - plan_ms
            is_plans = plan_ms > generator_ms
            due_ms, end_ms = self.arrivals.at(self._missing) * 1000, self._end_s * 1000
            missing_plan = int(np.count_nonzero(self._held.leaves_no_room(due_ms, end_ms)))
        is_late = lateness_ms > LATE_MS
        late_plan = int(np.count_nonzero(is_late & is_plans))
        far_late = int(np.count_nonzero(lateness_ms > FAR_LATE_MS))
        generator_far_late = int(np.count_nonzero(generator_ms > FAR_LATE_MS))
        p99 = percentile(generator_ms, 99)
        p50, whole_p99, longest = (percentile(lateness_ms, it) for it in (50, 99, 100))
        return ScheduleFacts(
            labels=self._queue.names,
            intended=self._sent + self._lost,
            sent=self._sent,
            missing_plan=missing_plan,
            missing_generator=self._lost - missing_plan,
            lateness_p50_ms=p50,
            lateness_p99_ms=whole_p99,
            lateness_max_ms=longest,
            generator_p99_ms=p99 if math.isnan(p99) else max(p99, 0.0),
            late_plan=late_plan,
            late_generator=int(np.count_nonzero(is_late)) - late_plan,
            extra=threads_outside,
            measured=self._measured,
            far_late=far_late,
            generator_far_late=generator_far_late,
            displaced=self._displacement.requests,
            unasked=self._intended - self._sent - self._lost,
            serial=self._queue.schedule.serial,
        )

    @property
    def _end_s(self) -> float:
        """When JMeter ends the threads of arrivals: with the schedule, or the load."""
        end_s = self._queue.schedule.end_s
        return self.arrivals.end_s if end_s is None else min(end_s, self.arrivals.end_s)


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
