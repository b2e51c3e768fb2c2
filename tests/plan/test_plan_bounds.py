import pytest

from support import jmx_text as jmx
from support.early_ends import CSV, flow, script
from tollgate.plan import bounds as plan_bounds
from tollgate.plan.jmx import read_tree
from tollgate.plan.read import expander_of, read_plan


@pytest.fixture
def bounds(tmp_path):
    """(what is endless, what ends by presumption only) of a plan of these elements."""

    def judge(*children):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children))
        root = read_tree(path, {})
        known = (read_plan(path, {}), root, expander_of(root, {}))
        found = list(plan_bounds.unbounded_groups(*known))
        presumed = [f"{line} unless {ends[0]} ends it" for line, ends in found if ends]
        return [line for line, ends in found if not ends], presumed

    return judge


def group(*children, name="all day", loops=-1, duration=None, **more):
    sampler = jmx.sampler("home")
    return jmx.group(sampler, *children, name=name, loops=loops, duration=duration, **more)


def loop(*children, kind="LoopController", **props):
    return jmx.element(kind, "again", children, **(props or {"LoopController__loops": "-1"}))


FOR_EVER = ["the thread group 'all day' loops for ever"]


def test_a_script_ends_a_group_only_if_it_says_so(bounds):
    assert bounds(group(script("vars.put('a', '1')"))) == (FOR_EVER, [])
    said = f"{FOR_EVER[0]} unless JSR223PostProcessor 'sign' ends it"
    assert bounds(group(script("ctx.getThread().stop()"))) == ([], [said])
    assert bounds(group(script("", filename="sign.groovy")))[0] == []
    file = {"BeanShellSampler__filename": "sign.bsh"}
    assert bounds(group(jmx.element("BeanShellSampler", "s", **file)))[0] == []


@pytest.mark.parametrize(
    "end",
    [flow(0), flow(2), jmx.element("CSVDataSet", "u", **CSV), script("prev.setStopThread(1)")],
)
def test_what_ends_the_threads_of_one_group_does_not_end_those_of_another(bounds, end):
    other = jmx.group(jmx.sampler("a"), end, name="other", duration=None)
    endless, (presumed,) = bounds(group(), other)
    assert endless == FOR_EVER
    assert presumed.startswith("the thread group 'other' ")


@pytest.mark.parametrize("end", [flow(2, target=2), script("prev.setStopTest(true)")])
def test_what_ends_the_test_ends_every_group(bounds, end):
    endless, presumed = bounds(group(), group(end, name="other", loops=1))
    assert (endless, len(presumed)) == ([], 1)


def test_what_stands_around_the_groups_applies_to_all_of_them(bounds):
    feed = jmx.element("CSVDataSet", "users", **CSV)
    endless, presumed = bounds(feed, group(name="a"), group(name="b"))
    assert (endless, len(presumed)) == ([], 2)


@pytest.mark.parametrize("loops", ["-1", "${__P(again,-1)}", "${again}"])
def test_an_infinite_loop_in_a_group_of_one_loop_is_endless(bounds, loops):
    inner = loop(jmx.sampler("a"), LoopController__loops=loops)
    variables = jmx.element("Arguments", "v", extra=jmx.arguments(again="-1"))
    said = ["the loop 'again' in the thread group 'all day' goes on for ever"]
    assert bounds(variables, group(inner, loops=1)) == (said, [])
    assert bounds(variables, group(inner, loops=1, duration=60)) == ([], [])


def test_a_group_whose_last_loop_is_followed_by_the_first_is_endless(bounds):
    props = {"LoopController__loops": 3, "LoopController__continue_forever": "true"}
    element = jmx.element("ThreadGroup", "all day", [jmx.sampler("a")], **props)
    assert bounds(element) == (FOR_EVER, [])


@pytest.mark.parametrize(("condition", "endless"), [("true", 1), ("${more}", 0)])
def test_a_while_that_is_always_true_is_endless(bounds, condition, endless):
    asks = loop(jmx.sampler("a"), kind="WhileController", WhileController__condition=condition)
    found, presumed = bounds(group(asks, loops=1))
    assert (len(found), presumed) == (endless, [])


def test_a_loop_that_something_breaks_or_times_is_not_endless(bounds):
    endless, presumed = bounds(group(loop(jmx.sampler("a"), flow(5)), loops=1))
    assert endless == []
    assert "unless TestAction 'enough' ends it" in presumed[0]
    timed = jmx.element("RunTime", "a minute", [loop(jmx.sampler("a"))], RunTime__seconds=60)
    assert bounds(group(timed, loops=1)) == ([], [])
    assert bounds(group(loop(), loops=1)) == ([], [])


def test_a_duration_that_only_the_run_knows_is_presumed(bounds):
    endless, (presumed,) = bounds(group(duration="${__time()}"))
    assert endless == []
    assert "unless its duration ends it" in presumed
