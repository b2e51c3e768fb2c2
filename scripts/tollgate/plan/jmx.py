"""A .jmx file as a tree of elements, with Include and Module Controllers put in place.

Nothing is interpreted here but the tree: which element stands where, and with which properties.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tollgate.plan.jmx_elements import Element, PlanError, tops

__all__ = ["Element", "PlanError", "read_tree"]


def read_tree(path: Path, expand: Callable[[str], str | None]) -> Element:
    """Return the plan's TestPlan element; `expand` fills in the paths of includes.

    Include paths are relative to the folder of `path`, as JMeter resolves them from its base
    directory. Raises PlanError, but not for a controller below a disabled element, of which JMeter
    reads nothing.
    """
    root = _with_includes(_test_plan(path), path, expand, ())
    return _with_modules(root, root, path, (), off=False)


def _test_plan(path: Path) -> Element:
    plan = next((top for top in tops(path) if top.kind == "TestPlan"), None)
    if plan is None:
        raise PlanError(f"{path}: is not a JMeter plan (no TestPlan in it); name a .jmx file")
    return plan


def _fragment(path: Path) -> Element | None:
    """Return what JMeter includes of a file: its first Test Fragment, alone or in a TestPlan."""
    for top in tops(path):
        inside = top.children if top.kind == "TestPlan" else (top,)
        found = next((e for e in inside if e.kind == "TestFragmentController"), None)
        if found is not None or top.kind == "TestPlan":
            return found
    return None


def _with_includes(
    element: Element,
    path: Path,
    expand: Callable[[str], str | None],
    within: tuple[Path, ...],
) -> Element:
    """Put what is included in place, below disabled elements too: a Module Controller may run it.

    within: the included files around the element. Where one can't be had, `problem` says why.
    """
    children, problem, around = element.children, "", within
    if element.kind == "IncludeController" and element.enabled:
        try:
            file, children = _included(element, path, expand, within)
            around = (*within, file)
        except PlanError as error:
            children, problem = (), str(error)
    return replace(
        element,
        included=bool(within),
        problem=problem,
        children=tuple(_with_includes(child, path, expand, around) for child in children),
    )


def _included(
    element: Element,
    path: Path,
    expand: Callable[[str], str | None],
    within: tuple[Path, ...],
) -> tuple[Path, tuple[Element, ...]]:
    """Return the included file and what stands below the first Test Fragment of it."""
    where = f"{path}: Include Controller '{element.name}'"
    written = element.props.get("IncludeController.includepath", "")
    known = (expand(written) or "").strip()
    if not known:
        raise PlanError(f"{where} names no file that is known ('{written}'); write a plain path")
    file = path.parent / known
    if not file.is_file():
        raise PlanError(f"{where} names '{known}', which is not there; correct its path")
    fragment = _fragment(file)
    if fragment is None:
        raise PlanError(f"{file}: has no Test Fragment for {path} to include; add one")
    if file.resolve() in within:
        raise PlanError(f"{where} includes itself through '{known}'; break the circle")
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
    return replace(
        element,
        children=tuple(_with_modules(child, root, path, within, off=off) for child in children),
    )


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
        raise PlanError(
            f"{where} points at '{names}', which is not in the plan; choose its target again"
        )
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
