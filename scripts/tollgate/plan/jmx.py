"""A .jmx file as a tree of elements, with Include and Module Controllers put in place.

tops(path) reads the elements as they stand in the file, read_tree(path) those that will run. Only
the tree is interpreted here: which element stands where, and with which properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from lxml import etree

from tollgate.base.text import UserError
from tollgate.plan.expressions import Expander
from tollgate.plan.model import FLOW_CONTROL, FRAGMENT
from tollgate.plan.nodes import kind

CSV_DATA_SET = "CSVDataSet"
_SIMPLE = tuple(f"{it}Prop" for it in ("string", "int", "long", "float", "double", "bool"))
_SIMPLE += ("FloatProperty",)  # of a Throughput Controller
#: Where a row of a table has the name of its value.
_ROW_NAMES = {"Argument.value": "Argument.name", "Header.value": "Header.name"}

#: What walks a plan in Python needs this bound.
_DEEPEST = 200
_IS_TOO_DEEP = etree.XPath(f"boolean({'/*' * (_DEEPEST + 1)})")

# Samplers, JMeter's own and those of plugins, are known by the end of their class name.
_SAMPLER_ENDINGS = ("Sampler", "SamplerProxy", "Sampler_", "Sampler2", "Sampler2_", FLOW_CONTROL)
# Elements that hold a script, by how their names begin.
_SCRIPTS = ("JSR223", "BeanShell", "BSF")


def is_sampler_kind(kind: str) -> bool:
    """Whether elements of a tag, without its package, are samplers, a Flow Control Action
    included."""
    return kind.endswith(_SAMPLER_ENDINGS) and kind != "ParallelSampler"


def is_script_kind(kind: str) -> bool:
    """Whether elements of a tag, without its package, hold a script."""
    return kind.startswith(_SCRIPTS)


class PlanError(UserError, ValueError):
    """The plan cannot be read; one line that names the file and what to do."""


@dataclass(frozen=True)
class Element:
    """One element: `kind` is its tag without a package, `props` its simple properties as text.

    user_parameters: the names that User Parameters set. rows: of a table in it, of whatever name,
    such as the schedule of an Ultimate Thread Group. included: whether it stands in a file that
    the plan includes. problem: why an Include Controller below something disabled has no children.
    references: (property, name of the row that it is the value of, text) of each text with `${`.
    """

    kind: str
    name: str
    enabled: bool
    props: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...] = ()
    module_path: tuple[str, ...] = ()
    user_parameters: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    included: bool = False
    problem: str = ""
    references: tuple[tuple[str, str, str], ...] = ()
    children: tuple[Element, ...] = field(default=(), repr=False)

    @property
    def active(self) -> tuple[Element, ...]:
        """The children that JMeter runs."""
        return tuple(child for child in self.children if child.enabled)

    @property
    def title(self) -> str:
        """`CSVDataSet 'users'`, as messages name it."""
        return f"{self.kind} {self.name!r}"

    @property
    def is_script(self) -> bool:
        return is_script_kind(self.kind)

    @property
    def files(self) -> tuple[str, ...]:
        """What a CSV Data Set or a script reads: `filename`, or `BeanShellSampler.filename`."""
        named = self.props.items() if self.is_script or self.kind == CSV_DATA_SET else ()
        return tuple(text for name, text in named if name.rpartition(".")[2] == "filename")

    @property
    def is_script_in_a_file(self) -> bool:
        """Whether it runs a file: it may do anything."""
        return self.is_script and any(map(str.strip, self.files))

    def is_script_with(self, words: re.Pattern[str]) -> bool:
        """Whether it is a script whose text has such a word."""
        return self.is_script and any(words.search(text) for text in self.props.values())

    @property
    def is_sampler(self) -> bool:
        """Whether JMeter runs it as a sampler, a Flow Control Action included."""
        return is_sampler_kind(self.kind)

    @property
    def has_sampler(self) -> bool:
        """Whether it is one, or has one below it that JMeter runs."""
        return any(each.is_sampler for each in self.walk())

    @property
    def is_thread_group(self) -> bool:
        return self.kind.endswith("ThreadGroup")

    @property
    def thread_groups(self) -> tuple[Element, ...]:
        """The thread groups right below it that JMeter runs."""
        return tuple(child for child in self.active if child.is_thread_group)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it that JMeter runs."""
        yield self
        for child in self.active:
            yield from child.walk()

    def walk_placed(self) -> Iterator[Element]:
        """As walk, without fragments right below it, which run where a controller puts them."""
        yield self
        for child in self.active:
            if child.kind != FRAGMENT:
                yield from child.walk()


