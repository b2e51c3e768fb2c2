"""The arrivals of an Open Model Thread Group, replayed from its schedule and its seed.

Source: JMeter 5.6.3's own classes, driven for the golden files in tests/golden, and its
manual, Component Reference, "Open Model Thread Group". The manual calls even_arrivals not
implemented, but 5.6.3 does carry it out, and so does this room. Time zero is TESTSTART.MS.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tollgate.plan.arrivals import JavaRandom, NotReplayableError
from tollgate.plan.model import Plan
from tollgate.schedule.grammar import RateStep, ScheduleError, parse_schedule
from tollgate.stats.arrays import Flags, Floats, Ints

# Relative difference of two rates below which even_arrivals takes the rate as constant.
_EVEN_RATE_PRECISION = 0.0001


# Steps of a schedule whose arrivals are kept: samples come in about the order of their arrivals,
# and late ones of the step before still come in while the next one runs.
_STEPS_KEPT = 3


@dataclass(frozen=True)
class Ramp:
    """A part of a schedule: arrivals whose rate goes in a straight line from `begin` to `end`, in
    1/s, evenly spaced or at random moments."""

    begin: float
    end: float
    duration_s: float
    even: bool

    @property
    def count(self) -> int:
        """How many arrivals JMeter makes of it."""
        return int((self.begin + self.end) / 2 * self.duration_s)


def ramps_of(schedule: str) -> Iterator[Ramp]:
    """The parts of a schedule's text that make arrivals. Raises ScheduleError."""
    rate = 0.0
    steps = list(parse_schedule(schedule))
    for step, following in zip(steps, [*steps[1:], None], strict=False):
        if isinstance(step, RateStep):
            rate = step.per_second
        else:
            end = following.per_second if isinstance(following, RateStep) else rate
            yield Ramp(rate, end, step.duration_s, step.even)


def without_duration(plan: Plan) -> Iterator[str]:
    """One line for each Open Model Thread Group whose schedule sends nothing, as `rate(5/s)`. What
    JMeter refuses by itself is left to it."""
    for group in plan.groups:
        if not group.is_open_model or group.schedule is None or not group.samplers:
            continue
        with suppress(ScheduleError):
            if not any(ramp.duration_s for ramp in ramps_of(group.schedule)):
                yield (
                    f"the schedule {group.schedule!r} of the thread group {group.name!r} has no "
                    "duration, so that it sends nothing: add one, such as random_arrivals(1 min)"
                )


@dataclass(frozen=True)
class _Step:
    """A ramp's arrivals, drawn when they are asked for. first: the number of its first arrival.
    random: at its first draw."""

    ramp: Ramp
    first: int
    offset_s: float
    random: JavaRandom

    @property
    def end_s(self) -> float:
        return self.offset_s + self.ramp.duration_s

    def events_s(self) -> Floats:
        """Return its arrivals, sorted, in seconds from the test start."""
        even = self.ramp.even
        events = _even_ramp(self.ramp) if even else _random_ramp(self.ramp, self.random.fork())
        events += self.offset_s
        return events


