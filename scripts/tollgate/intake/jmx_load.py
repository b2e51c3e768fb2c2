"""How many threads each group of a plan of JMeter has, as far as its own words say."""

from __future__ import annotations

from collections.abc import Sequence

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import ThreadGroup
from tollgate.plan.timers import Fields

_BY_LEVEL = ("ConcurrencyThreadGroup", "ArrivalsThreadGroup")


def threads_of(group: ThreadGroup, element: Element, expander: Expander) -> tuple[int | None, str]:
    """(the most threads that a group has at once, why it has none or they are not known).

    Source: jmeter-plugins-casutg 2.10, UltimateThreadGroup.scheduleThread and others."""
    threads: float | None = group.threads
    if group.kind in _BY_LEVEL:
        threads = Fields(element, expander).number("TargetLevel")
    elif group.kind == "UltimateThreadGroup":
        threads = _peak(element.rows, expander)
    if 0 in (threads, group.loops):
        none = group.no_number.partition(", ")[0] or "it has 0 threads or loops"
        return 0, f"{none}, so it sends nothing"
    if group.is_pool:
        return None, "arrivals are no threads"
    return (int(threads), "") if threads else (None, "its threads are known to a run alone")


def _peak(rows: Sequence[Sequence[str]], expander: Expander) -> float | None:
    """Of rows of threads, delay, start-up, hold and shutdown."""
    try:
        known = [[float(expander.expand(it).value or "") for it in row] for row in rows]
        full = [(delay + start, delay + start + hold, n) for n, delay, start, hold, _ in known]
    except ValueError:
        return None
    sums = (sum(n for begin, end, n in full if begin <= at <= end) for at, *_ in full)
    return max(sums, default=None)
