"""Which thread groups of a plan never end by themselves. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.jmx import Element
from tollgate.plan_model import FLOW_CONTROL, Plan, ThreadGroup

#: Those that loop; those of plugins, and the Open Model Thread Group, have an end of their own.
_LOOPING = ("ThreadGroup", "SetupThreadGroup", "PostThreadGroup")
#: What a Flow Control Action does to the thread or the test; any other lets it go on.
_STOPS = ("0", "2")


def endless_groups(plan: Plan, root: Element) -> list[str]:
    """`the thread group 'users' loops for ever` for each that nothing in the plan ends.

    root: the plan's tree. What may end a group at some time, such as a CSV file that is read once,
    counts as an end; so does a property that only the running test knows."""
    if any(_may_stop(element) for element in root.walk()):
        return []
    return [f"the thread group {it.name!r} loops for ever" for it in _endless(plan.groups)]


def _endless(groups: tuple[ThreadGroup, ...]) -> Iterator[ThreadGroup]:
    for group in groups:
        has_end = group.duration_s or "duration" in group.unresolved
        if group.kind in _LOOPING and group.samplers and group.loops == -1 and not has_end:
            yield group


def _may_stop(element: Element) -> bool:
    if element.kind == "CSVDataSet":
        return (element.props.get("stopThread"), element.props.get("recycle")) == ("true", "false")
    if element.kind == FLOW_CONTROL:
        return element.props.get("ActionProcessor.action") in _STOPS
    # A script may end its thread, and a controller of a plugin may do anything.
    return element.kind.startswith(("JSR223", "BeanShell", "BSF"))
