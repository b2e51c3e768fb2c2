"""The samples of an execution so far, with when they were due, for whoever shows or exports them
while it measures.

A sample counts as it comes. Of one whose label has a schedule response time and lateness are there
once its arrival is known.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from tollgate.plan.model import Plan
from tollgate.samples.slowest import side_sql
from tollgate.samples.store import Store
from tollgate.schedule.growing_join import NOBODY, Arrived, GrowingJoin, Joined, gathered
from tollgate.schedule.queues import Queue, queues_of
from tollgate.schedule.schedule import schedules_of
from tollgate.stats.arrays import Floats, Ints

#: Labels that a plan makes at run time, such as `item ${row}`, have no end: those behind so many
#: series are counted together, under this label.
MOST_SERIES, OTHERS = 2000, "(other labels)"
#: Of a label that follows none.
NO_SCHEDULE = -1
#: An elapsed is below 10^9 ms: with the number of its series it fits into one number.
_ELAPSED_BITS = 30
_SERIES = """SELECT label, is_transaction, ok, {side} AS side,
    NOT ok AND start_ms + elapsed_ms >= {ended_ms} AS is_cut, thread_group, list(start_ms),
    list(elapsed_ms), list(number), sum(bytes)::BIGINT,
    max([elapsed_ms, start_ms, test_start, trace]) FILTER (trace IS NOT NULL)
    FROM samples GROUP BY ALL"""


#: By Key.side.
SIDES = ("base", "head")


class Key(NamedTuple):
    """Of a series. side: 0 for base, 1 for head, -1 where nothing is compared. is_cut: whether it
    failed once the load had been ended, which may be why."""

    label: str
    is_transaction: bool
    ok: bool
    side: int = -1
    is_cut: bool = False


class Times(Protocol):
    """Times of samples so far, in the form in which somebody needs them."""

    def keep(self, begin_ms: Ints | Floats, end_ms: Ints, time_ms: Ints) -> None:
        """Take in samples by when they began, or were due, and when they ended (epoch ms)."""


Kept = TypeVar("Kept", bound=Times)


@dataclass
class SampleSeries(Generic[Kept]):
    """Samples that are alike in all that a Key has."""

    key: Key
    service: Kept
    """From when each was sent until its answer."""
    response: Kept
    """From when it was due until its answer; as lateness of labels with a schedule alone."""
    lateness: Kept
    """From when it was due until it was sent."""
    bytes: int = 0
    slowest: tuple[int, ...] = ()
    """Of those with a trace, since whoever shows it took it away: how long it took, when it and the
    test began (epoch ms), and what was drawn for its trace."""


class GrowingSamples(ABC, Generic[Kept]):
    """The samples of one execution so far.

    rows: of the JTL. series: in the order of their numbers. joins: its schedules, none where the
    samples do not show when JMeter began. start_ms: when it did. newest_ms: when the last answer
    came (both epoch ms), None before the first. due_ms: until when what was due is counted, inf
    for all of the schedules.
    """

    most_series = MOST_SERIES

    def __init__(self, plan: Plan, follows: bool = True) -> None:
        """follows: whether the samples are of one JMeter, for which the plan's schedules are."""
        self.rows = 0
        self.newest_ms: int | None = None
        self.due_ms = -math.inf
        self.joins: list[GrowingJoin] = []
        self.series: list[SampleSeries[Kept]] = []
        self.start_ms: int | None = None
        self._plan, self._follows = plan, follows
        self._numbers: dict[Key, int] = {}
        self._senders: defaultdict[str, set[str]] = defaultdict(set)
        self._places: dict[tuple[str, str], int] = {}

    @abstractmethod
    def times(self, ok: bool) -> Kept:
        """Times of no sample yet. ok: whether those to come were answered well."""

    def load_ended_ms(self) -> float:
        """When the load was ended before its time (epoch ms), inf while it was not."""
        return math.inf

    def by_schedule(self) -> Iterator[tuple[str, int, int]]:
        """(labels, arrivals that were due by now, those of them with a sample) of each schedule."""
        for join in self.joins:
            labels = ", ".join(each.text for each in join.schedule.labels)
            yield labels, join.due(self.due_ms), join.sent

    def take(self, new: Store) -> None:
        """Count the samples of a piece of the JTL, each of which comes once."""
        ((newest_ms, *starts),) = new.rows(
            "SELECT max(start_ms + elapsed_ms), min(test_start), max(test_start) FROM samples"
        )
        self._begin(*starts)
        self.newest_ms = self.due_ms = max(newest_ms, self.newest_ms or newest_ms)
        ended_ms = f"'{self.load_ended_ms()}'::DOUBLE"
        rows = new.rows(_SERIES.format(side=side_sql(new.layout), ended_ms=ended_ms))
        self._find_places(
            {(label, sender) for label, is_sum, _, _, _, sender, *_ in rows if not is_sum}
        )
        arrived: list[list[Arrived]] = [[] for _ in self.joins]
        for *key, thread_group, start_ms, elapsed_ms, thread, size, slowest in rows:
            number = self._number(Key(*key))
            start_ms, elapsed_ms = np.array(start_ms, np.int64), np.array(elapsed_ms, np.int64)
            self.rows += len(elapsed_ms)
            series = self.series[number]
            series.bytes += size
            if slowest:
                series.slowest = max(series.slowest, tuple(slowest))
            series.service.keep(start_ms, start_ms + elapsed_ms, elapsed_ms)
            place = self._places.get((key[0], thread_group), NO_SCHEDULE)
            if place != NO_SCHEDULE and not series.key.is_transaction:
                own = (number << _ELAPSED_BITS) + elapsed_ms
                arrived[place].append(Arrived(start_ms, np.array(thread), own))
        for join, parts in zip(self.joins, arrived, strict=True):
            self._note(join.add(gathered(parts), self.newest_ms))

    def end(self, ran_out: bool) -> None:
        """Nothing more is written: what waited for samples before it waits no more. ran_out:
        whether the load was not ended before its time."""
        if ran_out:
            self.due_ms = math.inf
        for join in self.joins:
            self._note(join.add(NOBODY, math.inf))

    def _begin(self, first_ms: int | None, last_ms: int | None) -> None:
        """Know when JMeter began; of several JMeters nobody knows which sample was due when."""
        if self.start_ms is None:
            self.start_ms = first_ms
            if self._follows and first_ms is not None:
                schedules = schedules_of(self._plan)[1]
                self.joins = [GrowingJoin(schedule, first_ms) for _, schedule in schedules]
        if not self.start_ms == first_ms == last_ms:
            self.joins, self._follows, self._places = [], False, {}

    def _find_places(self, pairs: Collection[tuple[str, str]]) -> None:
        """Learn which of the joins each label is about, by the threads that sent it."""
        new = {pair for pair in pairs if pair not in self._places}
        if not new or not self.joins or len(self._places) >= MOST_SERIES:
            return
        for label, thread_group in new:
            self._senders[label].add(thread_group)
        labels = sorted({label for label, _ in new})
        queues, _ = queues_of(self._plan, labels, self._senders)
        for label in labels:
            for sender in self._senders[label]:
                mine = (place for place, it in enumerate(queues) if _governs(it, label, sender))
                self._places[label, sender] = next(mine, NO_SCHEDULE)

    def _number(self, key: Key) -> int:
        # Failures of a label stay its own, however many labels there are.
        is_known = key in self._numbers or key._replace(ok=not key.ok) in self._numbers
        if not is_known and len(self.series) >= self.most_series:
            key = key._replace(label=OTHERS)
        if key not in self._numbers:
            self._numbers[key] = len(self.series)
            service, response, lateness = (self.times(key.ok) for _ in range(3))
            self.series.append(SampleSeries(key, service, response, lateness))
        return self._numbers[key]

    def _note(self, joined: Joined) -> None:
        """Take in samples whose arrival is known."""
        number, elapsed_ms = joined.key >> _ELAPSED_BITS, joined.key & ((1 << _ELAPSED_BITS) - 1)
        end_ms, late_ms = joined.start_ms + elapsed_ms, joined.lateness_ms
        was_due = ~np.isnan(joined.due_ms)
        begin_ms = np.where(was_due, joined.due_ms, joined.start_ms)
        for each in np.unique(number):
            own, series = number == each, self.series[each]
            series.response.keep(begin_ms[own], end_ms[own], (elapsed_ms + late_ms)[own])
            own &= was_due
            series.lateness.keep(begin_ms[own], end_ms[own], late_ms[own])


def _governs(queue: Queue, label: str, sender: str) -> bool:
    is_own = sender in queue.threads.get(label, (sender,))
    return is_own and label in queue.governed and label not in queue.mixed
