"""`stress`, `load` and `soak`: visitors come as a forecast says, each of whom asks one label."""

from __future__ import annotations

from itertools import accumulate

from lxml import etree

from tollgate.schedule.grammar import decimal
from tollgate.service import xml
from tollgate.service.elements import Parts

_COMMENT = (
    "Follows a forecast. Each arrival is a visitor of its own, who asks one label. In a run, "
    "Tollgate writes the schedule; without the property the default is a minute."
)
#: Visitor n asks the first label whose number exceeds the fractional part of n times the golden
#: ratio: see forecast/load.py, which writes the property `mix`. Of several engines the properties
#: engine and engines say which of all visitors are its own.
_CHOICE = (
    "${__jexl3(var n = ctx.threadNum * ${__P(engines,1)} + ${__P(engine,1)}; "
    "var u = (n * 0.6180339887498949) % 1; for (var step : '${__P(mix,@)}'.split(';')) { "
    "var words = step.split(' '); if (n <= words[0] * 1) { for (var word : words) { "
    "var share = word.split(':'); if (size(share) == 2 && u < share[1] * 1) { return share[0]; } "
    "} } })}"
)
#: A number of visitors that no run has.
_NEVER_REACHED = 10**9


def make(parts: Parts) -> etree._ElementTree:
    """The plan of a forecast for a service."""
    sums = accumulate(parts.weights.values())
    pairs = zip(parts.weights, [*list(sums)[:-1], 1.0], strict=True)
    mix = " ".join(f"{slug}:{decimal(share, 6)}" for slug, share in pairs)
    labels = [it for each in parts.requests for it in xml.controller(each.slug, each.copies)]
    choice = _CHOICE.replace("@", f"{_NEVER_REACHED} {mix}")
    minute = f"rate({parts.rate:.6g}/sec) random_arrivals(60 sec) pause(5 sec)"
    inside = (
        xml.props(
            OpenModelThreadGroup__schedule=f"${{__P(schedule,{minute})}}",
            OpenModelThreadGroup__random_seed="${__P(seed,21)}",
            ThreadGroup__on_sample_error="continue",
        )
        + '<elementProp name="ThreadGroup.main_controller" '
        'elementType="OpenModelThreadGroupController"/>'
    )
    group = xml.element(
        *("OpenModelThreadGroup", "OpenModelThreadGroupGui", "visitors", inside),
        xml.switch("one of the labels", choice, labels),
    )
    return xml.plan(parts.name, _COMMENT, [*parts.everywhere, *group])
