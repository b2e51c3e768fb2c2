"""`capacity`: what a file of arrivals says, when it says, at each rate that a search asks for."""

from __future__ import annotations

import math

from lxml import etree

from tollgate.capacity.arrivals import NOTHING
from tollgate.capacity.iterations import OURS, wait_before
from tollgate.plan import nodes
from tollgate.plan.jmx import parsed
from tollgate.service import xml
from tollgate.service.elements import Parts, copies

_PARENT = xml.props(
    "boolProp", TransactionController__parent="true", TransactionController__includeTimers="false"
)


def make(parts: Parts) -> etree._ElementTree:
    """The plan of a search for capacity of a service. Where a label sends several requests, each
    arrival leaves a parent sample, also that of the server that does nothing."""
    groups = nodes.below_test_plan(parsed(OURS))
    switch = next(under for it, under in nodes.active(groups) if it.tag == "SwitchController")
    labels = []
    for each in parts.requests:
        # Data below a label gives rows to its arrivals alone, none to turns that find no arrival.
        own = [*copies(parts.data), *xml.controller("own", each.copies)]
        inside = _pass(pass_of(each.slug), own) if parts.has_passes else own
        labels += xml.controller(each.slug, inside)
    if parts.has_passes:
        each, nothing = next(it for it in nodes.pairs(switch) if it[0].get("testname") == NOTHING)
        requests = math.ceil(sum(parts.weights[it.slug] * len(it.samples) for it in parts.requests))
        wrapped = _pass(NOTHING, [it for _ in range(requests) for it in copies(nothing)])
        nothing[:] = wrapped
        wait_before(switch)
    switch[:0] = labels
    comment = "Sends what the file of arrivals says, when it says."
    return xml.plan(parts.name, comment, [*copies(parts.common), *groups])


def pass_of(slug: str) -> str:
    """What the parent sample of a label's arrival is called: a transaction in it may have the
    label's own name."""
    return f"one {slug}"


def _pass(name: str, below: list[etree._Element]) -> list[etree._Element]:
    """An assertion right below a Transaction Controller would judge its row as well; one inside
    would leave a row of its own."""
    around = list(xml.controller("around it", below))
    for inner in [it for each in around for it in each.iter("TransactionController")]:
        inner.getparent().replace(inner, next(xml.controller(inner.get("testname", ""), [])))
    return [
        *xml.element("TransactionController", "TransactionControllerGui", name, _PARENT, around)
    ]
