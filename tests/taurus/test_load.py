"""The service `load` on Taurus's configuration, without Taurus's engine."""

import logging
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from tollgate.base.paths import ROOT
from tollgate.taurus.load import Load
from tollgate.taurus.shared import under_way

STRESS = str(ROOT / "plans" / "stress.jmx")
FOLLOWS = {"forecast": str(ROOT / "data" / "forecast.csv"), "length": 1, "scale": 1440}
INLINE = {"scenario": {"script": "plans/check.jmx"}}


@pytest.fixture
def prepared(monkeypatch, caplog):
    """Prepares the service over a configuration; returns the configuration after it."""
    caplog.set_level(logging.INFO)
    for name in ("MODE", "SCALE"):
        monkeypatch.delenv(name, raising=False)

    def prepare(*executions, mode=None, scenarios=None, properties=None, capacity=None, **settings):
        if mode:
            monkeypatch.setenv("MODE", mode)
        named = {"fork": {"script": STRESS}, "cluster": {"script": STRESS}}
        load = Load()
        load.log = logging.getLogger("load")
        load.settings = BetterDict.from_dict({"class": "tollgate.taurus.load.Load", **settings})
        load.engine = SimpleNamespace(
            config=BetterDict.from_dict(
                {
                    "execution": list(executions or ({"scenario": "fork"},)),
                    "scenarios": named if scenarios is None else scenarios,
                    "modules": {
                        "jmeter": {"properties": properties or {"warmup": 5}},
                        "capacity": capacity or {},
                    },
                }
            )
        )
        load.prepare()
        load.engine.config.executions = under_way(load.engine).executions
        return load.engine.config

    return prepare


def names(config):
    return [each["scenario"] for each in config["execution"]]


@pytest.mark.parametrize("mode", [None, "both"])
def test_an_inline_scenario_stays_where_mode_names_no_execution(prepared, mode):
    assert names(prepared({"scenario": "fork"}, INLINE, mode=mode)) == ["fork", INLINE["scenario"]]


def test_an_inline_scenario_stays_where_the_preferred_mode_stands_for_the_other(prepared):
    inline = {"scenario": {"script": STRESS}}
    long = {**FOLLOWS, "scale": 360}
    config = prepared({"scenario": "fork"}, {"scenario": "cluster"}, inline, **long)
    assert [type(each["scenario"]) for each in config["execution"]] == [str, BetterDict]
    assert "schedule" in config["execution"][1]["scenario"]["properties"]


def test_mode_drops_an_inline_scenario_and_the_log_says_so(prepared, caplog):
    assert names(prepared({"scenario": "fork"}, INLINE, mode="fork")) == ["fork"]
    assert "Only fork: MODE=fork; left out: check.jmx" in caplog.text


def test_two_executions_of_one_name_are_refused(prepared):
    with pytest.raises(TaurusConfigError, match=r"two executions are called 'check\.jmx'"):
        prepared(INLINE, INLINE)


def test_a_scenario_that_yaml_takes_for_a_number_is_no_other_than_its_name(prepared):
    config = prepared({"scenario": 1}, scenarios={1: {"script": "plans/check.jmx"}})
    assert names(config) == [1]


@pytest.mark.parametrize(
    ("name", "step"),
    [("frok", "did you mean 'fork'"), ("plans/stress.jmx", "known are fork, cluster")],
)
def test_an_execution_with_no_such_scenario_can_follow_no_forecast(prepared, name, step):
    with pytest.raises(TaurusConfigError, match=f"execution '{name}' .*{step}"):
        prepared({"scenario": name}, **FOLLOWS)


@pytest.mark.parametrize("scenario", [{"target": "fork"}, None])
def test_a_scenario_without_a_plan_can_follow_no_forecast(prepared, scenario):
    with pytest.raises(TaurusConfigError, match="execution 'fork' has no plan"):
        prepared(scenarios={"fork": scenario}, **FOLLOWS)


def test_a_setting_that_nobody_reads_is_refused_with_the_nearest(prepared):
    with pytest.raises(TaurusConfigError, match=r"modules\.load .*'factr'.*did you mean 'factor'"):
        prepared(factr=3)


