"""Plans made of the templates in plans/, which the JMeter GUI opens; what it would save of one
lacks Jinja's lines."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from xml.sax.saxutils import escape

from jinja2 import StrictUndefined, Template
from lxml import etree
from markupsafe import Markup

_TEMPLATES = Path(__file__).with_name("plans")
#: What an attribute could not hold otherwise, beside &, < and >.
_IN_ATTRIBUTES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
#: Properties that say where a service answers.
_PLACES = ("host", "port", "protocol")


def plan(template: str, **values: object) -> etree._ElementTree:
    """Make a whole plan of a template, by its name. A value that is a tuple holds elements of
    JMeter, each before its hashTree, of which the plan gets copies."""
    inserted: list[tuple[etree._Element, ...]] = []

    def as_xml(value: object) -> Markup:
        if isinstance(value, tuple):
            inserted.append(value)
            return Markup("<inserted/>")
        return Markup(escape(str(value), _IN_ATTRIBUTES))  # noqa: S704

    text = (_TEMPLATES / f"{template}.jmx.jinja").read_text(encoding="utf-8")
    filled = Template(text, autoescape=True, finalize=as_xml, undefined=StrictUndefined)
    parser = etree.XMLParser(remove_blank_text=True, huge_tree=True)
    root = etree.fromstring(filled.render(values).encode(), parser)
    for place, elements in zip(list(root.iter("inserted")), inserted, strict=True):
        around = place.getparent()
        at = around.index(place)
        around[at : at + 1] = copies(elements)
    etree.indent(root)
    return etree.ElementTree(root)


def copies(elements: Iterable[etree._Element]) -> list[etree._Element]:
    """An element stands in one place alone."""
    return [deepcopy(element) for element in elements]


def fragment(label: str, elements: Iterable[etree._Element]) -> str:
    """Write the text of a file that has a Test Fragment."""
    document = plan("fragment", label=label, elements=tuple(elements))
    return str(etree.tostring(document, encoding="UTF-8", xml_declaration=True), "utf-8")


def spread(document: etree._ElementTree, processes: int) -> None:
    """Have each thread ask one of several alike processes, which the properties host_0, port_0 and
    protocol_0 onwards say."""
    ask_numbered(document, f"${{__jexl3(ctx.threadNum % {processes})}}")


def ask_numbered(document: etree._ElementTree, number: str) -> None:
    """Have requests go to the process of a number, an expression of JMeter."""
    for element in document.iter():
        for name in _PLACES:
            if element.text and f"${{__P({name}," in element.text:
                element.text = element.text.replace(f"${{__P({name},", f"${{__P({name}_{number},")
