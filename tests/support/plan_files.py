"""Reads plans as XML, with nothing of Tollgate in between, and knows what their feeds hold."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from support import PLANS

#: While Taurus runs a plan, its own copy of it stands there too.
OWN_FILES = sorted(set(PLANS.glob("*.jmx")) - set(PLANS.glob("modified_*.jmx")))
#: Those with a load. What several of them share is a Test Fragment beside them.
PLAN_FILES = [path for path in OWN_FILES if "ThreadGroup guiclass" in path.read_text()]
SHARED_FILES = [path for path in OWN_FILES if path not in PLAN_FILES]
#: Those that `tollgate new target` made. Who answers them may be somebody else.
ADOPTED_FILES = [path for path in PLAN_FILES if path.stem.startswith("check-")]
#: One target each.
FRAGMENT_FILES = sorted((PLANS / "fragments").glob("*.jmx"))
ALL_FILES = [*PLAN_FILES, *SHARED_FILES, *FRAGMENT_FILES]

# No dot in the name: bzt would take it for a path when `-o` sets it.
PROPERTY = re.compile(r"\$\{__P\(\w+,(.+?)\)\}")
#: `${name}` but not a function, which begins with two underscores.
VARIABLE = re.compile(r"\$\{(?!__)([^${}]+)\}")
IN_A_SCRIPT = re.compile(r"""\bvars(?:\.get\(|\[)['"](\w+)['"]""")


def id_of(path):
    """Name a test's parameter by its place under plans/."""
    return str(path.relative_to(PLANS).with_suffix("")) if isinstance(path, Path) else str(path)


def meaning(path):
    """The elements of a plan in their order, and what each holds in any order, without defaults:
    JMeter writes `enabled="true"` and `false` depending on how an element came into the window."""

    def node(element):
        parts = [node(child) for child in element if child.text != "false"]
        if element.tag != "hashTree":
            parts.sort()
        attributes = sorted(pair for pair in element.items() if pair != ("enabled", "true"))
        return (element.tag, attributes, (element.text or "").strip(), parts)

    return node(ElementTree.parse(path).getroot())


@dataclass
class Element:
    """props: simple properties by name, nested ones too. texts: all their values, also of rows."""

    kind: str
    gui: str
    name: str
    props: dict[str, str]
    texts: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)
    parent: Element | None = None

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def in_scope(self):
        """What JMeter applies to this element: its own children, and those of all above it."""
        yield from self.children
        if self.parent:
            yield from self.parent.in_scope()


def read(path):
    """The tree of a file, below an element that stands for the file itself."""
    top = Element("file", "", path.name, {})
    _fill(top, ElementTree.parse(path).getroot().find("hashTree"))
    return top


def read_with_includes(path):
    """The tree of a plan with each included fragment below its Include Controller, whose path
    is relative to the plan, however deep it stands."""
    top = read(path)
    for element in list(top.walk()):
        if element.kind == "IncludeController":
            included = path.parent / element.props["IncludeController.includepath"]
            parts = read_with_includes(included).walk()
            part = next(each for each in parts if each.kind == "TestFragmentController")
            part.parent = element
            element.children.append(part)
    return top


def _fill(parent, tree):
    for node in tree:
        if node.tag == "hashTree":
            _fill(parent.children[-1], node)
            continue
        pairs = [
            (prop.get("name") or prop.findtext("name"), prop.findtext("value") or prop.text or "")
            for prop in node.iter()
            if prop.tag.endswith("Prop") and prop.tag not in ("elementProp", "collectionProp")
        ]
        kind, gui, name = node.tag, node.get("guiclass"), node.get("testname")
        texts = [text for _, text in pairs]
        parent.children.append(Element(kind, gui, name, dict(pairs), texts, [], parent))


def samplers(tree, kind=r".*Sampler(Proxy)?"):
    return [element for element in tree.walk() if re.fullmatch(kind, element.kind)]


def feed_of(fragment):
    """The CSV file of a fragment, by default where a property names it. Its path is relative to the
    plan that includes the fragment."""
    (feed,) = [e for e in read(fragment).walk() if e.kind == "CSVDataSet"]
    return PLANS / PROPERTY.sub(r"\1", feed.props["filename"])


def rows_of(fragment):
    """Of the CSV file of a fragment."""
    return rows_in(feed_of(fragment))


def rows_in(feed):
    with feed.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, strict=True))


def variables_used(fragment):
    """The variables that a fragment reads and does not take from an answer itself; `${name}` in a
    script is none."""
    used, own = set(), set()
    for element in read(fragment).walk():
        find = IN_A_SCRIPT if element.kind.startswith("JSR223") else VARIABLE
        used.update(name for text in element.texts for name in find.findall(text))
        own.update(element.props.get("JSONPostProcessor.referenceNames", "").split(";"))
    return used - own
