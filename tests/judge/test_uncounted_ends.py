"""Thread groups whose samples no plan can count: JMeter's log says how their threads ended."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import jmx_text as jmx
from support import own_run
from support.early_ends import CSV, HOME, doubt, faults, flow, looping, on_error, sent, users
from tollgate.judge.ended_early import EarlyEnds

#: All that JMeter has, and one of a plugin.
CONTROLLERS = (
    *("GenericController", "LoopController", "OnceOnlyController", "InterleaveControl"),
    *("RandomController", "RandomOrderController", "ThroughputController", "RunTime"),
    *("IfController", "WhileController", "SwitchController", "ForeachController"),
    *("TransactionController", "CriticalSectionController", "RecordingController"),
    "com.blazemeter.jmeter.control.WeightedSwitchController",
)
OWN = ("Thread is done", "Stopping because end time detected by thread")
BROKEN = (
    *("Stopping", "Stop Thread detected by thread", "Stop Test Now detected by thread"),
    *("Shutdown Test detected by thread", "Stop Thread seen for thread", "Uncaught exception"),
    *("Test failed", "Thread started"),
)
FEW = [sent(3, home=6), sent(3, home=6)]


def nested(controllers):
    inside = HOME
    for kind in controllers:
        inside = jmx.element(kind, "around", [inside, jmx.sampler("pay")])
    return inside


LENGTHS = ({"loops": 400, "duration": None}, {"loops": -1, "duration": 60})
combined = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@combined
@given(
    st.lists(st.sampled_from(CONTROLLERS), min_size=1, max_size=4),
    st.sampled_from(BROKEN),
    st.integers(0, 1),
    st.sampled_from(LENGTHS),
)
def test_whatever_the_controllers_a_thread_that_was_stopped_is_a_fault(
    found, kinds, words, own, length
):
    log = {0: {words: 1, OWN[0]: own}}
    ((by_service, line),) = faults(found(users(nested(kinds), **length), threads=[FEW], log=log))
    assert not by_service
    assert f"the last that JMeter logged of them is {words!r}" in line


@combined
@given(
    st.lists(st.sampled_from(CONTROLLERS), min_size=1, max_size=4),
    st.sampled_from(OWN),
    st.sampled_from(LENGTHS),
)
def test_whatever_the_controllers_threads_that_ended_by_themselves_are_not_accused(
    found, kinds, words, length
):
    group = users(nested(kinds), **length)
    assert found(group, threads=[FEW], log={0: {words: 2}}) == EarlyEnds()


def at_random(*children, **changes):
    return looping(jmx.element("RandomOrderController", "any", [HOME]), *children, **changes)


def test_a_timer_that_would_wait_beyond_the_duration_ends_a_thread_without_a_word(found):
    log = {0: {"Thread finished": 2}}
    assert found(users(nested(CONTROLLERS[5:6])), threads=[FEW], log=log) == EarlyEnds()
    assert faults(found(at_random(), threads=[FEW], log=log))


def test_threads_that_tollgate_itself_ends_are_not_accused(found):
    log = {0: {"Thread started": 2}}
    assert found(at_random(), threads=[FEW], log=log, until_s=4.0) == EarlyEnds()
    assert faults(found(at_random(), threads=[FEW], log=log | {0: {"Stopping": 1}}, until_s=4.0))


def test_what_the_plan_ends_by_itself_is_told_and_only_that(found):
    feed = jmx.element("CSVDataSet", "accounts", **CSV)
    seen, stopped = {0: {"Stop Thread seen for thread": 2}}, {0: {"Stopping": 2}}
    assert "CSVDataSet 'accounts' may" in doubt(found(at_random(feed), threads=[FEW], log=seen))
    assert faults(found(at_random(feed), threads=[FEW], log=stopped))
    assert "TestAction 'enough' may" in doubt(found(at_random(flow(0)), threads=[FEW], log=stopped))
    assert faults(found(at_random(flow(0)), threads=[FEW], log=seen))


def test_an_action_after_an_error_is_the_services(found):
    group = at_random(**on_error("stoptest"))
    log = {0: {"Shutdown Test detected by thread": 1, "Stopping": 1}}
    ((by_service, line),) = faults(found(group, threads=[FEW], log=log, failed=["home"]))
    assert (by_service, "after a sampler error stops the test" in line) == (True, True)


def test_a_log_without_threads_leaves_unknown_what_can_not_be_counted(found):
    ((_, line),) = faults(found(at_random(), threads=[FEW], log={}))
    assert "org.apache.jmeter.threads.JMeterThread" in line
    assert found(at_random(), threads=[FEW], log=None) == EarlyEnds()
    counted = looping(loops=6)
    assert found(counted, threads=[FEW], log={}) == EarlyEnds()


@pytest.mark.parametrize("name", ["users", "K\u00e4ufer \u20ac"])
@pytest.mark.parametrize(("words", "verdict"), [(OWN[0], "PASS"), ("Stopping", "INVALID")])
def test_a_run_is_judged_by_how_its_log_says_that_threads_ended(tmp_path, name, words, verdict):
    plan = jmx.plan(at_random().replace('"users"', f'"{name}"'))
    lines = own_run.rows("home", n=2000, seconds=14, thread=f"{name} 1-1")
    logged = {name.replace("\u00e4", "?").replace("\u20ac", "\ufffd") + " 1": {words: 2}}
    changes = {"measured": 0.0, "thread_ends": logged}
    assert own_run.verdict_on(tmp_path, plan, lines, "fail>1%", **changes).verdict == verdict
