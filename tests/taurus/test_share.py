"""The service `load` in a run that sends one engine's share of a load."""

import csv
import logging
import time
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest
import yaml
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support import ROOT
from tollgate.plan.read import read_plan
from tollgate.schedule.open_model import OpenModelArrivals
from tollgate.taurus.load import Load
from tollgate.taurus.shared import under_way

CHECK, STRESS = (str(ROOT / "plans" / f"{name}.jmx") for name in ("check", "stress"))
FOLLOWS = {"forecast": str(ROOT / "data" / "forecast.csv"), "length": 1, "scale": 1440}
URL = "http://127.0.0.1:8080"


@pytest.fixture
def shared(monkeypatch, tmp_path):
    """Prepares the service with these variables over one execution; returns it."""

    def prepare(script=CHECK, env=None, modules=None, scenario=None, **settings):
        for name in ("MODE", "SCALE", "ENGINE", "ENGINES", "START_AT"):
            monkeypatch.delenv(name, raising=False)
        for name, value in (env or {"ENGINE": "2/3"}).items():
            monkeypatch.setenv(name, value)
        load = Load()
        load.log = logging.getLogger("load")
        load.settings = BetterDict.from_dict({"class": "tollgate.taurus.load.Load", **settings})
        load.engine = SimpleNamespace(
            artifacts_dir=str(tmp_path),
            config=BetterDict.from_dict(
                {
                    "execution": [{"scenario": "shop"}],
                    "scenarios": {"shop": {"script": script, "url": URL, **(scenario or {})}},
                    "modules": {
                        "jmeter": {"properties": {"warmup": 5, "measured": 30}},
                        **(modules or {"verdict": {"kind": "check"}}),
                    },
                }
            ),
        )
        load.prepare()
        return load

    return prepare


def scenario_of(load):
    return load.engine.config.get("scenarios")["shop"]


def prepared_of(load):
    return under_way(load.engine).executions["shop"]


def test_a_run_without_engine_is_no_share(shared):
    load = shared(env={"MODE": ""})
    assert under_way(load.engine).share is None
    assert "properties" not in scenario_of(load)


def test_a_share_of_check_has_rates_seeds_and_rows_of_its_own(shared, tmp_path):
    load = shared()
    scenario = scenario_of(load)
    share = under_way(load.engine).share
    properties = scenario["properties"]
    assert (share["number"], share["of"], share["rows"], share["start_at"]) == (2, 3, "copy", None)
    assert (properties["engine"], properties["engines"]) == ("2", "3")
    assert set(share["data"]) == {
        f"{it}_data" for it in ("calculate", "sum", "search", "kittens", "pi")
    }
    with (tmp_path / "data" / "sum_data.csv").open() as file:
        own = list(csv.reader(file))
    with (ROOT / "data" / "sum.csv").open() as file:
        head, *whole = csv.reader(file)
    assert own == [head, *whole[8:], *whole[:8]]
    assert properties["sum_data"] == str(tmp_path / "data" / "sum_data.csv")
    assert prepared_of(load).undivided_properties == dict.fromkeys(properties)


def test_the_shares_of_a_forecast_add_up_to_its_schedule(shared):
    properties = []
    whole = None
    for number in (1, 2, 3):
        load = shared(STRESS, env={"ENGINE": f"{number}/3"}, **FOLLOWS)
        scenario = scenario_of(load)
        properties.append(scenario["properties"])
        whole = prepared_of(load).undivided_properties["schedule"]
        given = {key: str(value) for key, value in properties[-1].items()}
        (group,) = read_plan(ROOT / "plans" / "stress.jmx", given).groups
        assert group.random_seed != 21
    counts = [OpenModelArrivals(it["schedule"], 1).count for it in properties]
    assert sum(counts) == OpenModelArrivals(whole, 1).count
    assert max(counts) - min(counts) <= 1
    assert len({it["seed"] for it in properties}) == 3
    # Visitors are numbered among all of them, and asked for the same shares.
    assert len({it["mix"] for it in properties}) == 1


def test_a_plan_of_the_users_own_runs_as_it_is_and_says_so(shared):
    load = shared(modules={"verdict": {"kind": "plan"}})
    scenario = scenario_of(load)
    assert "properties" not in scenario
    (note,) = prepared_of(load).notes
    assert "3 times the plan's" in note
    assert under_way(load.engine).share["rows"] == ""


KINDS = yaml.safe_load((ROOT / "taurus.yml").read_text())["cli-aliases"]
LATER, PAST = "2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
REFUSED = {
    "no share": ({"env": {"ENGINE": "3/2"}}, "ENGINE is '3/2'"),
    "a time without an engine": ({"env": {"START_AT": LATER}}, "set ENGINE"),
    "no time": ({"env": {"ENGINE": "1/2", "START_AT": "noon"}}, "START_AT is 'noon'"),
    "a time that has passed": ({"env": {"ENGINE": "1/2", "START_AT": PAST}}, "is over"),
    "an app of PM2's": (
        {"env": {"ENGINE": "1/2", "START_AT": LATER}, "scenario": {"target": "fork"}},
        "PM2 starts on this one alone",
    ),
    **{
        kind: ({"modules": KINDS[kind]["modules"]}, f"the kind {kind}")
        for kind in ("compare", "study", "capacity")
    },
    "rows in no known way": ({"rows": "splitt"}, "modules.load.rows is 'splitt'"),
    "too few rows": ({"env": {"ENGINE": "1/99"}, "rows": "split"}, "too few to be split"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_be_no_share_is_refused_in_one_line(shared, what):
    given, expected = REFUSED[what]
    with pytest.raises(TaurusConfigError) as refused:
        shared(**given)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def utc(moment):
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}"


def test_it_waits_for_its_moment_once_all_is_ready(shared, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    load = shared(env={"ENGINE": "1/2", "START_AT": utc(1007.5)})
    load.startup()
    assert now[0] == pytest.approx(1007.5)


def test_who_is_ready_too_late_does_not_begin(shared, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    load = shared(env={"ENGINE": "1/2", "START_AT": utc(1007)})
    monkeypatch.setattr(time, "time", lambda: 1008.0)
    with pytest.raises(TaurusConfigError, match="is over"):
        load.startup()


@pytest.mark.parametrize(
    ("env", "word"),
    [
        ({"ENGINES": "10.0.0.1"}, "10.0.0.1"),
        ({"ENGINES": "10.0.0.1:0"}, "host and port"),
        ({"ENGINES": "10.0.0.1:1099,"}, "host and port"),
        ({"ENGINES": "10.0.0.1:1099, 10.0.0.1:1099"}, "twice"),
        ({"ENGINES": "10.0.0.1:1099", "ENGINE": "1/2"}, "ENGINES and ENGINE"),
        ({"ENGINES": "10.0.0.1:1099", "START_AT": "2099-01-01T00:00:00Z"}, "START_AT"),
    ],
)
def test_engines_that_can_not_be_meant_are_refused(shared, env, word):
    with pytest.raises(TaurusConfigError, match=word):
        shared(env=env)


def test_kinds_that_nobody_shares_have_no_remote_engines(shared):
    with pytest.raises(TaurusConfigError, match="capacity"):
        shared(env={"ENGINES": "10.0.0.1:1099"}, modules={"verdict": {"kind": "capacity"}})
