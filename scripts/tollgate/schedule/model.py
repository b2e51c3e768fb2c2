"""A schedule, or the reason why there is none.

A schedule says when each request was *meant* to be sent. A label without one runs in a closed
loop: a slow answer puts off the next request, so the slow period is sampled less often than it
should be. Gil Tene, "How NOT to Measure Latency" (2013), calls that coordinated omission; his
wrk2 measures from the intended start instead, and so does Tollgate where there is a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tollgate.plan.model import PlanLabel
from tollgate.stats.counts import Counts

COORDINATED_OMISSION = (
    "percentiles are of service time only: in a closed loop a slow answer holds back the requests "
    "behind it, so waiting is left out (coordinated omission)"
)


class Replay(Protocol):
    """Anything that can tell its events, in seconds from the test start, sorted."""

    def arrivals(self, until_s: float, limit: int | None = None) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class Schedule:
    """What one thread group meant to send for `labels`, which share one queue of events.

    group: the thread group's name; JMeter's thread names begin with it.
    by_thread: an arrival is joined with a sample by the number of its thread (open model);
      otherwise the k-th event belongs to the k-th sample.
    threads: that can send, None where that is not known.
    end_s: events from here on need not be sent, None where the group ends by itself or not at all.
    limit: of all events, only so many are asked for; None where that is unknown.
    think_ms: the longest pause a thread makes in an iteration beside waiting for its event.
    timeout_ms: the longest response timeout of its requests, None where one of them has none.
    """

    group: str
    labels: tuple[PlanLabel, ...]
    replay: Replay
    by_thread: bool = False
    threads: int | None = None
    end_s: float | None = None
    limit: int | None = None
    think_ms: float = 0.0
    timeout_ms: float | None = None

    def matches(self, label: str) -> bool:
        return any(known.matches(label) for known in self.labels)

    def arrivals(self, until_s: float) -> NDArray[np.float64]:
        """Return the events before `until_s`, seconds from the test start, sorted."""
        return self.replay.arrivals(until_s, self.limit)


@dataclass(frozen=True)
class ClosedLoop:
    """A label that follows no schedule that could be replayed, and the reason."""

    reason: str
    coordinated_omission: bool = True

    @property
    def warning(self) -> str:
        """What must stand beside this label's percentiles; empty where nothing must."""
        return COORDINATED_OMISSION if self.coordinated_omission else ""


#: How slow an answer is taken to be that no timeout would have ended: some three years.
NEVER_MS = 10**11


#: What JMeter writes for an answer that did not come in time.
TIMED_OUT = "Non HTTP response code: java.net.SocketTimeoutException"


@dataclass(frozen=True)
class ScheduleFacts:
    """How one schedule was kept; times in ms. The labels share its events.

    missing_*: events that were not sent, by whose fault. generator_p99_ms: the 99th percentile of
    that part of the lateness which is the generator's alone. late_*: samples late by that cause.
    extra: samples that no event asked for. origin_is_estimated: the schedule's zero is unknown,
    so that what all samples are late by is not seen.

    Of the measured requests (see validity.py): measured, how many there are; far_late, how many
    were sent more than FAR_LATE_MS late, and generator_far_late, by the generator's part alone;
    displaced, how many that part has moved to another second.
    """

    labels: tuple[str, ...]
    intended: int
    sent: int
    missing_service: int = 0
    missing_plan: int = 0
    missing_generator: int = 0
    lateness_p50_ms: float = 0.0
    lateness_p99_ms: float = 0.0
    lateness_max_ms: float = 0.0
    generator_p99_ms: float = 0.0
    late_service: int = 0
    late_plan: int = 0
    late_generator: int = 0
    extra: int = 0
    origin_is_estimated: bool = False
    measured: int = 0
    far_late: int = 0
    generator_far_late: int = 0
    displaced: int = 0

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
