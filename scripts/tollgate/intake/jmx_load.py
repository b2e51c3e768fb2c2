"""How much each thread group of a plan of JMeter sends, as far as its own words say.

Source: JMeter's manual, Component Reference, "Thread Group"; jmeter-plugins-casutg 2.10,
UltimateThreadGroup.scheduleThread, AbstractDynamicThreadGroup, FreeFormArrivalsThreadGroup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from lxml import etree

from tollgate.base.text import format_number
from tollgate.plan import nodes
from tollgate.plan.expressions import Expander

#: How a group says how many threads it has at most.
_THREADS = {
    **dict.fromkeys(
        ("ThreadGroup", "SetupThreadGroup", "PostThreadGroup", "SteppingThreadGroup"),
        "ThreadGroup.num_threads",
    ),
    "ConcurrencyThreadGroup": "TargetLevel",
}
_LOOPS = "LoopController.loops"
_UNITS_S = {"S": 1, "M": 60}


@dataclass(frozen=True)
class GroupLoad:
    """threads: the most that it has at once; None where that is not known, or it says a rate.
    rate: turns a second, None where it says threads. why: it is not known, or nothing is sent."""

    threads: float | None = None
    rate: float | None = None
    why: str = ""

    @property
    def is_off(self) -> bool:
        return 0 in (self.threads, self.rate)


def load_of(group: etree._Element, expander: Expander) -> GroupLoad:
    """What a thread group says of its load."""
    kind = nodes.kind(group)
    if kind in _THREADS:
        found = _threads(group, _THREADS[kind], expander)
        loops = expander.expand(group.findtext(f".//*[@name='{_LOOPS}']") or "").value
        return GroupLoad(0, why="it loops 0 times") if (loops or "").strip() == "0" else found
    rows = [_numbers(row, expander) for row in group.iterfind("collectionProp/collectionProp")]
    if kind == "ArrivalsThreadGroup":
        text = group.findtext("*[@name='TargetLevel']") or ""
        rows = [[it, it, 1.0] for it in _numbers([text], expander)]
    if not rows or not all(map(math.isfinite, chain(*rows))):
        return GroupLoad(why=f"its {kind} does not say it in numbers")
    if kind == "UltimateThreadGroup" and {*map(len, rows)} == {5}:
        threads = _peak(rows)
        return GroupLoad(threads, why="" if threads else "it has 0 threads")
    if kind in ("ArrivalsThreadGroup", "FreeFormArrivalsThreadGroup") and {*map(len, rows)} == {3}:
        length = math.fsum(duration for *_, duration in rows)
        sent = math.fsum((begin + end) / 2 * duration for begin, end, duration in rows)
        unit_s = _UNITS_S.get(group.findtext("*[@name='Unit']") or "", 60)
        rate = sent / length / unit_s if length else 0.0
        return GroupLoad(rate=rate, why="" if rate else "no arrivals are due")
    return GroupLoad(why=f"its {kind} does not say it in numbers")


def weights(loads: Mapping[str, GroupLoad]) -> dict[str, tuple[float, str]]:
    """(weight, why it is not known) of each label: threads, or arrivals where all say a rate. What
    is not known is 1."""
    are_rates = all(it.rate is not None for it in loads.values())
    rates = [it.rate for it in loads.values() if it.rate]
    found: dict[str, tuple[float, str]] = {}
    for label, load in loads.items():
        amount, why = load.threads, load.why
        if are_rates:
            amount = load.rate / min(rates)
        elif load.rate is not None:
            why = f"its {format_number(load.rate)} arrivals a second are no threads"
        weight = 1.0 if amount is None else float(f"{amount:.4g}")
        found[label] = (int(weight) if weight.is_integer() else weight), why
    return found


def _threads(group: etree._Element, name: str, expander: Expander) -> GroupLoad:
    raw = (group.findtext(f"*[@name='{name}']") or "").strip()
    text = expander.expand(raw)
    if text.value is None and "${__" in text.shown:
        return GroupLoad(why=f"its number of threads is {raw}")
    shown = text.shown.strip()
    if not shown.isdecimal():
        none = f"its number of threads is {shown!r}, which JMeter takes for 0"
        return GroupLoad(0, why=none)
    return GroupLoad(int(shown), why="" if int(shown) else "it has 0 threads")


def _numbers(cells: Sequence[object], expander: Expander) -> list[float]:
    texts = [it if isinstance(it, str) else it.text or "" for it in cells]
    found = []
    for text in texts:
        try:
            number = float(expander.expand(text).value or "")
        except ValueError:
            number = math.nan
        found.append(number)
    return found


def _peak(rows: Sequence[Sequence[float]]) -> float:
    """Of rows of threads, delay, start-up, hold and shutdown."""
    full = [(delay + start, delay + start + hold, n) for n, delay, start, hold, _ in rows]
    return max(sum(n for begin, end, n in full if begin <= at <= end) for at, *_ in full)
