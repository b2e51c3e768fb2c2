"""Reads the timers of a plan. Source: JMeter's manual, Component Reference, "Timers"."""

from __future__ import annotations

import math

from tollgate.plan.arrivals import NotReplayableError, PreciseThroughput
from tollgate.plan.expressions import Expander
from tollgate.plan.fields import Fields
from tollgate.plan.jmx import Element
from tollgate.plan.model import PRECISE_THROUGHPUT, Timer


def read_timer(element: Element, expander: Expander) -> Timer:
    """Return the timer with its properties filled in; one that paces a loop pauses 0 ms."""
    name = expander.expand(element.name).shown
    if element.kind == PRECISE_THROUGHPUT:
        try:
            precise = _precise(element, expander)
        except NotReplayableError as error:
            return Timer(element.kind, name, 0.0, reason=str(error))
        return Timer(element.kind, name, 0.0, precise=precise)
    fields = Fields(element, expander)
    delay = fields.number("ConstantTimer.delay", absent=0.0)
    spread = fields.number("RandomTimer.range", absent=0.0)
    match element.kind:
        case "ConstantTimer" | "UniformRandomTimer":
            return Timer(element.kind, name, _add(delay, spread))
        case "GaussianRandomTimer":
            return Timer(element.kind, name, _add(delay, spread, spread, spread))
        case "PoissonRandomTimer":
            margin = None if spread is None else 3 * math.sqrt(max(spread, 0.0))
            return Timer(element.kind, name, _add(delay, spread, margin))
        case kind if "Throughput" in kind:
            return Timer(kind, name, 0.0)
        case kind:
            return Timer(kind, name, None)


def _precise(element: Element, expander: Expander) -> PreciseThroughput:
    fields = Fields(element, expander)
    throughput = fields.number("throughput")
    period = fields.whole("throughputPeriod")
    duration = fields.whole("duration")
    batch = fields.whole("batchSize")
    seed = fields.whole("randomSeed", absent=0)
    if throughput is None or period is None or duration is None or batch is None or seed is None:
        missing = ("settings", "not all of them are in the plan")
        name, reason = next(iter(fields.unresolved.items()), missing)
        raise NotReplayableError(f"the timer's {name} cannot be known: {reason}")
    if period < 1:
        raise NotReplayableError(f"the timer's throughput period is {period} s")
    return PreciseThroughput(seed, throughput / period, duration, batch)


def _add(*terms: float | None) -> float | None:
    return None if None in terms else sum(term for term in terms if term is not None)
