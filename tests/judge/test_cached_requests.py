"""An HTTP Cache Manager answers requests without a sample: what was to be sent can't be counted."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import jmx_text as jmx
from support import own_run
from support.early_ends import faults, sent, users
from tollgate.judge.ended_early import EarlyEnds
from tollgate.plan.lint import lint
from tollgate.plan.read import read_plan
from tollgate.schedule.schedule import schedules_of

CACHE = jmx.element("CacheManager", "cache", useExpires="true")
REVALIDATING = jmx.element("CacheManager", "cache", useExpires="false")
MODE = "cache_manager.cached_resource_mode"
PLACES = {
    "the test plan": lambda cache, home: ([cache], [home()]),
    "the thread group": lambda cache, home: ([], [cache, home()]),
    "a controller": lambda cache, home: (
        [],
        [jmx.element("GenericController", "in", [cache, home()])],
    ),
    "the request": lambda cache, home: ([], [home(cache)]),
}


def home(*children):
    return jmx.sampler("home", *children)


def reads(tmp_path, *groups, around=(), **properties):
    path = tmp_path / "plan.jmx"
    path.write_text(jmx.document(jmx.element("TestPlan", "plan", [*around, *groups])))
    return read_plan(path, properties)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    ("cache", "properties", "may_be"),
    [(CACHE, {}, True), (CACHE, {MODE: "RETURN_200_CACHE"}, False), (REVALIDATING, {}, False)],
)
def test_requests_are_cached_where_a_manager_is_in_force(
    tmp_path, where, cache, properties, may_be
):
    around, children = PLACES[where](cache, home)
    group = users(*children, jmx.element("JSR223Sampler", "script"))
    plan = reads(tmp_path, group, around=around, **properties)
    assert [it.may_be_cached for it in plan.groups[0].samplers] == [may_be, False]


def test_the_innermost_manager_wins(tmp_path):
    inner = jmx.element("GenericController", "in", [REVALIDATING, home()])
    plan = reads(tmp_path, users(CACHE, inner, home()))
    assert [it.may_be_cached for it in plan.groups[0].samplers] == [False, True]


combined = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@combined
@given(
    st.sampled_from(sorted(PLACES)),
    st.sampled_from(({"loops": 50, "duration": None}, {"loops": -1}, {"loops": 50})),
    st.integers(1, 40),
    st.sampled_from([None, {0: {"Thread is done": 2}}]),
)
def test_hits_without_samples_are_no_early_end(found, where, length, rows, log):
    around, children = PLACES[where](CACHE, home)
    group = users(*children, **length)
    seen = found(group, around=around, threads=[[sent(1, home=rows)] * 2], log=log)
    assert seen.faults == ()
    assert log is None or seen == EarlyEnds()


def test_a_cached_plan_that_is_broken_off_is_a_fault(found):
    log = {0: {"Stopping": 2}}
    group = users(CACHE, home(), loops=50, duration=None)
    assert faults(found(group, threads=[[sent(1, home=1)] * 2], log=log))


def test_a_timer_over_requests_that_leave_no_rows_is_no_schedule(tmp_path):
    plan = reads(tmp_path, users(CACHE, jmx.sampler("home", jmx.timer()), duration=10))
    labels, schedules = schedules_of(plan)
    assert isinstance(labels["home"], str)
    assert schedules == ()


@pytest.mark.parametrize(
    "timers", [(), (jmx.timer(throughput=500),)], ids=["as fast as it can", "timed"]
)
def test_a_run_with_a_cache_is_judged_by_what_was_sent(tmp_path, timers):
    group = users(CACHE, jmx.sampler("home", *timers), threads=1, duration=10)
    lines = own_run.rows("home", n=2000, seconds=4, thread="users 1-1")
    ends = {"users 1": {"Stopping because end time detected by thread": 1}}
    made = {"measured": 0.0, "thread_ends": ends}
    verdict = own_run.verdict_on(tmp_path, jmx.plan(group), lines, "fail>1%", **made)
    assert verdict.verdict == "PASS"


def test_a_remark_says_that_hits_leave_no_sample(tmp_path):
    reads(tmp_path, users(CACHE, home()))
    said = [line for line in lint(tmp_path / "plan.jmx", {}) if "Cache Manager 'cache'" in line]
    assert len(said) == 1
    assert MODE in said[0]
    reads(tmp_path, users(REVALIDATING, home()))
    assert not any("Cache Manager" in line for line in lint(tmp_path / "plan.jmx", {}))
