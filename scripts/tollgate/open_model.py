"""The arrivals of an Open Model Thread Group, replayed from its schedule and its seed.

Source: JMeter 5.6.3's own classes, driven for the golden files in tests/tollgate/golden, and its
manual, Component Reference, "Open Model Thread Group". The manual calls even_arrivals not
implemented, but 5.6.3 does carry it out, and so does this room. Time zero is TESTSTART.MS.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tollgate.arrivals import NotReplayableError
from tollgate.java_random import JavaRandom
from tollgate.schedule_grammar import Rate, parse_schedule

# Relative difference of two rates below which even_arrivals takes the rate as constant.
_EVEN_RATE_PRECISION = 0.0001


def open_model_arrivals(schedule: str, seed: int) -> NDArray[np.float64]:
    """Return the arrivals in seconds from the test start, in the order of their threads.

    Raises ScheduleError for text that JMeter refuses, NotReplayableError for seed 0.
    """
    steps = parse_schedule(schedule)
    if seed == 0 and any(not isinstance(step, Rate) and not step.even for step in steps):
        raise NotReplayableError("the random seed is 0, so every run has a schedule of its own")
    random = JavaRandom(seed)
    parts: list[NDArray[np.float64]] = []
    offset = rate = 0.0
    for step, following in pairwise([*steps, None]):
        if isinstance(step, Rate):
            rate = step.per_second
            continue
        end_rate = following.per_second if isinstance(following, Rate) else rate
        if step.even:
            events = _even_ramp(rate, end_rate, step.duration_s)
        else:
            events = _random_ramp(rate, end_rate, step.duration_s, random)
        parts.append(offset + events)
        offset += step.duration_s
    return np.concatenate(parts) if parts else np.empty(0)


def schedule_duration_s(schedule: str) -> float:
    """Return the length of a schedule in seconds, pauses included."""
    return sum(step.duration_s for step in parse_schedule(schedule) if not isinstance(step, Rate))


def _random_ramp(
    begin: float, end: float, duration_s: float, random: JavaRandom
) -> NDArray[np.float64]:
    """Return sorted moments whose density goes in a straight line from `begin` to `end`.

    JMeter splits the load into a flat part and a triangle, and draws the flat part first. The
    triangle's cumulative share grows with the square of time, hence the root of a uniform draw.
    """
    total = int((begin + end) / 2 * duration_s)
    flat = int(min(begin, end) * duration_s)
    moments = random.doubles(flat) * duration_s
    if begin != end and total > flat:
        slope = np.sqrt(random.doubles(total - flat))
        slope = 1 - slope if begin > end else slope
        moments = np.concatenate([moments, slope * duration_s])
    return np.sort(moments)


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
