"""Joins a schedule with what was sent: how late each sample was, and the time its caller waited."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tollgate.schedule.attribution import (
    CAUSES,
    FAR_LATE_MS,
    GENERATOR,
    LATE_MS,
    PLAN,
    SERVICE,
    attribute_lateness,
)
from tollgate.schedule.join import EARLY_TOLERANCE_MS, NO_EVENT, Rows, align
from tollgate.schedule.model import Schedule, ScheduleFacts
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.sections import Held
from tollgate.schedule.threads import LOOPED
from tollgate.stats.arrays import Floats, Ints

#: Four times as many as samples that can be joined; in memory some 30 bytes each.
MOST_EVENTS = 20_000_000
#: A day; later requests are in a different second from the scheduled one at any rate.
_LATEST_MS = 86_400_000


@dataclass(frozen=True)
class Joined:
    """The governed rows of one schedule, in the order in which they came in.

    event: index of each row's event, NO_EVENT for extra rows; such rows have NaN in the arrays of
    floats and their elapsed as response_ms.
    lateness_ms: actual minus intended start; wobble makes it slightly negative.
    service_ms + plan_ms + generator_ms = max(lateness_ms, 0).
    response_ms: from the intended start to the end of the answer. Whole milliseconds, rounded up;
    never below elapsed.
    intended: events that had to be sent. missing: indices of those that were not; missing_ms: when
    they were due (epoch ms); missing_cause: for each the index in CAUSES of who is to blame.
    extra: rows without an event that the schedule does not account for.
    """

    origin_ms: float
    event: Ints
    intended_ms: Floats
    lateness_ms: Floats
    service_ms: Floats
    plan_ms: Floats
    generator_ms: Floats
    response_ms: Ints
    intended: int
    missing: Ints
    missing_ms: Floats
    missing_cause: Ints
    extra: int


class Displacement:
    """How many requests the generator has moved to a different second from the scheduled one:
    half of the differences between the requests due and sent in each second, added up. What one
    second loses and gets back is not counted, for the service saw the same load."""

    def __init__(self) -> None:
        self._surplus = np.zeros(0, dtype=np.int64)

    def add(self, due_ms: Floats, late_ms: Floats) -> None:
        """Take in requests by when they were due, from any zero on, and how late they were."""
        if not len(due_ms):
            return
        # One that a clock made years late is in no second of the others.
        sent_ms = due_ms + np.minimum(late_ms, _LATEST_MS)
        due, sent = (np.floor(it / 1000).astype(np.int64) for it in (due_ms, sent_ms))
        surplus = np.bincount(sent) - np.bincount(due, minlength=int(sent.max()) + 1)
        if len(surplus) < len(self._surplus):
            surplus = np.append(surplus, np.zeros(len(self._surplus) - len(surplus), np.int64))
        surplus[: len(self._surplus)] += self._surplus
        self._surplus = surplus

    @property
    def requests(self) -> int:
        return int(np.abs(self._surplus).sum()) // 2


class TooManyEventsError(ValueError):
    """One line: more was due until the last sample than can be joined with the samples."""


def join(
    schedule: Schedule,
    rows: Rows,
    origin_ms: float,
    held: Held | None = None,
    ends: Mapping[str, int] | None = None,
) -> Joined:
    """Join a schedule with the rows of its thread group. held: as attribute_lateness has it. ends:
    how its threads ended, by the words of JMeter's log, None where that is not known.

    origin_ms: TESTSTART.MS, which is the zero of JMeter's timers to the millisecond. A run on
    several JMeter servers has an origin for each: join each server's rows by themselves. An open
    model is joined by open_join.py. Raises TooManyEventsError.
    """
    governed = rows.is_governed
    start, elapsed = rows.start_ms[governed], rows.elapsed_ms[governed]
    until_s = _horizon_s(schedule, start, origin_ms)
    if isinstance(schedule.replay, OpenModelArrivals):
        raise TypeError("an open model is joined by open_join.py")
    if (count := schedule.replay.drawn(until_s, schedule.limit)) > MOST_EVENTS:
        raise TooManyEventsError(
            f"{count:.3g} requests were due until the last sample, {until_s:.3g} s after the test "
            f"began, and no more than {MOST_EVENTS} can be joined with the samples: was the clock "
            "set? Run it again, or a shorter one"
        )
    events_s = schedule.arrivals(until_s)
    order = np.lexsort((elapsed, start))
    event = np.empty(len(start), dtype=np.int64)
    event[order] = align(events_s * 1000, (start[order] - origin_ms).astype(np.float64))
    intended = _required(schedule, events_s, event, ends or {})
    is_missing = np.ones(intended + 1, dtype=bool)
    is_missing[np.minimum(event, intended)] = False
    missing = np.flatnonzero(is_missing[:intended])
    parts, cause = attribute_lateness(
        schedule, rows, events_s * 1000, event, missing, origin_ms, held
    )
    due = np.append(events_s, np.nan)[event] * 1000
    waited = np.nan_to_num(np.maximum(start - np.floor(due + origin_ms), 0)).astype(np.int64)
    return Joined(
        origin_ms=origin_ms,
        event=event,
        intended_ms=due + origin_ms,
        lateness_ms=start - origin_ms - due,
        service_ms=parts[0],
        plan_ms=parts[1],
        generator_ms=parts[2],
        response_ms=elapsed + waited,
        intended=intended,
        missing=missing,
        missing_ms=events_s[missing] * 1000 + origin_ms,
        missing_cause=cause,
        extra=int(np.count_nonzero(event == NO_EVENT)),
    )


def _horizon_s(schedule: Schedule, start: Ints, origin_ms: float) -> float:
    """Return up to when events must be known: the end of the schedule or the last sample."""
    if schedule.end_s is None and schedule.limit is not None:
        return math.inf
    if not len(start):
        return schedule.end_s or 0.0
    seen = (float(start.max()) - origin_ms + EARLY_TOLERANCE_MS) / 1000
    return max(seen, schedule.end_s or 0.0)


def _required(schedule: Schedule, events_s: Floats, event: Ints, ends: Mapping[str, int]) -> int:
    """Return how many events had to be sent. ends: as join has it."""
    # Where nothing says when the group ends, what was sent last is taken for the end.
    sent = int(event.max(initial=NO_EVENT)) + 1
    most = sent
    if schedule.end_s is not None:
        most = int(np.searchsorted(events_s, schedule.end_s))
    elif schedule.limit is not None:
        most = len(events_s)
    if not ends and schedule.least and schedule.end_s is None:
        return int(min(most, max(schedule.least, sent)))  # what loops can ask for bounds it alone
    # What ended a thread otherwise, or left it no end, has kept it from taking the next.
    if set(ends) != {LOOPED} or ends[LOOPED] < (schedule.threads or 0):
        return most
    return int(min(most, max(schedule.least, sent)))


def summarise(
    joined: Joined, labels: tuple[str, ...] = (), from_ms: float = -math.inf
) -> ScheduleFacts:
    """Sum up. Requests are counted over the whole schedule, lateness over what was due from from_ms
    (epoch ms) on: each late sample once, for the cause with the largest part of its lateness."""
    picked = joined.intended_ms >= from_ms  # false for NaN, which has no event
    lateness, generator = joined.lateness_ms[picked], joined.generator_ms[picked]
    parts = np.stack([joined.service_ms, joined.plan_ms, joined.generator_ms])[:, picked]
    # Ties go to the later cause, the generator last: it is the one that makes a run invalid.
    worst = len(CAUSES) - 1 - np.argmax(parts[::-1, lateness > LATE_MS], axis=0)
    late = np.bincount(worst, minlength=len(CAUSES)).tolist()
    missing = np.bincount(joined.missing_cause, minlength=len(CAUSES)).tolist()
    displacement = Displacement()
    displacement.add(np.maximum(joined.intended_ms[picked] - joined.origin_ms, 0), generator)
    return ScheduleFacts(
        labels=labels,
        intended=joined.intended,
        sent=joined.intended - len(joined.missing),
        missing_service=missing[SERVICE],
        missing_plan=missing[PLAN],
        missing_generator=missing[GENERATOR],
        lateness_p50_ms=percentile(lateness, 50),
        lateness_p99_ms=percentile(lateness, 99),
        lateness_max_ms=percentile(lateness, 100),
        generator_p99_ms=percentile(generator, 99),
        late_service=late[SERVICE],
        late_plan=late[PLAN],
        late_generator=late[GENERATOR],
        extra=joined.extra,
        measured=len(lateness),
        far_late=int(np.count_nonzero(lateness > FAR_LATE_MS)),
        generator_far_late=int(np.count_nonzero(generator > FAR_LATE_MS)),
        displaced=displacement.requests,
    )


def percentile(values: Floats, percent: float) -> float:
    """The smallest value that at least `percent` % of them do not exceed, NaN without values.
    Changes their order."""
    if not len(values):
        return math.nan
    value = np.percentile(values, percent, method="inverted_cdf", overwrite_input=True)
    return float(value)
