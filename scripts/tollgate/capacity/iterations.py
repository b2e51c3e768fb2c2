"""A plan of a user's that reads its rate from a property, as a search for capacity sends it.

What a thread group does once, a *pass*, stands in a copy of the plan where arrivals.jmx has what an
arrival may ask, below one Transaction Controller: its row begins when the pass was due, and
adds up the times of its requests, without the pauses between them. What set the rate is left out.
What stands at the Test Plan's level for each sampler, stands around the pass alone, so that it is
in force for nothing of ours, and a CSV Data Set gives a row to each pass.

Source: JMeter 5.6.3, TestCompiler, TransactionSampler.setTransactionDone, JMeterThread.delay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path

from lxml import etree

from tollgate.plan import nodes
from tollgate.plan.inline import put_in_place
from tollgate.plan.iterations import Iteration, read_iteration
from tollgate.plan.jmx import PlanError, parsed, read_tree, write
from tollgate.plan.variables import set_anew

OURS = Path(__file__).with_name("arrivals.jmx")
#: Variables that the file of arrivals sets.
TAKEN = ("trial", "arrival", "due", "of", "padding")
#: Characters of a name that fit into a row of that file.
LONGEST = 30
#: Groups beside the load, which stay; those with a user, and so a thread, for each arrival; what
#: else stands at the Test Plan's level for the plan as a whole.
_BESIDE = ("SetupThreadGroup", "PostThreadGroup")
_NEW_USERS = ("OpenModelThreadGroup", "ArrivalsThreadGroup", "FreeFormArrivalsThreadGroup")
_STAYS = ("Arguments", "TestFragmentController")
_USER, _ON_ERROR = "same_user_on_next_iteration", "on_sample_error"
CONTROLLER = """<GenericController guiclass="LogicControllerGui" testclass="GenericController"/>"""
TRANSACTION = """<TransactionController guiclass="TransactionControllerGui"
    testclass="TransactionController"><boolProp name="TransactionController.parent">true</boolProp>
    <boolProp name="TransactionController.includeTimers">false</boolProp></TransactionController>"""
_WAIT = """<TestAction guiclass="TestActionGui" testclass="TestAction">
    <intProp name="ActionProcessor.action">1</intProp>
    <stringProp name="ActionProcessor.duration">0</stringProp></TestAction>"""


def write_by_arrivals(
    plan: Path, rate: str, copy: Path, properties: Mapping[str, str], ours: Sequence[str]
) -> Iteration:
    """Write a copy of a plan that sends a pass for each arrival of a file, and says what a pass is.

    rate: the property. ours: the names of what arrivals.jmx has for an arrival to ask, the request
    to a server that does nothing first. Raises PlanError.
    """
    root = read_tree(plan, properties)
    taken = [f"{what} sets {name!r}" for name, what in set_anew(root).items() if name in TAKEN]
    if taken:
        raise PlanError(f"{plan}: {taken[0]}, a variable of the search's own: give it another name")
    copy.write_bytes(plan.read_bytes())
    put_in_place(copy, plan.parent)
    document = parsed(copy)
    tree, mine = nodes.below_test_plan(document), nodes.below_test_plan(parsed(OURS))
    nothing = next(under for it, under in nodes.active(mine) if it.get("testname") == ours[0])
    name = _put_together(plan, rate, tree, mine, ours)
    write(document, copy)
    iteration = read_iteration(plan, copy, name, properties)
    wrapped = [it for _ in range(iteration.requests) for it in map(deepcopy, nothing)]
    nothing[:] = pair(TRANSACTION, ours[0], wrapped)
    write(document, copy)
    return iteration


def _put_together(
    plan: Path, rate: str, tree: etree._Element, mine: etree._Element, ours: Sequence[str]
) -> str:
    """Replace the group below the Test Plan that reads the rate by that of arrivals.jmx."""
    group, content = _chosen(plan, tree, rate)
    thread, below = next(nodes.groups(mine))
    _as_users(group, content, thread)
    for timer, under in [it for it in nodes.active(content) if nodes.sets_rate(it[0], rate)]:
        timer.getparent().remove(under)
        timer.getparent().remove(timer)
    around = (it for it in nodes.pairs(tree) if it[0].tag not in _STAYS)
    outer = [part for pair in around if not nodes.is_group(pair[0]) for part in pair]
    for part in outer:
        tree.remove(part)
    for each, under in nodes.groups(tree):
        if nodes.kind(each) in _BESIDE and outer:
            under[:] = [*map(deepcopy, outer), *pair(CONTROLLER, "own", list(under))]
    name = _named(group.get("testname", ""), ours)
    switch = next(under for each, under in nodes.active(below) if each.tag == "SwitchController")
    # An assertion right below a Transaction Controller, or above it, would judge its row as well.
    inner = [*outer, *pair(CONTROLLER, "own", list(content))]
    switch.extend(pair(TRANSACTION, name, pair(CONTROLLER, "around it", inner)))
    wait_before(switch)
    tree.replace(group, thread)
    tree.replace(content, below)
    return name


def _chosen(plan: Path, tree: etree._Element, rate: str) -> tuple[etree._Element, etree._Element]:
    """The one group that sends load, which reads the rate, and what is below it."""
    groups = [it for it in nodes.groups(tree) if nodes.kind(it[0]) not in _BESIDE]
    used = ((it, [it, *nodes.active(it[1])]) for it in groups)
    reading = [it for it, pairs in used if any(nodes.sets_rate(of, rate) for of, _ in pairs)]
    names = [repr(it.get("testname")) for it, _ in reading]
    others = [repr(it[0].get("testname")) for it in groups if it not in reading]
    if not reading:
        raise PlanError(
            f"{plan}: no timer and no schedule of a thread group reads the property {rate!r} of "
            f"modules.capacity.rate: write ${{__P({rate},...)}} there"
        )
    if len(reading) > 1:
        step = "keep one of them on, or search each by itself"
        raise PlanError(f"{plan}: {' and '.join(names)} read the property {rate!r}: {step}")
    if others:
        raise PlanError(
            f"{plan}: {' and '.join(others)} would send load beside {names[0]}, at a rate that "
            f"{rate!r} does not set: disable what is not searched"
        )
    return reading[0]


def wait_before(switch: etree._Element) -> None:
    """Have one Flow Control Action wait until an arrival is due, in place of each sampler: what is
    sent later in a pass would have the time since then taken off its own pauses."""
    around = switch.getparent()
    timer, under = next(it for it in nodes.pairs(around) if nodes.kind(it[0]).endswith("Timer"))
    place = around.index(timer)
    around[place:place] = pair(_WAIT, "when it is due", [timer, under])


def _as_users(group: etree._Element, content: etree._Element, thread: etree._Element) -> None:
    """Have a pass be a new user where it was, for whom nothing was done once before, and end with
    its first error where the thread or its turn did."""
    is_new = nodes.kind(group) in _NEW_USERS
    for once in list(content.iter("OnceOnlyController")) if is_new else ():
        once.tag = "GenericController"
    same = group.findtext(f"*[@name='ThreadGroup.{_USER}']") or "true"
    error = group.findtext(f"*[@name='ThreadGroup.{_ON_ERROR}']") or "continue"
    thread.find(f"*[@name='ThreadGroup.{_USER}']").text = "false" if is_new else same
    ends = error if error == "continue" else "startnextloop"
    thread.find(f"*[@name='ThreadGroup.{_ON_ERROR}']").text = ends


def _named(name: str, ours: Sequence[str]) -> str:
    """A name that a row of arrivals can hold, and that a Switch Controller takes for none of ours
    and for no number."""
    text = re.sub(r"[^\w .@()-]+", "-", name, flags=re.ASCII)[:LONGEST].strip()
    is_name = re.search(r"[A-Za-z]", text) and text.lower() not in (*ours, "default")
    return text if is_name else f"pass {text}"[:LONGEST].strip()


def pair(xml: str, name: str, below: Iterable[etree._Element]) -> list[etree._Element]:
    """An element of this name and its hashTree."""
    element, tree = etree.fromstring(xml), etree.Element("hashTree")
    element.set("testname", name)
    element.set("enabled", "true")
    tree.extend(below)
    return [element, tree]
