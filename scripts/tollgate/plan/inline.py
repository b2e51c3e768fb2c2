"""A plan with what it includes in its place, for JMeter to parse once a run.

JMeter reads an Include Controller's file at the start, and again whenever it clones the controller:
for each thread, which in an Open Model Thread Group is each arrival. In its place stands a Simple
Controller here, of the same name, around what the file's Test Fragment holds; nothing else differs
for the run. Source: JMeter 5.6.3, IncludeController.clone, OpenModelThreadGroup.start.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

from tollgate.base.paths import SUITE
from tollgate.plan import nodes
from tollgate.plan.jmx import parsed, write
from tollgate.plan.model import FRAGMENT

_INCLUDE, _PATH = "IncludeController", "IncludeController.includepath"
_MODULE, _NODE_PATH = "ModuleController", "ModuleController.node_path"
_SIMPLE = "GenericController"
#: The version that JMeter writes into a file since 2.3; elements of another are spelt otherwise.
_FORMAT = "1.2"


def shares_fragments(plan: Path) -> bool:
    """Whether it is one of the project's own, which a run puts the fragments of in place. A plan of
    a user's runs as it is."""
    return plan.resolve().parent == SUITE / "plans"


def fragment(path: Path, folder: Path) -> etree._Element | None:
    """The hashTree of a Test Fragment with what it includes in place; None where the file can't be
    read or has none. folder: from which JMeter reads what it includes."""
    tree = _fragment(path.resolve(), ())
    if tree is not None:
        _replace(tree, folder, (path.resolve(),))
    return tree


def put_in_place(plan: Path, folder: Path) -> bool:
    """Write a plan anew with its fragments in place; False where it has none that can be.

    folder: from which JMeter reads them. What cannot be read, or would include itself, stays as it
    is: JMeter says what is wrong with it.
    """
    document = parsed(plan)
    if is_changed := put_in_tree(document, plan, folder):
        write(document, plan)
    return is_changed


def put_in_tree(document: etree._ElementTree, path: Path, folder: Path | None = None) -> bool:
    """As put_in_place, in memory. path: of the plan, in whose folder the fragments are if that is
    not another."""
    root, within = document.getroot(), (path.resolve(),)
    return root.get("version") == _FORMAT and _replace(root, folder or path.parent, within)


def _replace(root: etree._Element, folder: Path, within: tuple[Path, ...]) -> bool:
    """Whether anything below `root` was replaced. within: the files that are around it."""
    is_changed = False
    for include in list(root.iter(_INCLUDE)):
        path = folder / (include.findtext(f"stringProp[@name='{_PATH}']") or "").strip()
        inside = _fragment(path.resolve(), within)
        below = include.getnext()
        if include.get("enabled") == "false" or inside is None or _is_no_tree(below):
            continue
        _replace(inside, folder, (*within, path.resolve()))
        simple = _simple(include)
        simple.tail, inside.tail = include.tail, below.tail
        include.getparent().replace(include, simple)
        below.getparent().replace(below, inside)
        is_changed = True
    return is_changed


def put_modules_in_place(tree: etree._Element) -> None:
    """Put copies of what Module Controllers run into their place. tree: below the Test Plan, of a
    plan whose modules have been found to be there and not to run themselves (jmx.read_tree)."""
    while modules := [it for it, _ in nodes.active(tree) if nodes.kind(it) == _MODULE]:
        module = modules[0]
        names = [it.text or "" for it in module.iterfind(f"collectionProp[@name='{_NODE_PATH}']/*")]
        target, simple = _pointed_at(tree, names), _simple(module)
        inside = etree.Element("hashTree")
        if target is not None:  # JMeter runs it even where it is off
            own = copy.deepcopy(target) if target.tag != FRAGMENT else _simple(target)
            own.set("enabled", "true")
            inside.extend([own, copy.deepcopy(target.getnext())])
        module.getparent().replace(module.getnext(), inside)
        module.getparent().replace(module, simple)


def _pointed_at(tree: etree._Element, names: Sequence[str]) -> etree._Element | None:
    """The element whose line of ancestors ends with `names`, whatever the first are called."""
    root = tree.getprevious().get("testname", "")
    for start in (at for at, name in enumerate(names) if name == root):
        element, below = None, tree
        for name in names[start + 1 :]:
            inside = nodes.pairs(below) if below is not None else []
            named = (it for it in inside if it[0].get("testname", "") == name)
            element, below = next(named, (None, None))
        if element is not None:
            return element
    return None


def _simple(element: etree._Element) -> etree._Element:
    """A Simple Controller of an element's name."""
    names = {"guiclass": "LogicControllerGui", "testclass": _SIMPLE}
    return etree.Element(_SIMPLE, names, testname=element.get("testname", ""))


def _fragment(path: Path, within: tuple[Path, ...]) -> etree._Element | None:
    """The hashTree of the first Test Fragment in a file, where JMeter would find one and the file
    has the format of today."""
    try:
        tree = parsed(path).getroot() if path not in within else None
    except (OSError, etree.XMLSyntaxError):
        return None
    if tree is None or tree.get("version") != _FORMAT:
        return None
    for element in tree.findall("hashTree/*"):
        if element.tag == "TestPlan" and not _is_no_tree(element.getnext()):
            element = element.getnext().find(FRAGMENT)
        if element is not None and element.tag == FRAGMENT:
            return None if _is_no_tree(element.getnext()) else element.getnext()
    return None


def _is_no_tree(element: etree._Element | None) -> bool:
    return element is None or element.tag != "hashTree"
