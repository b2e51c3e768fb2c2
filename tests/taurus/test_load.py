"""The service `load` on Taurus's configuration, without Taurus's engine."""

import logging
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from support.services_described import parts, plan, service
from tollgate.base.paths import SUITE
from tollgate.service.compose import Composed
from tollgate.taurus.load import BOTH_MODES_S, Load, ModeError, chosen_modes
from tollgate.taurus.shared import under_way

STRESS = str(SUITE / "plans" / "stress.jmx")
FOLLOWS = {"forecast": str(SUITE / "data" / "forecast.csv"), "length": 1, "scale": 1440}
INLINE = {"scenario": {"script": "plans/check.jmx"}}
FORK, CLUSTER = {"scenario": "fork"}, {"scenario": "cluster"}


@pytest.fixture
def prepared(monkeypatch, caplog):
    """Prepares the service over a configuration; returns the configuration after it."""
    caplog.set_level(logging.INFO)
    for name in ("MODE", "SCALE"):
        monkeypatch.delenv(name, raising=False)

    def prepare(
        *executions,
        env=None,
        scenarios=None,
        properties=None,
        capacity=None,
        composed=None,
        **settings,
    ):
        for name, value in (env or {}).items():
            monkeypatch.setenv(name, value)
        load = Load()
        load.log = logging.getLogger("load")
        load.settings = BetterDict.from_dict({"class": "tollgate.taurus.load.Load", **settings})
        jmeter = {"properties": properties or {"warmup": 5}}
        config = {
            "execution": list(executions or (FORK,)),
            "scenarios": scenarios or {"fork": {"script": STRESS}, "cluster": {"script": STRESS}},
            "modules": {"jmeter": jmeter, "capacity": capacity or {}},
        }
        load.engine = SimpleNamespace(config=BetterDict.from_dict(config))
        under_way(load.engine).composed = composed
        load.prepare()
        load.engine.config.executions = under_way(load.engine).executions
        return load.engine.config

    return prepare


def names(config):
    return [each["scenario"] for each in config["execution"]]


@pytest.mark.parametrize("env", [{}, {"MODE": "both"}])
def test_an_inline_scenario_stays_where_mode_names_no_execution(prepared, env):
    assert names(prepared(FORK, INLINE, env=env)) == ["fork", INLINE["scenario"]]


def test_an_inline_scenario_stays_where_the_preferred_mode_stands_for_the_other(prepared):
    config = prepared(FORK, CLUSTER, {"scenario": {"script": STRESS}}, **FOLLOWS | {"scale": 360})
    assert [type(each["scenario"]) for each in config["execution"]] == [str, BetterDict]
    assert "schedule" in config["execution"][1]["scenario"]["properties"]


def test_mode_drops_an_inline_scenario_and_the_log_says_so(prepared, caplog):
    assert names(prepared(FORK, INLINE, env={"MODE": "fork"})) == ["fork"]
    assert "Only fork: MODE=fork; left out: check.jmx" in caplog.text


def test_a_scenario_that_yaml_takes_for_a_number_is_no_other_than_its_name(prepared):
    assert names(prepared({"scenario": 1}, scenarios={1: {"script": "plans/check.jmx"}})) == [1]


NUMBER = "write a number"
#: Executions, and what else makes of them no load; how the line goes on that says so.
REFUSED = [
    ([INLINE, INLINE], {}, r"two executions are called 'check\.jmx'"),
    ([{"scenario": "frok"}], FOLLOWS, "execution 'frok' has no plan"),
    ([{"scenario": "plans/stress.jmx"}], FOLLOWS, "execution 'plans/stress.jmx' has no plan"),
    ([], {"scenarios": {"fork": {"target": "fork"}}} | FOLLOWS, "execution 'fork' has no plan"),
    ([], {"scenarios": {"fork": None}} | FOLLOWS, "execution 'fork' has no plan"),
    ([], {"factr": 3}, r"modules\.load .*'factr'.*did you mean 'factor'"),
    ([FORK | {"distributed": ["a:1", "b:2"]}], {}, r"'fork' has distributed: \[.*ENGINES"),
    ([], {"env": {"SCALE": "quick"}} | FOLLOWS, f"load: .*SCALE is 'quick': {NUMBER}"),
    ([], {"env": {"SCALE": "0.5"}} | FOLLOWS, f"load: .*scale = 0.5: {NUMBER} of at least 1"),
    ([], {"env": {"SCALE": "30000"}} | FOLLOWS, "load: .*to measure: take a smaller one"),
    ([FORK, CLUSTER], {"env": {"MODE": "clutser"}}, "load: .*did you mean 'cluster'"),
    *(
        ([], FOLLOWS | {"length": length}, f"load: modules.load.length is .*: {NUMBER} such as")
        for length in ("half", "1/0", "inf")
    ),
    *(
        ([], {"properties": {name: value}}, f"execution 'fork': the property {name} is ")
        for name in ("warmup", "measured", "response_timeout")
        for value in ("60s", "1e3", "-5", None, True, "nan")
    ),
]


