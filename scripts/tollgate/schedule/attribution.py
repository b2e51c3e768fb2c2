"""Whose fault it was that a sample was sent late, or not at all.

The measure is a generator that loses no time: it has as many threads, hands out the same events in
the same order and gets the same answers, but a thread that is done takes its next event at once.
That is a queue with N servers in order of arrival, and its starts follow from J. Kiefer and
J. Wolfowitz, "On the theory of queues with many servers" (1955): the k-th sample starts when its
event is due or when the first of the N threads is done, whichever is later.

- service: the part of a lateness that this generator would have had as well, because every thread
  that could have sent was waiting for an answer;
- plan: what pauses of the threads add to that, in other words too few threads for the think time,
  and waits for a Critical Section that others had;
- generator: the rest. A thread was free, or not yet started, and the request was still sent late.

The three add up to the lateness. What the file cannot show is a generator so starved that its own
`elapsed` grows: that looks like a slow service to any tool that reads JTLs only.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from tollgate.schedule.join import NO_EVENT, Rows
from tollgate.schedule.model import Schedule
from tollgate.schedule.sections import Held
from tollgate.stats.arrays import Floats, Ints

# Below this a sample counts as punctual. JMeter sleeps and stamps in whole milliseconds, and on an
# idle machine its samples lie between 2 ms before and 2 ms after their event.
LATE_MS = 5.0
# From here on a request belongs to another second of the load than the one it was meant for.
FAR_LATE_MS = 1000.0
CAUSES = ("service", "plan", "generator")
SERVICE, PLAN, GENERATOR = range(3)


def attribute_lateness(
    schedule: Schedule,
    rows: Rows,
    event_ms: Floats,
    event: Ints,
    missing: Ints,
    origin_ms: float,
    held: Held | None = None,
) -> tuple[Floats, Ints]:
    """Return the parts of each governed row's lateness (causes x rows, NaN where a row has no
    event), and for each missing event the index of its cause. held: when somebody had a Critical
    Section for which threads wait, None for none.

    A missing event is blamed on the service, or the plan, where the ideal generator would not have
    come to it before the end either; its answer is taken to be as slow as the median one. Events
    missed between others are the generator's.
    """
    hold, ready = _thread_time(rows)
    starts = rows.start_ms[rows.is_governed] - origin_ms
    sent = np.flatnonzero(event != NO_EVENT)
    sent = sent[np.argsort(event[sent])]
    tail = missing[missing > event.max(initial=NO_EVENT)]
    unanswered = len(tail) if len(sent) else 0
    due = event_ms[np.append(event[sent], tail[:unanswered])]
    actual = np.append(starts[sent], np.full(unanswered, np.inf))
    hold = np.append(hold[sent], np.full(unanswered, np.median(hold[sent]) if unanswered else 0))
    threads = max(np.unique(rows.thread).size, schedule.threads or 0, 1)
    ideal = _ideal_starts(due, hold, actual, ready, threads)
    thinking = ideal
    if schedule.think_ms:
        thinking = _ideal_starts(due, hold + schedule.think_ms, actual, ready, threads)
    ideal, thinking = np.minimum(ideal, actual), np.minimum(np.maximum(thinking, ideal), actual)
    if held:
        own = slice(len(sent))
        thinking[own] += held.within(thinking[own], actual[own])
    parts = np.full((len(CAUSES), len(event)), np.nan)
    bounds = np.stack([due, ideal, thinking, actual])[:, : len(sent)]
    parts[:, sent] = np.maximum(np.diff(np.maximum(bounds, bounds[0]), axis=0), 0)
    end = math.inf if schedule.end_s is None else schedule.end_s * 1000
    cause = np.full(len(missing), GENERATOR)
    if held and end < math.inf:
        cause[held.leaves_no_room(event_ms[missing], end)] = PLAN
    cause[len(missing) - unanswered :][thinking[len(sent) :] >= end] = PLAN
    cause[len(missing) - unanswered :][ideal[len(sent) :] >= end] = SERVICE
    return parts, cause


def _thread_time(rows: Rows) -> tuple[Floats, Floats]:
    """Return how long each governed row keeps its thread waiting for answers, its own and those of
    the ungoverned rows behind it, and the same for rows before a thread's first governed one."""
    governed, elapsed = rows.is_governed, rows.elapsed_ms.astype(np.float64)
    order = np.lexsort((~governed, rows.start_ms, rows.thread))
    leads = governed[order]
    opens = np.diff(rows.thread[order], prepend=rows.thread.min(initial=0) - 1) > 0
    turn = np.cumsum(leads | opens) - 1
    waits = np.bincount(turn, weights=elapsed[order])
    hold = np.zeros(len(order))
    hold[order[leads]] = waits[turn[leads]]
    return hold[governed], waits[turn[opens & ~leads]]


def _ideal_starts(due: Floats, hold: Floats, actual: Floats, ready: Floats, threads: int) -> Floats:
    """Return when a generator that loses no time would have started each sample.

    due, actual: in order of events. hold: how long each keeps its thread. ready: when threads with
    something to do before their first event are done with that. All in ms from the test start.

    Whenever all real threads were done the ideal ones were too, so the queue is only followed
    between such moments, and only where a sample between them was late.
    """
    starts = due.copy()
    late = actual - due > LATE_MS
    if not late.any():
        return starts
    done = np.maximum.accumulate(np.append(ready.max(initial=0.0), actual + hold))[:-1]
    first = np.flatnonzero(np.append(True, (done <= due)[1:]))
    busy = np.flatnonzero(np.add.reduceat(late, first))
    ends = np.append(first[1:], len(due))
    for low, high in zip(first[busy], ends[busy], strict=True):
        free = [-math.inf] * threads
        if low == 0:
            free = sorted([*ready.tolist(), *free[len(ready) :]])
        for sample in range(low, high):
            start = max(due[sample], free[0])
            starts[sample] = start
            heapq.heapreplace(free, start + hold[sample])
    return starts
