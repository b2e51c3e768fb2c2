"""Thread groups that ended in the time that their plan states, however that is known."""

import pytest

from support import jmx_text as jmx
from support.early_ends import (
    BOTH,
    CSV,
    HOME,
    case,
    controller,
    faults,
    loop,
    looping,
    on_error,
    plugin,
    script,
    sent,
    users,
)
from support.plan_files import PLAN_FILES, id_of
from tollgate.judge.ended_early import EarlyEnds, SampledThreads, Thread, early_ends
from tollgate.plan.read import read_plan


def parent(name, *children):
    props = {"TransactionController__parent": "true"}
    return jmx.element("TransactionController", name, children, **props)


IN_TIME = {
    "at its end": case(users(), threads=[[sent(60.0), sent(59.2)]]),
    "beyond it, with a slow last answer": case(users(), threads=[[sent(75.0), sent(60.0)]]),
    "in its last pause": case(
        users(HOME, jmx.constant_timer(8000), jmx.think(ms=4000)), threads=[[sent(40), sent(41)]]
    ),
    "after its delay": case(users(ThreadGroup__delay=5), threads=[[sent(64.5), sent(64.5)]]),
    "paced, as seen": case(
        users(jmx.sampler("home", jmx.element("ConstantThroughputTimer", "pace"))),
        threads=[[sent(50), sent(45)]],
        gaps=lambda: {0: 5.0},
    ),
    "silent for longer before": case(
        users(), threads=[[sent(50), sent(51)]], gaps=lambda: {0: 4.0}
    ),
    "its loops before its duration": case(users(loops=9), threads=[[sent(14), sent(14)]]),
    "its loops": case(looping(loops=9), threads=[[sent(14), sent(14)]]),
    "loops in loops": case(
        looping(loop(3, HOME, loop(2, jmx.sampler("pay"))), loops=2),
        threads=[[sent(3, home=6, pay=12), sent(3, home=6, pay=13)]],
    ),
    "the next loop after an error": case(
        looping(loop(3, jmx.sampler("in"), HOME), loops=4, **on_error("startnextloop")),
        threads=[[Thread({"in": 4}, 3), Thread({"in": 5, "home": 1}, 3)]],
        failed=["in"],
    ),
    "a script that jumps": case(
        looping(loop(3, HOME, script("ctx.setTestLogicalAction(x)")), loops=9)
    ),
    "a script in a file": case(looping(loop(3, HOME, script("", filename="a.groovy")), loops=9)),
    "labels that a script has changed": case(
        looping(loops=9), threads=[[sent(9, other=9), sent(9, o=9)]]
    ),
    "parent samples": case(
        looping(
            controller("TransactionController", HOME, HOME, TransactionController__parent="true"),
            loops=4,
        ),
        threads=[[sent(9, around=4), sent(9, around=4)]],
    ),
    "parent samples of many names": case(
        looping(parent("order ${__counter(FALSE)}", HOME, parent("pay ${n}", HOME)), loops=2),
        threads=[
            [sent(9, **{"order 1": 1, "order 2": 1}), sent(9, **{"order 3": 1, "order 4": 1})]
        ],
    ),
    "STOP_AFTER": case(users(), threads=[[sent(25), sent(24.5)]], until_s=25.0),
    "STOP_AFTER in its loops": case(looping(), threads=[[sent(25), sent(24.5)]], until_s=25.0),
    "STOP_AFTER before its start": case(
        users(ThreadGroup__delay=30), threads=[[]], whole=sent(25), until_s=25.0
    ),
    "a thread that had no time to start": case(
        users(threads=3, ThreadGroup__ramp_time=88), threads=[[sent(60), sent(60)]]
    ),
    "no sample, of which others tell": case(users(), threads=[[]], whole=sent(25)),
    "a thread group of a plugin, of unknown length": case(
        users(kind="kg.apc.jmeter.threads.SteppingThreadGroup")
    ),
    "a thread group of a plugin": case(plugin(), threads=[[sent(59.5)]], ended_s=61.0),
    "a plugin's last arrival": case(
        plugin(kind="Arrivals"), threads=[[sent(40)]], whole=sent(60), ended_s=61.0
    ),
    "for ever, until STOP_AFTER": case(
        looping(loops=-1), threads=[[sent(25), sent(24)]], until_s=25.0
    ),
    "for ever, until a script ends it": case(
        looping(HOME, script("ctx.getThread().stop()"), loops=-1), failed=["home"]
    ),
    "for ever, until its file ends": case(
        looping(HOME, jmx.element("CSVDataSet", "accounts", **CSV), loops=-1)
    ),
    "a duration that nobody knows": case(users(duration="${__time()}")),
    "loops that nobody knows": case(users(loops="${__time()}")),
    "nothing certain in its loops": case(looping(controller("IfController", HOME))),
    "a schedule, which says what is missing": case(
        users(jmx.sampler("home", jmx.timer(duration=60)), duration=60)
    ),
    "arrivals": case(jmx.open_group(HOME, name="users")),
    "an arrival that an error ends": case(
        jmx.open_group(HOME, name="users", seed=0, **on_error("stopthread")), failed=["home"]
    ),
}


