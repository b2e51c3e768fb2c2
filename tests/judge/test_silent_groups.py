"""Parts of a plan that had to send and of which no sample is there."""

import pytest

from support import jmx_text as jmx
from support import run_folder
from support.early_ends import controller, loop
from support.golden import FOLDER
from support.jtl_rows import jtl, row
from support.plan_files import PLAN_FILES, id_of
from support.run_folder import reasons
from tollgate.plan.read import read_plan
from tollgate.samples.threads import thread_groups
from tollgate.schedule.silent import Silent, silent_parts

#: What is in the JTL: the first group sent `a`.
LABELS, THREADS = {"a"}, ("first 1",)
FIRST = jmx.group(jmx.sampler("a"), name="first")
SAMPLER = jmx.sampler("b")
FAULT = (
    "the thread group 'second' left no sample, and it had to send 'b': see jmeter.log for why not"
)
DOUBT = "the thread group 'second' left no sample: see jmeter.log if it was to send 'b'"


@pytest.fixture
def found(tmp_path):
    """What of a plan of FIRST and these groups is silent."""

    def find(*groups, labels=LABELS, threads=THREADS, until_s=None, extra="", **properties):
        path = tmp_path / "plan.jmx"
        path.write_text(
            jmx.document(jmx.element("TestPlan", "plan", [FIRST, *groups], extra=extra))
        )
        return silent_parts(read_plan(path, properties), labels, lambda: threads, until_s)

    return find


def second(*children, **changes):
    return jmx.group(*children, **({"name": "second"} | changes))


HAD_TO_SEND = {
    "alone": second(SAMPLER),
    "once": second(SAMPLER, loops=1, duration=None),
    "in a simple controller": second(controller("GenericController", SAMPLER)),
    "in a transaction": second(controller("TransactionController", SAMPLER)),
    "in its parent sample": second(
        controller("TransactionController", SAMPLER, TransactionController__parent="true")
    ),
    "in a loop": second(loop(3, controller("GenericController", SAMPLER))),
    "in an endless loop": second(loop(-1, SAMPLER)),
    "before a condition": second(SAMPLER, controller("IfController", jmx.sampler("c"))),
    "behind a condition": second(controller("IfController", jmx.sampler("c")), SAMPLER),
    "behind a pause": second(jmx.think(ms=3000), SAMPLER),
    "setting up": second(SAMPLER, kind="SetupThreadGroup"),
    "of a plugin": jmx.plugin_group(SAMPLER, name="second", TargetLevel=3, Hold=1),
}


@pytest.mark.parametrize("how", HAD_TO_SEND)
def test_a_thread_group_that_had_to_send_and_left_no_sample_is_a_fault(found, how):
    assert found(HAD_TO_SEND[how]) == Silent((FAULT,))


IGNORED = jmx.element("JSR223PostProcessor", "quiet", script="prev.setIgnore()")
NOT_SURE = {
    "of a plugin, of unknown length": second(SAMPLER, kind="kg.apc.threads.UltimateThreadGroup"),
    "a plugin's arrivals": jmx.plugin_group(
        SAMPLER, kind="Arrivals", name="second", TargetLevel=3, Hold=1
    ),
    "an open model that nobody can replay": jmx.open_group(SAMPLER, seed=0, name="second"),
    "tearing down": second(SAMPLER, kind="PostThreadGroup"),
    "as many threads as nobody knows": second(SAMPLER, threads="${__time()}"),
    "as many loops as nobody knows": second(SAMPLER, loops="${__time()}"),
    "a longer pause than its duration": second(jmx.sampler("b", jmx.constant_timer(12_000))),
    "a pause of unknown length": second(jmx.think(ms="${__time()}"), SAMPLER),
    "paced": second(jmx.sampler("b", jmx.element("ConstantThroughputTimer", "pace"))),
    "a script that may ignore it": second(jmx.sampler("b", IGNORED)),
}


@pytest.mark.parametrize("how", NOT_SURE)
def test_where_there_may_be_a_reason_it_is_only_told(found, how):
    assert found(NOT_SURE[how]) == Silent((), (DOUBT,))


SENDS_NOTHING = {
    "under a condition": second(controller("IfController", SAMPLER)),
    "once only": second(controller("OnceOnlyController", SAMPLER)),
    "in a loop of none": second(loop(0, SAMPLER)),
    "in a loop that nobody knows": second(loop("${__time()}", SAMPLER)),
    "behind an endless loop": second(loop(-1, controller("IfController", SAMPLER)), SAMPLER),
    "behind the end of its turn": second(jmx.think(ActionProcessor__target=0), SAMPLER),
    "no threads": second(SAMPLER, threads=0),
    "no loops": second(SAMPLER, loops=0),
    "switched off": second(SAMPLER, enabled=False),
    "its sampler switched off": second(jmx.sampler("b", enabled=False)),
    "a schedule, which says what is missing": jmx.open_group(SAMPLER, name="second"),
}


@pytest.mark.parametrize("how", SENDS_NOTHING)
def test_a_thread_group_that_need_not_send_is_not_accused(found, how):
    assert found(SENDS_NOTHING[how]) == Silent()


