"""What a run that measures shows of its samples by now. Pure, but for the pieces of the JTL that it
takes in.

Percentiles are exact: JMeter writes whole milliseconds, so counts by millisecond have all there is
to know, in memory that does not grow with the samples. The newest samples are kept one by one, for
the last seconds, and because what came behind the moment of a decision is not judged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tollgate.plan.model import Plan
from tollgate.samples.store import Store
from tollgate.schedule.growing_samples import GrowingSamples, Key, SampleSeries
from tollgate.stats.arrays import Floats, Ints
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
_ENDS = "SELECT min(test_start), min(start_ms), max(elapsed_ms) FROM samples"
_FAILURES = """SELECT label, code, failure, count(*) FROM samples
    WHERE NOT ok AND NOT is_transaction{until} GROUP BY ALL"""


class JudgedWindow(NamedTuple):
    """What is judged of samples. from_s, to_s: seconds since JMeter began in which they begin, or
    are due. seen_ms: up to when they have ended; origin_ms: when JMeter began (both epoch ms)."""

    from_s: float
    to_s: float = math.inf
    seen_ms: float = math.inf
    origin_ms: int = 0


class WindowTimes:
    """Times of samples within a window, in whole milliseconds."""

    def __init__(self, ok: bool = True) -> None:
        """ok: whether the samples were answered well."""
        self._ok, self._old = ok, Counts.of([], [])
        # Of the newest ones: when each began, when it ended, its time.
        self._parts: list[tuple[Ints | Floats, Ints, Ints]] = []

    def keep(self, begin_ms: Ints | Floats, end_ms: Ints, time_ms: Ints) -> None:
        self._parts.append((begin_ms, end_ms, time_ms))

    def settle(self, before_ms: float, window: JudgedWindow) -> None:
        """Keep of samples that ended before then their counts alone."""
        begin_ms, end_ms, time_ms = self._newest(window)
        is_old = end_ms < before_ms
        if is_old.any():
            self._old += self._counts(time_ms[is_old])
        self._parts = [(begin_ms[~is_old], end_ms[~is_old], time_ms[~is_old])]

    def all(self, window: JudgedWindow) -> Counts:
        """Those of the window, as if all had begun in second 0."""
        *_, time_ms = self._newest(window)
        return self._old + self._counts(time_ms)

    def last(self, window: JudgedWindow, after_ms: float) -> Counts:
        """Those of them that ended after then, at most KEPT_MS ago."""
        _, end_ms, time_ms = self._newest(window)
        return self._counts(time_ms[end_ms > after_ms])

    def _newest(self, window: JudgedWindow) -> tuple[Floats, Ints, Ints]:
        empty = [np.zeros(0, np.int64)] * 3
        begin_ms, end_ms, time_ms = map(np.concatenate, zip(empty, *self._parts, strict=True))
        begin_s = np.floor((begin_ms - window.origin_ms) / 1000)
        inside = (begin_s >= window.from_s) & (begin_s < window.to_s) & (end_ms <= window.seen_ms)
        return begin_ms[inside], end_ms[inside], time_ms[inside]

    def _counts(self, time_ms: Ints) -> Counts:
        return Counts.of(np.zeros(len(time_ms)), time_ms, np.full(len(time_ms), self._ok))


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


class LiveSamples(GrowingSamples[WindowTimes]):
    """The samples of one execution so far.

    failures: how many, by label, response code and message, those of the warm-up as well.
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
        self.window = JudgedWindow(warmup_s, warmup_s + measured_s if measured_s else math.inf)
        self.failures: Counter[tuple[str, str, str]] = Counter()
        self._longest_ms = round(1000 * lag_s)

    @property
    def measured_s(self) -> float:
        """How long it has measured by now."""
        if self.newest_ms is None:
            return 0.0
        seen_s = (min(self.newest_ms, self.window.seen_ms) - self.window.origin_ms) / 1000
        return max(0.0, min(seen_s, self.window.to_s) - self.window.from_s)

    def times(self, ok: bool) -> WindowTimes:
        return WindowTimes(ok)

    def take(self, new: Store) -> None:
        ((test_start, first_ms, longest_ms),) = new.rows(_ENDS)
        if self.newest_ms is None:
            # As the verdict does where JMeter did not say when it began.
            origin_ms = first_ms // 1000 * 1000 if test_start is None else test_start
            self.window = self.window._replace(origin_ms=origin_ms)
        super().take(new)
        seen_ms = self.window.seen_ms
        until = "" if math.isinf(seen_ms) else f" AND start_ms + elapsed_ms <= {seen_ms:.0f}"
        for label, code, message, n in new.rows(_FAILURES.format(until=until)):
            kind = (label, code, message or "")
            if kind not in self.failures and len(self.failures) >= MOST_FAILURES:
                kind = ("", "", OTHER_FAILURES)
            self.failures[kind] += n
        self._longest_ms = max(self._longest_ms, longest_ms)
        before_ms = (self.newest_ms or 0) - KEPT_MS - self._longest_ms
        for series in self.series:
            for each in (series.service, series.response, series.lateness):
                each.settle(before_ms, self.window)

    def decided(self, measured_s: float, lag_s: float) -> None:
        """A look at this second of measuring has ended it: no sample behind it is judged. lag_s:
        between its moment and the look."""
        to_s = min(self.window.to_s, self.window.from_s + measured_s)
        seen_ms = math.inf
        if self.newest_ms is not None:
            seen_s = self.window.from_s + measured_s + lag_s
            seen_ms = self.window.origin_ms + round(1000 * seen_s)
        self.window = self.window._replace(to_s=to_s, seen_ms=seen_ms)

    def by_now(self) -> dict[Key, LabelByNow]:
        """Each label, in the order of their first samples, without regard to what failed."""
        labels: dict[Key, list[SampleSeries[WindowTimes]]] = {}
        for series in self.series:
            labels.setdefault(series.key._replace(ok=True), []).append(series)
        return {key: self._by_now(both) for key, both in labels.items()}

    def _by_now(self, both: Sequence[SampleSeries[WindowTimes]]) -> LabelByNow:
        window, after_ms = self.window, (self.newest_ms or 0) - 1000 * LAST_S
        sent = Counts.merged(series.service.all(window) for series in both)
        sent_last = Counts.merged(series.service.last(window, after_ms) for series in both)
        times = Counts.merged(series.response.all(window) for series in both)
        times_last = Counts.merged(series.response.last(window, after_ms) for series in both)
        lateness = Counts.merged(series.lateness.all(window) for series in both)
        if times.total:
            return LabelByNow(sent, sent_last, times, times_last, lateness, responds=True)
        return LabelByNow(sent, sent_last, sent, sent_last, lateness, responds=False)
