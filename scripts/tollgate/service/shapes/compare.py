"""`compare`: base and head at the same time, each label at its part of arrivals that come evenly.

An arrival is one turn of a thread: a coin says which process of which side all its requests go to,
the place of the arrival in a sequence which label is asked, and cookies are those of the turn. So
no session crosses sides or processes, and the label of each arrival is known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from lxml import etree

from tollgate.base.settings import SettingError
from tollgate.compare import mix
from tollgate.compare.pace import PERIOD
from tollgate.plan.arrivals import EVEN_DELAY
from tollgate.service import xml
from tollgate.service.elements import Parts

_WARMUP = "${__P(warmup,15)}"
_LENGTH = f"${{__intSum({_WARMUP},${{__P(measured,60)}},1)}}"
_ARRIVAL = "arrival"
#: Of a label without pauses, and once more for each second that its arrivals pause.
_THREADS, _LONGEST_PAUSE_S = 60, 9.0
#: Of the sequence that the plan itself has; a run draws its own.
_SEED = 31
_COMMENT = (
    "Asks base and head at the same time. Arrivals are evenly spaced, period milliseconds apart; "
    "the coin says which process each asks, and the sequence mix which label, by its weight. The "
    "threads, and their connections, are used again: each takes the next arrival."
)
_COIN = (
    "0 is base, 1 is head; with several processes of each, even is base and odd is head. The "
    "properties host_0, port_0 and protocol_0 say where the first one is. Tossed anew for each "
    "arrival, and the same for all its samples; the same seed tosses the same."
)
_PAUSE = xml.props("intProp", ActionProcessor__action=1, ActionProcessor__target=0)
_COOKIES = "CookieManager.clearEachIteration"


def make(parts: Parts) -> etree._ElementTree:
    """The plan of `compare` for a service. Raises SettingError."""
    if len(parts.requests) > mix.MOST_PARTS:
        raise SettingError(
            f"scenarios.{parts.name} has {len(parts.requests)} labels, and {mix.MOST_PARTS} are "
            "the most that can be compared at once: give the others a weight of 0"
        )
    choices = [it for each in parts.requests for it in xml.controller(each.label, each.copies)]
    wait = xml.props(ActionProcessor__duration=0)
    below = [
        *_counter(),
        *xml.element("TestAction", "TestActionGui", "until it is due", _PAUSE + wait, _due()),
        *xml.switch("one of these", _part(), choices),
    ]
    kept = math.ceil(_THREADS * (1 + min(parts.pause_s, _LONGEST_PAUSE_S)))
    everywhere, threads = parts.everywhere, f"${{__P(threads,{kept})}}"
    group = list(xml.thread_group(parts.name, threads, _WARMUP, _LENGTH, below))
    _of_one_turn([*everywhere, *group])
    return xml.plan(parts.name, _COMMENT, [*_variables(parts), *_coin(), *everywhere, *group])


def _variables(parts: Parts) -> Iterator[etree._Element]:
    order = mix.sequence([it.weight for it in parts.requests], _SEED)
    period_ms = max(1, round(1000 / parts.rate))
    properties = {
        mix.PROPERTY: (order, f"the label of each arrival, {mix.DIGITS} digits each"),
        mix.SEED: (_SEED, "of which a run draws the one before"),
        PERIOD: (period_ms, "from one arrival to the next, in ms"),
    }
    rows = ""
    for name, (value, what) in properties.items():
        given = {"Argument__value": f"${{__P({name},{value})}}", "Argument__desc": what}
        inner = xml.props(Argument__name=name, **given, Argument__metadata="=")
        rows += f'<elementProp name="{name}" elementType="Argument">{inner}</elementProp>'
    inside = f'<collectionProp name="Arguments.arguments">{rows}</collectionProp>'
    return xml.element("Arguments", "ArgumentsPanel", "arrivals", inside)


def _coin() -> Iterator[etree._Element]:
    inside = xml.props(
        TestPlan__comments=_COIN,
        maximumValue="${__P(last_coin,1)}",
        minimumValue=0,
        outputFormat="",
        randomSeed="${__P(coin_seed,31)}",
        variableName="coin",
    ) + xml.props("boolProp", perThread="false")
    return xml.element("RandomVariableConfig", "TestBeanGUI", "coin", inside)


def _counter() -> Iterator[etree._Element]:
    """When the next arrival is due, in ms since the start of the test; one count of all threads."""
    inside = xml.props(
        CounterConfig__start=0,
        CounterConfig__end="",
        CounterConfig__incr=f"${{{PERIOD}}}",
        CounterConfig__name=_ARRIVAL,
        CounterConfig__format="",
    ) + xml.props("boolProp", **{"CounterConfig.per_user": "false"})
    return xml.element("CounterConfig", "CounterConfigGui", "arrivals", inside)


def _due() -> Iterator[etree._Element]:
    delay = xml.props(ConstantTimer__delay=EVEN_DELAY.format(_ARRIVAL))
    return xml.element("ConstantTimer", "ConstantTimerGui", "arrival", delay)


def _part() -> str:
    """The place of an arrival's label: the sequence begins anew where it ends."""
    number = f"vars.get('{_ARRIVAL}') / vars.get('{PERIOD}')"
    order = f"vars.get('{mix.PROPERTY}')"
    at = f"{mix.DIGITS} * ({number} % ({order}.length() / {mix.DIGITS}))"
    return f"${{__jexl3({order}.substring({at}\\, {at} + {mix.DIGITS}))}}"


def _of_one_turn(elements: Iterable[etree._Element]) -> None:
    """Have requests go where the coin says, and cookies end with the turn."""
    for each in (it for top in elements for it in top.iter()):
        if each.get("name") == _COOKIES:
            each.text = "true"
        for name in ("host", "port", "protocol"):
            if each.text and f"${{__P({name}," in each.text:
                each.text = each.text.replace(f"${{__P({name},", f"${{__P({name}_${{coin}},")
