"""A timer as it will pace: what it makes a thread wait, or the schedule that it keeps.

Source: JMeter's manual, Component Reference, "Timers", "Counter".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from tollgate.plan.arrivals import EVEN_DELAY, EvenArrivals, NotReplayableError, PreciseThroughput
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import PRECISE_THROUGHPUT, Timer, total
from tollgate.plan.variables import COUNTER

#: A Constant Timer's delay that waits for what a Counter says.
_EVEN = re.compile(re.escape(EVEN_DELAY.format("@")).replace("@", r"([^${}()]+)"))
_DELAY = "ConstantTimer.delay"

_Number = TypeVar("_Number", int, float)


class Fields:
    """Reads properties of one element and remembers, by name, why some are not known."""

    def __init__(self, element: Element, expander: Expander) -> None:
        self._element = element
        self._expander = expander
        self.unresolved: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        """The property after expansion; None where it is absent or not known."""
        if name not in self._element.props:
            return None
        expanded = self._expander.expand(self._element.props[name])
        if expanded.reason:
            self.unresolved[name.rpartition(".")[2]] = expanded.reason
        return expanded.value

    def first_unknown(self, reason: str) -> tuple[str, str]:
        """(a property, why it is not known); without one all settings and this reason."""
        return next(iter(self.unresolved.items()), ("settings", reason))

    def number(self, name: str, absent: float | None = None) -> float | None:
        return self._converted(name, absent, float)

    def whole(self, name: str, absent: int | None = None) -> int | None:
        return self._converted(name, absent, int)

    def _converted(
        self, name: str, absent: _Number | None, convert: Callable[[str | float], _Number]
    ) -> _Number | None:
        text = self.text(name)
        if text is None:
            return None if name in self._element.props else absent
        try:
            return convert(text.strip() or absent or 0)
        except ValueError:
            self.unresolved[name.rpartition(".")[2]] = f"'{text}' is not a number"
            return None


def read_timer(
    element: Element, expander: Expander, counters: Mapping[str, Element | None]
) -> Timer:
    """Return the timer with its properties filled in; one that paces a loop pauses 0 ms.

    counters: those of its thread group, around it or beside it, by their variable; None where
    something else sets that as well.
    """
    name = expander.expand(element.name).shown
    counter = _EVEN.fullmatch(element.props.get(_DELAY, "").strip())
    pause_ms = 0.0 if "Throughput" in element.kind else None
    if element.kind == PRECISE_THROUGHPUT or (element.kind == "ConstantTimer" and counter):
        try:
            replay = (
                _even(counter[1], counters, expander) if counter else _precise(element, expander)
            )
        except NotReplayableError as error:
            return Timer(element.kind, name, pause_ms, reason=str(error))
        return Timer(element.kind, name, pause_ms, replay=replay)
    fields = Fields(element, expander)
    delay = fields.number(_DELAY, absent=0.0)
    spread = fields.number("RandomTimer.range", absent=0.0)
    match element.kind:
        case "ConstantTimer" | "UniformRandomTimer":
            pause_ms = total((delay, spread))
        case "GaussianRandomTimer":
            pause_ms = total((delay, spread, spread, spread))
        case "PoissonRandomTimer":
            margin = None if spread is None else 3 * math.sqrt(max(spread, 0.0))
            pause_ms = total((delay, spread, margin))
    return Timer(element.kind, name, pause_ms)


def _precise(element: Element, expander: Expander) -> PreciseThroughput:
    fields = Fields(element, expander)
    throughput = fields.number("throughput")
    period, duration = fields.whole("throughputPeriod"), fields.whole("duration")
    batch, seed = fields.whole("batchSize"), fields.whole("randomSeed", absent=0)
    if throughput is None or period is None or duration is None or batch is None or seed is None:
        name, reason = fields.first_unknown("not all of them are in the plan")
        raise NotReplayableError(f"the timer's {name} cannot be known: {reason}")
    if period < 1:
        raise NotReplayableError(f"the timer's throughput period is {period} s")
    return PreciseThroughput(seed, throughput / period, duration, batch)


def _even(
    variable: str, counters: Mapping[str, Element | None], expander: Expander
) -> EvenArrivals:
    if variable not in counters:
        raise NotReplayableError(f"no Counter around or beside it counts ${{{variable}}}")
    element = counters[variable]
    if element is None:
        raise NotReplayableError(f"more than one element sets ${{{variable}}}")
    if element.props.get(f"{COUNTER}.per_user") == "true":
        raise NotReplayableError(f"each thread has its own count of ${{{variable}}}")
    fields = Fields(element, expander)
    first, period, last = (fields.whole(f"{COUNTER}.{it}") for it in ("start", "incr", "end"))
    shape = element.props.get(f"{COUNTER}.format", "")
    is_unlike = "end" in fields.unresolved or last or shape
    if first is None or period is None or is_unlike:
        name, reason = fields.first_unknown("start, incr and no more")
        raise NotReplayableError(f"the {name} of its {element.title} cannot be known: {reason}")
    return EvenArrivals(first, period)
