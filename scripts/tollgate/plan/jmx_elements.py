"""The elements of a .jmx file as they stand in it: tops(path) -> those at its top, with all below.

Nothing is interpreted here but the form of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lxml import etree

_SIMPLE = ("stringProp", "intProp", "longProp", "floatProp", "doubleProp", "boolProp")


class PlanError(ValueError):
    """The plan cannot be read; one line that names the file and what to do."""


@dataclass(frozen=True)
class Element:
    """One element: `kind` is its tag without a package, `props` its simple properties as text.

    user_parameters: the names that User Parameters set. included: whether it stands in a file that
    the plan includes. problem: why an Include Controller below something disabled has no children.
    """

    kind: str
    name: str
    enabled: bool
    props: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...] = ()
    module_path: tuple[str, ...] = ()
    user_parameters: tuple[str, ...] = ()
    included: bool = False
    problem: str = ""
    children: tuple[Element, ...] = field(default=(), repr=False)

    @property
    def active(self) -> tuple[Element, ...]:
        """The children that JMeter runs."""
        return tuple(child for child in self.children if child.enabled)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it that JMeter runs."""
        yield self
        for child in self.active:
            yield from child.walk()


def tops(path: Path) -> tuple[Element, ...]:
    """Return the elements at the top of a file. Raises PlanError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        document = etree.parse(str(path), parser).getroot()
    except OSError as error:
        raise PlanError(f"{path}: cannot be read ({error}); check the path") from error
    except etree.XMLSyntaxError as error:
        line = str(error).splitlines()[0]
        raise PlanError(f"{path}: is not well-formed XML ({line}); save it anew") from error
    if document.tag != "jmeterTestPlan":
        raise PlanError(f"{path}: is not a JMeter plan but <{document.tag}>; name a .jmx file")
    return tuple(top for tree in document.findall("hashTree") for top in _elements(tree))


def _elements(tree: etree._Element) -> Iterator[Element]:
    """Yield the elements of a hashTree: each stands before a hashTree of its children."""
    nodes = [node for node in tree if isinstance(node.tag, str)]
    for node, following in pairwise([*nodes, None]):
        if node.tag == "hashTree":
            continue
        below = following if following is not None and following.tag == "hashTree" else ()
        yield Element(
            kind=node.tag.rpartition(".")[2],
            name=node.get("testname", ""),
            enabled=node.get("enabled", "true") != "false",
            props=_props(node),
            pairs=tuple(_pairs(node)),
            module_path=_texts(node, "ModuleController.node_path"),
            user_parameters=_texts(node, "UserParameters.names"),
            children=tuple(_elements(below)),
        )


def _texts(node: etree._Element, name: str) -> tuple[str, ...]:
    entries = node.iterfind(f"collectionProp[@name='{name}']/*")
    return tuple(entry.text or "" for entry in entries)


def _props(node: etree._Element) -> dict[str, str]:
    """Collect simple properties, nested ones too, the outermost first.

    Test beans written by old versions hold numbers as <doubleProp><name/><value/></doubleProp>.
    """
    props: dict[str, str] = {}
    for prop in node.iter(*_SIMPLE):
        name = prop.get("name") or prop.findtext("name", "")
        text = prop.text if prop.find("value") is None else prop.findtext("value")
        props.setdefault(name, text or "")
    return props


def _pairs(node: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield name and value of each row of a table of arguments."""
    for row in node.iterfind(".//collectionProp[@name='Arguments.arguments']/elementProp"):
        props = _props(row)
        yield props.get("Argument.name", ""), props.get("Argument.value", "")