def test_the_schedule_follows_the_properties_of_each_scenario(prepared):
    own = {"script": STRESS, "properties": {"warmup": "12", "response_timeout": 9000}}
    config = prepared(
        {"scenario": "fork"},
        {"scenario": "cluster"},
        scenarios={"fork": {"script": STRESS}, "cluster": own},
        **FOLLOWS,
    )
    fork, cluster = (config["scenarios"][name] for name in ("fork", "cluster"))
    assert fork["properties"]["schedule"].endswith("pause(5 sec)")
    assert cluster["properties"]["schedule"].endswith("pause(9 sec)")
    assert [each.forecast["steps"][0]["from_s"] for each in config.executions.values()] == [5, 12]
    assert fork["properties"]["measured"] == cluster["properties"]["measured"] == 60


@pytest.mark.parametrize("value", ["60s", "1e3", "-5", None, True, "nan"])
@pytest.mark.parametrize("name", ["warmup", "measured", "response_timeout"])
def test_a_property_that_is_no_plain_number_is_refused_before_anything_starts(
    prepared, name, value
):
    with pytest.raises(TaurusConfigError, match=f"execution 'fork': the property {name} is "):
        prepared(properties={name: value})


def test_several_jmeters_for_one_execution_are_refused_before_anything_starts(prepared):
    servers = ["127.0.0.1:1199", "127.0.0.1:1299"]
    with pytest.raises(TaurusConfigError, match=r"'fork' has distributed: \[.*ENGINES") as no:
        prepared({"scenario": "fork", "distributed": servers})
    assert "\n" not in str(no.value)


def test_an_empty_list_of_servers_is_none(prepared):
    assert names(prepared({"scenario": "fork", "distributed": []})) == ["fork"]


def test_a_length_may_be_a_fraction(prepared):
    config = prepared(**{**FOLLOWS, "length": "1/3"})
    assert len(config.executions["fork"].forecast["steps"]) == 8


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        ("quick", "SCALE is 'quick': write a number"),
        ("0.5", "scale = 0.5: write a number of at least 1"),
        ("30000", "to measure: take a smaller one"),
    ],
)
def test_a_scale_that_makes_no_load_is_refused(prepared, monkeypatch, scale, told):
    monkeypatch.setenv("SCALE", scale)
    with pytest.raises(TaurusConfigError, match=f"^load: .*{told}"):
        prepared(**FOLLOWS)


def test_a_mode_that_is_no_execution_is_refused(prepared):
    with pytest.raises(TaurusConfigError, match=r"^load: .*did you mean 'cluster'"):
        prepared({"scenario": "fork"}, {"scenario": "cluster"}, mode="clutser")


@pytest.mark.parametrize("value", ["half", "1/0", "inf"])
def test_a_length_that_is_no_number_is_refused(prepared, value):
    with pytest.raises(TaurusConfigError, match=r"load: length is .*: write a number such as"):
        prepared(**{**FOLLOWS, "length": value})


def test_a_bad_forecast_is_refused_with_row_and_column(prepared, tmp_path):
    (tmp_path / "mine.csv").write_text("hour,tps,sum\n0,4,100\n1,-3,100\n")
    with pytest.raises(TaurusConfigError, match=r"^load: .*mine\.csv.*\b3\b.*tps.*-3") as refused:
        prepared(**{**FOLLOWS, "forecast": str(tmp_path / "mine.csv")})
    assert "\n" not in str(refused.value)


def test_a_property_that_the_plan_does_not_read_is_told_and_noted(prepared, caplog):
    config = prepared(properties={"warmup": 5, "mesured": 60})
    [line] = config.executions["fork"].notes
    assert "'mesured'" in line
    assert line in caplog.text
    assert config.executions["cluster"].notes == []


def test_nothing_is_said_of_properties_that_a_copy_of_the_plan_may_read(prepared):
    config = prepared(properties={"warmup": 5, "poll": 60}, capacity={"rate": "rate"})
    assert config.executions["fork"].notes == []
