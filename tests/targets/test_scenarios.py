"""Scenarios by name or inline, which apps they need, and what `targets` refuses."""

import logging
from types import SimpleNamespace

import pytest
from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.targets import leftovers, lock, pm2, probe
from tollgate.targets.pm2 import App
from tollgate.targets.scenarios import kind_of, name_of, scenario_of, targets_of, wanted_apps
from tollgate.taurus.targets import Targets

CONFIG = BetterDict.from_dict({"scenarios": {"fork": {"script": "a.jmx"}, "empty": None}})


@pytest.mark.parametrize(
    ("scenario", "name", "script"),
    [
        ("fork", "fork", "a.jmx"),
        ("empty", "empty", None),
        ("plans/b.jmx", "plans/b.jmx", None),
        ({"script": "plans/b.jmx"}, "b.jmx", "plans/b.jmx"),
        ({"requests": []}, "inline scenario", None),
    ],
)
def test_an_execution_has_its_scenario_by_name_or_inline(scenario, name, script):
    execution = BetterDict.from_dict({"scenario": scenario})
    assert name_of(execution) == name
    assert scenario_of(CONFIG, execution).get("script", None) == script


@pytest.mark.parametrize(
    ("modules", "kind"),
    [
        ({}, ""),
        ({"compare": None, "verdict": {"kind": "check"}}, "check"),
        ({"compare": {"class": "tollgate.taurus.compare.Compare"}}, ""),
        ({"compare": {"budget": 600}, "verdict": {"kind": "plan"}}, "compare"),
        ({"study": {"design": "data/study.csv"}}, "study"),
        ({"capacity": {"budget": "5m"}, "verdict": {"kind": "plan"}}, "capacity"),
    ],
)
def test_what_a_run_is_to_measure_says_its_kind(modules, kind):
    assert kind_of({"modules": modules}) == kind


def targets(scenario, **settings):
    made = Targets()
    made.log = logging.getLogger("targets")
    made.settings = BetterDict.from_dict({"class": "tollgate.taurus.targets.Targets", **settings})
    config = BetterDict.from_dict({"execution": [{"scenario": scenario}]})
    made.engine = SimpleNamespace(config=config)
    return made


@pytest.mark.parametrize(
    ("target", "names"),
    [
        *((None, []), ("", []), ("fork", ["fork"]), (["fork"], ["fork"])),
        (["pi-2", "balancer", "pi-2"], ["pi-2", "balancer"]),
    ],
)
def test_a_scenario_names_its_targets_by_one_name_or_by_a_list(target, names):
    assert targets_of({"target": target}, "study") == names


@pytest.mark.parametrize("target", [[], [None], ["fork", 3001], 3001, {"fork": 1}])
def test_a_target_that_is_no_name_is_refused(target):
    with pytest.raises(TaurusConfigError) as caught:
        targets_of({"target": target}, "study")
    assert str(caught.value).startswith(f"targets: scenario 'study' has target {target!r}: name an")


@pytest.fixture
def unheld(monkeypatch):
    """No run of this checkout is in the way of `prepare`."""
    monkeypatch.setattr(lock, "take_lock", lambda: None)
    monkeypatch.setattr(leftovers, "clean_up", list)


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("reload-evry", r"'reload-evry'.*did you mean 'reload-every'"),
        ("reload-every", "no execution has a target in cluster mode"),
    ],
)
def test_a_timetable_of_reloads_that_nobody_can_follow_is_refused(setting, said):
    with pytest.raises(TaurusConfigError, match=said):
        targets({"target": "fork"}, **{setting: "5s"}).prepare()


@pytest.mark.usefixtures("unheld")
@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("PATH", "targets: node is not on PATH"),
        ("JMETER_HOME", r"targets: JMeter is not in {}/bin/jmeter: run `tollgate install`"),
    ],
)
def test_a_tool_that_is_missing_is_named_and_not_downloaded(tmp_path, monkeypatch, variable, told):
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    with pytest.raises(ToolError, match=told.format(tmp_path / "nowhere")):
        targets({"target": "fork"}).prepare()
    assert not (tmp_path / "nowhere").exists()


APPS = (
    App("fork", 3001, "fork", 1),
    App("cluster", 3002, "cluster", 2),
    App("pi-1", 3011, "fork", 1),
    App("pi-2", 3012, "fork", 1),
    App("balancer", 3010, "fork", 1, deals_to="^pi-"),
)


@pytest.fixture(autouse=True)
def topology(monkeypatch):
    monkeypatch.setattr(pm2, "declared_apps", lambda: {app.name: app for app in APPS})


