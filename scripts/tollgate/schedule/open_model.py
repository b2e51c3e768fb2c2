"""The arrivals of an Open Model Thread Group, replayed from its schedule and its seed.

Source: JMeter 5.6.3's own classes, driven for the golden files in tests/golden, and its
manual, Component Reference, "Open Model Thread Group". The manual calls even_arrivals not
implemented, but 5.6.3 does carry it out, and so does this room. Time zero is TESTSTART.MS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tollgate.plan.arrivals import JavaRandom, NotReplayableError
from tollgate.schedule.grammar import Arrivals, RateStep, parse_schedule

# Relative difference of two rates below which even_arrivals takes the rate as constant.
_EVEN_RATE_PRECISION = 0.0001


# Steps of a schedule whose arrivals are kept: samples come in about the order of their arrivals,
# and late ones of the step before still come in while the next one runs.
_STEPS_KEPT = 3


@dataclass(frozen=True)
class _Step:
    """Some of a schedule's arrivals, drawn when they are asked for. random: at its first draw."""

    first: int
    offset_s: float
    begin: float
    end: float
    duration_s: float
    even: bool
    random: JavaRandom

    @property
    def count(self) -> int:
        return count_of(Arrivals(self.duration_s, self.even), self.begin, self.end)

    def events_s(self) -> NDArray[np.float64]:
        """Return its arrivals, sorted, in seconds from the test start."""
        if self.even:
            events = _even_ramp(self.begin, self.end, self.duration_s)
        else:
            events = _random_ramp(self.begin, self.end, self.duration_s, self.random.fork())
        events += self.offset_s
        return events


class OpenModelArrivals:
    """The arrivals of one schedule in the order of their threads, a step of it at a time.

    Memory: 8 bytes an arrival of the steps that are in use, whatever the length of the schedule.
    """

    def __init__(self, schedule: str, seed: int) -> None:
        """Raises ScheduleError for text that JMeter refuses, NotReplayableError for seed 0."""
        steps = parse_schedule(schedule)
        if seed == 0 and any(not isinstance(step, RateStep) and not step.even for step in steps):
            raise NotReplayableError("the random seed is 0, so every run has a schedule of its own")
        self._steps = tuple(_laid_out(steps, JavaRandom(seed)))
        self._first = np.array([step.first for step in self._steps], dtype=np.int64)
        self.count = sum(step.count for step in self._steps)
        self._events_of = lru_cache(_STEPS_KEPT)(lambda number: self._steps[number].events_s())

    def by_step(self) -> Iterator[NDArray[np.float64]]:
        """Yield the arrivals of one step after the other, in seconds from the test start."""
        for step in self._steps:
            yield step.events_s()

    def arrivals(self, until_s: float, limit: int | None = None) -> NDArray[np.float64]:
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
            if step.offset_s + step.duration_s < end_s:
                count += step.count
            elif step.offset_s < end_s:
                count += int(np.searchsorted(step.events_s(), end_s))
        return count

    def at(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the arrivals with these numbers, each in [0, count), in seconds."""
        found = np.empty(len(numbers))
        step_of = np.searchsorted(self._first, numbers, side="right") - 1
        for step in np.flatnonzero(np.bincount(step_of)):
            here = step_of == step
            found[here] = self._events_of(int(step))[numbers[here] - self._first[step]]
        return found


def _laid_out(steps: tuple[RateStep | Arrivals, ...], random: JavaRandom) -> Iterator[_Step]:
    """Yield the steps that make arrivals, each with the place and the draws that it begins with."""
    offset = rate = 0.0
    first = 0
    for step, following in pairwise([*steps, None]):
        if isinstance(step, RateStep):
            rate = step.per_second
            continue
        end_rate = following.per_second if isinstance(following, RateStep) else rate
        here = _Step(first, offset, rate, end_rate, step.duration_s, step.even, random.fork())
        if not step.even:
            random.skip(here.count)
        yield here
        first += here.count
        offset += step.duration_s


def count_of(step: Arrivals, begin: float, end: float) -> int:
    """Return how many arrivals a step has whose rate goes from `begin` to `end` (1/s)."""
    if step.even:
        return int((begin + end) / 2 * step.duration_s)
    return max(_random_counts(begin, end, step.duration_s))


def _random_ramp(
    begin: float, end: float, duration_s: float, random: JavaRandom
) -> NDArray[np.float64]:
    """Return sorted moments whose density goes in a straight line from `begin` to `end`.

    JMeter splits the load into a flat part and a triangle, and draws the flat part first. The
    triangle's cumulative share grows with the square of time, hence the root of a uniform draw.
    """
    flat, total = _random_counts(begin, end, duration_s)
    moments = random.doubles(max(flat, total))
    slope = moments[flat:]
    np.sqrt(slope, out=slope)
    if begin > end:
        np.subtract(1, slope, out=slope)
    moments *= duration_s
    moments.sort()
    return moments


def _random_counts(begin: float, end: float, duration_s: float) -> tuple[int, int]:
    """Return how many of the arrivals are in the flat part, and how many there are in all."""
    flat = int(min(begin, end) * duration_s)
    return flat, flat if begin == end else int((begin + end) / 2 * duration_s)


def _even_ramp(begin: float, end: float, duration_s: float) -> NDArray[np.float64]:
    """Return the moments at which begin*t + (end-begin)/duration*t*t/2 is 0, 1, 2, ..."""
    mean = (begin + end) / 2
    numbers = np.arange(int(mean * duration_s), dtype=np.float64)
    if abs(end - begin) < _EVEN_RATE_PRECISION * mean or not len(numbers):
        return numbers / mean if mean else numbers
    growth = (end - begin) / duration_s
    moments = (np.sqrt(begin * begin + 2 * growth * numbers) - begin) / growth
    moments[0] = 0.0
    return moments