def parsed(path: Path) -> etree._ElementTree:
    """The file's XML, whatever it holds. Raises OSError, and etree.XMLSyntaxError also for what
    JMeter never writes: a DOCTYPE, with entities of its own, or elements nested beyond any use."""
    if path.exists() and not path.is_file():
        raise OSError("it is no regular file")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    document = etree.parse(str(path), parser)
    if document.docinfo.doctype:
        raise etree.XMLSyntaxError("it has a DOCTYPE, which no plan of JMeter has", 0, 1, 1)
    if _IS_TOO_DEEP(document):
        raise etree.XMLSyntaxError(f"it is nested more than {_DEEPEST} deep", 0, 1, 1)
    return document


def write(document: etree._ElementTree, path: Path) -> None:
    document.write(str(path), encoding="UTF-8", xml_declaration=True)


@cache
def _added() -> etree._ElementTree:
    return parsed(Path(__file__).with_name("added.jmx"))


def added(kind: str) -> etree._Element:
    """A copy of an element that a run adds to plans, as added.jmx has it."""
    element = deepcopy(_added().find(f".//{kind}"))
    element.tail = None
    return element


def tops(path: Path) -> tuple[Element, ...]:
    """Return the elements at the top of a file. Raises PlanError."""
    try:
        document = parsed(path).getroot()
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
        yield replace(element_of(node), children=tuple(_elements(below)))


def element_of(node: etree._Element) -> Element:
    """An element as XML holds it, without what is below it."""
    return Element(
        kind=kind(node),
        name=node.get("testname", ""),
        enabled=node.get("enabled", "true") != "false",
        props=_props(node),
        pairs=tuple(_pairs(node)),
        module_path=_texts(node, "ModuleController.node_path"),
        user_parameters=_texts(node, "UserParameters.names"),
        rows=tuple(
            tuple(cell.text or "" for cell in row)
            for row in node.iterfind("collectionProp/collectionProp")
        ),
        references=tuple(_references(node)),
    )


def _texts(node: etree._Element, name: str) -> tuple[str, ...]:
    entries = node.iterfind(f"collectionProp[@name='{name}']/*")
    return tuple(entry.text or "" for entry in entries)


def _simple(node: etree._Element) -> Iterator[tuple[etree._Element, str, str]]:
    """(property, name, text) of each simple property, nested ones too, the outermost first.

    Test beans written by old versions hold numbers as <doubleProp><name/><value/></doubleProp>.
    """
    for prop in node.iter(*_SIMPLE):
        text = prop.text if prop.find("value") is None else prop.findtext("value")
        yield prop, prop.get("name") or prop.findtext("name", ""), text or ""


def _props(node: etree._Element) -> dict[str, str]:
    props: dict[str, str] = {}
    for _, name, text in _simple(node):
        props.setdefault(name, text)
    return props


