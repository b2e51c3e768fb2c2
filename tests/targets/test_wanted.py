"""Which apps a run needs, and what their plans are told."""

import pytest
from bzt import TaurusConfigError
from bzt.utils import BetterDict

from tollgate.targets import pm2
from tollgate.targets.pm2 import App
from tollgate.targets.scenarios import wanted_apps

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
