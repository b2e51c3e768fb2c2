"""Reading plans: what JMeter would run, and one clear line where it could not."""

from pathlib import Path

import pytest

from support import jmx_text as jmx
from support.jmx_text import fragment, include, simple
from tollgate.plan.arrivals import EvenArrivals, PreciseThroughput
from tollgate.plan.jmx import PlanError
from tollgate.plan.read import read_plan

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def read_text(tmp_path):
    def read_text(text, **properties):
        path = tmp_path / "plan.jmx"
        path.write_text(text)
        return read_plan(path, properties)

    return read_text


@pytest.fixture
def read(read_text):
    """The plan of these thread groups."""
    return lambda *groups, **properties: read_text(jmx.plan(*groups), **properties)


@pytest.fixture
def samplers(read):
    """The samplers of a thread group of these elements."""
    return lambda *children: read(jmx.group(*children)).groups[0].samplers


def texts(labels):
    return [label.text for label in labels]


def test_properties_reach_groups_timers_and_labels(read_text):
    timer = jmx.timer(throughput="${__P(rate,10)}", randomSeed="${seed}")
    fields = {"threads": "${__P(threads)}", "duration": "${__intSum(${__P(warmup,5)},30)}"}
    group = jmx.group(jmx.sampler("${name}", timer), **fields)
    text = jmx.plan(group, name="sea${__P(suffix,rch)}", seed="9")
    plan = read_text(text, rate="12.5", threads="3")
    (group,) = plan.groups
    assert (group.threads, group.loops, group.duration_s) == (3, -1, 35.0)
    assert plan.labels == ("search",)
    assert group.samplers[0].arrival_timers[0].replay == PreciseThroughput(9, 12.5, 10)


def test_what_is_not_known_is_none_and_says_why(read):
    threads = "${__groovy(vars.get('n'))}"
    (group,) = read(jmx.group(jmx.sampler("a"), threads=threads, loops="many")).groups
    assert (group.threads, group.no_number) == (None, "")
    assert group.unresolved["num_threads"].startswith("${__groovy(vars.get('n'))} is more than")
    assert group.unresolved["loops"] == "'many' is not a number"


@pytest.mark.parametrize("threads", ["${fleet}", "ten", "2.0"])
def test_a_number_of_threads_that_is_none_is_0_as_jmeter_takes_it(read, threads):
    (group,) = read(jmx.group(jmx.sampler("a"), threads=threads)).groups
    assert group.threads == 0
    assert threads in group.no_number


def test_variables_that_a_plugin_reads_from_a_file_may_be_the_number_of_threads(read):
    file = jmx.element("kg.apc.jmeter.config.VariablesFromCSV", "file")
    (group,) = read(file, jmx.group(jmx.sampler("a"), threads="${fleet}")).groups
    assert (group.threads, group.no_number) == (None, "")


def test_disabled_elements_are_left_out_with_all_below_them(read):
    off = {"enabled": False}
    on, b = jmx.sampler("a", jmx.timer(**off), enabled=True), jmx.sampler("b", **off)
    groups = jmx.group(on, b, simple(jmx.sampler("c"), **off)), jmx.group(jmx.sampler("d"), **off)
    plan = read(*groups)
    assert plan.labels == ("a",)
    assert plan.groups[0].samplers[0].timers == ()


def test_a_timer_applies_to_its_siblings_and_all_below_them_but_not_beside_a_controller(read):
    inner = simple(jmx.sampler("b", jmx.constant_timer(5)))
    outer = simple(jmx.constant_timer(30), jmx.sampler("a"), inner)
    plan = read(jmx.constant_timer(100), jmx.group(outer, jmx.sampler("c")))
    pauses = {s.label.text: s.all_pauses_ms for s in plan.groups[0].samplers}
    assert pauses == {"a": 130, "b": 135, "c": 100}


RANDOM_TIMERS = {
    "UniformRandomTimer": 125,
    "GaussianRandomTimer": 175,
    "PoissonRandomTimer": 140,
    "ConstantThroughputTimer": 0,
    "SyncTimer": None,
}


