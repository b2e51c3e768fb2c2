"""Which thread groups of a plan never end by themselves, which do so only by chance, and what in it
may end them before their time. Pure.

Source: JMeter's manual, Component Reference, "Thread Group", "Loop Controller", "Runtime
Controller", "Flow Control Action", "CSV Data Set Config".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import CSV_DATA_SET, Element
from tollgate.plan.model import FLOW_CONTROL, LOOPING, Plan, Stops

#: What a Flow Control Action does to its target: stop, stop now; break the loop around it.
_STOPS, _BREAKS = ("0", "2"), "5"
#: Its target: the thread that it is in, or all of them.
_EVERYBODY = "2"
#: What a Result Status Action Handler does once a sampler has failed that changes nothing.
_CONTINUES = "0"
#: What a script calls to end its own thread, or the test.
_STOP = re.compile(r"[Ss]top|[Ss]hutdown")
_STOP_TEST = re.compile(r"[Ss]topTest|[Ss]topEngine|askThreadsToStop|[Ss]hutdown")
#: What a script calls to leave out the rest of a loop's turn, or of its turns.
_JUMP = re.compile(r"TestLogicalAction|[Nn]extLoop|[Bb]reak\w*Loop")


def stops_of(root: Element, expander: Expander) -> list[Stops]:
    """What may end each thread group, in the order of Plan.groups. root, expander: as in
    unbounded_groups."""
    groups = [[*group.walk()] for group in root.thread_groups]
    return [_stops(_scope(root, group), groups, expander) for group in root.thread_groups]


def _stops(scope: list[Element], groups: list[list[Element]], expander: Expander) -> Stops:
    """scope: the elements that JMeter applies to the group. groups: those in each group."""
    inside = [it for group in groups for it in group]
    flow = [it for it in scope if _action(it) in (*_STOPS, _BREAKS)]
    flow += [it for it in inside if _stops_everybody(it)]
    acting = {id(it) for it in flow}
    flow_in = (at for at, group in enumerate(groups) if not acting.isdisjoint(map(id, group)))
    scripts = [it for it in scope if it.is_script_with(_STOP)]
    scripts += [it for it in inside if it.is_script_with(_STOP_TEST)]
    jumps = [it for it in scope if it.is_script_with(_JUMP) or it.is_script_in_a_file]
    jumps += [it for it in scope if it.props.get("OnError.action", _CONTINUES) != _CONTINUES]
    return Stops(
        data=_titles(it for it in scope if _ends_with_its_file(it, expander)),
        flow=_titles(flow),
        flow_in=tuple(flow_in),
        scripts=_titles(scripts),
        jumps=_titles(jumps),
    )


def _scope(root: Element, group: Element) -> list[Element]:
    """What is in a group, and around all of them."""
    around = (top for top in root.active if not top.is_thread_group)
    return [it for top in (group, *around) for it in top.walk()]


def _titles(elements: Iterable[Element]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(each.title for each in elements))


def _action(element: Element) -> str | None:
    """What a Flow Control Action does; None for anything else."""
    return element.props.get("ActionProcessor.action") if element.kind == FLOW_CONTROL else None


def _stops_everybody(element: Element) -> bool:
    is_all = element.props.get("ActionProcessor.target") == _EVERYBODY
    return _action(element) in _STOPS and is_all


def _ends_with_its_file(element: Element, expander: Expander) -> bool:
    names = ("stopThread", "recycle")
    ends = [expander.expand(element.props.get(name, "")).value for name in names]
    return element.kind == CSV_DATA_SET and ends == ["true", "false"]


def unbounded_groups(
    plan: Plan, root: Element, expander: Expander
) -> Iterator[tuple[str, list[str]]]:
    """(`the thread group 'users' loops for ever`, what may end it all the same) of each group
    without a bound of its own. What may end it, such as a script, is not known before the run.

    root: the plan's tree. expander: knows its properties and variables."""
    for group, element in zip(plan.groups, root.thread_groups, strict=True):
        if group.kind not in LOOPING or not group.samplers or group.duration_s:
            continue
        ends = ["its duration"] if "duration" in group.unresolved else []
        ends += _ends(root, element, expander)
        if group.loops is not None and group.loops < 0:
            yield f"the thread group {group.name!r} loops for ever", ends
            continue
        for loop in _endless_loops(element, expander):
            breaks = [it.title for it in loop.walk() if _action(it) == _BREAKS]
            what = f"the loop {loop.name!r} in the thread group {group.name!r} goes on for ever"
            yield what, [*ends, *breaks]


def _ends(root: Element, group: Element, expander: Expander) -> Iterator[str]:
    """What may end the threads of a group: in the group, around it, or of the test in others. A
    script in a file may do anything."""
    for element in _scope(root, group):
        ends = _action(element) in _STOPS or _ends_with_its_file(element, expander)
        if ends or element.is_script_with(_STOP) or element.is_script_in_a_file:
            yield element.title
    for other in root.thread_groups:
        for element in other.walk() if other is not group else ():
            is_script = element.is_script_with(_STOP_TEST) or element.is_script_in_a_file
            if _stops_everybody(element) or is_script:
                yield element.title


def _endless_loops(element: Element, expander: Expander) -> Iterator[Element]:
    """The outermost; a Runtime Controller ends those inside it."""
    for child in element.active:
        if child.kind == "RunTime":
            continue
        if _loops_for_ever(child, expander) and child.has_sampler:
            yield child
        else:
            yield from _endless_loops(child, expander)


def _loops_for_ever(element: Element, expander: Expander) -> bool:
    if element.kind == "LoopController":
        loops = expander.expand(element.props.get("LoopController.loops", "")).value or ""
        return re.fullmatch(r"\s*-\d+\s*", loops) is not None
    if element.kind == "WhileController":
        condition = expander.expand(element.props.get("WhileController.condition", "")).value
        return condition is not None and condition.strip() == "true"
    return False