@pytest.mark.parametrize(("executions", "settings", "said"), REFUSED)
def test_what_makes_no_load_is_refused_in_a_line_before_anything_starts(
    prepared, executions, settings, said
):
    with pytest.raises(TaurusConfigError, match=said) as refused:
        prepared(*executions, **settings)
    assert "\n" not in str(refused.value)
    assert not said.startswith("load: ") or str(refused.value).startswith("load: ")


def test_the_load_of_a_service_ends_when_its_slowest_answers_and_its_pauses_have(
    prepared, tmp_path
):
    pause = {"action": "pause", "pause-duration": "4s"}
    visit = {"transaction": "visit", "do": [{"label": "first", "url": "/"}, pause]}
    asked = {"requests": [visit], "timeout": "30s"}
    path = plan(tmp_path, "forecast", **asked)
    made = Composed(service(**asked), "forecast", path, parts(tmp_path, **asked), {})
    given = {"shop": {"script": str(path), "properties": {"warmup": 5}}}
    config = prepared({"scenario": "shop"}, scenarios=given, composed=made, **FOLLOWS)
    assert config["scenarios"]["shop"]["properties"]["schedule"].endswith("pause(34 sec)")


def test_the_schedule_follows_the_properties_of_each_scenario(prepared):
    own = {"script": STRESS, "properties": {"warmup": "12", "response_timeout": 9000}}
    scenarios = {"fork": {"script": STRESS}, "cluster": own}
    config = prepared(FORK, CLUSTER, scenarios=scenarios, **FOLLOWS)
    fork, cluster = (config["scenarios"][name] for name in ("fork", "cluster"))
    assert fork["properties"]["schedule"].endswith("pause(5 sec)")
    assert cluster["properties"]["schedule"].endswith("pause(9 sec)")
    assert [each.forecast.steps[0].from_s for each in config.executions.values()] == [5, 12]
    assert fork["properties"]["measured"] == cluster["properties"]["measured"] == 60


def test_a_length_may_be_a_fraction_and_an_empty_list_of_servers_is_none(prepared):
    config = prepared(**FOLLOWS | {"length": "1/3"})
    assert len(config.executions["fork"].forecast.steps) == 8
    assert names(prepared(FORK | {"distributed": []})) == ["fork"]


def test_a_bad_forecast_is_refused_with_row_and_column(prepared, tmp_path):
    (tmp_path / "mine.csv").write_text("hour,tps,sum\n0,4,100\n1,-3,100\n")
    with pytest.raises(TaurusConfigError, match=r"^load: .*mine\.csv.*\b3\b.*tps.*-3.*\Z"):
        prepared(**FOLLOWS | {"forecast": str(tmp_path / "mine.csv")})


def test_a_property_that_the_plan_does_not_read_is_told_and_noted(prepared, caplog):
    config = prepared(properties={"warmup": 5, "mesured": 60})
    [line] = config.executions["fork"].notes
    assert "'mesured'" in line
    assert line in caplog.text
    assert config.executions["cluster"].notes == []
    # A copy of the plan may read it.
    config = prepared(properties={"warmup": 5, "poll": 60}, capacity={"rate": "rate"})
    assert config.executions["fork"].notes == []


BOTH = ["fork", "cluster"]


@pytest.mark.parametrize(
    ("mode", "names", "seconds"),
    [("", BOTH, BOTH_MODES_S), ("both", BOTH, 1e6), ("", ["mine", "yours"], 1e6)],
)
def test_all_executions_run_that_are_short_enough_or_wanted_or_do_not_stand_for_one_another(
    mode, names, seconds
):
    assert chosen_modes(mode, names, seconds, "cluster") == (names, "")


@pytest.mark.parametrize("preferred", BOTH)
def test_a_long_kind_runs_in_its_preferred_mode_alone_and_says_so(preferred):
    names, why = chosen_modes("", BOTH, BOTH_MODES_S + 1, preferred)
    assert names == [preferred]
    assert "MODE=both" in why


@pytest.mark.parametrize("mode", BOTH)
def test_mode_chooses_one_execution_however_long_it_is(mode):
    assert chosen_modes(mode, BOTH, 1e6, "cluster")[0] == [mode]


@pytest.mark.parametrize(
    ("wanted", "step"),
    [("clutser", "did you mean 'cluster'?"), ("x", "known are fork, cluster, both")],
)
def test_a_mode_that_is_no_execution_is_refused_with_the_nearest_one(wanted, step):
    with pytest.raises(ModeError, match=step):
        chosen_modes(wanted, BOTH, 1, "cluster")