def wanted(*targets, has_timetable=False):
    """(names of the apps that executions with such targets need, the properties of each plan)."""
    scenarios = [{"script": "a.jmx", "target": target} for target in targets]
    executions = [{"scenario": scenario} for scenario in scenarios]
    config = BetterDict.from_dict({"execution": executions})
    names = [app.name for app in wanted_apps(config, has_timetable)]
    return names, [each["scenario"].get("properties") for each in config["execution"]]


def refusal(*targets, **how):
    with pytest.raises(TaurusConfigError) as caught:
        wanted(*targets, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_plan_gets_the_host_of_its_targets_and_the_port_of_a_single_one():
    for target in ("fork", ["fork"]):
        assert wanted(target) == (["fork"], [{"host": "127.0.0.1", "port": 3001}])
    targets = ["balancer", "pi-1", "pi-2"]
    assert wanted(targets) == (targets, [{"host": "127.0.0.1"}])


def test_a_plan_gets_each_port_of_an_app_whose_forks_have_one_each(monkeypatch):
    apps = (App("shop", 3001, "fork", 2, has_own_ports=True), App("other", 3002, "fork", 1))
    monkeypatch.setattr(pm2, "declared_apps", lambda: {app.name: app for app in apps})
    [found] = wanted("shop")[1]
    assert (found["port"], found["port_0"], found["port_1"]) == (3001, 3001, 3002)
    assert (found["host_1"], found["protocol_1"]) == ("127.0.0.1", "http")
    assert "the apps 'shop' and 'other' both have port 3002" in refusal("shop", "other")


class _Executor:
    def __init__(self, label, target):
        self.label, self.properties, self._scenario = label, {}, {"target": target}

    def get_scenario(self):
        return self._scenario

    def set_properties(self, properties):
        self.properties |= properties


def asked_at_ipv6(*executors):
    """The executors, once `fork` is known to listen at ::1."""
    service = targets({"target": "fork"})
    service.apps = [*APPS]
    planned = [SimpleNamespace(name=it.label, properties={}) for it in executors]
    manifest = SimpleNamespace(executions=planned)
    service.engine.provisioning = SimpleNamespace(executors=executors)
    service.engine.run_under_way = SimpleNamespace(manifest=manifest)
    service._send_to({"fork": "::1"})
    assert [it.properties for it in planned] == [it.properties for it in executors]


def test_a_plan_asks_an_app_where_this_listens_and_is_recorded_so():
    executors = _Executor("one", "fork"), _Executor("two", "cluster")
    asked_at_ipv6(*executors)
    assert [it.properties for it in executors] == [{"host": "::1"}, {}]


def test_a_plan_of_several_apps_asks_none_elsewhere():
    with pytest.raises(probe.ProbeError, match="'fork' listens at ::1 alone, and 'one' asks"):
        asked_at_ipv6(_Executor("one", ["fork", "cluster"]))


def test_an_app_that_several_executions_need_is_started_once():
    assert wanted("fork", ["fork", "cluster"], None, "cluster")[0] == ["fork", "cluster"]


def test_an_app_that_nobody_declared_is_refused_with_those_that_there_are():
    said = refusal(["fork", "pi-9"])
    assert "has target 'pi-9', which ecosystem.config.js does not have" in said
    assert said.endswith("its apps are: fork, cluster, pi-1, pi-2, balancer")


@pytest.mark.parametrize("targets", ["balancer", ["fork", "balancer"]])
def test_a_balancer_without_servers_is_refused_before_anything_starts(targets):
    said = "'balancer', which deals to apps that match '^pi-', and none of those"
    assert said in refusal(targets)


@pytest.mark.parametrize("targets", [(["base", "head"],), ("base", "head")])
def test_two_apps_with_one_port_are_refused_though_a_cluster_would_start_them(targets, monkeypatch):
    apps = (App("base", 3021, "cluster", 2), App("head", 3021, "cluster", 2))
    monkeypatch.setattr(pm2, "declared_apps", lambda: {app.name: app for app in apps})
    assert "the apps 'base' and 'head' both have port 3021" in refusal(*targets)
    assert wanted("base")[0] == ["base"]


def test_reloads_are_for_one_target():
    assert "set reload-every to off" in refusal(["fork", "cluster"], has_timetable=True)
    assert wanted("cluster", has_timetable=True)[0] == ["cluster"]


def test_a_balancer_has_those_servers_behind_it_whose_name_it_looks_for():
    behind = {app.name: found for app in APPS if (found := pm2.servers_behind(app, APPS))}
    assert behind == {"balancer": ["pi-1", "pi-2"]}
