"""A service that is not ours, described in taurus.yml: each kind of run of it."""

import json
import shutil
from types import SimpleNamespace

import pytest
import yaml

from e2e.adopting import Copy
from e2e.bzt_run import LENIENT, Run
from e2e.comparing import SHORT as QUICK
from support import ROOT
from support.http_server import Handler, serving
from support.service_suite import ServiceSuite

FIRSTS = ("list", "item", "find", "order", "login")
LABELS = {*FIRSTS, "put", "cart"}
SHORT = {
    "modules": {
        "verdict": LENIENT,
        "stop-when-decided": {"budget": "off"},
        "jmeter": {"properties": {"warmup": 3, "measured": 6}},
    }
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    made = ServiceSuite(tmp_path_factory.mktemp("services"))
    made.config = made.shop(rate="20/s") | SHORT
    return made


def ended(suite, tmp_path, *options, config=None, **env):
    run = Run(tmp_path, *options, config=config or suite.config, root=suite.suite, **env)
    return run.end_cleanly()


def labels(samples):
    """Of requests: a row of a Transaction Controller adds up others."""
    return {it["label"] for it in samples if it["URL"] != "null"}


def test_check_asks_each_label_at_its_part_of_the_rate(suite, tmp_path):
    ran = ended(suite, tmp_path, alias="shop")
    assert ran.execution["name"] == "shop"
    assert labels(ran.samples) == LABELS
    assert ran.all_answered_right
    count = {it: sum(row["label"] == it for row in ran.samples) for it in LABELS}
    assert count["list"] > 2 * count["order"]
    # What follows in a visit is sent by the visitor who has logged in.
    assert 0 < count["cart"] <= count["put"] <= count["login"]


@pytest.mark.long
def test_each_of_both_modes_is_an_execution(suite, tmp_path):
    ran = ended(suite, tmp_path, alias="shop", MODE="both")
    assert [it["name"] for it in ran.verdict["executions"]] == ["shop-fork", "shop-cluster"]
    targets = [of for it in ran.json("run.json")["executions"] for of in it["targets"]]
    assert {it["name"]: it["mode"] for it in targets} == {
        "shop-fork": "fork",
        "shop-cluster": "cluster",
    }


@pytest.mark.long
def test_stress_follows_the_total_of_a_forecast_by_the_weights_of_the_service(suite, tmp_path):
    ran = ended(suite, tmp_path, "modules.load.scale=8640", alias="stress shop")
    targets = {it["name"]: it["forecast"] for it in ran.execution["forecast"]["targets"]}
    assert {*targets} == {*FIRSTS}
    assert targets["list"] == pytest.approx(4 * targets["order"])
    # Workers are watched also where the app has no code of ours.
    (worker,) = ran.execution["workers"]
    assert worker["rss_max_bytes"] > 0
    assert worker["loop_delay_p95_ms"] > 0


@pytest.mark.long
def test_a_column_of_a_forecast_is_a_label(suite, tmp_path):
    rows = "".join(f"{hour},10,75,25\n" for hour in range(24))
    (suite.suite / "data" / "shop.csv").write_text(f"hour,tps,list,visit\n{rows}")
    config = suite.config | {
        "scenarios": {"shop": {**suite.scenarios["shop"], "forecast": "data/shop.csv"}}
    }
    ran = ended(suite, tmp_path, "modules.load.scale=8640", config=config, alias="shop stress")
    targets = {it["name"]: it["forecast"] for it in ran.execution["forecast"]["targets"]}
    assert targets["list"] == pytest.approx(3 * targets["login"])
    assert labels(ran.samples) == {"list", "login", "put", "cart"}


@pytest.fixture(scope="module")
def of_the_page(suite):
    """The settings of the service that docs/services.md describes, which is the shop here."""
    described = Copy.blocks(SimpleNamespace(root=ROOT, here=str), "yaml")[0]
    (scenario,) = yaml.safe_load(described)["scenarios"].values()
    data = suite.suite / "data"
    shutil.copy(data / "visitors.csv", data / "stock.csv")
    return SHORT | {"scenarios": {"stock": {**scenario, "app": "shop"}}}


@pytest.mark.long
def test_what_the_page_describes_is_six_routes_that_a_check_asks(suite, of_the_page, tmp_path):
    ran = ended(suite, tmp_path, config=of_the_page, alias="stock")
    assert labels(ran.samples) == {"list", "item", "find", "order", "login", "put"}
    assert ran.all_answered_right


@pytest.mark.long
def test_what_the_page_describes_is_searched_for_its_capacity(suite, of_the_page, tmp_path):
    options = ("modules.capacity.budget=190s",)
    ran = ended(suite, tmp_path, *options, config=of_the_page, alias="stock capacity")
    asked = {"list", "item", "find", "order", "visit"}
    assert {*ran.execution["capacity"]["of"]} == asked
    assert ran.execution["capacity"]["trials"] != []
    assert {it["label"] for it in ran.samples} == {f"one {it}" for it in asked} | {"nothing"}


@pytest.mark.long
def test_what_the_page_describes_is_compared_with_its_base(suite, of_the_page, tmp_path):
    options = (*QUICK, "modules.compare.processes=2", "modules.compare.budget=20")
    env = {"BASE": "HEAD~1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    ran = ended(suite, tmp_path, *options, config=of_the_page, alias="stock compare", **env)
    told = ran.json("compare.json")
    assert told["base"]["revision"] == suite.repo.git("rev-parse", "HEAD~1")
    assert {*told["weights"]} == {"list", "item", "find", "order", "visit"}
    assert ran.all_answered_right


class Counting(Handler):
    """Counts what each of several servers is asked."""

    def respond(self):
        self.server.asked.append(self.path)
        self.answer(200, json.dumps({"items": []}))


@pytest.mark.long
def test_alike_processes_are_asked_in_turn(suite, tmp_path):
    requests = [{"label": "list", "url": "/items", "assert": ['"items"']}]
    with serving(Counting, asked=[]) as one, serving(Counting, asked=[]) as other:
        urls = [f"http://127.0.0.1:{it.server_port}" for it in (one, other)]
        service = {"urls": urls, "requests": requests, "criteria": ["fail>0%"]}
        config = SHORT | {"scenarios": {"theirs": service}}
        ran = ended(suite, tmp_path, config=config, alias="theirs")
        asked = [it.asked.count("/items") for it in (one, other)]
    assert ran.all_answered_right
    assert min(asked) > 0.2 * sum(asked)


@pytest.mark.parametrize(
    ("scenario", "alias", "named"),
    [
        ({"requests": [{"url": "/a"}]}, "theirs", "neither app nor url"),
        ({"app": "none", "requests": [{"url": "/a"}]}, "theirs", "none"),
        ({"url": "http://127.0.0.1", "requests": [{"url": "/a"}]}, "theirs shop", "-shop"),
    ],
)
def test_what_cannot_run_is_refused_before_any_process_starts(
    suite, tmp_path, scenario, alias, named
):
    config = {"scenarios": {**suite.scenarios, "theirs": scenario}}
    ran = ended(suite, tmp_path, config=config, alias=alias)
    assert ran.code == 1
    assert named in ran.error()
    assert "Starting" not in ran.output.replace("Starting with configs", "")
