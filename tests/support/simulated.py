"""Runs as JMeter would have made them, for tests: exact, and without JMeter."""

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tollgate.plan.model import PlanLabel
from tollgate.schedule.grammar import RateStep, parse_schedule
from tollgate.schedule.join import Rows
from tollgate.schedule.model import Schedule
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.schedule.schedule import schedules_of

ORIGIN = 1_700_000_000_000


@dataclass(frozen=True)
class FixedArrivals:
    """A schedule of events that are all known."""

    events_s: np.ndarray

    def drawn(self, _, limit=None):
        return len(self.events_s[:limit])

    def arrivals(self, until_s, limit=None):
        return self.events_s[:limit][: np.searchsorted(self.events_s[:limit], until_s)]


def open_model_arrivals(schedule, seed):
    """All arrivals in seconds from the test start, in the order of their threads."""
    return OpenModelArrivals(schedule, seed).arrivals(math.inf)


def schedule_duration_s(schedule):
    """Its length in seconds, pauses included."""
    return sum(
        step.duration_s for step in parse_schedule(schedule) if not isinstance(step, RateStep)
    )


def expected_schedules(plan):
    """Each label's schedule, or why it has none."""
    return schedules_of(plan)[0]


def schedule_of(events_s, threads=4, end_s=None, think_ms=0.0):
    events = np.asarray(events_s, dtype=float)
    end = float(events.max(initial=0)) + 0.001 if end_s is None else end_s
    label = (PlanLabel("a"),)
    return Schedule("group", label, FixedArrivals(events), threads, end, None, think_ms)


def sent_by_jmeter(events_s, threads, answer_ms, loss_ms=0.0, think_ms=0.0, end_s=math.inf):
    """Rows as JMeter would write them: whole milliseconds, one thread's samples in turn. answer_ms:
    called with the time of sending. loss_ms: what the generator wastes before each."""
    free = [(0.0, number) for number in range(threads)]
    rows = []
    for event in np.asarray(events_s) * 1000:
        ready, number = free[0]
        start = math.floor(max(event, ready + loss_ms))
        if start >= end_s * 1000:
            break
        elapsed = math.floor(answer_ms(start))
        rows.append((ORIGIN + start, elapsed, number))
        heapq.heapreplace(free, (start + elapsed + think_ms, number))
    return rows_of(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def rows_of(start_ms, elapsed_ms, thread=0, is_governed=True):
    """Rows of one thread that the schedule governs, unless it says otherwise."""
    columns = (start_ms, elapsed_ms, thread, is_governed)
    return Rows(*(np.broadcast_to(np.asarray(it), len(start_ms)) for it in columns))


def pick(rows, index):
    return Rows(*(getattr(rows, name)[index] for name in Rows.__dataclass_fields__))


@st.composite
def runs(draw, with_think=True):
    """A run with random events, answers, threads and losses of time."""
    gaps = draw(st.lists(st.integers(0, 200), min_size=1, max_size=60))
    events = np.cumsum(gaps) / 1000
    answers = draw(st.lists(st.integers(0, 400), min_size=1, max_size=7))
    threads = draw(st.integers(1, 4))
    think = draw(st.sampled_from([0.0, 50.0])) if with_think else 0.0
    answer = itertools.cycle(answers)
    loss_ms = draw(st.integers(0, 60))
    end_s = draw(st.sampled_from([math.inf, float(events[-1])]))
    rows = sent_by_jmeter(events, threads, lambda _: next(answer), loss_ms, think, end_s)
    return schedule_of(events, threads, think_ms=think), rows