@pytest.mark.parametrize(("kind", "longest_ms"), RANDOM_TIMERS.items())
def test_random_timers_count_with_their_longest_pause(samplers, kind, longest_ms):
    timer = jmx.element(kind, ConstantTimer__delay=100, RandomTimer__range=25)
    assert samplers(jmx.sampler("a", timer))[0].all_pauses_ms == longest_ms


def test_a_pause_is_a_sampler_without_a_label(read):
    plan = read(jmx.group(jmx.sampler("a"), jmx.think(ms=50), jmx.sampler("b"), jmx.think()))
    pauses = [it.pause_ms for it in plan.groups[0].samplers]
    assert pauses[:3] == [0, 50, 0]
    assert len(pauses) == 4
    assert plan.labels == ("a", "b")


def transaction(name, *children, parent="false"):
    kind = "TransactionController"
    return jmx.element(kind, name, children, TransactionController__parent=parent)


def test_transactions_have_labels_of_their_own_and_a_parent_sample_hides_its_samplers(read):
    order = transaction("order", jmx.sampler("step"), parent="true")
    visit = jmx.element("TransactionController", "visit", [jmx.sampler("page")])
    plan = read(jmx.group(visit, order))
    assert plan.labels == ("page", "order", "visit")
    assert texts(plan.sampler_labels) == ["page", "order"]
    assert texts(plan.parent_labels) == ["order"]
    assert texts(plan.transaction_labels) == ["visit"]
    assert plan.groups[0].samplers[1].hidden_by == "order"


def test_inside_of_a_parent_sample_only_transactions_without_one_leave_a_row(read):
    inner = simple(transaction("inner", jmx.sampler("step"), parent="true"))
    beside = transaction("beside", jmx.sampler("page"))
    plan = read(jmx.group(transaction("outer", inner, beside, parent="${__P(p,true)}")))
    assert texts(plan.parent_labels) == ["outer"]
    assert texts(plan.transaction_labels) == ["beside"]
    assert plan.labels == ("outer", "beside")


def test_a_label_with_a_variable_becomes_a_pattern(read):
    plan = read(jmx.group(jmx.sampler("item (${row})"), jmx.sampler("fixed")))
    assert plan.labels == ("fixed",)
    assert plan.label_patterns == (r"item\ \((?s:.*)\)",)
    assert jmx.may_have(plan, "item (7)")
    assert jmx.may_have(plan, "fixed")
    assert not jmx.may_have(plan, "item 7")


def test_setup_and_teardown_groups_are_told_apart(read):
    kinds = ("SetupThreadGroup", "PostThreadGroup", "ThreadGroup")
    plan = read(*(jmx.group(jmx.sampler("a"), kind=kind) for kind in kinds))
    assert [g.is_setup for g in plan.groups] == [True, False, False]
    assert [g.is_teardown for g in plan.groups] == [False, True, False]


CONCURRENCY = {"TargetLevel": 3, "RampUp": 2, "Hold": 28, "Unit": "S"}
ARRIVALS = {"kind": "Arrivals", "TargetLevel": "${__P(rate,5)}", "Hold": "0.5", "Unit": "M"}
ULTIMATE = {"kind": "Ultimate", "rows": [(3, 5, 1, 20, 9), (2, 10, "${__P(up,2)}", 25, 0)]}
FREE_FORM = {"kind": "FreeFormArrivals", "rows": [(1, 5, 10), (5, 5, 20)], "Unit": "S"}
LENGTHS = {
    "users, in seconds": (CONCURRENCY, 30),
    "arrivals, in minutes": (ARRIVALS, 30),
    "no users": (CONCURRENCY | {"TargetLevel": 0}, None),
    "a number of iterations": (CONCURRENCY | {"Iterations": 9}, None),
    "a time that nobody knows": (CONCURRENCY | {"Hold": "${when}"}, None),
    "the longest of a table's rows": (ULTIMATE, 37),
    "a property in place of the table": (
        ULTIMATE | {"threads_schedule": "spawn(1,0s,1s,5s,0s)"},
        None,
    ),
    "the sum of a table's rows": (FREE_FORM, 30),
    "of another plugin": ({"kind": "Other", "rows": [(1, 2, 3)]}, None),
}


