"""Which thread groups of a plan never end by themselves, which do so only by chance, and what in it
may end them before their time. Pure.

Source: JMeter's manual, Component Reference, "Thread Group", "Loop Controller", "Runtime
Controller", "Flow Control Action", "CSV Data Set Config".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import FLOW_CONTROL, LOOPING, Plan
from tollgate.plan.read import is_sampler

#: What a Flow Control Action does to its target: stop, stop now; break the loop around it.
_STOPS, _BREAKS = ("0", "2"), "5"
#: Its target: the thread that it is in, or all of them.
_EVERYBODY = "2"
#: What a script calls to end its own thread, or the test.
_STOP = re.compile(r"[Ss]top|[Ss]hutdown")
_STOP_TEST = re.compile(r"[Ss]topTest|[Ss]topEngine|askThreadsToStop|[Ss]hutdown")
#: What a script calls to leave out the rest of a loop's turn, or of its turns.
_JUMP = re.compile(r"TestLogicalAction|[Nn]extLoop|[Bb]reak\w*Loop")


@dataclass(frozen=True)
class Stops:
    """What may end the threads of one group before their time, each by its kind and name.

    data: CSV Data Sets that end a thread when their file is at its end. flow: Flow Control Actions
    that stop threads or break a loop. scripts: those whose text may stop threads or the test.
    jumps: scripts that may leave out a part of a loop; one in a file may do so.
    """

    data: tuple[str, ...] = ()
    flow: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()


def stops_of(root: Element, expander: Expander) -> list[Stops]:
    """What may end each thread group, in the order of Plan.groups. root, expander: as in
    endless_groups."""
    groups = root.thread_groups
    others = [each for each in root.active if not each.is_thread_group]
    around = [each for top in others for each in top.walk()]
    inside = [each for group in groups for each in group.walk()]
    return [_stops([*group.walk(), *around], inside, expander) for group in groups]


def _stops(scope: list[Element], inside: list[Element], expander: Expander) -> Stops:
    """scope: the elements that JMeter applies to the group. inside: those of all groups."""
    actions = [each for each in scope if each.kind == FLOW_CONTROL]
    flow = [it for it in actions if it.props.get("ActionProcessor.action") in (*_STOPS, _BREAKS)]
    flow += [it for it in inside if it.kind == FLOW_CONTROL and _may_stop_all(it)]
    scripts = [each for each in scope if each.is_script_with(_STOP)]
    scripts += [each for each in inside if each.is_script_with(_STOP_TEST)]
    data = [each for each in scope if _ends_with_its_file(each, expander)]
    jumps = [each for each in scope if each.is_script_with(_JUMP) or each.is_script_in_a_file]
    return Stops(_titles(data), _titles(flow), _titles(scripts), _titles(jumps))


def _titles(elements: Iterable[Element]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(each.title for each in elements))


def _ends_with_its_file(element: Element, expander: Expander) -> bool:
    if element.kind != "CSVDataSet":
        return False
    ends, again = (
        expander.expand(element.props.get(name, "")).value for name in ("stopThread", "recycle")
    )
    return (ends, again) == ("true", "false")


def endless_groups(plan: Plan, root: Element, expander: Expander) -> list[str]:
    """`the thread group 'users' loops for ever` for each that nothing in the plan ends.

    root: the plan's tree. expander: knows its properties and variables. What may end a group at
    some time counts as an end here; see presumed_ends."""
    return [said for said, ends in _unbounded(plan, root, expander) if not ends]


def presumed_ends(plan: Plan, root: Element, expander: Expander) -> list[str]:
    """One line for each group that loops for ever unless something ends it that can't be judged
    before the run, such as a script."""
    return [
        f"{said} unless {ends[0]} ends it, which can't be known before the run"
        for said, ends in _unbounded(plan, root, expander)
        if ends
    ]


def _unbounded(
    plan: Plan, root: Element, expander: Expander
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(what goes on for ever, what may end it) of each group without a bound of its own."""
    elements = root.thread_groups
    for group, element in zip(plan.groups, elements, strict=True):
        if group.kind not in LOOPING or not group.samplers or group.duration_s:
            continue
        others = [other for other in elements if other is not element]
        open_end = ("its duration",) if "duration" in group.unresolved else ()
        ends = (*open_end, *_ends(root, element, others))
        if group.loops is not None and group.loops < 0:
            yield f"the thread group {group.name!r} loops for ever", ends
            continue
        for loop in _endless_loops(element, expander):
            said = f"the loop {loop.name!r} in the thread group {group.name!r} goes on for ever"
            yield said, (*ends, *_breaks(loop))


def _endless_loops(element: Element, expander: Expander) -> Iterator[Element]:
    """The outermost; a Runtime Controller ends those inside it."""
    for child in element.active:
        if child.kind == "RunTime":
            continue
        if _loops_for_ever(child, expander) and any(is_sampler(each) for each in child.walk()):
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


def _ends(root: Element, group: Element, others: Iterable[Element]) -> Iterator[str]:
    """What may end the threads of a group: in the group, around it, or of the test in others."""
    around = [each for each in root.active if not each.is_thread_group]
    for scope in (group, *around):
        yield from (each.title for each in scope.walk() if _may_stop(each, _STOP))
    for other in others:
        yield from (each.title for each in other.walk() if _may_stop_all(each))


def _breaks(loop: Element) -> Iterator[str]:
    for each in loop.walk():
        if each.kind == FLOW_CONTROL and each.props.get("ActionProcessor.action") == _BREAKS:
            yield each.title


def _may_stop(element: Element, words: re.Pattern[str]) -> bool:
    if element.kind == "CSVDataSet":
        return (element.props.get("stopThread"), element.props.get("recycle")) == ("true", "false")
    if element.kind == FLOW_CONTROL:
        return element.props.get("ActionProcessor.action") in _STOPS
    return element.is_script_with(words) or element.is_script_in_a_file  # which may do anything


def _may_stop_all(element: Element) -> bool:
    if element.kind == "CSVDataSet":
        return False
    everybody = element.props.get("ActionProcessor.target") == _EVERYBODY
    return _may_stop(element, _STOP_TEST) and (element.kind != FLOW_CONTROL or everybody)
