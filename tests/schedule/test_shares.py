"""Labels that are sent far more rarely than their place in the plan says, by what a simulation of
JMeter's controllers sends."""

import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import jmx_text as jmx
from support.early_ends import controller, loop, on_error
from tollgate.schedule.shares import off_their_share

TURNS = 400
#: Samplers are called by their place; a controller of a tree is (kind, number, children).
LEAF = st.just("sampler")
CERTAIN = st.one_of(LEAF, st.tuples(st.just("simple"), st.just(0), st.lists(LEAF, min_size=1)))
CHOOSING = st.tuples(
    st.sampled_from(["interleave", "random"]), st.just(0), st.lists(CERTAIN, min_size=1, max_size=5)
)


def around(inside):
    many = st.lists(inside, min_size=1, max_size=4)
    return st.one_of(
        st.tuples(st.sampled_from(["simple", "order"]), st.just(0), many),
        st.tuples(st.just("loop"), st.integers(1, 3), many),
        st.tuples(st.just("percent"), st.integers(20, 100), many),
    )


TREES = st.lists(st.recursive(st.one_of(LEAF, CHOOSING), around, max_leaves=12), max_size=5)


def named(tree, names):
    """The tree with a name for each sampler and controller."""
    name = f"n{next(names)}"
    if tree == "sampler":
        return ("sampler", name)
    kind, number, children = tree
    return (kind, name, number, [named(it, names) for it in children])


def text(node):
    kind, name, *rest = node
    if kind == "sampler":
        return jmx.sampler(name)
    number, children = rest
    inside = [text(it) for it in children]
    if kind == "loop":
        return loop(number, *inside)
    percent = f"<FloatProperty><name>ThroughputController.percentThroughput</name><value>{number}"
    return {
        "simple": lambda: jmx.simple(*inside, name=name),
        "order": lambda: jmx.element("RandomOrderController", name, inside),
        "random": lambda: jmx.element("RandomController", name, inside, **TAKES_WHOLE),
        "interleave": lambda: jmx.element("InterleaveControl", name, inside, **TAKES_WHOLE),
        "percent": lambda: jmx.element(
            *("ThroughputController", name, inside),
            extra=f"{percent}</value></FloatProperty>",
            ThroughputController__style="1",
            ThroughputController__perThread="true",
        ),
    }[kind]()


TAKES_WHOLE = {"InterleaveControl__style": "1"}


def run(node, state, draw):
    """What one turn of JMeter sends of a node. Source: its 5.6.3, decide() of a Throughput
    Controller."""
    kind, name, *rest = node
    if kind == "sampler":
        return [name]
    number, children = rest
    if kind in ("interleave", "random"):
        at = state[name] % len(children) if kind == "interleave" else draw.randrange(len(children))
        state[name] += 1
        children = [children[at]]
    if kind == "percent":
        state[name] += 1
        if not (100 * state[name, "ran"] + 50) / state[name] < number:
            return []
        state[name, "ran"] += 1
    times = number if kind == "loop" else 1
    return [it for _ in range(times) for child in children for it in run(child, state, draw)]


def sent(nodes, states, draw):
    """What TURNS turns send, each by a thread of its own choice among those with these states."""
    states = [Counter() for _ in range(states)]
    turns = (run(it, states[n % len(states)], draw) for n in range(TURNS) for it in nodes)
    return Counter(label for turn in turns for label in turn)


def loops_around(node, times=1):
    """(label, how often the loops around it send it in a turn)."""
    kind, name, *rest = node
    if kind == "sampler":
        return [(name, times)]
    number, children = rest
    times *= number if kind == "loop" else 1
    return [it for child in children for it in loops_around(child, times)]


def read(tmp_path, *children, group=jmx.group, **more):
    return jmx.read(tmp_path, group(*children, **more))


def accused(plan, counts, most_threads=5):
    lines = off_their_share(plan, counts, most_threads)
    return {re.match("'(n?.+?)' was sent", it)[1] for it in lines}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plans")


@settings(max_examples=30, derandomize=False, print_blob=True)
@given(trees=TREES, seed=st.integers(0, 2**32), threads=st.integers(1, 20))
def test_threads_that_go_on_send_each_label_its_share(folder, trees, seed, threads):
    nodes = [
        ("sampler", "first"),
        *(named(it, iter(range(i, 9**9, 9))) for i, it in enumerate(trees)),
    ]
    counts = sent(nodes, threads, random.Random(seed))
    plan = read(folder, *map(text, nodes), threads=threads)
    assert accused(plan, counts) == set()


