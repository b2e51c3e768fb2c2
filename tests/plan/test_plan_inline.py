import shutil
from dataclasses import replace

import pytest

from support import PLANS, plan_files
from support import jmx_text as jmx
from support.jmx_text import include
from tollgate.plan.inline import put_in_place
from tollgate.plan.jmx import read_tree


def fragment(*children):
    return jmx.plan(jmx.fragment(*children))


def simple(element):
    """The tree with Simple Controllers where Include Controllers stand."""
    if element.kind == "IncludeController":
        element = replace(element, kind="GenericController", props={})
    children = tuple(simple(child) for child in element.children)
    return replace(element, included=False, children=children)


def in_place(plan, **fragments):
    """Whether anything was put in place, and the plan's text afterwards."""
    for name, text in fragments.items():
        plan.with_name(f"{name}.jmx").write_text(text)
    return put_in_place(plan, plan.parent), plan.read_text()


@pytest.fixture
def plan(tmp_path):
    def write(*children):
        path = tmp_path / "plan.jmx"
        path.write_text(jmx.plan(jmx.open_group(*children)))
        return path

    return write


@pytest.mark.parametrize("path", plan_files.PLAN_FILES, ids=plan_files.id_of)
def test_our_own_plans_run_the_same_elements_without_an_include(tmp_path, path):
    before = read_tree(path, {})
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    includes = any(each.kind == "IncludeController" for each in before.walk())
    assert put_in_place(copy, PLANS) == includes
    assert read_tree(copy, {}) == simple(before)
    assert b"IncludeController" not in copy.read_bytes()


def test_what_stands_beside_an_include_stays_where_it_is(plan):
    inner = fragment(jmx.sampler("inner", jmx.element("ResponseAssertion", "right")))
    before, after = jmx.sampler("before"), jmx.sampler("after")
    found, text = in_place(plan(before, include("a.jmx"), after), a=inner)
    assert found
    names = ["before", "include a.jmx", "inner", "right", "after"]
    places = [text.index(f'testname="{name}"') for name in names]
    assert places == sorted(places)


def test_an_include_that_is_off_or_leads_nowhere_is_left_to_jmeter(plan):
    path = plan(include("a.jmx", enabled=False), include("b.jmx"), include(""), include("c.jmx"))
    before = path.read_text()
    old = fragment().replace('version="1.2"', 'version="1.0"')
    assert in_place(path, a=fragment(), c=old) == (False, before)
    assert in_place(path, b="no XML", c=jmx.plan()) == (False, before)


def test_a_circle_of_includes_is_left_where_it_closes(plan):
    circle = {
        "a": fragment(include("b.jmx")),
        "b": fragment(jmx.sampler("inner"), include("a.jmx")),
    }
    found, text = in_place(plan(include("a.jmx")), **circle)
    assert found
    assert text.count("<IncludeController") == 1
    assert text.index("inner") < text.index("<IncludeController")
