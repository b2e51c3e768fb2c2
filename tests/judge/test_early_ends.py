"""Thread groups that ended before the time that their plan states, and why."""

import pytest

from support import jmx_text as jmx
from support.early_ends import (
    BOTH,
    CSV,
    HOME,
    case,
    controller,
    doubt,
    faults,
    flow,
    loop,
    looping,
    on_error,
    plugin,
    script,
    sent,
    users,
)
from tollgate.judge.ended_early import OWN_ENDS


def test_what_stops_a_test_after_a_sampler_error_is_told_with_its_time(found):
    ended = found(users(**on_error("stoptest")), threads=[BOTH], failed=["home"])
    assert faults(ended) == [
        (
            True,
            "the thread group 'users' ended after 14.2 s of the 60 s that the plan says: its "
            "action after a sampler error stops the test; see jmeter.log",
        )
    ]


CAUSES = {
    "stop now": (on_error("stoptestnow"), (), ["home"], True, "stops the test at once"),
    "stop the thread": (on_error("stopthread"), (), ["home"], True, "stops the thread"),
    "no error": (on_error("stoptest"), (), [], False, "that the plan says; see jmeter.log"),
    "goes on": ({}, (), ["home"], False, "that the plan says; see jmeter.log"),
    "a script": ({}, (script("ctx.getEngine().stopTest()"),), [], False, "plan says; see"),
    "an action": ({}, (flow(0, target=2),), ["home"], True, "TestAction 'enough' may"),
}


@pytest.mark.parametrize("how", CAUSES)
def test_the_cause_is_named_where_the_plan_shows_it(found, how):
    changes, children, failed, by_service, words = CAUSES[how]
    group = users(HOME, *children, **changes)
    ((whose, line),) = faults(found(group, threads=[BOTH], failed=failed))
    assert (whose, words in line) == (by_service, True)


def test_another_groups_error_may_stop_the_test(found):
    other = jmx.group(jmx.sampler("pay"), name="buyers", loops=1, duration=None, threads=1)
    stopping = other.replace("</ThreadGroup>", _property("on_sample_error", "stoptest"))
    threads = [BOTH, [sent(14.2, pay=1)]]
    ((by_service, line),) = faults(found(users(), stopping, threads=threads, failed=["pay"]))
    assert by_service
    assert "the action of 'buyers' after a sampler error stops the test" in line


def _property(name, value):
    return f'<stringProp name="ThreadGroup.{name}">{value}</stringProp></ThreadGroup>'


def test_an_action_of_the_plan_is_blamed_on_failures_of_its_own_group_alone(found):
    def ended(*groups, failed):
        return found(*groups, threads=[BOTH, [sent(14.2, pay=1)]], failed=failed)

    buyers = {"name": "buyers", "loops": 1, "duration": None, "threads": 1}
    pay = jmx.group(jmx.sampler("pay"), **buyers)
    own = users(HOME, flow(0))
    assert "TestAction 'enough' may have ended it" in doubt(ended(own, pay, failed=["pay"]))
    ((by_service, line),) = faults(ended(own, pay, failed=["home"]))
    assert (by_service, "may have stopped it, and requests failed" in line) == (True, True)
    everybody = jmx.group(jmx.sampler("pay"), flow(0, target=2), **buyers)
    assert faults(ended(users(), everybody, failed=["pay"]))[0][0]
    assert "may have ended it" in ended(users(), everybody, failed=["home"]).doubts[0]


def test_failures_that_a_script_renames_may_be_those_that_an_action_stops_by(found):
    own = users(HOME, script("prev.setSampleLabel('x')"), flow(0))
    ((by_service, _),) = faults(found(own, threads=[BOTH], failed=["x"]))
    assert by_service


