"""How often turns of a thread reach a sampler, held to threads that take their turns one by one."""

import math
import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tollgate.plan.model import Controller, PlanLabel, Sampler
from tollgate.plan.turns import reached

COUNTED, OTHER = PlanLabel("counted"), PlanLabel("other")
NAMED = {"share": 1.0}
#: Kinds with what the plan says of each.
KINDS = (
    *(("GenericController", NAMED), ("CriticalSectionController", NAMED)),
    *(("RandomOrderController", NAMED), ("OnceOnlyController", {})),
    *(("LoopController", {"loops": loops, "share": 1.0}) for loops in (1, 2, 3)),
    *(("LoopController", {"loops": 0}), ("LoopController", {"loops": None})),
    *(("ThroughputController", {"share": share}) for share in (0.0, 0.25, 0.7, 1.0)),
    *(("ThroughputController", {}), ("IfController", {}), ("WhileController", {})),
    *(("InterleaveControl", {}), ("RandomController", {}), ("SwitchController", {})),
)
leaves = st.sampled_from([COUNTED, COUNTED, OTHER])
trees = st.recursive(
    leaves,
    lambda inside: st.tuples(st.sampled_from(KINDS), st.lists(inside, min_size=1, max_size=3)),
    max_leaves=6,
)


def flat(children, around=()):
    """The samplers of a tree of (kind, children), in the plan's order."""
    for child in children:
        if isinstance(child, PlanLabel):
            yield Sampler(child, "HTTPSamplerProxy", controllers=around)
        else:
            (kind, fields), inside = child
            yield from flat(inside, (*around, Controller(kind, kind, **fields)))


class Thread:
    """Takes turns as JMeter's controllers do; what answers decide is drawn."""

    def __init__(self, seed):
        self.random, self.sent, self.state = random.Random(seed), 0, {}

    def turns(self, children, number, path=()):
        for turn in range(number):
            for place, child in enumerate(children):
                self.take(child, (*path, place), is_first=turn == 0)

    def take(self, child, path, is_first):
        if isinstance(child, PlanLabel):
            self.sent += child is COUNTED
            return
        (kind, fields), inside = child
        each = partial(self.each, inside, path, is_first)
        if kind == "LoopController":
            loops = fields["loops"]
            self.turns(inside, self.random.randrange(4) if loops is None else loops, path)
        elif kind == "WhileController":
            self.turns(inside, self.random.randrange(4), path)
        elif kind == "ThroughputController" and "share" in fields:
            runs, turns = self.state.get(path, (0, 0))
            does = (100 * runs + 50) / (turns + 1) < 100 * fields["share"]
            self.state[path] = runs + does, turns + 1
            each(range(len(inside)) if does else ())
        elif kind in ("IfController", "ThroughputController"):
            each(range(len(inside)) if self.random.random() < 0.5 else ())
        elif kind == "InterleaveControl":
            place = self.state[path] = (self.state.get(path, -1) + 1) % len(inside)
            each([place])
        elif kind == "RandomController":
            each([self.random.randrange(len(inside))])
        elif kind == "SwitchController":
            each([*range(len(inside))][self.random.randrange(len(inside) + 1) :][:1])
        elif kind != "OnceOnlyController" or is_first:
            each(range(len(inside)))

    def each(self, inside, path, is_first, places):
        for place in places:
            self.take(inside[place], (*path, place), is_first)


@given(st.lists(trees, min_size=1, max_size=3), st.integers(1, 9), st.integers(0, 99))
def test_a_thread_keeps_to_the_bounds_whatever_its_controllers(tree, turns, seed):
    samplers = [*flat(tree)]
    counted = [it for it in samplers if it.label is COUNTED]
    thread = Thread(seed)
    thread.turns(tree, turns)
    least, most = reached(samplers, counted, turns)
    assert least <= thread.sent <= most


A, B = COUNTED, OTHER
EXACT = {
    "in a loop": ([(("LoopController", {"loops": 3}), [A, B])], (12, 12)),
    "once, beside another": ([(("OnceOnlyController", {}), [A]), A], (5, 5)),
    "once a loop": (
        [(("LoopController", {"loops": 3}), [(("OnceOnlyController", {}), [A])])],
        (4, 4),
    ),
    "one of two": ([(("InterleaveControl", {}), [A, A])], (4, 4)),
    "in three turns of four": ([(("ThroughputController", {"share": 0.75}), [A])], (3, 3)),
    "in no turn": ([(("LoopController", {"loops": 0}), [A])], (0, 0)),
    "on a condition": ([(("IfController", {}), [A])], (0, 4)),
    "as often as answers say": ([(("WhileController", {}), [A])], (0, math.inf)),
}


@pytest.mark.parametrize("how", EXACT)
def test_what_the_plan_says_of_four_turns_is_known(how):
    tree, times = EXACT[how]
    samplers = [*flat(tree)]
    assert reached(samplers, [it for it in samplers if it.label is A], 4) == times


def test_a_thread_without_an_end_reaches_what_it_is_sent_to_at_times_for_ever():
    samplers = [*flat([(("ThroughputController", {"share": 0.1}), [A])])]
    assert reached(samplers, samplers, math.inf) == (math.inf, math.inf)
    once = [*flat([(("OnceOnlyController", {}), [A])])]
    assert reached(once, once, math.inf) == (1, 1)
