"""The plan of a comparison of any service, as Tollgate reads it, and JMeter runs it."""

import contextlib
import json
import urllib.request
from collections import Counter

import pytest

from support import services
from support.jmeter_run import Run
from tollgate.base.settings import SettingError
from tollgate.compare import mix
from tollgate.plan import jmx
from tollgate.plan.read import read_plan
from tollgate.schedule.model import Schedule
from tollgate.schedule.schedule import schedules_of
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service
from tollgate.service.shapes import SHAPES

JSON = {"Content-Type": "application/json"}
VISITOR = json.dumps({"visitor": "somebody"})
VISIT = [
    {
        "url": "/login",
        "label": "login",
        "method": "POST",
        "headers": JSON,
        "body": '{"visitor":"v"}',
    },
    {"url": "/cart/3", "label": "add", "method": "POST"},
    {"url": "/cart", "label": "view"},
]
SHOP = {
    "app": "shop",
    "rate": "50/s",
    "requests": [
        {"label": "list", "url": "/items?page=2", "weight": 6},
        {"label": "item", "url": "/items/7", "weight": 2},
        {"transaction": "cart", "weight": 2, "do": VISIT},
    ],
}


@pytest.fixture
def plan(tmp_path):
    """The path of the plan of a shop with a login."""
    path = tmp_path / "shop.jmx"
    jmx.write(SHAPES["compare"](parts_of(read_service("shop", SHOP), tmp_path)), path)
    return path


def test_each_label_comes_when_its_arrivals_are_due_and_what_follows_in_a_session_does_not(plan):
    found, _ = schedules_of(read_plan(plan, {"warmup": "2", "measured": "10"}))
    assert isinstance(found["list"], Schedule)
    assert found["list"] is found["item"] is found["login"]
    assert found["list"].arrivals(0.1).tolist() == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    assert [isinstance(found[it], str) for it in ("add", "view", "cart")] == [True] * 3


def test_more_labels_than_can_be_compared_at_once_are_refused_in_a_line(tmp_path):
    asked = [{"label": f"item {it}", "url": f"/items/{it}"} for it in range(101)]
    many = parts_of(read_service("shop", {**SHOP, "requests": asked}), tmp_path)
    with pytest.raises(SettingError, match="101 labels, and 100 are the most"):
        SHAPES["compare"](many)


def test_what_a_plan_mixes_is_read_from_it(plan):
    found = mix.mix_of(read_plan(plan, {}), plan.read_text())
    assert [(it.name, it.labels) for it in found.parts] == [
        *(("list", ("list",)), ("item", ("item",)), ("cart", ("login", "add", "view"))),
    ]
    assert found.weights == (3, 1, 1)


def asked(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
        return json.load(answer)


@pytest.fixture
def shops(tmp_path):
    """The ports of four processes of a shop, each with sessions of its own."""
    repo = services.shop(tmp_path / "shop")
    services.install(repo)
    with contextlib.ExitStack() as running:
        yield [running.enter_context(services.serving(repo)) for _ in range(4)]


def test_a_session_never_crosses_sides_nor_processes(plan, shops, tmp_path):
    places = {f"{name}_{coin}": it for coin, port in enumerate(shops) for name, it in at(port)}
    load = {"warmup": 1, "measured": 6, "threads": 12, "last_coin": 3, "response_timeout": 20_000}
    columns = {"sample_variables": "TESTSTART.MS,coin,arrival"}
    ran = Run(plan, tmp_path, tmp_path, **load, **places, **columns)
    assert [asked(port, "/refused")["refused"] for port in shops] == [0] * 4
    assert ran.that(success="false") == []
    went = {(it["coin"], it["URL"].split("/")[2]) for it in ran.samples if it["URL"] != "null"}
    assert went == {(str(coin), f"127.0.0.1:{port}") for coin, port in enumerate(shops)}
    # And each arrival asks the label that the sequence has in its place.
    found = mix.mix_of(read_plan(plan, {}), plan.read_text())
    order = mix.parts_of(mix.sequence([6, 2, 2], 31))
    for row in ran.samples:
        part = found.parts[order[int(row["arrival"]) // 20 % len(order)]]
        assert row["label"] in (part.name, *part.labels)
    assert set(Counter(it["label"] for it in ran.samples)) > {"list", "item", "login", "view"}


def at(port):
    return ("host", "127.0.0.1"), ("port", port), ("protocol", "http")
