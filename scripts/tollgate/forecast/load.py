"""A forecast as the load of a run: its steps, JMeter's schedule, and which target is asked. Pure.

Only time is ever compressed, never a rate: with scale 1440 an hour lasts 2.5 s, in which as many
requests a second are sent as in the real hour.

Visitor n asks the first target whose cumulative share exceeds the fractional part of n times the
golden ratio. Of any m visitors in a row, a target with share s then has m * s but for a few, far
fewer than by chance: the sequence's discrepancy grows with log m only. Source: L. Kuipers and
H. Niederreiter, Uniform Distribution of Sequences (1974), chapter 2, theorem 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from tollgate.base.text import UserError, duration_text
from tollgate.forecast.model import Forecast, ForecastStep, LoadStep
from tollgate.schedule.grammar import decimal, random_arrivals
from tollgate.schedule.share import Share

#: A shorter step is shorter than the lateness that a schedule is allowed.
SHORTEST_STEP_S = 0.1
#: JMeter numbers threads, of which each arrival is one, with 31 bits.
MOST_ARRIVALS = 2**31 - 1
_RATE_DIGITS = 12
# Of shares; a millionth of the load is less than a request of most runs.
_SHARE_DIGITS = 6


class ShapeError(UserError, ValueError):
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
    pairs = zip(chosen, pairwise(borders), strict=True)
    steps = tuple(
        LoadStep(step.name, from_s, to_s, step.tps * factor, step.shares)
        for step, (from_s, to_s) in pairs
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


def shared_forecast(steps: Sequence[LoadStep], share: Share) -> tuple[LoadStep, ...]:
    """The steps with the rates of one engine's share; arrivals are dealt out in turn."""
    first, *counts = arrival_counts(steps)
    parts = []
    for count in counts:
        parts.append(share.dealt(first, count))
        first += count
    pairs = zip(steps, parts, strict=True)
    return tuple(replace(it, tps=count / (it.to_s - it.from_s)) for it, count in pairs)


def schedule_text(steps: Sequence[LoadStep], drain_s: float) -> str:
    """The schedule of an Open Model Thread Group: warm-up, steps, and a pause of drain_s.

    At the end of its schedule JMeter interrupts the threads that still run: the pause lets answers
    and think times come to their end. Source: JMeter's manual, Component Reference, "Open Model
    Thread Group", and JMeter 5.6.3's own classes for the rounding (tests/golden).
    """
    first = steps[0]
    lengths = [first.from_s, *(step.to_s - step.from_s for step in steps)]
    parts = []
    for count, length_s in zip(arrival_counts(steps), lengths, strict=True):
        if length_s > 0:
            seconds = decimal(length_s, 3)
            rate = _rate(count, float(seconds))
            parts.append(random_arrivals(rate, rate, seconds))
    return f"{' '.join(parts)} pause({decimal(drain_s, 3)} sec)"


def _rate(count: int, seconds: float) -> str:
    """The shortest decimal of which JMeter makes that many arrivals."""
    for digits in range(_RATE_DIGITS + 1):
        power = 10**digits
        least = math.ceil(count / seconds * power)
        # The product of an exact quotient can lie a hair below the count: then a unit more.
        for text in (decimal(number / power, digits) for number in (least, least + 1)):
            # JMeter's own arithmetic: the mean of both ends' rates, times the length, cut off.
            if int((float(text) + float(text)) / 2 * seconds) == count:
                return text
    raise ShapeError(f"no rate gives {count} requests in {seconds:g} s: take a lower factor")


def mix_text(steps: Sequence[LoadStep]) -> str:
    """Which target each arrival asks, as the plan reads it: `25 calculate:0.32 sum:0.61 search:1`,
    the last visitor with these targets and their cumulated shares, entries parted by semicolons.

    Those of the warm-up are shared out like the first step's. Neighbouring steps with the same
    shares make one entry; steps without arrivals and targets without a share make none.
    """
    entries: list[tuple[int, str]] = []
    done = 0
    for last, step in zip(accumulate(arrival_counts(steps)), [steps[0], *steps], strict=True):
        if last == done:
            continue
        done, targets = last, _cumulated(step.shares)
        if entries and entries[-1][1] == targets:
            entries.pop()
        entries.append((last, targets))
    return ";".join(f"{last} {targets}" for last, targets in entries)


def _cumulated(shares: Mapping[str, float]) -> str:
    names = [name for name, share in shares.items() if share > 0]
    total = math.fsum(shares.values())
    sums = [*accumulate(shares[name] / total for name in names)]
    # A rounded sum may end just below 1, and then some visitor would ask nothing.
    sums[-1] = 1.0
    pairs = zip(names, sums, strict=True)
    return " ".join(f"{name}:{decimal(share, _SHARE_DIGITS)}" for name, share in pairs)


def announce(steps: Sequence[LoadStep], drain_s: float = 0.0, scale: float = 1.0) -> str:
    """How many steps and requests one execution has, and how long it is, in one line.

    drain_s: the pause at its end. What starting and stopping the targets takes is not in it.
    """
    rates = [step.tps for step in steps]
    compressed = f" in time compressed {scale:g} times" if scale > 1 else ""
    return (
        f"{len(steps)} steps from {steps[0].name} on{compressed}: "
        f"{sum(arrival_counts(steps)[1:]):,} requests at {min(rates):.3g} to {max(rates):.3g} a "
        f"second in {duration_text(steps[-1].to_s + drain_s)}"
    )
