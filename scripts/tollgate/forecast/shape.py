"""A forecast as a load. Pure.

load_steps(forecast, factor, length, scale, warmup_s) -> steps of a run, or ShapeError
arrival_counts(steps) -> how many requests each step has, the warm-up first
schedule_text(steps, drain_s) -> what JMeter's Open Model Thread Group is told
mix_text(steps) -> which target each arrival asks, as the plan reads it
announce(steps, drain_s, scale), duration_text(seconds) -> the same for people
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tollgate.forecast.load import ShapeError, arrival_counts, load_steps
from tollgate.forecast.mix import mix_text
from tollgate.forecast.model import LoadStep
from tollgate.forecast.words import announce, duration_text

__all__ = [
    "ShapeError",
    "announce",
    "arrival_counts",
    "duration_text",
    "load_steps",
    "mix_text",
    "schedule_text",
]

_RATE_DIGITS = 12


def schedule_text(steps: Sequence[LoadStep], drain_s: float) -> str:
    """The schedule of an Open Model Thread Group: warm-up, steps, and a pause of drain_s.

    A rate behind random_arrivals is one that JMeter ramps to, hence each rate is written twice. At
    the end of its schedule JMeter interrupts the threads that still run: the pause lets answers
    and think times come to their end. Source: JMeter's manual, Component Reference, "Open Model
    Thread Group", and JMeter 5.6.3's own classes for the rounding (tests/golden).
    """
    first = steps[0]
    lengths = [first.from_s, *(step.to_s - step.from_s for step in steps)]
    parts = []
    for count, length_s in zip(arrival_counts(steps), lengths, strict=True):
        if length_s > 0:
            seconds = _decimal(length_s, 3)
            rate = f"rate({_rate(count, float(seconds))}/sec)"
            parts.append(f"{rate} random_arrivals({seconds} sec) {rate}")
    return f"{' '.join(parts)} pause({_decimal(drain_s, 3)} sec)"


def _rate(count: int, seconds: float) -> str:
    """The shortest decimal of which JMeter makes that many arrivals."""
    for digits in range(_RATE_DIGITS + 1):
        power = 10**digits
        least = math.ceil(count / seconds * power)
        # The product of an exact quotient can lie a hair below the count: then a unit more.
        for text in (_decimal(number / power, digits) for number in (least, least + 1)):
            # JMeter's own arithmetic: the mean of both ends' rates, times the length, cut off.
            if int((float(text) + float(text)) / 2 * seconds) == count:
                return text
    raise ShapeError(f"no rate gives {count} requests in {seconds:g} s: take a lower factor")


def _decimal(value: float, digits: int) -> str:
    """Plain digits, since JMeter's parser knows no exponents."""
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
