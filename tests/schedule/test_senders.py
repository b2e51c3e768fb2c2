"""Thread groups known by the names of their threads."""

from functools import partial

import pytest

from support import jmx_text as jmx
from tollgate.schedule.threads import may_send, senders


@pytest.fixture
def plan(tmp_path):
    return partial(jmx.read, tmp_path)


def groups(*names, kind="ThreadGroup", enabled=True):
    return [jmx.group(jmx.sampler("a"), name=it, kind=kind, enabled=enabled) for it in names]


def of(plan, thread_group):
    return senders(plan, may_send(plan, "a"), thread_group)


def test_only_groups_with_a_sampler_of_that_label_may_have_sent_it(plan):
    silent = jmx.group(jmx.think(name="${it}"), name="silent")
    read = plan(silent, jmx.group(jmx.sampler("${x}")), *groups("A"), jmx.group(jmx.sampler("b")))
    assert may_send(read, "a") == [1, 2]
    assert may_send(read, "b") == [1, 3]


UP, DOWN = groups("up", "up", kind="SetupThreadGroup"), groups("down", kind="PostThreadGroup")
OFF, A_UP = groups("A", enabled=False), groups("A", kind="SetupThreadGroup")
A, AB, SPECIAL = groups("A"), groups("A", "B"), groups("A.*", "A (x)", "Axx")
ANYBODYS = {name: [0, 1] for name in ("", "A", "host-A 1", "somebody 1")}
#: Thread groups, and by the name of a thread's which of them it is, or may be.
NAMES = {
    "digits at the end": (groups("A", "A 1", "A-1"), {"A 1": [0], "A 1 2": [1], "A-1 3": [2]}),
    "characters of patterns": (SPECIAL, {"A.* 1": [0], "A (x) 2": [1], "Axx 3": [2]}),
    "one name twice, told by its number": ([*AB, *A], {"A 1": [0], "A 3": [2]}),
    "a disabled group, without a number": ([*OFF, *A, *A], {"A 1": [0], "A 2": [1]}),
    "groups that set up and tear down, numbered by themselves": (
        [*UP, *A, *DOWN, *A],
        {"up 1": [0], "up 2": [1], "A 1": [2], "down 1": [3], "A 2": [4]},
    ),
    "a group that sets up, under another's name": ([*A_UP, *A], {"A 1": [0, 1]}),
    "properties and variables": (groups("${__P(who,B)}", "${name}"), {"us 1": [0], "them 2": [1]}),
    "a name that only the running test knows, told by its number": (
        groups("at ${__time()}", "at noon"),
        {"at 1700 1": [0], "at noon 2": [1]},
    ),
    "a number that nobody expects": (AB, {"B 7": [1]}),
    "names that fit no group": (AB, ANYBODYS),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_thread_group_is_known_by_the_names_of_its_threads(plan, case):
    children, names = NAMES[case]
    read = plan(*children, properties={"who": "us"}, name="them")
    assert {name: of(read, name) for name in names} == names
