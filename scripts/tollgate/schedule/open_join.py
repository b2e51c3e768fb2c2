"""An open model's arrivals joined with any number of samples, in memory that has a bound.

Arrival n belongs to the first sample of thread n (join.py), so it is enough to go through the
samples in order of their start and to remember which arrivals have had theirs: a bit for each. The
results are those of join.py and lateness.py on whole arrays, which the tests hold it to; only the
percentiles of lateness are rounded, see late_histogram.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from tollgate.samples import Batch, Step, early_step, largest
from tollgate.schedule.blame import FAR_LATE_MS, LATE_MS
from tollgate.schedule.join import Floats, Ints
from tollgate.schedule.lateness import Displacement
from tollgate.schedule.model import Schedule, ScheduleFacts
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.stats import Bins, Counts, LateHistogram

# Rows of counts that are put together in one go: sorting them by and by keeps memory bounded.
_GATHERED = 200_000


class OpenJoin:
    """One schedule. Batches are added in order of their start; then it tells what it saw.

    schedule: an open model's. labels: the numbers that its labels have in the batches. step: as in
    replay.Kept.
    test_start_ms: TESTSTART.MS. origin_ms: zero of the seconds in the response times. from_s:
    lateness is summed up over arrivals from here on.
    """

    def __init__(
        self,
        schedule: Schedule,
        labels: Sequence[int],
        test_start_ms: float,
        origin_ms: int,
        from_s: float,
        bins: Bins,
    ) -> None:
        self._arrivals, self._start_ms = schedule.replay, test_start_ms
        self._intended = self._arrivals.count_before(schedule.end_s)
        self._origin_ms, self._from_ms, self._bins = origin_ms, origin_ms + from_s * 1000, bins
        self._response = {label: _Gathered() for label in labels}
        self._waited = {label: _Gathered() for label in labels}
        self._seen = _Bits(self._arrivals.count)
        self._lateness = LateHistogram()
        self._displacement = Displacement()
        self._sent = self._late = self._far_late = self._measured = 0
        self.step: Step | None = None

    def add(self, batch: Batch) -> None:
        """Join the samples of the batch that have one of the labels."""
        mine = batch.of_labels(tuple(self._response))
        rows, due_ms = self._firsts(mine)
        begin_ms, waited = mine.start_ms.astype(np.float64), np.zeros(len(mine.start_ms), np.int64)
        begin_ms[rows] = due_ms + self._start_ms
        waited[rows] = np.maximum(mine.start_ms[rows] - np.floor(begin_ms[rows]), 0)
        second = self._bins.begin(np.floor((begin_ms - self._origin_ms) / 1000).astype(np.int64))
        has_event = np.zeros(len(second), bool)
        has_event[rows] = True
        # The later samples of an arrival have no intended start: they count by their own.
        for label, gathered in self._response.items():
            gathered.add(self._counts(mine, mine.label == label, second, mine.elapsed_ms + waited))
        for label, gathered in self._waited.items():
            here = has_event & (mine.label == label)
            gathered.add(self._counts(mine, here, second, waited))

    def _counts(self, mine: Batch, here: np.ndarray, second: Ints, values: Ints) -> Counts:
        return Counts.of(second[here], values[here], mine.ok[here], width=self._bins.width_s)

    def _firsts(self, mine: Batch) -> tuple[Ints, Floats]:
        """The rows that are the first of their arrival, and when it was due in ms; summed up."""
        arrival = mine.number - 1
        inside = np.flatnonzero((arrival >= 0) & (arrival < self._arrivals.count))
        arrival, first = np.unique(arrival[inside], return_index=True)
        unseen = ~self._seen.has(arrival)
        arrival, rows = arrival[unseen], inside[first[unseen]]
        self._seen.add(arrival)
        self._sent += int(np.count_nonzero(arrival < self._intended))
        start, due = mine.start_ms[rows], self._arrivals.at(arrival) * 1000
        lateness = start - self._start_ms - due
        measured = due + self._start_ms >= self._from_ms
        self._sum_up(lateness[measured], due[measured])
        self.step = largest([self.step, early_step(due + self._start_ms, lateness)])
        return rows, due

    def _sum_up(self, lateness_ms: Floats, due_ms: Floats) -> None:
        self._lateness.add(lateness_ms)
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
        p99 = self._lateness.percentile(99)
        return ScheduleFacts(
            labels=names,
            intended=self._intended,
            sent=self._sent,
            missing_generator=self._intended - self._sent,
            lateness_p50_ms=self._lateness.percentile(50),
            lateness_p99_ms=p99,
            lateness_max_ms=self._lateness.max_ms,
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
