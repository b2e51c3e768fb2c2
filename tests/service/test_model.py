"""What taurus.yml may say of a service, and what is refused of it."""

import pytest

from support.services_described import SHOP, service
from tollgate.base.settings import SettingError
from tollgate.service.model import is_service, read_service

LIST = {"label": "list", "url": "/items"}


def refusal(**changed):
    """The line that refuses the shop with these settings; None takes one away."""
    described = {key: it for key, it in {**SHOP, **changed}.items() if it is not None}
    with pytest.raises(SettingError) as problem:
        read_service("shop", described)
    (line,) = str(problem.value).splitlines()
    assert line.startswith("scenarios.shop")
    return line


def test_a_label_has_its_share_of_the_weights():
    assert service().shares == {"list": 0.6, "order": 0.1, "visit": 0.3}


def test_a_label_of_weight_0_is_not_asked():
    found = service(requests=[LIST, {"label": "order", "url": "/orders", "weight": 0}])
    assert [it.label for it in found.requests] == ["list"]


@pytest.mark.parametrize(
    ("written", "a_second"),
    [("30/s", 30), (0.5, 0.5), ("12", 12), ("90/min", 1.5), (" 7200 / h ", 2)],
)
def test_a_rate_is_requests_a_second(written, a_second):
    assert service(rate=written).settings.rate == pytest.approx(a_second)


@pytest.mark.parametrize("written", [0, "-1/s", "fast", "30/day", True, "1e3"])
def test_any_other_rate_is_refused(written):
    assert "rate" in refusal(rate=written)


def test_names_of_properties_are_made_of_letters_that_they_may_hold():
    found = service(requests=[{"label": "GET /items (first page)", "url": "/items"}])
    assert [it.slug for it in found.requests] == ["GET-items-first-page"]


def test_what_is_no_service_has_a_plan_of_its_own_or_no_mark_of_one():
    assert is_service(SHOP)
    assert is_service({"app": "shop", "plans": "plans"})
    assert not is_service({"app": "shop", "script": "plans/check.jmx"})
    assert not is_service({"url": "http://127.0.0.1", "target": "shop"})
    assert not is_service(None)


def test_app_false_takes_away_what_another_file_says():
    found = service(app=False, url="http://127.0.0.1:8080")
    assert (found.settings.app, found.settings.url) == ("", "http://127.0.0.1:8080")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"app": None}, ("app", "url")),
        ({"url": "http://127.0.0.1"}, ("app", "url")),
        ({"target": "shop"}, ("app", "target")),
        ({"plans": "plans"}, ("plans", "requests")),
        ({"requests": []}, ("requests", "[]")),
        ({"requests": "/items"}, ("requests", "/items")),
        ({"requests": [7]}, ("requests.0", "7")),
        ({"requests": [{**LIST, "weight": 0}]}, ("weight", "0")),
        ({"requests": [{**LIST, "weight": -1}]}, ("requests.0.weight", "-1")),
        ({"requests": [{**LIST, "weight": "much"}]}, ("requests.0.weight", "much")),
        ({"requests": [{"label": "list"}]}, ("requests.0", "'list'", "url")),
        ({"requests": [{"transaction": "visit", "do": []}]}, ("requests.0", "'visit'", "do")),
        ({"requests": [LIST, LIST]}, ("'list'",)),
        ({"requests": [LIST, {"label": "list!", "url": "/"}]}, ("'list'", "'list!'")),
        ({"requests": [{"label": "…", "url": "/"}]}, ("requests.0.label", "…")),
        ({"requests": [{"label": "end", "url": "/"}]}, ("requests.0.label", "end")),
        ({"requests": [{"label": "list", "url": "http://other.test/"}]}, ("requests.0.url",)),
        ({"requests": [{"loop": 3, "do": [LIST]}]}, ("requests.0", "label")),
        ({"requests": [{**LIST, "force-parent-sample": True}]}, ("force-parent-sample",)),
        ({"think-time": "1s"}, ("think-time",)),
        ({"default-address": "http://other.test"}, ("default-address",)),
        ({"requests": [{**LIST, "think-time": "1s"}]}, ("requests.0", "think-time")),
        ({"requests": [{**LIST, "concurrency": 5}]}, ("requests.0", "concurrency")),
        ({"requests": [{"once": [LIST]}]}, ("requests.0", "once")),
        ({"requests": [{"while": "true", "do": [LIST]}]}, ("requests.0", "while")),
        ({"requests": [{"action": "stop"}]}, ("requests.0", "action: stop")),
        (
            {"requests": [{"transaction": "visit", "do": [LIST, {"action": "stop"}]}]},
            ("requests.0", "action: stop"),
        ),
        (
            {"requests": [{"transaction": "visit", "do": [{"action": "pause"}, LIST]}]},
            ("requests.0", "action: pause"),
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line_with_its_place(changed, named):
    line = refusal(**changed)
    assert [it for it in named if it not in line] == []


def test_an_address_in_the_query_of_a_path_is_no_address_of_the_service():
    url = "/login?next=https://example.test/"
    (found,) = service(requests=[{"label": "login", "url": url}]).requests
    assert found.config["url"] == url
