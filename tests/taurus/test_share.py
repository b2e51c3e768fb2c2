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
        jmeter = {"properties": {"warmup": 5, "measured": 30}}
        config = {
            "execution": [{"scenario": "shop"}],
            "scenarios": {"shop": {"script": script, "url": URL, **(scenario or {})}},
            "modules": {"jmeter": jmeter, **(modules or {"verdict": {"kind": "check"}})},
        }
        config = BetterDict.from_dict(config)
        load.engine = SimpleNamespace(artifacts_dir=str(tmp_path), config=config)
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
    share, properties = under_way(load.engine).share, scenario_of(load)["properties"]
    assert (share["number"], share["of"], share["rows"], share["start_at"]) == (2, 3, "copy", None)
    assert (properties["engine"], properties["engines"]) == ("2", "3")
    feeds = ("calculate", "sum", "search", "kittens", "pi")
    assert set(share["data"]) == {f"{feed}_data" for feed in feeds}
    own, (head, *whole) = (
        list(csv.reader(path.read_text().splitlines()))
        for path in (tmp_path / "data" / "sum_data.csv", ROOT / "data" / "sum.csv")
    )
    assert own == [head, *whole[8:], *whole[:8]]
    assert properties["sum_data"] == str(tmp_path / "data" / "sum_data.csv")
    assert prepared_of(load).undivided_properties == dict.fromkeys(properties)


def test_the_shares_of_a_forecast_add_up_to_its_schedule(shared):
    properties = []
    for number in (1, 2, 3):
        load = shared(STRESS, env={"ENGINE": f"{number}/3"}, **FOLLOWS)
        properties.append(scenario_of(load)["properties"])
        given = {key: str(value) for key, value in properties[-1].items()}
        (group,) = read_plan(STRESS, given).groups
        assert group.random_seed != 21
    counts = [OpenModelArrivals(it["schedule"], 1).count for it in properties]
    whole = prepared_of(load).undivided_properties["schedule"]
    assert sum(counts) == OpenModelArrivals(whole, 1).count
    assert max(counts) - min(counts) <= 1
    assert len({it["seed"] for it in properties}) == 3
    # Visitors are numbered among all of them, and asked for the same shares.
    assert len({it["mix"] for it in properties}) == 1


def test_a_plan_of_the_users_own_runs_as_it_is_and_says_so(shared):
    load = shared(modules={"verdict": {"kind": "plan"}})
    assert "properties" not in scenario_of(load)
    (note,) = prepared_of(load).notes
    assert "3 times the plan's" in note
    assert under_way(load.engine).share["rows"] == ""


KINDS = yaml.safe_load((ROOT / "taurus.yml").read_text())["cli-aliases"]
LATER, PAST = "2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
ONE = {"ENGINES": "10.0.0.1:1099"}
REFUSED = [
    ({"env": {"ENGINE": "3/2"}}, "ENGINE is '3/2'"),
    ({"env": {"START_AT": LATER}}, "set ENGINE"),
    ({"env": {"ENGINE": "1/2", "START_AT": "noon"}}, "START_AT is 'noon'"),
    ({"env": {"ENGINE": "1/2", "START_AT": PAST}}, "is over"),
    (
        {"env": {"ENGINE": "1/2", "START_AT": LATER}, "scenario": {"target": "fork"}},
        "PM2 starts on this one alone",
    ),
    *(
        ({"modules": KINDS[kind]["modules"]}, f"share a {kind}")
        for kind in ("compare", "study", "capacity")
    ),
    *(
        ({"modules": {**KINDS[kind]["modules"], "verdict": {"kind": "plan"}}}, f"share a {kind}")
        for kind in ("compare", "study", "capacity")
    ),
    ({"rows": "splitt"}, "modules.load.rows is 'splitt'"),
    ({"env": {"ENGINE": "1/99"}, "rows": "split"}, "too few to be split"),
    ({"env": {"ENGINES": "10.0.0.1"}}, "10.0.0.1"),
    ({"env": {"ENGINES": "10.0.0.1:0"}}, "host:port"),
    ({"env": {"ENGINES": "10.0.0.1:1099,"}}, "host:port"),
    ({"env": {"ENGINES": "10.0.0.1:1099, 10.0.0.1:1099"}}, "twice"),
    ({"env": ONE | {"ENGINE": "1/2"}}, "ENGINES and ENGINE"),
    ({"env": ONE | {"START_AT": LATER}}, "START_AT"),
    ({"env": ONE, "modules": {"verdict": {"kind": "capacity"}}}, "capacity"),
]


@pytest.mark.parametrize(("given", "expected"), REFUSED)
def test_what_can_be_no_share_is_refused_in_one_line(shared, given, expected):
    with pytest.raises(TaurusConfigError) as refused:
        shared(**given)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def utc(moment):
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}"


def test_it_waits_for_its_moment_once_all_is_ready_unless_that_is_too_late(shared, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    shared(env={"ENGINE": "1/2", "START_AT": utc(1007.5)}).startup()
    assert now[0] == pytest.approx(1007.5)
    load = shared(env={"ENGINE": "1/2", "START_AT": utc(1014)})
    now[0] = 1015.0
    with pytest.raises(TaurusConfigError, match="is over"):
        load.startup()
