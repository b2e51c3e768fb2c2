"""A schedule, or the reason why there is none.

A schedule says when each request was *meant* to be sent. A label without one runs in a closed
loop: a slow answer puts off the next request, so the slow period is sampled less often than it
should be. Gil Tene, "How NOT to Measure Latency" (2013), calls that coordinated omission; his
wrk2 measures from the intended start instead, and so does Tollgate where there is a schedule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tollgate.base.fields import Count, written
from tollgate.plan.arrivals import EvenArrivals, PreciseThroughput
from tollgate.plan.model import PlanLabel
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.stats.arrays import Floats
from tollgate.stats.counts import Counts


@dataclass(frozen=True)
class Schedule:
    """What one thread group meant to send for `labels`, which share one queue of events.

    group: the thread group's name; JMeter's thread names begin with it.
    threads: that can send, None where that is not known.
    end_s: events from here on need not be sent, None where the group ends by itself or not at all.
    limit: of all events, only so many are asked for; None where that is unknown.
    think_ms: the longest pause a thread makes in an iteration beside waiting for its event.
    timeout_ms: the longest response timeout of its requests, None where one of them has none.
    least: of all events, so many are asked for whatever happens in the plan; inf for all.
    others: labels of the group that it is not about, where a script may give its own any other
    label; None where none does. sections: the labels in Critical Sections, where threads of the
    group wait for one; serial: the names of those that they wait for. doubt: why rows of a timer's
    events may be missing, or have other labels; empty for no reason.
    """

    group: str
    labels: tuple[PlanLabel, ...]
    replay: PreciseThroughput | EvenArrivals | OpenModelArrivals
    threads: int | None = None
    end_s: float | None = None
    limit: int | None = None
    think_ms: float = 0.0
    timeout_ms: float | None = None
    least: float = math.inf
    others: tuple[PlanLabel, ...] | None = None
    sections: tuple[PlanLabel, ...] = ()
    serial: tuple[str, ...] = ()
    doubt: str = ""

    def matches(self, label: str) -> bool:
        if self.others is not None and not any(it.matches(label) for it in self.others):
            return True
        return any(own.matches(label) for own in self.labels)

    @property
    def by_thread(self) -> bool:
        """Whether an arrival is joined with a sample by the number of its thread (open model);
        otherwise the k-th event belongs to the k-th sample."""
        return isinstance(self.replay, OpenModelArrivals)

    def arrivals(self, until_s: float) -> Floats:
        """Return the events before `until_s`, seconds from the test start, sorted."""
        return self.replay.arrivals(until_s, self.limit)


#: How slow an answer is taken to be that no timeout would have ended: some three years.
NEVER_MS = 10**11
#: What JMeter writes for an answer that did not come in time.
TIMED_OUT = "Non HTTP response code: java.net.SocketTimeoutException"


@written
class ScheduleFacts:
    """What one schedule meant to be sent beside what was sent. Requests are counted over the whole
    execution, lateness over the measured part of it."""

    labels: tuple[str, ...]
    """The labels that share this schedule."""
    intended: Count
    """Requests that had to be sent."""
    sent: Count
    """Of those, requests that were sent."""
    missing_service: Count = 0
    """Requests not sent while all threads waited for answers."""
    missing_plan: Count = 0
    """Requests not sent while threads kept to pauses of the plan's own, or waited for a Critical
    Section that others had."""
    missing_generator: Count = 0
    """Requests not sent although a thread was free."""
    lateness_p50_ms: float | None = 0.0
    """Median of actual minus intended start, in ms; slightly negative by JMeter's clock."""
    lateness_p99_ms: float | None = 0.0
    """99th percentile of the same, in ms."""
    lateness_max_ms: float | None = 0.0
    """The greatest lateness, in ms."""
    generator_p99_ms: float | None = 0.0
    """99th percentile of the part of the lateness that is the generator's alone, in ms."""
    late_service: Count = 0
    """Requests late mostly because all threads waited for answers."""
    late_plan: Count = 0
    """Requests late mostly because of the plan's own pauses, or of its Critical Sections."""
    late_generator: Count = 0
    """Requests late mostly although a thread was free."""
    extra: Count = 0
    """Requests that no event of the schedule asked for."""
    measured: Count = 0
    """Requests of the measured part that an event asked for."""
    far_late: Count = 0
    """Of those, requests sent more than a second late."""
    generator_far_late: Count = 0
    """Of those, requests sent more than a second late by the generator alone."""
    displaced: Count = 0
    """Requests that the generator moved to another second than they were due in, as far as other
    requests did not take their places."""
    unasked: Count = 0
    """Arrivals for which the plan, by its own choice, sent none of the labels."""
    serial: tuple[str, ...] = ()
    """Critical Sections of the plan for which its threads wait."""

    @property
    def missing(self) -> int:
        return self.missing_service + self.missing_plan + self.missing_generator


@dataclass(frozen=True)
class Unanswered:
    """The requests of one schedule that were due and not sent; the label of each is unknown.
    counts: by bin of the moment at which each was due, failed and as slow as the response timeout,
    or NEVER_MS where there is none. waited_for: those of a closed loop instead that had no answer
    at a look, or waited behind one."""

    labels: tuple[str, ...]
    counts: Counts
    waited_for: bool = False
