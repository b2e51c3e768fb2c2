"""A plan of a user's own that is compared: its copy, and how long it is measured."""

import pytest

from support import jmx_text as jmx
from support.sided import place
from tollgate.base.settings import SettingError
from tollgate.base.urls import Url
from tollgate.compare.own_plan import send_to_sides
from tollgate.compare.settings import lag_s, read_setup
from tollgate.plan.sided import SEED

SIDES = [[Url("http", "127.0.0.1", port)] for port in (4100, 4200)]
SETUP = read_setup({"budget": "10m"}, {})


@pytest.fixture
def sent(tmp_path):
    """Sends a plan that lasts so many seconds to both sides."""

    def send(seconds, **properties):
        path = tmp_path / "visits.jmx"
        path.write_text(jmx.plan(jmx.group(jmx.sampler("home", **place()), duration=seconds)))
        return send_to_sides(path, "", tmp_path, SIDES, properties, SETUP)

    return send


def test_a_plan_that_ends_by_itself_is_measured_for_as_long_as_it_sends(sent, tmp_path):
    compared = sent(100, warmup="10", **{SEED: "7"})
    assert compared.copy == tmp_path / "sides" / "visits.jmx"
    assert compared.copy.is_file()
    assert (compared.gate.labels, compared.gate.budget_s) == (("home",), 90.0)
    assert (compared.properties["measured"], compared.properties[SEED]) == (90, 7)
    assert compared.ends_s == 10 + 90 + lag_s(compared.properties) + 1


def test_a_plan_without_an_end_is_measured_until_the_budget_is_spent(sent):
    compared = sent("${unknown}")
    assert (compared.gate.budget_s, compared.properties["measured"]) == (600.0, 0)
    assert compared.properties[SEED] > 0


def test_a_plan_that_is_over_before_the_first_look_is_refused(sent):
    with pytest.raises(SettingError, match="sends for 20 s, of which 15 s are warm-up"):
        sent(20, warmup="15")
    with pytest.raises(SettingError, match="the property warmup is '1m': write plain digits"):
        sent(20, warmup="1m")
