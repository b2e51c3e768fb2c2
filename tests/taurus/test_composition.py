"""A service and a kind of run, put together before any module is prepared."""

import pytest
from bzt.engine import Configuration

from support.services_described import SHOP
from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.service import choice
from tollgate.targets.pm2 import App
from tollgate.taurus import composition
from tollgate.taurus.run_file import KINDS_CONFIG

URL = {**{key: it for key, it in SHOP.items() if key != "app"}, "url": "http://127.0.0.1:8080"}
CRITERIA = ["p95 of list>250ms", "capacity of shop<20/s"]


@pytest.fixture
def composed(tmp_path, monkeypatch):
    """What a kind and a service of the suite's taurus.yml become."""
    monkeypatch.setattr("tollgate.service.compose.STATE", tmp_path)

    def compose(kind, service, scenario, environment=None, of=None, plans=None):
        config = Configuration()
        config.load([str(SUITE / "taurus.yml")])
        config.merge(config.get("cli-aliases").get(kind, {}))
        config["scenarios"].merge({service: scenario})
        config.merge({"modules": {"plan": {"path": plans}}} if plans else {})
        if of is not None:
            config["modules"]["capacity"]["of"] = of
        return composed_of(config, service, environment or {}), config

    return compose


def composed_of(config, service, environment):
    run = composition.read_run(config, service, environment)
    return composition.compose(config, run, environment)


def criteria_of(config):
    return [it for entry in config["reporting"] for it in entry.get("criteria", [])]


@pytest.mark.parametrize("kind", ["check", "stress", "load", "soak", "capacity", "compare"])
def test_each_kind_has_the_plan_of_its_shape(composed, kind, tmp_path):
    found, config = composed(kind, "shop", {**SHOP, "criteria": CRITERIA})
    assert found.plan == tmp_path / f"shop-{kind}.jmx"
    assert [it["scenario"] for it in config["execution"]] == ["shop"]
    scenario = config["scenarios"]["shop"]
    assert (SUITE / scenario["script"]).resolve() == found.plan.resolve()
    assert scenario.get("target" if kind != "compare" else "app") == "shop"
    kept = CRITERIA[1:] if kind == "capacity" else CRITERIA[:1]
    assert scenario["criteria"] == kept


@pytest.mark.parametrize(("ports", "modulus"), [(1, 0), (3, 1)])
def test_the_threads_ask_each_port_of_an_app_in_turn(composed, monkeypatch, ports, modulus):
    app = App("shop", 4000, "fork", ports, has_own_ports=True)
    monkeypatch.setattr("tollgate.targets.pm2.declared_apps", lambda: {"shop": app})
    found, _ = composed("check", "shop", SHOP)
    text = found.plan.read_text()
    assert text.count("__P(port_${__jexl3(ctx.threadNum % 3)},") == modulus


def test_what_is_asked_before_a_load_is_asked_once(composed):
    probes = [{"path": "/items", "answer": "items"}]
    for kind, service in (("check", URL), ("compare", SHOP)):
        _, config = composed(kind, "shop", {**service, "probes": probes})
        assert config["scenarios"]["shop"]["probes"] == probes


def test_criteria_of_a_kind_go_with_every_app_where_they_are_on_workers(composed):
    _, config = composed("stress", "shop", SHOP)
    assert {it.partition(" of ")[2].partition(">")[0] for it in criteria_of(config)} == {"worker"}
    _, config = composed("stress", "shop", URL)
    assert criteria_of(config) == []


@pytest.mark.parametrize("of", ["ordr", {"list": 6, "sum": 1}])
def test_a_label_that_the_service_does_not_ask_is_refused_where_it_is_meant_for_it(composed, of):
    with pytest.raises(SettingError, match=r"modules\.capacity\.of names '(ordr|sum)'"):
        composed("capacity", "shop", SHOP, of=of)


def test_a_search_for_capacity_asks_all_labels_by_their_weights(composed):
    found, config = composed("capacity", "shop", SHOP)
    assert config["modules"]["capacity"]["of"] == dict(found.parts.weights)


def test_own_plans_of_each_kind_stand_in_a_folder(composed):
    found, config = composed("soak", "mine", {"app": "fork", "plans": "plans"})
    assert found.plan == SUITE / "plans" / "soak.jmx"
    assert config["scenarios"]["mine"]["target"] == "fork"


def test_two_modes_are_two_executions_of_copies_of_the_app(composed, monkeypatch):
    monkeypatch.setenv("TOLLGATE_APPS", "[]")
    _, config = composed("check", "mine", {**SHOP, "app": "fork"}, {"MODE": "both"})
    names = [it["scenario"] for it in config["execution"]]
    assert names == ["mine-fork", "mine-cluster"]
    assert [config["scenarios"][it]["target"] for it in names] == ["fork-fork", "fork-cluster"]


