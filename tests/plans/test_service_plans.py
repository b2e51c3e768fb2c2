"""The plans that Tollgate makes of a service, as JMeter loads them and Tollgate reads them."""

from pathlib import Path

import pytest

import support
from support.services_described import plan, schedules
from tollgate.plan.lint import lint
from tollgate.schedule.model import Schedule
from tollgate.service import xml
from tollgate.service.shapes import SHAPES

LENGTH = {"warmup": 2, "measured": 20}
TEMPLATES = Path(xml.__file__).with_name("plans")
#: What an arrival sends first; `put` comes behind `login`.
FIRSTS = ("list", "order", "login")


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """The plan of each shape."""
    folder = tmp_path_factory.mktemp("plans")
    return {shape: plan(folder, shape) for shape in SHAPES}


def test_jmeter_loads_each_plan_and_each_template_and_saves_all_elements(plans, tmp_path):
    paths = [*plans.values(), *TEMPLATES.iterdir()]
    home = support.JMETER.parent.parent
    classes = ":".join([f"{home}/lib/*", f"{home}/lib/ext/*", f"{home}/bin/ApacheJMeter.jar"])
    done = support.run(
        *("java", f"-Djmeter.home={home}", "-cp", classes, "groovy.ui.GroovyMain"),
        *(Path(__file__).with_name("roundtrip.groovy"), tmp_path, *paths),
    )
    assert done.returncode == 0, done.stderr
    assert len(paths) > len(plans)
    for path in paths:
        saved = (tmp_path / path.name).read_text()
        assert saved.count("<hashTree") == path.read_text().count("<hashTree")


@pytest.mark.parametrize("shape", ["check", "forecast", "compare"])
def test_the_first_request_of_each_arrival_has_a_schedule(plans, shape):
    found = schedules(plans[shape], **LENGTH)
    assert {it: isinstance(found[it], Schedule) for it in (*FIRSTS, "put")} == {
        **dict.fromkeys(FIRSTS, True),
        "put": False,
    }


def test_check_asks_each_label_at_its_part_of_the_rate(plans):
    found = schedules(plans["check"], **LENGTH)
    rates = {it: found[it].replay.rate for it in FIRSTS}
    assert rates == {"list": 12, "order": 2, "login": 6}


def test_a_property_sets_the_rate_of_a_label(plans):
    assert schedules(plans["check"], list_rate=3, **LENGTH)["list"].replay.rate == 3


@pytest.mark.parametrize("shape", SHAPES)
def test_a_plan_has_timeouts_and_an_end(plans, shape):
    data = plans[shape].parent.parent / "data"
    data.mkdir(exist_ok=True)
    (data / "capacity-arrivals.csv").touch()
    assert [it for it in lint(plans[shape], {}) if "no assertion" not in it] == []
