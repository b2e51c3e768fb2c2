"""A user's plan that reads its rate from a property, as a search for capacity sends it."""

import pytest

import support
from support import jmx_text as jmx
from support.plan_files import read
from tollgate.capacity import iterations
from tollgate.capacity.iterations import LONGEST, write_by_arrivals
from tollgate.plan.jmx import PlanError, read_tree
from tollgate.plan.read import read_plan

OURS = ("nothing", "end")
RATE = "${__P(rate,5)}"


def pace(name="pace", **more):
    return jmx.timer(name, throughput=RATE, **more)


A = jmx.sampler("a", pace())


@pytest.fixture
def copied(tmp_path):
    """(the pass, the copy's elements, the copy read as a plan) of a plan of these elements."""

    def copy_of(*children):
        path, copy = tmp_path / "shop.jmx", tmp_path / "run" / "shop.jmx"
        copy.parent.mkdir()
        path.write_text(before := jmx.plan(*children))
        found = write_by_arrivals(path, "rate", copy, {}, OURS)
        assert path.read_text() == before
        return found, read_tree(copy, {}), read_plan(copy, {})

    return copy_of


def test_the_package_has_what_the_plan_for_targets_has_but_for_the_targets():
    def group_of(path, left_out=()):
        (group,) = (it for it in read(path).walk() if it.kind == "ThreadGroup")
        return [(it.kind, it.name, it.props) for it in group.walk() if it.kind not in left_out]

    plan = group_of(support.PLANS / "capacity.jmx", ("IncludeController",))
    assert group_of(iterations.OURS) == plan


def samplers_of(plan, name):
    return [it for group in plan.groups for it in group.samplers if it.hidden_by == name]


def named(root, name):
    return [it for it in root.walk() if it.name == name]


def test_a_pass_is_what_a_thread_does_once_without_what_paced_it(copied):
    thinks = {"ConstantTimer__delay": 100, "RandomTimer__range": 50}
    second = jmx.sampler("b", jmx.element("UniformRandomTimer", "thinks", **thinks))
    found, root, plan = copied(jmx.group(A, second, jmx.think(ms=350)))
    assert [it.label.text for it in samplers_of(plan, "visitors")] == ["a", "b", "think"]
    assert (found.name, found.requests, found.pause_s) == ("visitors", 2, 0.5)
    assert not [it for it in root.walk() if "Throughput" in it.kind]
    assert [it.name for it in root.thread_groups] == ["capacity"]


def test_nothing_waits_within_a_pass_for_the_arrival_and_a_server_gets_as_much_for_nothing(copied):
    _, _, plan = copied(jmx.group(A, jmx.sampler("b"), jmx.sampler("c")))
    assert samplers_of(plan, "visitors")[0].timers == ()
    (waits,) = (it for it in plan.groups[0].samplers if it.label.text == "when it is due")
    assert [it.name for it in waits.timers] == ["until it is due"]
    assert [it.label.text for it in samplers_of(plan, "nothing")] == ["nothing"] * 3


def test_what_stands_above_the_group_is_in_force_for_the_pass_alone(copied):
    users = jmx.element("CSVDataSet", "users", variableNames="user")
    _, root, _ = copied(users, jmx.element("ResponseAssertion", "right"), jmx.group(A))
    assert [it.kind for it in root.children] == ["ThreadGroup"]
    (outer,) = named(root, "visitors")[0].children  # what is right below would judge its row too
    kinds = ["CSVDataSet", "ResponseAssertion", "GenericController"]
    assert [it.kind for it in outer.children] == kinds


def test_the_rate_of_a_schedule_is_left_out_with_the_schedule(copied):
    schedule = f"rate({RATE}/s) random_arrivals(10 s)"
    once = jmx.element("OnceOnlyController", "log in", [jmx.sampler("a")])
    _, root, _ = copied(jmx.open_group(once, schedule=schedule))
    (group,) = root.thread_groups
    assert group.props["ThreadGroup.same_user_on_next_iteration"] == "false"
    assert [it.kind for it in named(root, "log in")] == ["GenericController"]


def test_a_plugins_group_gives_its_content_too(copied):
    found, *_ = copied(jmx.plugin_group(jmx.sampler("a"), kind="Arrivals", TargetLevel=RATE))
    assert (found.name, found.requests) == ("visitors", 1)