@pytest.mark.parametrize("how", IN_TIME)
def test_a_group_that_ended_in_time_is_not_accused(found, how):
    group, _, came = IN_TIME[how]
    assert found(group, **came) == EarlyEnds()


def test_a_pause_of_unknown_length_counts_as_three_of_the_longest_seen(found):
    group = users(HOME, jmx.think(ms="${__Random(1,9000)}"))
    seen = {"gaps": lambda: {0: 10.0}}
    assert found(group, threads=[[sent(29.1), sent(29.1)]], **seen) == EarlyEnds()
    assert faults(found(group, threads=[[sent(28.9), sent(29.1)]], **seen))
    assert found(group, threads=[BOTH]) == EarlyEnds()


def test_groups_that_others_wait_for_begin_their_time_later(found):
    setup = jmx.group(jmx.sampler("in"), kind="SetupThreadGroup", name="up", loops=1, threads=1)
    last = jmx.group(jmx.sampler("out"), kind="PostThreadGroup", name="down", threads=1)
    up = [Thread({"in": 1}, 20.0)]
    down = [Thread({"out": 3}, 89.5)]
    in_time = [[sent(80.0), sent(79.5)], up, down]
    assert found(users(), setup, last, threads=in_time) == EarlyEnds()
    early = [[sent(60.0), sent(60.0)], up, [Thread({"out": 3}, 69.5)]]
    ((_, line),) = faults(found(users(), setup, last, threads=early))
    assert "'users' ended after 40 s of the 60 s" in line


def test_groups_in_a_row_each_have_their_time(found):
    serial = '<boolProp name="TestPlan.serialize_threadgroups">true</boolProp>'
    then = jmx.group(jmx.sampler("pay"), name="then", threads=1, duration=10)
    plan = (users(), then)
    assert found(*plan, threads=[[sent(60), sent(60)], [sent(69.4, pay=3)]], extra=serial) == (
        EarlyEnds()
    )
    stopped = [[sent(60), sent(60)], [sent(65, pay=3)]]
    ((_, line),) = faults(found(*plan, threads=stopped, extra=serial))
    assert "'then' ended after 5 s of the 10 s" in line
    assert found(*plan, threads=stopped) == EarlyEnds()


def test_where_the_start_is_a_guess_the_first_pause_counts_too(found):
    group = users(HOME, jmx.constant_timer(3000), ThreadGroup__delay=2)
    guessed = {"start_is_known": False, "ended_s": 20.0}
    assert found(group, threads=[[sent(54), sent(54)]], **guessed) == EarlyEnds()
    assert faults(found(group, threads=[[sent(52), sent(52)]], **guessed))


@pytest.mark.parametrize("path", PLAN_FILES, ids=id_of)
def test_the_plans_of_this_repository_are_never_accused(path):
    plan = read_plan(path, {})
    came = SampledThreads(Thread(dict.fromkeys(plan.labels, 9), 14.0))
    assert early_ends(plan, came) == EarlyEnds()