@settings(max_examples=30, derandomize=False, print_blob=True)
@given(trees=TREES, seed=st.integers(0, 2**32))
def test_arrivals_that_each_begin_anew_are_told_what_they_never_send(folder, trees, seed):
    nodes = [
        ("sampler", "first"),
        *(named(it, iter(range(i, 9**9, 9))) for i, it in enumerate(trees)),
    ]
    draw = random.Random(seed)
    meant, counts = sent(nodes, 1, draw), sent(nodes, TURNS, draw)
    plan = read(folder, *map(text, nodes), group=jmx.open_group)
    loops = dict(it for node in nodes for it in loops_around(node))
    never = {label for label, n in meant.items() if n > 60 * loops[label] and not counts[label]}
    assert never <= accused(plan, counts)
    told = accused(plan, counts)
    assert not {it for it in told if 0.7 * meant[it] <= counts[it] <= meant[it]}


INTERLEAVE = jmx.element("InterleaveControl", "deal", [jmx.sampler("a"), jmx.sampler("b")])
FIRST = jmx.sampler("first")
ONE_SIDED = {"first": 400, "a": 400}


def test_the_line_names_the_label_its_part_and_what_to_do(tmp_path):
    (line,) = off_their_share(read(tmp_path, FIRST, INTERLEAVE, group=jmx.open_group), ONE_SIDED, 3)
    assert line == (
        "'b' was sent in 0 of 400 turns of the thread group 'arrivals', where its place asks for "
        "some 200: InterleaveControl 'deal' counts the turns of each thread by itself, and each "
        "has one alone: have it count for all threads"
    )


def test_a_sampler_that_never_runs_is_told_though_nothing_deals_it_out(tmp_path):
    plan = read(tmp_path, FIRST, jmx.sampler("b"))
    assert accused(plan, {"first": 400}) == {"b"}


def percent(number):
    return text(("percent", "deal", number, [("sampler", "b")]))


def test_a_percentage_of_which_each_thread_makes_all_is_told(tmp_path):
    plan = read(tmp_path, FIRST, percent(60), group=jmx.open_group)
    (line,) = off_their_share(plan, {"first": 400, "b": 400}, 3)
    assert line.startswith("'b' was sent in 400 of 400 turns")
    assert "asks for some 240: ThroughputController 'deal' counts the turns of each thread" in line
    assert accused(plan, {"first": 400, "b": 260}) == set()
    assert accused(plan, {"first": 12, "b": 12}) == set()


STOP = jmx.element("TestAction", "stop", ActionProcessor__action=0)
RENAMES = jmx.element("JSR223PostProcessor", "r", script="prev.setSampleLabel('x')")
NEXT = jmx.element("ResultAction", "next turn", OnError__action=4)
MAY_BE = {
    "behind what ends the turn of a failure": [jmx.sampler("first", NEXT), jmx.sampler("b")],
    "under a condition": [FIRST, controller("IfController", jmx.sampler("b"))],
    "one of a switch": [controller("SwitchController", FIRST, jmx.sampler("b"))],
    "renamed by a script": [FIRST, jmx.sampler("b", RENAMES)],
    "sent by another group as well": [FIRST, jmx.sampler("b"), jmx.sampler("b")],
    "behind what may end the turn": [FIRST, STOP, jmx.sampler("b")],
    "below a plugin's controller": [FIRST, controller("ParallelSampler", jmx.sampler("b"))],
    "behind a loop without an end": [FIRST, loop(-1, jmx.sampler("b"))],
    "in a Random Controller of conditions": [
        *(FIRST, controller("RandomController", controller("IfController", jmx.sampler("b"))))
    ],
}


@pytest.mark.parametrize("how", MAY_BE)
def test_what_may_have_a_reason_is_not_accused(tmp_path, how):
    assert accused(read(tmp_path, *MAY_BE[how]), {"first": 400}) == set()


def test_a_group_that_goes_to_its_next_turn_after_a_failure_is_not_accused(tmp_path):
    plan = read(tmp_path, FIRST, jmx.sampler("b"), **on_error("startnextloop"))
    assert accused(plan, {"first": 400}) == set()


def test_two_conditions_of_one_name_are_two(tmp_path):
    both = [controller("IfController", jmx.sampler(it)) for it in ("x", "y")]
    assert accused(read(tmp_path, FIRST, *both), {"first": 400, "x": 400}) == set()