@pytest.mark.parametrize(
    ("written", "ends"), [("continue", "continue"), ("stopthread", "startnextloop")]
)
def test_an_error_ends_the_pass_where_it_ended_a_turn(copied, written, ends):
    _, root, _ = copied(jmx.group(A, ThreadGroup__on_sample_error=written))
    assert root.thread_groups[0].props["ThreadGroup.on_sample_error"] == ends


def test_what_goes_before_the_load_stays_with_what_is_in_force_for_it(copied):
    setup = {"kind": "SetupThreadGroup", "name": "before", "loops": 1}
    first = jmx.group(jmx.sampler("log in"), **setup)
    _, root, _ = copied(jmx.element("HeaderManager", "headers"), first, jmx.group(A))
    before = next(it for it in root.children if it.name == "before")
    assert [it.name for it in before.children] == ["headers", "own"]
    assert len(named(root, "headers")) == 2


def test_what_is_included_is_read_beside_the_original(copied, tmp_path):
    inner = jmx.plan(jmx.fragment(jmx.sampler("inner", pace())))
    (tmp_path / "inner.jmx").write_text(inner)
    found, _, plan = copied(jmx.group(jmx.include("inner.jmx")))
    assert [it.label.text for it in samplers_of(plan, found.name)] == ["inner"]


def test_a_pass_lasts_as_long_as_its_timeouts_and_pauses(copied):
    slow = {"HTTPSampler__response_timeout": 3000}
    inner = [jmx.sampler("a", jmx.constant_timer(1000), **slow)]
    loop = jmx.element("LoopController", "twice", inner, LoopController__loops=2)
    found, _, _ = copied(jmx.group(loop, jmx.sampler("b", pace(), **slow)))
    assert (found.pause_s, found.longest_s) == (2.0, 11.0)


@pytest.mark.parametrize(
    "name", ["end", "Nothing", "7", "Kunden, die schauen: über vierzig Zeichen", "${x}", ""]
)
def test_a_group_of_any_name_has_one_that_a_row_of_arrivals_can_hold(copied, name):
    found, root, _ = copied(jmx.group(A, name=name))
    assert found.name.isascii()
    assert len(found.name) <= LONGEST
    assert not set(found.name) & set(',"$')
    assert not found.name.isdigit()
    assert found.name.lower() not in OURS
    assert [it.kind for it in named(root, found.name)][:1] == ["TransactionController"]


VISIT = jmx.group(A, name="visit")
FOR_EVER = jmx.element("LoopController", "on", [A], LoopController__loops=-1)


@pytest.mark.parametrize(
    ("children", "names"),
    [
        ([jmx.group(jmx.sampler("a", jmx.timer()))], ["'rate'", "__P(rate"]),
        ([jmx.group(A, enabled=False)], ["'rate'"]),
        ([jmx.group(jmx.sampler("a", pace(enabled=False)))], ["'rate'"]),
        ([jmx.group(jmx.sampler("a"), threads=RATE)], ["'rate'"]),
        ([pace(), jmx.group(jmx.sampler("a"))], ["'rate'"]),
        ([VISIT, jmx.open_group(schedule=f"rate({RATE}/s)", name="b")], ["'visit' and 'b'"]),
        ([VISIT, jmx.group(jmx.sampler("b"), name="beside")], ["'beside'", "'visit'", "disable"]),
        ([jmx.group(jmx.sampler("a", pace(), jmx.timer("p2")))], ["'p2'", "'a'"]),
        ([jmx.group(jmx.sampler("a", pace(), jmx.constant_timer("${x}")))], ["'pause'", "'a'"]),
        ([jmx.group(pace(), jmx.sampler("a", enabled=False))], ["'visitors'", "sampler"]),
        ([jmx.counter("due"), VISIT], ["CounterConfig 'arrivals'", "'due'"]),
        ([jmx.group(FOR_EVER)], ["'on'", "how often"]),
    ],
)
def test_what_is_refused_is_named(copied, children, names):
    with pytest.raises(PlanError) as refused:
        copied(*children)
    told = str(refused.value)
    assert "\n" not in told
    assert [it for it in ("shop.jmx", *names) if it not in told] == []
