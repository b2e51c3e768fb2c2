"""A forecast as the steps of a run, and how many requests each of them has. Pure.

Only time is ever compressed, never a rate: with scale 1440 an hour lasts 2.5 s, in which as many
requests a second are sent as in the real hour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

from tollgate.forecast.model import Forecast, ForecastStep, LoadStep

#: A shorter step is shorter than the lateness that a schedule is allowed.
SHORTEST_STEP_S = 0.1
#: JMeter numbers threads, of which each arrival is one, with 31 bits.
MOST_ARRIVALS = 2**31 - 1


class ShapeError(ValueError):
    """A load that can't be made of this forecast; one line with the setting and the next step."""


def load_steps(
    forecast: Forecast,
    factor: float = 1.0,
    length: float = 1.0,
    scale: float = 1.0,
    warmup_s: float = 0.0,
) -> tuple[LoadStep, ...]:
    """The steps of a run; the first begins at warmup_s, which is not compressed.

    factor: of the rates. length: in forecasts, rounded to whole steps. Below 1 it is that part of
    the day, in one piece, which asks for most requests (of equal ones the first; it does not run
    over the day's end, for the next morning is another day's); from 1 on the day is repeated and
    cut off where the length ends. Raises ShapeError.
    """
    for name, value, lowest in (("factor", factor, 0), ("length", length, 0), ("scale", scale, 1)):
        if not (math.isfinite(value) and value >= lowest and value > 0):
            least = "of at least 1" if lowest else "above 0"
            raise ShapeError(f"{name} = {value}: write a number {least}")
    if not (math.isfinite(warmup_s) and warmup_s >= 0):
        raise ShapeError(f"warmup = {warmup_s}: write seconds, 0 for none")
    step_s = forecast.step_s / scale
    if step_s < SHORTEST_STEP_S:
        most = forecast.step_s / SHORTEST_STEP_S
        raise ShapeError(f"scale = {scale:g} leaves {step_s:.3g} s a step: at most {most:g} works")
    chosen = _chosen(forecast.steps, length)
    borders = [round(warmup_s + number * step_s, 3) for number in range(len(chosen) + 1)]
    steps = tuple(
        LoadStep(each.name, from_s, to_s, each.tps * factor, each.shares)
        for each, (from_s, to_s) in zip(chosen, pairwise(borders), strict=True)
    )
    arrivals = sum(arrival_counts(steps)[1:])
    if arrivals == 0:
        raise ShapeError(f"scale = {scale:g} leaves no request to send: take a lower one")
    if arrivals > MOST_ARRIVALS:
        raise ShapeError(f"more than {MOST_ARRIVALS} requests: take a lower factor or length")
    return steps


def _chosen(day: tuple[ForecastStep, ...], length: float) -> Sequence[ForecastStep]:
    count = math.floor(length * len(day) + 0.5)
    if count == 0:
        least = 1 / len(day)
        raise ShapeError(f"length = {length:g} is less than a step: at least {least:.3g} works")
    if count >= len(day):
        return [day[number % len(day)] for number in range(count)]
    sums = [0.0, *accumulate(step.tps for step in day)]
    windows = [round(end - start, 9) for start, end in zip(sums, sums[count:], strict=False)]
    start = windows.index(max(windows))
    return day[start : start + count]


def arrival_counts(steps: Sequence[LoadStep]) -> tuple[int, ...]:
    """How many arrivals each step has; first the warm-up's, sent at the first step's rate.

    Of the 3.9 that a short step asks for JMeter would send 3, for it rounds down. So the forecast
    is added up over the steps and rounded at each border, and a step has the difference: no border
    is ever more than half a request away from the forecast.
    """
    first = steps[0]
    wanted = [first.tps * first.from_s, *(step.tps * (step.to_s - step.from_s) for step in steps)]
    measured = [math.floor(total + 0.5) for total in accumulate(wanted[1:], initial=0.0)]
    return math.floor(wanted[0] + 0.5), *(after - before for before, after in pairwise(measured))