EARLY = {
    "a plugin's, stopped by an error": case(
        plugin(**on_error("stoptest")),
        "ended after 14.2 s of the 60 s that the plan says: its action after a sampler error stops",
        threads=[[sent(14.2)]],
        failed=["home"],
        ended_s=15.0,
    ),
    "a plugin's arrivals, by nobody knows what": case(
        plugin(kind="Arrivals"),
        "ended after 14.2 s of the 60 s that the plan says; see jmeter.log",
        threads=[[sent(14.2)]],
        ended_s=15.0,
    ),
    "a plugin's, and others went on": case(
        plugin(), "ended after 14.2 s of the 60 s", threads=[[sent(14.2)]], ended_s=90.0
    ),
    "a plugin's of unknown length, met by errors": case(
        plugin(kind="Stepping", **on_error("stoptest")),
        "met sampler errors, after which it stops the test",
        threads=[[sent(14.2)]],
        failed=["home"],
    ),
    "before its last pause": case(
        users(HOME, jmx.constant_timer(8000), jmx.think(ms=4000)),
        "ended after 38 s of the 60 s",
        threads=[[sent(38), sent(38)]],
    ),
    "before its delay and duration": case(
        users(ThreadGroup__delay=5), "ended after 55 s of the 60 s", threads=[[sent(50), sent(60)]]
    ),
    "longer than any pause that was seen": case(
        users(jmx.sampler("home", jmx.element("ConstantThroughputTimer", "pace"))),
        "ended after 25 s of the 60 s",
        threads=[[sent(20), sent(25)]],
        gaps=lambda: {0: 5.0},
    ),
    "one thread of two": case(
        users(), "1 of 2 threads of the thread", threads=[[sent(60), sent(14)]]
    ),
    "a thread that never sent": case(users(), "1 of 2 threads of the thread", threads=[[sent(60)]]),
    "in its loops": case(looping(), "ended early, with 18 of 40 samples of 'home'"),
    "one thread of two, in its loops": case(
        looping(),
        "1 of 2 threads of the thread group 'users' ended early, with 6 of 20 samples of 'home'",
        threads=[[sent(30, home=20), sent(14, home=6)]],
    ),
    "its one loop, at the first of its samplers": case(
        looping(HOME, jmx.sampler("pay"), loops=1, **on_error("stoptest")),
        "ended early, with 0 of 2 samples of 'pay'",
        threads=[[sent(1, home=1), sent(1, home=1)]],
    ),
    "in its loops, of parent samples of many names": case(
        looping(
            jmx.element(
                "TransactionController", "order ${n}", [HOME], TransactionController__parent="true"
            )
        ),
        "ended early, with 21 of 40 samples of 'order ${n}'",
        threads=[[sent(14, **{"order 1": 1, "order 2": 1}), sent(14, **{"order 3": 19})]],
    ),
    "in an endless loop in it": case(users(loop(-1, HOME), loops=1), "after 14.2 s of"),
    "in its loops, before its duration": case(users(loops=20), "after 14.2 s of the 60 s"),
    "before STOP_AFTER": case(
        users(), "ended after 14.2 s of the 25 s that the load lasted", until_s=25.0
    ),
    "in its loops, before STOP_AFTER": case(looping(), "of the 25 s that", until_s=25.0),
    "JMeter was gone before its pause was over": case(
        users(HOME, jmx.think(ms=50_000)),
        "ended after 14 s of the 60 s",
        threads=[[sent(14), sent(14)]],
        ended_s=15.0,
    ),
    "JMeter was gone, whatever it sends": case(
        users(controller("RandomController", HOME)), "ended after 14.2 s of the 60 s", ended_s=15.0
    ),
    "for ever, and nothing in the plan ends it": case(
        looping(loops=-1), "the plan says that it goes on for ever; see"
    ),
    "for ever, and an error stops it": case(
        looping(HOME, jmx.element("CSVDataSet", "all", **CSV), loops=-1, **on_error("stoptest")),
        "it goes on for ever: its action after a sampler error stops the test",
        failed=["home"],
    ),
    "for ever, before STOP_AFTER": case(looping(loops=-1), "of the 25 s", until_s=25.0),
    "by an error, and nothing certain in its loops": case(
        looping(controller("IfController", HOME), **on_error("stoptest")),
        "met sampler errors, after which it stops the test: what is missing is not known",
        failed=["home"],
    ),
    "setting up": case(users(kind="SetupThreadGroup"), "after 14.2 s of the 60 s"),
    "tearing down": case(looping(kind="PostThreadGroup"), "18 of 40 samples of 'home'"),
    "nobody knows whose samples they are": case(
        users(), "ended after 14 s of the 60 s", threads=None, whole=sent(14.0)
    ),
    "nobody knows whose loops they are": case(
        looping(),
        "ended early, with 39 of 40 samples of 'home'",
        threads=None,
        whole=sent(14.0, home=39),
    ),
}


@pytest.mark.parametrize("how", EARLY)
def test_a_group_that_ended_early_is_a_fault(found, how):
    group, words, came = EARLY[how]
    ((_, line),) = faults(found(group, **came))
    assert words in line
    assert line.endswith("see jmeter.log")


NOT_SURE = {
    "a file that came to its end": case(
        users(), around=(jmx.element("CSVDataSet", "accounts", **CSV),)
    ),
    "a file in the group": case(users(HOME, jmx.element("CSVDataSet", "accounts", **CSV))),
    "an action that ends a thread": case(users(HOME, flow(0))),
    "an action that breaks a loop": case(looping(HOME, flow(5))),
    "a timer of a plugin": case(
        users(jmx.sampler("home", jmx.element("kg.apc.VariableThroughputTimer", "shape"))),
        gaps=lambda: {0: 1.0},
    ),
    "what it sends on conditions": case(users(controller("IfController", HOME))),
    "its loop is of conditions": case(
        users(HOME, controller("WhileController", controller("IfController", HOME)))
    ),
    "threads that wait for each other": case(users(controller("CriticalSectionController", HOME))),
    "samples that a script may ignore": case(users(HOME, script("prev.setIgnore()"))),
}


@pytest.mark.parametrize("how", NOT_SURE)
def test_where_the_plan_may_have_a_reason_it_is_only_told(found, how):
    group, _, came = NOT_SURE[how]
    line = doubt(found(group, **came))
    assert line.startswith("the thread group 'users' ended ")


def test_a_file_that_came_to_its_end_is_no_excuse_where_an_error_stops_the_test(found):
    feed = jmx.element("CSVDataSet", "accounts", **CSV)
    group = users(HOME, feed, **on_error("stoptest"))
    assert "CSVDataSet 'accounts'" in doubt(found(group, threads=[BOTH]))
    ((by_service, _),) = faults(found(group, threads=[BOTH], failed=["home"]))
    assert by_service
    again = jmx.element("CSVDataSet", "accounts", stopThread="true", recycle="true")
    assert faults(found(users(HOME, again), threads=[BOTH]))


def test_of_threads_that_the_log_has_as_stopped_no_pause_explains_the_silence(found):
    log = {0: {"Stop Thread detected by thread": 1, OWN_ENDS[1]: 1}}
    group = users(duration=6, **on_error("stopthread"))
    came = {"threads": [[sent(1.0), sent(6.0)]], "failed": ["home"], "log": log}
    ((by_service, line),) = faults(found(group, gaps=lambda: {0: 2.0}, **came))
    stopped = "1 of 2 threads of the thread group 'users' were stopped: its action after a sampler"
    assert (by_service, line.startswith(f"{stopped} error stops the thread;")) == (True, True)
    ((_, line),) = faults(found(group, gaps=lambda: {0: 0.1}, **came))
    assert "'users' ended after 1 s of the 6 s that the plan says: its action after" in line
