"""A .jmx as XML, for what writes it anew: each element stands before a hashTree of what is below
it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from lxml import etree

from tollgate.plan.expressions import reads_property

#: What XStream writes in tags in the place of `$`, of `_` and of what no tag may hold.
_WRITTEN = re.compile(r"_(-|_|\.[0-9a-f]{4})")


def below_test_plan(document: etree._ElementTree) -> etree._Element:
    """What is below the Test Plan."""
    return document.find("hashTree/TestPlan").getnext()


def pairs(tree: etree._Element) -> list[tuple[etree._Element, etree._Element]]:
    """Each element right below with its hashTree, also what is off."""
    elements = [it for it in tree if isinstance(it.tag, str)]
    return [it for it in pairwise(elements) if it[0].tag != "hashTree" and it[1].tag == "hashTree"]


def active(tree: etree._Element) -> Iterator[tuple[etree._Element, etree._Element]]:
    """Each element at any depth that JMeter runs, with its hashTree."""
    for element, below in pairs(tree):
        if element.get("enabled") != "false":
            yield element, below
            yield from active(below)


def groups(tree: etree._Element) -> Iterator[tuple[etree._Element, etree._Element]]:
    return (it for it in pairs(tree) if is_group(it[0]) and it[0].get("enabled") != "false")


def class_name(tag: str) -> str:
    """The class that a tag stands for. Source: XStream 1.4, XmlFriendlyNameCoder."""

    def meant(written: re.Match[str]) -> str:
        return {"-": "$", "_": "_"}.get(written[1]) or chr(int(written[1][1:], 16))

    return _WRITTEN.sub(meant, tag)


def kind(element: etree._Element) -> str:
    """Its class, without the package."""
    return class_name(element.tag).rpartition(".")[2]


def text(element: etree._Element, name: str) -> str:
    """A simple property as it is written; JMeter saves some numbers as such, others as texts."""
    return (element.findtext(f"*[@name='{name}']") or "").strip()


def make_simple(element: etree._Element) -> None:
    """Have it be a Simple Controller of the same name."""
    element.tag = "GenericController"
    element.set("guiclass", "LogicControllerGui")
    element.set("testclass", element.tag)


def is_group(element: etree._Element) -> bool:
    return kind(element).endswith("ThreadGroup")


def sets_rate(element: etree._Element, name: str) -> bool:
    """Whether a property sets the rate of a timer or of a thread group's schedule; a number of
    threads is no rate."""
    is_rate = kind(element).endswith(("Timer", "ThreadGroup")) and kind(element) != "ThreadGroup"
    return is_rate and reads_property("\n".join(element.itertext()), name)
