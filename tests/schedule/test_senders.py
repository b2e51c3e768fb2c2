"""Thread groups known by the names of their threads."""

import pytest

import jmx_text as jmx
from tollgate.plan.read import read_plan
from tollgate.schedule.threads import may_send, senders


@pytest.fixture
def plan(tmp_path):
    def read(*children, properties=(), **variables):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(*children, **variables))
        return read_plan(path, dict(properties))

    return read


def groups(*names, kind="ThreadGroup"):
    return [jmx.group(jmx.sampler("a"), name=name, kind=kind) for name in names]


def of(plan, thread_group):
    return senders(plan, may_send(plan, "a"), thread_group)


def test_only_groups_with_a_sampler_of_that_label_may_have_sent_it(plan):
    silent = jmx.group(jmx.think(name="${it}"), name="silent")
    read = plan(silent, jmx.group(jmx.sampler("${x}")), *groups("A"), jmx.group(jmx.sampler("b")))
    assert may_send(read, "a") == [1, 2]
    assert may_send(read, "b") == [1, 3]


def test_a_name_that_ends_in_digits_is_another_one(plan):
    read = plan(*groups("A", "A 1", "A-1"))
    assert [of(read, name) for name in ("A 1", "A 1 2", "A-1 3")] == [[0], [1], [2]]


def test_characters_of_regular_expressions_are_nothing_but_characters(plan):
    read = plan(*groups("A.*", "A (x)", "Axx"))
    assert [of(read, name) for name in ("A.* 1", "A (x) 2", "Axx 3")] == [[0], [1], [2]]


def test_groups_of_one_name_are_told_by_their_numbers(plan):
    read = plan(*groups("A", "B", "A"))
    assert [of(read, name) for name in ("A 1", "A 3")] == [[0], [2]]


def test_a_disabled_group_has_no_number(plan):
    off = jmx.group(jmx.sampler("a"), name="A", enabled=False)
    read = plan(off, *groups("A", "A"))
    assert [of(read, name) for name in ("A 1", "A 2")] == [[0], [1]]


def test_groups_that_set_up_and_tear_down_are_numbered_by_themselves(plan):
    read = plan(
        *groups("up", "up", kind="SetupThreadGroup"),
        *groups("A"),
        *groups("down", kind="PostThreadGroup"),
        *groups("A"),
    )
    names = ("up 1", "up 2", "A 1", "down 1", "A 2")
    assert [of(read, name) for name in names] == [[0], [1], [2], [3], [4]]


def test_a_group_that_sets_up_under_the_name_of_another_one_may_be_either(plan):
    read = plan(*groups("A", kind="SetupThreadGroup"), *groups("A"))
    assert of(read, "A 1") == [0, 1]


def test_names_are_read_with_properties_and_variables(plan):
    read = plan(*groups("${__P(who,B)}", "${name}"), properties={"who": "us"}, name="them")
    assert [of(read, name) for name in ("us 1", "them 2")] == [[0], [1]]


def test_a_name_that_only_the_running_test_knows_is_told_by_its_number(plan):
    read = plan(*groups("at ${__time()}", "at noon"))
    assert [of(read, name) for name in ("at 1700 1", "at noon 2")] == [[0], [1]]


def test_a_name_with_a_number_that_nobody_expects_is_known_all_the_same(plan):
    assert of(plan(*groups("A", "B")), "B 7") == [1]


@pytest.mark.parametrize("name", ["", "A", "host-A 1", "somebody 1"])
def test_names_that_fit_no_group_may_be_anybodys(plan, name):
    assert of(plan(*groups("A", "B")), name) == [0, 1]