@pytest.mark.parametrize("how", LENGTHS)
def test_how_long_a_group_of_a_plugin_sends_stands_in_its_schedule(read, how):
    fields, length_s = LENGTHS[how]
    properties = {key: it for key, it in fields.items() if key == "threads_schedule"}
    plan = read(jmx.plugin_group(jmx.sampler("home"), **fields), **properties)
    assert plan.groups[0].length_s == length_s


INSIDE = fragment(jmx.sampler("inside"))


def module(*names):
    """A Module Controller that runs what stands there below the plan."""
    path = "".join(f"<stringProp>{name}</stringProp>" for name in ("root", "plan", *names))
    extra = f'<collectionProp name="ModuleController.node_path">{path}</collectionProp>'
    return jmx.element("ModuleController", "module", extra=extra)


@pytest.mark.parametrize("wrap", [jmx.document, jmx.plan], ids=["alone", "in a plan"])
def test_an_included_fragment_stands_in_place_of_its_controller(read, tmp_path, wrap):
    (tmp_path / "fragments").mkdir()
    (tmp_path / "fragments" / "a.jmx").write_text(wrap(INSIDE))
    plan = read(jmx.group(jmx.timer(), include("fragments/${__P(part)}.jmx")), part="a")
    assert plan.labels == ("inside",)
    assert len(plan.groups[0].samplers[0].arrival_timers) == 1


def test_a_module_controller_runs_its_target_even_where_that_is_disabled(read):
    shelf = fragment(simple(jmx.sampler("page"), enabled=False))
    book = module("fragment", "simple")
    assert read(shelf, jmx.group(book)).labels == ("page",)
    with pytest.raises(PlanError, match="Module Controller 'module' points at 'root > plan"):
        read(jmx.group(book))


LOST = {
    "missing": include("gone.jmx"),
    "unknown": include("${when}.jmx"),
    "broken": include("text.jmx"),
    "circle": include("itself.jmx"),
    "no target": module("gone"),
    "endless": module("visitors", "simple"),
}


@pytest.mark.parametrize("nested", [False, True], ids=["itself", "what is around it"])
@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_a_controller_below_something_disabled_need_not_lead_anywhere(read, tmp_path, lost, nested):
    (tmp_path / "text.jmx").write_text("no plan")
    twice = fragment(include("itself.jmx"), include("itself.jmx"))
    (tmp_path / "itself.jmx").write_text(jmx.document(twice))
    off = jmx.group(simple(lost, lost, enabled=not nested), jmx.sampler("b"), enabled=nested)
    plan = read(jmx.group(jmx.sampler("a"), name="on"), off)
    assert plan.labels == (("a", "b") if nested else ("a",))
    with pytest.raises(PlanError):
        read(jmx.group(simple(lost)))


def test_what_a_module_controller_runs_of_a_disabled_fragment_is_read_and_must_be_there(
    read, tmp_path
):
    plan = fragment(include("a.jmx"), enabled=False), jmx.group(module("fragment"))
    with pytest.raises(PlanError, match=r"names 'a.jmx', which is not there"):
        read(*plan)
    (tmp_path / "a.jmx").write_text(jmx.document(INSIDE))
    assert read(*plan).labels == ("inside",)


def test_a_file_may_be_included_twice_one_after_the_other(samplers, tmp_path):
    (tmp_path / "b.jmx").write_text(jmx.document(INSIDE))
    (tmp_path / "a.jmx").write_text(jmx.document(fragment(include("b.jmx"), include("./b.jmx"))))
    assert texts(it.label for it in samplers(include("a.jmx"), include("a.jmx"))) == ["inside"] * 4