@pytest.mark.parametrize(
    ("kind", "scenario", "environment", "named"),
    [
        ("check", {**URL, "app": "shop"}, {}, "app and url"),
        ("check", URL, {"MODE": "fork"}, "MODE"),
        ("check", {**SHOP, "app": "fork"}, {"MODE": "forks"}, "did you mean 'fork'"),
        ("study", SHOP, {}, "-study"),
        ("check", {"app": "fork", "plans": "data"}, {}, "check.jmx"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(
    composed, kind, scenario, environment, named
):
    with pytest.raises(SettingError) as problem:
        composed(kind, "shop", scenario, environment)
    (line,) = str(problem.value).splitlines()
    assert named in line


SECRET = {"environment": ["SHOP_KEY"], "headers": {"X-Key": "${__P(SHOP_KEY)}"}}


def test_what_the_environment_holds_is_given_to_jmeter(composed):
    found, config = composed("check", "shop", {**URL, **SECRET}, {"SHOP_KEY": "S3CRET"})
    jmeter = config["modules"]["jmeter"]
    assert jmeter["properties"]["SHOP_KEY"] == "S3CRET"
    assert jmeter["csv-jtl-flags"]["url"] is True
    assert "S3CRET" not in found.plan.read_text()


def test_samples_are_written_without_urls_where_one_may_hold_a_secret(composed):
    requests = [{"label": "list", "url": "/items?key=${__urlencode(${__P(SHOP_KEY)})}"}]
    _, config = composed(
        "compare", "shop", {**URL, **SECRET, "requests": requests}, {"SHOP_KEY": "a"}
    )
    assert config["modules"]["jmeter"]["csv-jtl-flags"]["url"] is False
    body = [{"label": "in", "url": "/login", "method": "POST", "body": {"a": "${__P(SHOP_KEY)}"}}]
    _, config = composed("check", "shop", {**URL, **SECRET, "requests": body}, {"SHOP_KEY": "a"})
    assert config["modules"]["jmeter"]["csv-jtl-flags"]["url"] is True


def test_a_variable_that_is_not_set_is_refused_by_name(composed):
    with pytest.raises(SettingError, match="SHOP_KEY"):
        composed("check", "shop", {**URL, **SECRET}, {})


def test_a_secret_is_given_as_the_plan_reads_it(composed):
    body = {"in": "${__P(SHOP_KEY_json)}"}
    requests = [{"label": "in", "url": "/in", "method": "POST", "body": body}]
    scenario = {**URL, "environment": ["SHOP_KEY"], "requests": requests}
    _, config = composed("check", "shop", scenario, {"SHOP_KEY": '" \\ "'})
    given = config["modules"]["jmeter"]["properties"]
    assert given["SHOP_KEY_json"] == r"\" \\ \""
    assert "SHOP_KEY" not in given


def test_a_plan_that_is_compared_takes_the_place_of_the_requests_and_of_their_criteria(composed):
    scenario = {**SHOP, "criteria": CRITERIA, "install": "npm ci"}
    found, config = composed("compare", "shop", scenario, {"PLAN": "visits.jmx"})
    assert (found.parts, [it["scenario"] for it in config["execution"]]) == (None, ["shop"])
    own = config["scenarios"]["shop"]
    assert (own["app"], own["install"], own["probes"]) == ("shop", "npm ci", [])
    assert "criteria" not in own
    found, _ = composed("check", "shop", scenario, {"PLAN": "visits.jmx"})
    assert found.parts


def test_a_suite_without_services_compares_a_plan_by_urls():
    config = Configuration()
    config.load([str(KINDS_CONFIG)])
    config.merge(config["cli-aliases"]["compare"])
    config["modules"]["plan"]["path"] = ["visits.jmx"]
    config["execution"] = []
    service = choice.only_service(config)
    assert composed_of(config, service, {"PLAN": "visits.jmx"}) is None
    assert [it["scenario"] for it in config["execution"]] == ["compare"]


def test_plans_named_in_taurus_yml_are_of_the_kind_plan_and_of_no_comparison(composed):
    found, _ = composed("compare", "shop", SHOP, {}, plans=["home.jmx", "cart.jmx"])
    assert found.parts


def test_a_plan_of_ones_own_gets_the_secrets_that_it_reads_also_in_what_it_includes(composed):
    folder = SUITE / "plans"
    scenario = {"app": "fork", "plans": str(folder), "environment": ["SHOP_KEY"]}
    found, config = composed("check", "mine", scenario, {"SHOP_KEY": "a"})
    assert found.plan == folder / "check.jmx"
    assert "SHOP_KEY" not in config["modules"]["jmeter"]["properties"]
    assert config["modules"]["jmeter"]["csv-jtl-flags"]["url"] is True
