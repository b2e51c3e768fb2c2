"""What a run that measures shows of its samples by now. Pure, but for the pieces of the JTL that it
takes in.

Percentiles are exact: JMeter writes whole milliseconds, so counts by millisecond have all there is
to know, in memory that does not grow with the samples. The newest samples are kept one by one, for
the last seconds, and because what came behind the moment of a decision is not judged.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tollgate.plan.model import Plan
from tollgate.samples.store import Store
from tollgate.schedule.growing_join import Arrived
from tollgate.schedule.growing_samples import GrowingSamples, Key
from tollgate.schedule.join import Ints
from tollgate.stats.counts import Counts

#: Seconds that are shown beside all of the measuring.
LAST_S = 10
#: For how long samples are kept one by one, and for as long again as an answer takes or is waited
#: for: between a look's moment and its end no more passes.
KEPT_MS = 60_000
#: Series of a page: labels, each with failed samples and sides. Kinds of failures, and how many of
#: them are shown.
MOST_SERIES, MOST_FAILURES = 400, 500
OTHER_FAILURES = "(other messages)"
_FAILURES = """SELECT label, code, failure, count(*) FROM samples
    WHERE NOT ok AND NOT is_transaction{until} GROUP BY ALL"""


class Window(NamedTuple):
    """What is judged of samples. from_s, to_s: seconds since JMeter began in which they begin, or
    are due. seen_ms: up to when they have ended (epoch ms)."""

    from_s: float
    to_s: float = math.inf
    seen_ms: float = math.inf


class Times:
    """Times of samples within a window, in whole milliseconds."""

    def __init__(self) -> None:
        self._old = Counts.of([], [])
        # Of the newest ones: the second in which each began, when it ended, its time, whether well.
        self._parts: list[tuple[Ints, Ints, Ints, np.ndarray]] = []

    def add(self, begin_s: Ints, end_ms: Ints, time_ms: Ints, ok: bool) -> None:
        """begin_s: whole seconds since JMeter began. end_ms: epoch ms."""
        self._parts.append((begin_s, end_ms, time_ms, np.full(len(time_ms), ok)))

    def settle(self, before_ms: float, window: Window) -> None:
        """Keep of samples that ended before then their counts alone."""
        parts = self._newest(window)
        is_old = parts[1] < before_ms
        if is_old.any():
            self._old += _counts(parts, is_old)
        self._parts = [tuple(it[~is_old] for it in parts)]

    def all(self, window: Window) -> Counts:
        """Those of the window, as if all had begun in second 0."""
        parts = self._newest(window)
        return self._old + _counts(parts, np.ones(len(parts[0]), bool))

    def last(self, after_ms: float, window: Window) -> Counts:
        """Those of them that ended after then, at most KEPT_MS ago."""
        parts = self._newest(window)
        return _counts(parts, parts[1] > after_ms)

    def _newest(self, window: Window) -> tuple[Ints, Ints, Ints, np.ndarray]:
        empty = (*(np.zeros(0, np.int64) for _ in range(3)), np.zeros(0, bool))
        parts = tuple(map(np.concatenate, zip(empty, *self._parts, strict=True)))
        begin_s, end_ms = parts[:2]
        inside = (begin_s >= window.from_s) & (begin_s < window.to_s) & (end_ms <= window.seen_ms)
        return tuple(it[inside] for it in parts)


def _counts(parts: tuple[Ints, Ints, Ints, np.ndarray], which: np.ndarray) -> Counts:
    *_, time_ms, ok = parts
    return Counts.of(np.zeros(np.count_nonzero(which)), time_ms[which], ok[which])


class LabelTimes:
    """Of a label. service: from when a request was sent. response: from when it was due; lateness:
    until it was sent; both only of labels with a schedule, so far as it is known."""

    def __init__(self) -> None:
        self.service, self.response, self.lateness = Times(), Times(), Times()


@dataclass(frozen=True)
class LabelByNow:
    """Of all of the measuring, and of its last LAST_S seconds. sent, sent_last: the samples. times,
    times_last: the times that the verdict judges: response times of those whose arrival is known by
    now if `responds`, or else service times. lateness: of the same."""

    sent: Counts
    sent_last: Counts
    times: Counts
    times_last: Counts
    lateness: Counts
    responds: bool


class LiveSamples(GrowingSamples):
    """The samples of one execution so far.

    by_label: of each label, without regard to whether they failed, in the order of their first
    samples. failures: how many, by label, response code and message, those of the warm-up as well.
    """

    most_series = MOST_SERIES

    def __init__(
        self,
        plan: Plan,
        warmup_s: float,
        measured_s: float = 0.0,
        follows: bool = True,
        lag_s: float = 0.0,
    ) -> None:
        """measured_s: seconds that are judged behind the warm-up, 0 where the load knows its own
        end. follows: see GrowingSamples. lag_s: from the moment of a look until it is made."""
        super().__init__(plan, follows)
        self.window = Window(warmup_s, warmup_s + measured_s if measured_s else math.inf)
        self.by_label: dict[Key, LabelTimes] = {}
        self.failures: Counter[tuple[str, str, str]] = Counter()
        self.first_ms: int | None = None
        self._longest_ms = round(1000 * lag_s)

    @property
    def measured_s(self) -> float:
        """How long it has measured by now."""
        if self.newest_ms is None:
            return 0.0
        seen_s = (min(self.newest_ms, self.window.seen_ms) - self.first_ms) / 1000
        return max(0.0, min(seen_s, self.window.to_s) - self.window.from_s)

    def take(self, new: Store) -> None:
        if self.first_ms is None:
            (at_ms,) = new.rows("SELECT min(test_start), min(start_ms) FROM samples")
            # As the verdict does where JMeter did not say when it began.
            self.first_ms = at_ms[1] // 1000 * 1000 if at_ms[0] is None else at_ms[0]
        super().take(new)
        seen_ms = self.window.seen_ms
        until = "" if math.isinf(seen_ms) else f" AND start_ms + elapsed_ms <= {seen_ms:.0f}"
        for label, code, message, n in new.rows(_FAILURES.format(until=until)):
            kind = (label, code, message or "")
            if kind not in self.failures and len(self.failures) >= MOST_FAILURES:
                kind = ("", "", OTHER_FAILURES)
            self.failures[kind] += n
        for times in self.by_label.values():
            for each in vars(times).values():
                each.settle(self.newest_ms - KEPT_MS - self._longest_ms, self.window)

    def counted(self, number: int, start_ms: Ints, elapsed_ms: Ints, _size: int) -> None:
        key = self.keys[number]
        times, ok = self._times(key), key.ok
        times.service.add(self._second(start_ms), start_ms + elapsed_ms, elapsed_ms, ok)
        self._longest_ms = max(self._longest_ms, int(elapsed_ms.max(initial=0)))

    def joined(self, number: int, known: Arrived, elapsed_ms: Ints) -> None:
        key = self.keys[number]
        times, ok, late_ms = self._times(key), key.ok, known.lateness_ms
        end_ms, has_due = known.start_ms + elapsed_ms, ~np.isnan(known.due_ms)
        begin_s = self._second(np.where(has_due, known.due_ms, known.start_ms))
        times.response.add(begin_s, end_ms, elapsed_ms + late_ms, ok)
        times.lateness.add(begin_s[has_due], end_ms[has_due], late_ms[has_due], ok)

    def decided(self, measured_s: float, lag_s: float) -> None:
        """A look at this second of measuring has ended it: no sample behind it is judged. lag_s:
        between its moment and the look."""
        seen_s = self.window.from_s + measured_s + lag_s
        to_s = min(self.window.to_s, self.window.from_s + measured_s)
        seen_ms = math.inf if self.first_ms is None else self.first_ms + round(1000 * seen_s)
        self.window = self.window._replace(to_s=to_s, seen_ms=seen_ms)

    def by_now(self) -> dict[Key, LabelByNow]:
        """Each label."""
        after_ms = (self.newest_ms or 0) - 1000 * LAST_S
        found = {}
        for key, times in self.by_label.items():
            sent, response = times.service.all(self.window), times.response.all(self.window)
            of = times.response if response.total else times.service
            found[key] = LabelByNow(
                sent,
                times.service.last(after_ms, self.window),
                response if response.total else sent,
                of.last(after_ms, self.window),
                times.lateness.all(self.window),
                bool(response.total),
            )
        return found

    def _times(self, key: Key) -> LabelTimes:
        return self.by_label.setdefault(key._replace(ok=True), LabelTimes())

    def _second(self, at_ms: np.ndarray) -> Ints:
        return np.floor((at_ms - self.first_ms) / 1000).astype(np.int64)