@pytest.mark.parametrize("kind", ["ThreadGroup", "SetupThreadGroup", "PostThreadGroup"])
@pytest.mark.parametrize(
    ("written", "loops"), [("true", -1), ("false", 3), ("${__P(on,true)}", -1), (None, -1)]
)
def test_a_main_controller_that_continues_for_ever_has_no_last_loop(read, kind, written, loops):
    goes_on = {"LoopController__continue_forever": written} if written is not None else {}
    users = jmx.element(kind, "users", [jmx.sampler("a")], LoopController__loops=3, **goes_on)
    assert read(users).groups[0].loops == loops


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not well-formed XML"),
        ("<jmeterTestPlan><hashTree>", "is not well-formed XML"),
        ("<html/>", "is not a JMeter plan but <html>"),
        (jmx.document(), "no TestPlan in it"),
        (jmx.plan(jmx.group(include("nowhere.jmx"))), "names 'nowhere.jmx', which is not there"),
        (jmx.plan(jmx.group(include("${when}.jmx"))), "names no file that is known"),
        (jmx.plan(jmx.group(include("plan.jmx"))), "has no Test Fragment"),
        (jmx.plan(fragment(include("plan.jmx"))), "includes itself"),
    ],
)
def test_a_plan_that_cannot_be_read_is_refused_in_one_line_that_names_it(read_text, text, message):
    with pytest.raises(PlanError, match=message) as caught:
        read_text(text)
    assert "plan.jmx" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there_is_refused_by_its_name(tmp_path):
    with pytest.raises(PlanError, match=r"missing.jmx: cannot be read .*; check the path"):
        read_plan(tmp_path / "missing.jmx", {})


def test_a_plan_as_jmeter_saves_it_is_read_whole():
    plan = read_plan(GOLDEN / "timer-run.jmx", {})
    (group,) = plan.groups
    assert plan.labels == ("nap",)
    assert (group.threads, group.duration_s) == (6, 10)
    assert group.samplers[0].timers[0].replay == PreciseThroughput(2024, 30.0, 10)


@pytest.fixture
def timer_of(read):
    """The timer of the sampler `a` in a thread group of these elements."""

    def of(*children, around=()):
        samplers = read(*around, jmx.group(*children)).groups[0].samplers
        return next(it for it in samplers if it.label.text == "a").timers[0]

    return of


A = jmx.sampler("a")
HERE = jmx.one_by_one(A)
DRAWN = jmx.counter(incr="${__P(period,20)}")
DEALT_OUT = {
    "below the timer's controller": [DRAWN, HERE],
    "in a transaction": [DRAWN, jmx.one_by_one(transaction("b", A))],
    "with the timer below it": [DRAWN, jmx.sampler("a", jmx.counted_timer())],
    "beside the timer": [jmx.counted_timer(), DRAWN, A],
    "beside both": [jmx.one_by_one(DRAWN, A)],
}


@pytest.mark.parametrize("children", DEALT_OUT.values(), ids=DEALT_OUT)
def test_a_counter_and_a_timer_that_waits_for_it_deal_out_arrivals(timer_of, children):
    assert timer_of(*children).replay == EvenArrivals(5, 20)


@pytest.mark.parametrize(
    ("children", "around", "reason"),
    [
        ([HERE], [], "no Counter around or beside it"),
        ([jmx.counter("number"), HERE], [], "no Counter around or beside it"),
        # One count for all thread groups.
        ([HERE], [jmx.counter()], "no Counter around or beside it"),
        ([simple(jmx.counter()), HERE], [], "no Counter around or"),
        ([jmx.counter(), jmx.counter(), HERE], [], "more than one element sets"),
        ([jmx.counter(), HERE], [jmx.counter()], "more than one element sets"),
        ([jmx.counter(per_user="true"), HERE], [], "each thread has its own"),
        ([jmx.counter(incr="${step}"), HERE], [], "the incr of"),
        ([jmx.counter(start="soon"), HERE], [], "the start of"),
        ([jmx.counter(end=900), HERE], [], "the settings of"),
        ([jmx.counter(end="${end}"), HERE], [], "the end of"),
        ([jmx.counter(format="000"), HERE], [], "the settings of"),
        ([jmx.counter(incr=0), HERE], [], "at least 1"),
    ],
)
def test_arrivals_of_a_counter_that_can_t_be_foreseen_say_why(timer_of, children, around, reason):
    found = timer_of(*children, around=around)
    assert (found.replay, found.pause_ms) == (None, None)
    assert reason in found.reason


def test_a_delay_that_is_written_otherwise_is_a_pause_that_nobody_knows(timer_of):
    late = jmx.constant_timer("${__longSum(${arrival},-${__time()})}")
    found = timer_of(jmx.counter(), simple(late, A))
    assert (found.replay, found.reason, found.pause_ms) == (None, "", None)