def _pairs(node: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield name and value of each row of a table of arguments."""
    for row in node.iterfind(".//collectionProp[@name='Arguments.arguments']/elementProp"):
        props = _props(row)
        yield props.get("Argument.name", ""), props.get("Argument.value", "")


def _references(node: etree._Element) -> Iterator[tuple[str, str, str]]:
    for prop, name, text in _simple(node):
        if "${" in text and not name.endswith("comments"):
            row = f"stringProp[@name='{_ROW_NAMES[name]}']" if name in _ROW_NAMES else "-"
            yield name, prop.getparent().findtext(row, ""), text


def read_tree(path: Path, properties: Mapping[str, str]) -> Element:
    """Return the plan's TestPlan element; properties fill in the paths of includes.

    Include paths are relative to the folder of `path`, as JMeter resolves them from its base
    directory. Raises PlanError, but not for a controller below a disabled element, which JMeter
    does not read.
    """
    plan = next((top for top in tops(path) if top.kind == "TestPlan"), None)
    if plan is None:
        raise PlanError(f"{path}: is not a JMeter plan (no TestPlan in it); name a .jmx file")
    root = _with_includes(plan, path, Expander(properties, {}), ())
    return _with_modules(root, root, path, (), off=False)


def _fragment(path: Path) -> Element | None:
    """Return what JMeter includes of a file: its first Test Fragment, alone or in a TestPlan."""
    for top in tops(path):
        inside = top.children if top.kind == "TestPlan" else (top,)
        fragment = next((e for e in inside if e.kind == FRAGMENT), None)
        if fragment is not None or top.kind == "TestPlan":
            return fragment
    return None


def _with_includes(
    element: Element, path: Path, expander: Expander, within: tuple[Path, ...]
) -> Element:
    """Put what is included in place, below disabled elements too: a Module Controller may run it.

    within: the included files around the element. Where one can't be had, `problem` says why.
    """
    children, problem, around = element.children, "", within
    if element.kind == "IncludeController" and element.enabled:
        try:
            file, children = _included(element, path, expander, within)
            around = (*within, file)
        except PlanError as error:
            children, problem = (), str(error)
    below = tuple(_with_includes(it, path, expander, around) for it in children)
    return replace(element, included=bool(within), problem=problem, children=below)


def _included(
    element: Element, path: Path, expander: Expander, within: tuple[Path, ...]
) -> tuple[Path, tuple[Element, ...]]:
    """Return the included file and what stands below the first Test Fragment of it."""
    where = f"{path}: Include Controller '{element.name}'"
    written = element.props.get("IncludeController.includepath", "")
    included = (expander.expand(written).value or "").strip()
    if not included:
        raise PlanError(f"{where} names no file that is known ('{written}'); write a plain path")
    file = path.parent / included
    if not file.is_file():
        raise PlanError(f"{where} names '{included}', which is not there; correct its path")
    fragment = _fragment(file)
    if fragment is None:
        raise PlanError(f"{file}: has no Test Fragment for {path} to include; add one")
    if file.resolve() in within:
        raise PlanError(f"{where} includes itself through '{included}'; break the circle")
    return file.resolve(), fragment.children


def _with_modules(
    element: Element, root: Element, path: Path, within: tuple[tuple[str, ...], ...], *, off: bool
) -> Element:
    """Put the targets of Module Controllers in place.

    within: the paths of those around the element. off: whether something around it is disabled.
    """
    off = off or not element.enabled
    children, problem = element.children, element.problem
    if element.module_path and element.enabled:
        try:
            children = (_target(element, root, path, within),)
        except PlanError as error:
            children, problem = (), str(error)
        within = (*within, element.module_path)
    if problem and not off:
        raise PlanError(problem)
    below = tuple(_with_modules(it, root, path, within, off=off) for it in children)
    return replace(element, children=below)


def _target(
    element: Element, root: Element, path: Path, within: tuple[tuple[str, ...], ...]
) -> Element:
    """Return what a Module Controller runs: JMeter does so even where that is disabled."""
    where = f"{path}: Module Controller '{element.name}'"
    if element.module_path in within:
        raise PlanError(f"{where} runs itself; break the circle")
    target = _find(root, element.module_path)
    if target is None:
        names = " > ".join(element.module_path)
        raise PlanError(f"{where} points at '{names}', which is not in the plan; choose its target")
    return replace(target, enabled=True)


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