class OpenModelArrivals:
    """The arrivals of one schedule in the order of their threads, a step of it at a time.

    Memory: 8 bytes an arrival of the steps that are in use, whatever the length of the schedule.
    """

    def __init__(self, schedule: str, seed: int) -> None:
        """Raises ScheduleError for text that JMeter refuses, NotReplayableError for seed 0."""
        ramps = list(ramps_of(schedule))
        if seed == 0 and not all(ramp.even for ramp in ramps):
            raise NotReplayableError("the random seed is 0, so every run has a schedule of its own")
        self._steps = tuple(_laid_out(ramps, JavaRandom(seed)))
        self._first = np.array([step.first for step in self._steps], dtype=np.int64)
        self.count = sum(ramp.count for ramp in ramps)
        self._events_of = lru_cache(_STEPS_KEPT)(lambda number: self._steps[number].events_s())

    @property
    def end_s(self) -> float:
        """When the schedule is over, its pauses too."""
        return self._steps[-1].end_s if self._steps else 0.0

    def by_step(self) -> Iterator[Floats]:
        """Yield the arrivals of one step after the other, in seconds from the test start."""
        for step in self._steps:
            yield step.events_s()

    def arrivals(self, until_s: float, limit: int | None = None) -> Floats:
        """Return all arrivals before `until_s` (seconds), at most the first `limit` of them."""
        parts = list(self.by_step())
        events = np.concatenate(parts)[:limit] if parts else np.empty(0)
        return events if until_s == math.inf else events[: np.searchsorted(events, until_s)]

    def count_before(self, end_s: float | None) -> int:
        """Return how many arrivals are due before `end_s` (seconds), None for all of them."""
        if end_s is None:
            return self.count
        count = 0
        for step in self._steps:
            if step.end_s < end_s:
                count += step.ramp.count
            elif step.offset_s < end_s:
                count += int(np.searchsorted(step.events_s(), end_s))
        return count

    def at(self, numbers: Ints) -> Floats:
        """Return the arrivals with these numbers, each in [0, count), in seconds."""
        moments = np.empty(len(numbers))
        step_of = np.searchsorted(self._first, numbers, side="right") - 1
        for step in np.flatnonzero(np.bincount(step_of)):
            here = step_of == step
            moments[here] = self._events_of(int(step))[numbers[here] - self._first[step]]
        return moments


def first_of_arrivals(threads: Ints, is_seen: Flags) -> tuple[Ints, Ints]:
    """The rows that are the first ones of their arrivals, and the numbers of these, from 0: thread
    n, from 1, sends arrival n - 1. Any other row of an arrival, here or later, follows that first
    one. threads: of rows in the order of their starts. is_seen: of all arrivals, and takes these
    in."""
    numbers = threads - 1
    inside = np.flatnonzero((numbers >= 0) & (numbers < len(is_seen)))
    arrivals, first = np.unique(numbers[inside], return_index=True)
    is_new = ~is_seen[arrivals]
    is_seen[arrivals] = True
    return inside[first[is_new]], arrivals[is_new]


def _laid_out(ramps: Iterable[Ramp], random: JavaRandom) -> Iterator[_Step]:
    """Yield the ramps, each with the place and the draws that it begins with."""
    offset_s, first = 0.0, 0
    for ramp in ramps:
        yield _Step(ramp, first, offset_s, random.fork())
        if not ramp.even:
            random.skip(ramp.count)
        first += ramp.count
        offset_s += ramp.duration_s


def _random_ramp(ramp: Ramp, random: JavaRandom) -> Floats:
    """Return sorted moments whose density goes in a straight line.

    JMeter splits the load into a flat part and a triangle, and draws the flat part first. The
    triangle's cumulative share grows with the square of time, hence the root of a uniform draw.
    """
    moments = random.doubles(ramp.count)
    slope = moments[int(min(ramp.begin, ramp.end) * ramp.duration_s) :]
    np.sqrt(slope, out=slope)
    if ramp.begin > ramp.end:
        np.subtract(1, slope, out=slope)
    moments *= ramp.duration_s
    moments.sort()
    return moments


def _even_ramp(ramp: Ramp) -> Floats:
    """Return the moments at which begin*t + (end-begin)/duration*t*t/2 is 0, 1, 2, ..."""
    begin, end = ramp.begin, ramp.end
    mean = (begin + end) / 2
    numbers = np.arange(ramp.count, dtype=np.float64)
    if abs(end - begin) < _EVEN_RATE_PRECISION * mean or not len(numbers):
        return numbers / mean if mean else numbers
    growth = (end - begin) / ramp.duration_s
    moments = (np.sqrt(begin * begin + 2 * growth * numbers) - begin) / growth
    moments[0] = 0.0
    return moments