def test_threads_tell_of_a_group_whose_labels_a_script_has_changed(found):
    changed = found(second(SAMPLER), labels={"a", "other"}, threads=("first 1", "second 2"))
    said = "no sample has the label 'b', which the thread group 'second' sends on no condition"
    assert changed.faults == ()
    (doubt,) = changed.doubts
    assert doubt.startswith(said)


@pytest.mark.parametrize("threads", [None, ("10.0.0.1-first 1",), ("first 1", "worker")])
def test_without_the_names_of_threads_it_is_only_told(found, threads):
    assert found(second(SAMPLER), threads=threads) == Silent((), (DOUBT,))


def test_labels_that_one_group_alone_has_are_enough_and_those_of_two_tell_nothing(found):
    assert found(second(SAMPLER), labels={"a", "b"}, threads=None) == Silent()
    assert found(second(jmx.sampler("a"))).faults == (FAULT.replace("'b'", "'a'"),)


@pytest.mark.parametrize(
    "other",
    [
        jmx.group(SAMPLER, name="${__UUID()}"),
        jmx.group(SAMPLER, name="first", kind="SetupThreadGroup"),
    ],
)
def test_a_group_whose_threads_may_be_called_like_another_ones_is_not_accused(found, other):
    assert found(other).faults == ()


def test_of_groups_of_one_name_the_number_tells_which_sent_nothing(found):
    (fault,) = found(jmx.group(SAMPLER, name="first")).faults
    assert "'first' left no sample, and it had to send 'b'" in fault


def test_a_run_that_was_ended_before_its_time_need_not_have_come_to_everything(found):
    ready = second(SAMPLER)
    setup = jmx.group(jmx.sampler("c"), name="up", kind="SetupThreadGroup")
    seen = {"labels": {"a", "c"}, "until_s": 8.0}
    assert found(ready, until_s=8.0).faults == (FAULT,)
    assert found(ready, setup, **seen) == Silent((), (DOUBT,))
    serial = '<boolProp name="TestPlan.serialize_threadgroups">true</boolProp>'
    assert found(ready, until_s=8.0, extra=serial) == Silent((), (DOUBT,))
    late = second(SAMPLER, ThreadGroup__delay=9)
    assert found(late, until_s=8.0) == Silent((), (DOUBT,))
    assert found(late).faults == (FAULT,)
    assert found(second(SAMPLER, kind="PostThreadGroup"), until_s=8.0) == Silent()


def test_a_sampler_without_a_sample_is_told_but_not_one_under_a_condition(found):
    some = jmx.sampler("b"), controller("IfController", jmx.sampler("c")), jmx.sampler("d")
    silent = found(second(*some, jmx.sampler("${__UUID()}")), labels={"a", "b"})
    assert silent.faults == ()
    (doubt,) = silent.doubts
    assert "the label 'd', which the thread group 'second' sends on no condition" in doubt
    quiet = jmx.sampler("d", IGNORED)
    assert found(second(SAMPLER, quiet), labels={"a", "b"}) == Silent()


@pytest.mark.parametrize("path", PLAN_FILES, ids=id_of)
def test_the_plans_of_this_repository_are_never_accused(path):
    plan = read_plan(path, {})
    assert silent_parts(plan, set(plan.labels), lambda: None, None) == Silent()
    if path.stem in ("load", "soak", "stress", "study"):
        assert silent_parts(plan, {plan.labels[0]}, lambda: None, None) == Silent()


def test_the_names_of_threads_are_read_without_their_numbers(written):
    rows = [row(0, thread="a b 1-1"), row(5, thread="a b 1-12"), row(9, thread='"c, 2-3"')]
    assert thread_groups(written(jtl(*rows).encode())) == ("a b 1", "c, 2")
    columns = "timeStamp,elapsed,label,responseCode,success"
    assert thread_groups(written(f"{columns}\n1700000000000,5,a,200,true\n".encode())) is None


def with_second(folder, *children):
    """Changes to the execution whose plan has another thread group beside the recorded one."""
    group = jmx.group(*children, name="second", loops=1, duration=None)
    text = (FOLDER / f"{run_folder.NAME}.jmx").read_text()
    (folder / "plan").mkdir()
    both = text.replace("<ThreadGroup ", f"{group}<ThreadGroup ", 1)
    (folder / "plan" / "two.jmx").write_text(both)
    return {"plan": "plan/two.jmx"}


def test_a_run_of_which_a_thread_group_sent_nothing_is_invalid(judged, tmp_path):
    verdict = judged(**with_second(tmp_path, SAMPLER))
    assert (verdict.verdict, verdict.exit_code) == ("INVALID", 4)
    assert reasons(verdict) == f"(generator) nap-alone: {FAULT}"


def test_a_run_of_which_a_thread_group_may_have_sent_nothing_passes_and_tells(judged, tmp_path):
    verdict = judged(**with_second(tmp_path, jmx.sampler("b", IGNORED)))
    assert verdict.verdict == "PASS"
    assert DOUBT in verdict.executions[0].warnings
