"""A plan that several of JMeter's remote engines send a part of: each reads its own properties.

JMeter hands one plan and the same properties to all engines. So where the engines' values differ,
the plan that they get asks for the property of the engine's number instead: `${__P(rate,5)}`
becomes `${__P(engine-${__P(engine)}.rate,5)}`, and only an engine knows its `engine`.

JMeter starts one engine after the other, which takes each some seconds. So the plan has each wait
until a moment of its own clock, which it reads by such a property as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lxml import etree

from tollgate.plan.jmx import parsed, write

#: The property that says when an engine begins, in ms since the epoch.
START_AT = "start_at"
_VARIABLES, _ARGUMENTS = "TestPlan.user_defined_variables", "Arguments.arguments"
#: Variables of the test plan are computed before the listeners of the test's start run. After
#: the waiting it begins anew, for timers and open models count from there (TESTSTART.MS). A second
#: computation, and one where there is no such property, waits no more.
_CONTEXT = "org.apache.jmeter.threads.JMeterContextService"
_WAIT = (
    f'left = Long.parseLong("${{__P(engine-${{__P(engine,0)}}.{START_AT},0)}}")'
    " - System.currentTimeMillis(); "
    f"if (left > 0) {{ Thread.sleep(left); {_CONTEXT}.endTest(); {_CONTEXT}.startTest(); }}"
)


def own_name(name: str, number: int | str) -> str:
    """What a property of one engine is called."""
    return f"engine-{number}.{name}"


def for_engines(text: str, names: Iterable[str], files: Mapping[str, str]) -> str:
    """The text of a plan in which each engine reads its own value of these properties, and in place
    of a property that names a data file has the path given for it. Raises ValueError, with the
    name, for one that the text does not read."""
    for name, path in files.items():
        text = _replaced(rf"\$\{{__P\(\s*{re.escape(name)}\s*(,[^)]*)?\)\}}", path, name, text)
    for name in names:
        pattern = rf"(?<=__P\()\s*{re.escape(name)}\s*(?=[,)])"
        text = _replaced(pattern, own_name(name, "${__P(engine)}"), name, text)
    return text


def begin_together(plan: Path) -> None:
    """Write a plan anew that waits, on each engine, for the moment at which all begin."""
    document = parsed(plan)
    for test in document.getroot().iter("TestPlan"):
        variables = _below(test, "elementProp", _VARIABLES, elementType="Arguments")
        first = etree.Element("elementProp", name="engine.begins", elementType="Argument")
        for name, value in (("name", "engine.begins"), ("value", f"${{__BeanShell({_WAIT})}}")):
            etree.SubElement(first, "stringProp", name=f"Argument.{name}").text = value
        _below(variables, "collectionProp", _ARGUMENTS).insert(0, first)
    write(document, plan)


def _below(parent: etree._Element, tag: str, name: str, **others: str) -> etree._Element:
    found = parent.find(f"{tag}[@name='{name}']")
    return etree.SubElement(parent, tag, name=name, **others) if found is None else found


def _replaced(pattern: str, by: str, name: str, text: str) -> str:
    found, count = re.subn(pattern, lambda _: by, text)
    if not count:
        raise ValueError(name)
    return found
