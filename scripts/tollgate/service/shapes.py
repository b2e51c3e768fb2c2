"""Shapes of load: each makes a whole plan of a service's labelled elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import accumulate

from lxml import etree

from tollgate.base.settings import SettingError
from tollgate.capacity.arrivals import NOTHING
from tollgate.capacity.iterations import CONTROLLER, OURS, TRANSACTION, pair, wait_before
from tollgate.compare import mix
from tollgate.plan import nodes
from tollgate.plan.jmx import parsed
from tollgate.schedule.grammar import decimal
from tollgate.service import xml
from tollgate.service.elements import Parts, senders

#: Of `check`: seconds that each arrival may keep a thread without the next one waiting for it.
_PATIENCE_S = 2.0
_FEWEST_THREADS = 20
#: Of `compare`: threads of a label without pauses, and once more for each second that its arrivals
#: pause.
_THREADS, _LONGEST_PAUSE_S = 60, 9.0
#: Of the sequence that the plan of `compare` itself has; a run draws its own.
_SEED = 31
_END_OF_TURN = etree.XPath("//*[@name='CookieManager.clearEachIteration']")


def _check(parts: Parts) -> etree._ElementTree:
    """Ask each label at its part of a constant rate, with arrivals at random times."""
    rates, threads = {}, {}
    for request in parts.requests:
        rate = parts.rate * parts.weights[request.slug]
        needed = math.ceil(rate * (_PATIENCE_S + request.pause_s))
        rates[request.slug], threads[request.slug] = rate, max(_FEWEST_THREADS, needed)
    document = xml.plan("check", parts=parts, rates=rates, threads=threads)
    # Below its first sampler a timer holds an arrival back once, and not each of its requests.
    for _, below in nodes.groups(nodes.below_test_plan(document)):
        ((_, arrival),) = nodes.pairs(below)
        _, first = next(senders(arrival))
        first[:0] = arrival[:2]
    etree.indent(document)
    return document


def _forecast(parts: Parts) -> etree._ElementTree:
    """Have visitors come as a forecast says, each of whom asks one label."""
    sums = [*accumulate(parts.weights.values())]
    shares = zip(parts.weights, [*sums[:-1], 1.0], strict=True)
    choice = " ".join(f"{slug}:{decimal(share, 6)}" for slug, share in shares)
    return xml.plan("forecast", parts=parts, mix=choice)


def _compare(parts: Parts) -> etree._ElementTree:
    """Ask base and head at the same time, each label at its part of arrivals that come evenly.

    An arrival is one turn of a thread: a coin says which process of which side all its requests go
    to, the place of the arrival in a sequence which label is asked, and cookies are those of the
    turn. So no session crosses sides or processes, and the label of each arrival is known
    beforehand. Raises SettingError.
    """
    if len(parts.requests) > mix.MOST_PARTS:
        raise SettingError(
            f"scenarios.{parts.name} has {len(parts.requests)} labels, and {mix.MOST_PARTS} are "
            "the most that can be compared at once: give the others a weight of 0"
        )
    document = xml.plan(
        "compare",
        parts=parts,
        sequence=mix.sequence([it.weight for it in parts.requests], _SEED),
        seed=_SEED,
        period_ms=max(1, round(1000 / parts.rate)),
        threads=math.ceil(_THREADS * (1 + min(parts.pause_s, _LONGEST_PAUSE_S))),
    )
    xml.ask_numbered(document, "${coin}")
    for prop in _END_OF_TURN(document):
        prop.text = "true"
    return document


def _capacity(parts: Parts) -> etree._ElementTree:
    """Send what a file of arrivals says, when it says, at each rate that a search asks for. Where
    a label sends several requests, each arrival leaves a parent sample, also that of the server
    that does nothing."""
    document = parsed(OURS)
    head = document.find("hashTree/TestPlan")
    head.set("testname", parts.name)
    head[0].text = "Sends what the file of arrivals says, when it says."
    groups = nodes.below_test_plan(document)
    switch = next(under for it, under in nodes.active(groups) if it.tag == "SwitchController")
    labels = []
    for request in parts.requests:
        # Data below a label gives rows to its arrivals alone, none to turns that find no arrival.
        elements = xml.copies(request.elements)
        own = [*xml.copies(parts.data), *pair(CONTROLLER, "own", elements)]
        inside = _pass(pass_of(request.slug), own) if parts.has_passes else own
        labels += pair(CONTROLLER, request.slug, inside)
    if parts.has_passes:
        pairs = nodes.pairs(switch)
        nothing = next(below for choice, below in pairs if choice.get("testname") == NOTHING)
        requests = math.ceil(sum(parts.weights[it.slug] * len(it.samples) for it in parts.requests))
        nothing[:] = _pass(NOTHING, [it for _ in range(requests) for it in xml.copies(nothing)])
        wait_before(switch)
    switch[:0] = labels
    groups[:0] = xml.copies(parts.common)
    etree.indent(document)
    return document


def pass_of(slug: str) -> str:
    """What the parent sample of a label's arrival is called: a transaction in it may have the
    label's own name."""
    return f"one {slug}"


def _pass(name: str, below: Iterable[etree._Element]) -> list[etree._Element]:
    """An assertion right below a Transaction Controller would judge its row as well; one inside
    would leave a row of its own."""
    around = pair(CONTROLLER, "around it", below)
    for inner in list(around[1].iter("TransactionController")):
        inner.getparent().replace(inner, pair(CONTROLLER, inner.get("testname", ""), [])[0])
    return pair(TRANSACTION, name, around)


#: By the shape's name. Each takes the service's parts and makes the plan.
SHAPES: dict[str, Callable[[Parts], etree._ElementTree]] = {
    "check": _check,
    "forecast": _forecast,
    "capacity": _capacity,
    "compare": _compare,
}
