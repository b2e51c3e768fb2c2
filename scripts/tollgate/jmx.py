"""A .jmx file as a tree of elements, with Include and Module Controllers put in place.

Nothing is interpreted here but the tree: which element stands where, and with which properties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from lxml import etree

_SIMPLE = ("stringProp", "intProp", "longProp", "floatProp", "doubleProp", "boolProp")
# An include of an include of ... deeper than this is a circle.
MAX_NESTING = 20


class PlanError(ValueError):
    """The plan cannot be read; one line that names the file and what to do."""


@dataclass(frozen=True)
class Element:
    """One element: `kind` is its tag without a package, `props` its simple properties as text."""

    kind: str
    name: str
    enabled: bool
    props: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...] = ()
    module_path: tuple[str, ...] = ()
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


def read_tree(path: Path, expand: Callable[[str], str | None]) -> Element:
    """Return the plan's TestPlan element; `expand` fills in the paths of includes.

    Include paths are relative to the folder of `path`, as JMeter resolves them from its base
    directory. Raises PlanError.
    """
    root = _test_plan(path)
    included = _with_includes(root, path, expand, depth=0)
    return _with_modules(included, included, path, depth=0)


def _test_plan(path: Path) -> Element:
    plan = next((top for top in _tops(path) if top.kind == "TestPlan"), None)
    if plan is None:
        raise PlanError(f"{path}: is not a JMeter plan (no TestPlan in it); name a .jmx file")
    return plan


def _fragment(path: Path) -> Element | None:
    """Return what JMeter includes of a file: its first Test Fragment, alone or in a TestPlan."""
    for top in _tops(path):
        inside = top.children if top.kind == "TestPlan" else (top,)
        found = next((e for e in inside if e.kind == "TestFragmentController"), None)
        if found is not None or top.kind == "TestPlan":
            return found
    return None


def _tops(path: Path) -> tuple[Element, ...]:
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
            module_path=tuple(
                entry.text or ""
                for entry in node.iterfind("collectionProp[@name='ModuleController.node_path']/*")
            ),
            children=tuple(_elements(below)),
        )


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


def _with_includes(
    element: Element, path: Path, expand: Callable[[str], str | None], depth: int
) -> Element:
    children = element.children
    if element.kind == "IncludeController" and element.enabled:
        children = _included(element, path, expand, depth)
        depth += 1
    return replace(
        element,
        children=tuple(_with_includes(child, path, expand, depth) for child in children),
    )


def _included(
    element: Element, path: Path, expand: Callable[[str], str | None], depth: int
) -> tuple[Element, ...]:
    """Return what stands below the first Test Fragment of the included file."""
    where = f"{path}: Include Controller '{element.name}'"
    written = element.props.get("IncludeController.includepath", "")
    known = (expand(written) or "").strip()
    if not known:
        raise PlanError(f"{where} names no file that is known ('{written}'); write a plain path")
    if depth >= MAX_NESTING:
        raise PlanError(f"{where} includes itself through '{known}'; break the circle")
    file = path.parent / known
    if not file.is_file():
        raise PlanError(f"{where} names '{known}', which is not there; correct its path")
    fragment = _fragment(file)
    if fragment is None:
        raise PlanError(f"{file}: has no Test Fragment for {path} to include; add one")
    return fragment.children


def _with_modules(element: Element, root: Element, path: Path, depth: int) -> Element:
    children = element.children
    if element.module_path and element.enabled:
        if depth >= MAX_NESTING:
            raise PlanError(
                f"{path}: Module Controller '{element.name}' runs itself; break the circle"
            )
        target = _find(root, element.module_path)
        if target is None:
            names = " > ".join(element.module_path)
            raise PlanError(
                f"{path}: Module Controller '{element.name}' points at '{names}', "
                "which is not in the plan; choose its target again"
            )
        # JMeter runs the target of a module even where the target itself is disabled.
        children = (replace(target, enabled=True),)
        depth += 1
    return replace(
        element, children=tuple(_with_modules(child, root, path, depth) for child in children)
    )


def _find(root: Element, names: tuple[str, ...]) -> Element | None:
    """Find the element whose line of ancestors ends with `names`, whatever the first are called:
    JMeter writes the name of its invisible root in front."""
    for start in range(len(names)):
        at: Element | None = root if names[start] == root.name else None
        for name in names[start + 1 :]:
            at = next((c for c in at.children if c.name == name), None) if at else None
        if at is not None and at is not root:
            return at
    return None
