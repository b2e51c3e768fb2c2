"""How long the sessions of a plan last: whether each turn of a thread begins a user of its own, and
how many requests such a turn sends for certain. Pure.

Where it does, a turn may ask one service and the next turn another. Where cookies or variables
outlast the turn, whoever gave them has to be asked again: all that a thread sends goes together.
Source: JMeter's manual, Component Reference, "HTTP Cookie Manager", "Once Only Controller".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
from tollgate.plan.variables import set_by

ONCE = "OnceOnlyController"
COOKIES = "CookieManager"
#: Those that run what is in them once a turn at most, whatever is answered.
_DRAWN = ("InterleaveControl", "RandomController", "RandomOrderController", "ThroughputController")
#: How often these run what is in them may depend on answers.
ANSWERING = ("ForeachController", "IfController", "SwitchController", "WhileController")
#: What sets variables for a turn when that begins.
_FOR_A_TURN = ("CSVDataSet", "CounterConfig", "RandomVariableConfig", "UserParameters")
_READ = re.compile(r"""\$\{([^(){},$\\]+)\}|\bvars\s*\.\s*get(?:Object)?\s*\(\s*["'](.+?)["']""")
_FOR_A_TIME = "RunTime"
#: Turns of a loop within one of a thread that are a few.
MOST_LOOPS = 20
#: By which threads tell each other something.
_SHARED = re.compile(r"__setProperty\(|\bprops\s*\.\s*(?:put|setProperty)\s*\(")


def lasts(group: Element, around: Sequence[Element]) -> str:
    """What outlasts a turn of the group's threads, e.g. `CookieManager 'cookies'`; empty where each
    turn begins anew. around: elements of the plan beside its groups."""
    if group.kind == OPEN_MODEL:  # an arrival has a thread of its own
        return ""
    own = [*(it for each in around for it in each.walk()), *group.walk()]
    once = (it for it in own if it.kind == ONCE and any(each.is_sampler for each in it.walk()))
    kept = (it for it in own if it.kind == COOKIES and not _is_cleared(it, group))
    found = next(once, None) or next(kept, None)
    if found is not None:
        return found.title
    name = next(_carried(group), None)
    return f"the variable {name}" if name else ""


def _is_cleared(manager: Element, group: Element) -> bool:
    """Whether a turn of the group begins without cookies."""
    props = manager.props
    if props.get(f"{COOKIES}.controlledByThreadGroup") == "true":
        return group.props.get("ThreadGroup.same_user_on_next_iteration", "true") == "false"
    return props.get(f"{COOKIES}.clearEachIteration") == "true"


def _carried(group: Element) -> Iterator[str]:
    """Variables that a turn reads before it has set them, and sets for the next one."""
    elements = [it for it in group.walk() if it.kind not in _FOR_A_TURN]
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
    found = (it for it in root.walk() if any(_SHARED.search(text) for text in it.props.values()))
    return next(found, None)


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
        if group.on_sample_error != "continue" or _may_stop(group):
            return None
        counts: dict[str, float] = {}
        for sampler in (it for it in group.samplers if it.kind != FLOW_CONTROL):
            times = _times(sampler)
            if times is None:
                return None
            counts[sampler.label.text] = counts.get(sampler.label.text, 0.0) + times
        most = max([most, *counts.values()])
    return most


def _may_stop(group: ThreadGroup) -> bool:
    stops = group.stops
    jumps = any(it.kind == FLOW_CONTROL and it.all_pauses_ms == 0 for it in group.samplers)
    return jumps or group.may_be_cached or bool(stops.flow or stops.scripts or stops.jumps)


def _times(sampler: Sampler) -> float | None:
    found = 1.0
    for each in sampler.controllers:
        if each.kind == LOOP and each.loops is not None and each.loops >= 0:
            found *= each.loops
        elif each.kind not in (*PLAIN_CONTROLLERS, *_DRAWN, ONCE):
            return None
    return found
