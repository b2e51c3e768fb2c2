"""A service of taurus.yml whose requests refer to what nothing sets, or whose data are too few."""

import math

import pytest
from bzt import TaurusConfigError

from support import jmx_text as jmx
from support import services_described as described
from tollgate.taurus.refusals import refuse_without_data

ORDER = {"label": "order", "url": "/orders", "method": "POST", "body": {"item": "${id}"}}
LIST = {"label": "list", "url": "/items?page=${page}"}
KINDS = ["check", "forecast", "compare"]
ROWS = {"properties": {"warmup": 0, "measured": 10}, "until_s": math.inf}


@pytest.fixture
def refused(tmp_path):
    """What a service with these requests is refused with; empty for nothing."""
    (tmp_path / "shop.csv").write_text("page,id\n1,a\n2,b\n")

    def find(*requests, kind="check", loop=True, properties=(), until_s=None, **more):
        data = [{"path": str(tmp_path / "shop.csv"), "loop": loop}]
        more = {"requests": [*requests], "data-sources": data, **more}
        plan = described.plan(tmp_path, kind, **more)
        try:
            refuse_without_data(plan, tmp_path, dict(properties), (), until_s, "shop")
        except TaurusConfigError as problem:
            return str(problem)
        return ""

    return find


@pytest.mark.parametrize("kind", KINDS)
def test_a_typo_in_a_request_is_refused_in_each_kind_with_what_was_meant(refused, kind):
    assert refused(LIST, ORDER, kind=kind) == ""
    line = refused(LIST | {"url": "/items?page=${pge}"}, kind=kind)
    assert line.startswith("shop: HTTPSamplerProxy 'list' refers to ${pge}, ")
    assert line.endswith("did you mean ${page}?")
    assert "${idd}" in refused(ORDER | {"body": {"item": "${idd}"}}, kind=kind)
    assert "${token}" in refused(ORDER | {"headers": {"Authorization": "Bearer ${token}"}})
    assert "${token}" in refused(LIST, headers={"Authorization": "Bearer ${token}"}, kind=kind)


def test_what_a_request_extracts_is_set_for_those_behind_it(refused):
    login = {"label": "login", "url": "/login", "extract-jsonpath": {"token": "$.token"}}
    put = {"label": "put", "url": "/cart/${token}"}
    assert refused({"transaction": "visit", "do": [login, put]}) == ""
    assert "${token}" in refused({"transaction": "visit", "do": [login]}, put)


@pytest.mark.parametrize(
    "schedule", ["rate(5/s)", "", "rate(5/s) rate(1/min)", "pause(0)", "// no"]
)
def test_an_open_model_that_takes_no_time_is_refused_in_a_line(tmp_path, schedule):
    groups = jmx.open_group(jmx.sampler("a")), jmx.open_group(jmx.sampler("b"), schedule=schedule)
    plan = jmx.write(tmp_path, *groups)
    with pytest.raises(TaurusConfigError) as refused:
        refuse_without_data(plan, tmp_path, {}, (), None, "shop")
    assert str(refused.value).startswith(f"shop: the schedule {schedule!r} of the thread group")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "schedule",
    ["rate(0/s) random_arrivals(9 s)", "pause(1 s)", "${__P(schedule,rate(1/s) pause(1 s))}", "5"],
)
def test_an_open_model_that_takes_some_time_is_not_refused(tmp_path, schedule):
    plan = jmx.write(tmp_path, jmx.open_group(jmx.sampler("b"), schedule=schedule))
    refuse_without_data(plan, tmp_path, {}, (), None, "shop")
    off = jmx.write(tmp_path, jmx.open_group(schedule="rate(5/s)"))
    refuse_without_data(off, tmp_path, {}, (), None, "shop")


def test_rows_that_are_sent_once_have_to_be_enough(refused):
    assert "has 2 rows, and the load takes 200 of them" in refused(LIST, loop=False, **ROWS)
    assert refused(LIST, loop=True, **ROWS) == ""
    assert refused(LIST, loop=False, **ROWS | {"until_s": None}) == ""
