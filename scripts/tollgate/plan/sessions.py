"""How long the sessions of a plan last: whether each turn of a thread begins a user of its own, how
many requests such a turn sends for certain, and what a thread keeps from turn to turn. Pure.

Where it does, a turn may ask one service and the next turn another. Where cookies or variables
outlast the turn, whoever gave them has to be asked again: all that a thread sends goes together.
Source: JMeter's manual, Component Reference, "HTTP Cookie Manager", "Once Only Controller".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from lxml import etree

from tollgate.plan import nodes
from tollgate.plan.expressions import Expander
from tollgate.plan.jmx import Element
from tollgate.plan.model import (
    FLOW_CONTROL,
    FOR_EVER,
    OPEN_MODEL,
    PLAIN_CONTROLLERS,
    Plan,
    Sampler,
    ThreadGroup,
)
from tollgate.plan.threads import LOOP
from tollgate.plan.variables import COUNTER, set_by

ONCE = "OnceOnlyController"
COOKIES = "CookieManager"
#: Those that run what is in them once a turn at most, whatever is answered.
_DRAWN = ("InterleaveControl", "RandomController", "RandomOrderController", "ThroughputController")
#: How often these run what is in them may depend on answers.
ANSWERING = ("ForeachController", "IfController", "SwitchController", "WhileController")
#: What applies to requests wherever it stands: the first of them may go without.
FOR_REQUESTS = ("Arguments", "AuthManager", "ConfigTestElement", "HeaderManager")
#: What sets variables for a turn when that begins.
_FOR_A_TURN = ("CSVDataSet", "CounterConfig", "RandomVariableConfig", "UserParameters")
_READ = re.compile(r"""\$\{([^(){},$\\]+)\}|\bvars\s*\.\s*get(?:Object)?\s*\(\s*["'](.+?)["']""")
_FOR_A_TIME = "RunTime"
#: Turns of a loop within one of a thread that are a few.
MOST_LOOPS = 20
#: What a thread keeps to itself from turn to turn, by kind: the property that says so, with its
#: values (empty where it may be left out), and with that by which all threads keep it together.
#: Source: JMeter's manual, Component Reference, of each; its 5.6.3, InterleaveControl.initialize.
_OF_A_THREAD = {
    "InterleaveControl": ("InterleaveControl.accrossThreads", ("", "false"), "true"),
    "ThroughputController": ("ThroughputController.perThread", ("true",), "false"),
    "CounterConfig": ("CounterConfig.per_user", ("true",), "false"),
    "CSVDataSet": ("shareMode", ("shareMode.thread",), "shareMode.all"),
    "RandomVariableConfig": ("perThread", ("true",), "false"),
    LOOP: ("LoopController.continue_forever", ("false",), "true"),
    "RandomCSVDataSetConfig": ("independentListPerThread", ("true",), "false"),
}
_REPEATS = (LOOP, "ForeachController", "WhileController", "RunTime")
_PER_USER = re.compile(r"(\$\{__counter\(\s*)true\b", re.IGNORECASE)
#: What counts the turns of a thread.
_COUNTS_TURNS = re.compile(r"\$\{__iterationNum\b|\$\{__jm__|\bgetIteration\(\)")
_RESET = "CounterConfig.reset_on_tg_iteration"
_PERCENT = "ThroughputController.percentThroughput"
_STYLE = "ThroughputController.style"
#: That of one whose number is of executions, not percent.
BY_NUMBER = ("", "0")
#: By which threads tell each other something.
_SHARED = re.compile(r"__setProperty\(|\bprops\s*\.\s*(?:put|setProperty)\s*\(")


def lasts(group: Element, around: Sequence[Element]) -> str:
    """What outlasts a turn of the group's threads, e.g. `CookieManager 'cookies'`; empty where each
    turn begins anew. around: elements of the plan beside its groups."""
    if group.kind == OPEN_MODEL:  # an arrival has a thread of its own
        return ""
    own = [*(it for each in around for it in each.walk()), *group.walk()]
    once = (it.title for it in own if it.kind == ONCE and it.has_sampler)
    kept = (it.title for it in own if it.kind == COOKIES and not _is_cleared(it, group))
    variables = (f"the variable {name}" for name in carried(group))
    return next(chain(once, kept, variables), "")


def _is_cleared(manager: Element, group: Element) -> bool:
    """Whether a turn of the group begins without cookies."""
    props = manager.props
    if props.get(f"{COOKIES}.controlledByThreadGroup") == "true":
        return group.props.get("ThreadGroup.same_user_on_next_iteration", "true") == "false"
    return props.get(f"{COOKIES}.clearEachIteration") == "true"


def carried(group: Element, without: Collection[str] = ()) -> Iterator[str]:
    """Variables that a turn reads before it has set them, and sets for the next one. without:
    kinds of elements that are not asked what they read."""
    elements = [it for it in group.walk() if it.kind not in (*_FOR_A_TURN, *without)]
    read: set[str] = set()
    fresh: set[str] = set()
    for each in elements:
        texts = (*each.props.values(), *(value for _, value in each.pairs))
        found = {one or other for text in texts for one, other in _READ.findall(text)}
        read |= found - fresh
        names = set(set_by(each))
        yield from sorted(names & read)
        fresh |= names


def shares(root: Element) -> Element | None:
    """What passes values between threads by JMeter's properties; None where nothing does."""
    sharing = (it for it in root.walk() if any(_SHARED.search(text) for text in it.props.values()))
    return next(sharing, None)


def long_loop(group: ThreadGroup) -> str:
    """A loop in a turn of the group's threads that makes it as long as a session that lasts, e.g.
    `LoopController 'for ever'`; empty where there is none."""
    around = (controller for sampler in group.samplers for controller in sampler.controllers)
    for each in around:
        is_long = each.kind == LOOP and (each.loops is None or not 0 <= each.loops <= MOST_LOOPS)
        if is_long or each.kind == _FOR_A_TIME or each.loops == FOR_EVER:
            return f"{each.kind} {each.name!r}"
    return ""


def requests_a_turn(plan: Plan) -> float | None:
    """How many requests of one label a turn of a thread sends at most, those in the place of which
    a parent sample stands among them; None where that depends on what is answered, or is not
    known."""
    most = 1.0
    for group in plan.groups:
        if group.is_setup or group.is_teardown:
            continue
        if group.on_sample_error != "continue" or may_stop(group):
            return None
        counts: dict[str, float] = {}
        for sampler in (it for it in group.samplers if it.kind != FLOW_CONTROL):
            times = _times(sampler)
            if times is None:
                return None
            counts[sampler.label.text] = counts.get(sampler.label.text, 0.0) + times
        most = max([most, *counts.values()])
    return most


def may_stop(group: ThreadGroup) -> bool:
    """Whether a turn of the group's threads may end, or go on without a row, before its end."""
    stops = group.stops
    jumps = any(it.may_jump for it in group.samplers)
    return jumps or group.may_be_cached or bool(stops.flow or stops.scripts or stops.jumps)


def _times(sampler: Sampler) -> float | None:
    times = 1.0
    for each in sampler.controllers:
        if each.kind == LOOP and each.loops is not None and each.loops >= 0:
            times *= each.loops
        elif each.kind not in (*PLAIN_CONTROLLERS, *_DRAWN, ONCE):
            return None
    return times


def keep_together(elements: Iterable[etree._Element]) -> list[str]:
    """Have all threads keep together what each keeps to itself, where an arrival is one turn of a
    thread, or has a thread of its own: else each would begin anew. Returns a line for each element
    that was changed."""
    lines = []
    for each in (it for top in elements for it in top.iter(etree.Element)):
        kind, name = nodes.kind(each), each.get("testname", "")
        prop, of_a_thread, of_all = _OF_A_THREAD.get(kind, ("", (), ""))
        what = "counts for all arrivals together, not for each user"
        if kind == COUNTER and nodes.text(each, prop) in of_a_thread and _is_repeated(each):
            prop, of_a_thread, of_all = _RESET, ("", "false"), "true"
            what = "begins anew at each arrival"
        elif kind in (LOOP, ONCE):
            what = "runs at each arrival"
        if kind == ONCE:
            nodes.make_simple(each)
        elif prop and nodes.text(each, prop) in of_a_thread:
            _set(each, prop, of_all)
        elif each.text and _PER_USER.search(each.text):
            each.text = _PER_USER.sub(r"\1FALSE", each.text)
            kind, name = "the function", "__counter"
        else:
            continue
        lines.append(f"{kind} {name!r} {what}")
    return list(dict.fromkeys(lines))


def why_of_a_thread(element: etree._Element) -> str:
    """Why an element means nothing where each arrival is a user of its own, and what to do; empty
    where it does."""
    kind = nodes.kind(element)
    if kind == "ThroughputController" and nodes.text(element, _STYLE) in BY_NUMBER:
        return "it runs a number of times in all, and arrivals go on: choose Percent Executions"
    if kind == "WeightedSwitchController" and nodes.text(element, "isRandomChoice") != "true":
        return "it deals by the turns of one thread: give each of its requests a label and a weight"
    own = (it.text for it in element.iter() if it.text)
    if turns := next(filter(None, map(_COUNTS_TURNS.search, own)), None):
        return f"{turns[0]} counts the turns of one user, and an arrival is one: write a Counter"
    return ""


def share_of(controller: Element, expander: Expander) -> float | None:
    """In how many of its turns a controller runs each of its children; None where answers decide,
    or it is not known."""
    kind, props = controller.kind, controller.props
    if kind in PLAIN_CONTROLLERS or kind == "RandomOrderController":
        return 1.0
    if kind == "ThroughputController" and props.get(_STYLE, "") not in BY_NUMBER:
        percent = expander.number(props.get(_PERCENT, ""))
        return None if percent is None else min(1.0, max(0.0, percent / 100))
    if kind in ("InterleaveControl", "RandomController"):
        children = [it for it in controller.active if it.has_sampler]
        takes_whole = props.get("InterleaveControl.style") == "1"
        if all(it.is_sampler or (takes_whole and _runs(it)) for it in children):
            return 1 / max(1, len(children))
    return None


def _runs(element: Element) -> bool:
    """Whether each turn of it runs a sampler for certain."""
    plain = element.kind in PLAIN_CONTROLLERS
    return element.is_sampler or (plain and any(map(_runs, element.active)))


def _set(element: etree._Element, name: str, value: str) -> None:
    """A simple property, which may not be there."""
    prop = element.find(f"*[@name='{name}']")
    if prop is None:
        prop = etree.SubElement(element, "boolProp", name=name)
    prop.text = value


def _is_repeated(element: etree._Element) -> bool:
    """Whether it counts the turns of a loop within one of a thread."""
    around = (it.getprevious() for it in element.iterancestors("hashTree"))
    return any(it is not None and nodes.kind(it) in _REPEATS for it in around)
