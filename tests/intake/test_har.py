"""A recording of the browser as a service: what is kept, in which order, and what becomes of
secrets and of what answers give."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.recordings import entry, har
from tollgate.intake.draft import IntakeError
from tollgate.intake.har import read_har
from tollgate.intake.source import load
from tollgate.service.model import read_service

OWN = "https://shop.example"
TOKEN = "b7Kq2Zx9Lm4Wv8Tn3Rc6Yd1P"


def draft(tmp_path, *entries, **more):
    return read_har(load(str(har(tmp_path / "a.har", *entries))), "shop", **more)


def steps(found):
    """All requests of a draft, in their order, by their labels."""

    def walk(items):
        for it in items:
            if "do" in it:
                yield from walk(it["do"])
            elif "label" in it:
                yield it["label"], it

    return dict(walk(found.requests))


def test_pages_are_transactions_of_one_visit_with_their_pauses(tmp_path):
    found = draft(
        tmp_path,
        entry(f"{OWN}/", at_s=0, page="1", mime="text/html"),
        entry(f"{OWN}/items", at_s=0.1, page="1"),
        entry(f"{OWN}/cart", at_s=0.6, page="2"),
        entry(f"{OWN}/pay", at_s=30, page="2"),
    )
    (visit,) = found.requests
    assert visit["transaction"] == "visit-shop"
    shape = [it.get("transaction") or it["pause-duration"] for it in visit["do"]]
    assert shape == ["page-1-home", "480ms", "page-2-cart", "1000ms", "page-3-pay"]
    assert [it["label"] for it in visit["do"][0]["do"]] == ["home", "items"]
    assert found.url == OWN
    assert any("29 s" in it for it in found.remarks)


def test_other_hosts_files_and_failed_requests_are_left_out_by_name(tmp_path):
    found = draft(
        tmp_path,
        entry(f"{OWN}/", mime="text/html"),
        entry("https://cdn.example/lib.js", at_s=0.1),
        entry("https://count.example/hit?u=1", at_s=0.1),
        entry(f"{OWN}/style.css", at_s=0.1, mime="text/css"),
        entry(f"{OWN}/favicon", at_s=0.1, kind="image", mime=""),
        entry(f"{OWN}/missing", at_s=0.2, status=404),
        entry(f"{OWN}/items", method="OPTIONS", at_s=0.2, status=204),
        entry(f"{OWN}/items", at_s=0.3),
    )
    assert [*steps(found)] == ["home", "items"]
    told = "\n".join(found.remarks)
    assert "2 to other hosts: cdn.example (1), count.example (1)" in told
    assert "2 of static files: css (1), others (1)" in told
    assert "GET /missing, which was answered by 404" in told
    assert "OPTIONS /items" in told


def test_files_are_asked_for_where_somebody_wants_them(tmp_path):
    entries = [entry(f"{OWN}/", mime="text/html"), entry(f"{OWN}/a.css", at_s=0.1, mime="text/css")]
    assert [*steps(draft(tmp_path, *entries, with_static=True))] == ["home", "a-css"]


def test_the_service_is_the_one_that_somebody_names(tmp_path):
    entries = [
        entry(f"{OWN}/", mime="text/html"),
        entry("https://api.example/items", at_s=0.1, headers={"X-Requested-With": "fetch"}),
    ]
    found = draft(tmp_path, *entries, url="https://api.example")
    assert (found.url, [*steps(found)]) == ("https://api.example", ["items"])
    assert steps(found)["items"]["headers"] == {"X-Requested-With": "fetch"}


SECRETS = {
    "cookie": "c00kie-of-the-browser",
    "bearer": "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl",
    "basic": "dXNlcjpwYXNz",
    "password": "p4ss word&=",
    "key": "k3y-in-the-query",
    "short": "zq7",
}


def with_secrets(own=OWN):
    """Each secret that a recording may hold."""
    cookie = {"Cookie": f"session={SECRETS['cookie']}; _ga=GA1.2.3"}
    return [
        entry(f"{own}/", headers=cookie, mime="text/html"),
        entry(f"{own}/me", at_s=0.1, headers={"Authorization": f"Bearer {SECRETS['bearer']}"}),
        entry(f"{own}/admin", at_s=0.2, headers={"Authorization": f"Basic {SECRETS['basic']}"}),
        entry(
            f"{own}/login",
            method="POST",
            at_s=0.3,
            body=[("user", "ann"), ("password", SECRETS["password"])],
        ),
        entry(
            f"{own}/pin", method="POST", at_s=0.4, json_body={"pin": {"passcode": SECRETS["short"]}}
        ),
        entry(f"{own}/feed?n=5&api_key={SECRETS['key']}", at_s=0.5),
        # What is secret in one place is so in all others.
        entry(f"{own}/back?to=/feed-{SECRETS['key']}", at_s=0.6),
    ]


def test_secrets_become_variables_of_the_environment_and_stand_nowhere(tmp_path):
    found = draft(tmp_path, *with_secrets())
    assert {*found.secrets} == {
        *("SHOP_COOKIE_SESSION", "SHOP_BEARER", "SHOP_BASIC", "SHOP_PASSWORD", "SHOP_PASSCODE"),
        "SHOP_API_KEY",
    }
    asked = steps(found)
    assert asked["me"]["assert"] == [{"subject": "http-code", "contains": "200"}]
    assert asked["me"]["headers"] == {"Authorization": "Bearer ${__P(SHOP_BEARER)}"}
    assert asked["admin"]["headers"] == {"Authorization": "Basic ${__P(SHOP_BASIC)}"}
    assert asked["post-login"]["body"] == {"user": "ann", "password": "${__P(SHOP_PASSWORD)}"}
    assert asked["post-pin"]["body"] == {"pin": {"passcode": "${__P(SHOP_PASSCODE_json)}"}}
    assert asked["feed"]["url"] == "/feed?n=5&api_key=${__urlencode(${__P(SHOP_API_KEY)})}"
    (cookie,) = found.settings["cookies"]
    assert (cookie["name"], cookie["value"]) == ("session", "${__P(SHOP_COOKIE_SESSION)}")
    assert any("_ga" in it for it in found.remarks)
    written = yaml.safe_dump([found.requests, found.settings, [*found.remarks], found.secrets])
    assert [it for it in SECRETS.values() if it in written] == []


def test_what_an_answer_gives_is_taken_out_of_it(tmp_path):
    page = f'<form><input type="hidden" name="csrf" value="{TOKEN}"></form>'
    order = "0b8f8c4e-6a0e-4a8b-9a54-5f0f8f5f9c11"
    found = draft(
        tmp_path,
        entry(f"{OWN}/login", answer=page, mime="text/html"),
        entry(
            f"{OWN}/login",
            method="POST",
            at_s=0.1,
            body=[("user", "ann"), ("csrf", TOKEN)],
            answer={"token": "eyJh.eyJz.abc"},
        ),
        entry(
            f"{OWN}/items?page=0",
            at_s=0.2,
            headers={"Authorization": "Bearer eyJh.eyJz.abc"},
            answer={"page": 0, "items": [{"id": 7}, {"id": 19}]},
        ),
        entry(f"{OWN}/items/19", at_s=0.3, answer={"id": 19, "price": 5}),
        entry(
            f"{OWN}/orders",
            method="POST",
            at_s=0.4,
            status=303,
            json_body={"item": 19, "page": 0},
            answer_headers={"Location": f"{OWN}/orders/{order}"},
        ),
        entry(f"{OWN}/orders/{order}", at_s=0.5),
    )
    asked = steps(found)
    assert found.secrets == {}
    assert asked["login"]["extract-css-jquery"] == {
        "login_csrf": {"expression": 'input[name="csrf"]', "attribute": "value", "match-no": 1}
    }
    assert asked["post-login"]["body"]["csrf"] == "${login_csrf}"
    assert asked["post-login"]["extract-jsonpath"] == {"post_login_token": "$.token"}
    assert asked["items"]["headers"] == {"Authorization": "Bearer ${post_login_token}"}
    assert asked["items"]["extract-jsonpath"] == {"items_id": "$.items[1].id"}
    assert asked["items-id"]["url"] == "/items/${items_id}"
    # A number stays one; what the visitor has chosen stays as it is.
    assert asked["post-orders"]["body"] == '{"item": ${items_id}, "page": 0}'
    assert asked["post-orders"]["follow-redirects"] is False
    regexp = asked["post-orders"]["extract-regexp"]["post_orders_orders"]["regexp"]
    assert re.search(regexp, f"HTTP/1.1 303\nLocation: {OWN}/orders/{order}\n")[1] == order
    assert re.search(regexp, f"HTTP/1.1 303\nLocation: /orders/{order}\n")[1] == order
    assert asked["orders-id"]["url"] == "/orders/${post_orders_orders}"


def test_what_an_answer_gives_is_encoded_where_a_url_needs_it(tmp_path):
    token = "q7Zk+2Lm/9Xw=8Tn3Rc6Yd1P"
    to = f"{OWN}/done?code={quote(token, safe='')}&page=2"
    found = draft(
        tmp_path,
        entry(f"{OWN}/", answer={"next": token}),
        entry(f"{OWN}/items?after={quote(token, safe='')}", at_s=0.1),
        entry(f"{OWN}/in", at_s=0.2, status=302, answer_headers={"Location": to}),
        entry(to, at_s=0.3),
    )
    asked = steps(found)
    assert asked["items"]["url"] == "/items?after=${__urlencode(${home_next})}"
    assert asked["done"]["url"] == "/done?code=${__urlencode(${home_next})}&page=${in_page}"


def test_a_code_that_a_redirect_gives_is_taken_out_of_it(tmp_path):
    to = f"{OWN}/done?state=9&code={TOKEN}"
    found = draft(
        tmp_path,
        entry(f"{OWN}/in", status=302, answer_headers={"Location": to}),
        entry(to, at_s=0.1),
    )
    asked = steps(found)
    assert asked["done"]["url"] == "/done?state=${in_state}&code=${in_code}"
    regexp = asked["in"]["extract-regexp"]["in_code"]["regexp"]
    assert re.search(regexp, f"HTTP/1.1 302\nLocation: {to}\n")[1] == TOKEN


@pytest.mark.parametrize("fraction", ["", ".1", ".123", ".1234567"])
def test_moments_have_any_number_of_digits(tmp_path, fraction):
    one = entry(f"{OWN}/")
    one["startedDateTime"] = f"2026-06-01T09:00:00{fraction}Z"
    assert [*steps(draft(tmp_path, one))] == ["home"]


def test_a_made_up_value_that_no_answer_gives_is_remarked(tmp_path):
    order = "0b8f8c4e-6a0e-4a8b-9a54-5f0f8f5f9c11"
    found = draft(tmp_path, entry(f"{OWN}/"), entry(f"{OWN}/orders/{order}", at_s=0.1))
    assert any("orders-id" in it and "generated" in it for it in found.remarks)


def test_an_opaque_token_under_a_harmless_name_is_secret_as_well(tmp_path):
    found = draft(tmp_path, entry(f"{OWN}/hook/{TOKEN}"), entry(f"{OWN}/a?x={TOKEN}", at_s=0.1))
    assert TOKEN not in json.dumps([found.requests, found.remarks])
    assert len(found.secrets) == 1


def test_a_secret_within_another_text_is_found(tmp_path):
    inner = json.dumps({"user": "ann", "password": "p4ss"})
    text = entry(f"{OWN}/log", method="POST", at_s=0.2)
    text["request"]["postData"] = {"mimeType": "text/plain", "text": "user=ann password=p4ss"}
    xml = entry(f"{OWN}/soap", method="POST", at_s=0.3)
    body = "<a pin-code-secret='p4ss'><user>ann</user><X-Password>p4ss</X-Password></a>"
    cdata = entry(f"{OWN}/cdata", method="POST", at_s=0.4)
    inner_xml = "<password><![CDATA[p4ss]]></password>"
    cdata["request"]["postData"] = {"mimeType": "text/xml", "text": inner_xml}
    xml["request"]["postData"] = {"mimeType": "text/xml", "text": body}
    found = draft(
        tmp_path,
        entry(f"{OWN}/"),
        entry(f"{OWN}/in", method="POST", at_s=0.1, json_body={"payload": inner}),
        *(text, xml, cdata),
    )
    assert "p4ss" not in str(found)
    asked = steps(found)
    assert asked["post-in"]["body"] == {"payload": "${__P(SHOP_PAYLOAD_json)}"}
    wanted = body.replace("'p4ss'", "'${__escapeXml(${__P(SHOP_PIN_CODE_SECRET)})}'")
    wanted = wanted.replace(">p4ss<", ">${__escapeXml(${__P(SHOP_X_PASSWORD)})}<")
    assert asked["post-soap"]["body"] == wanted
    assert [it for it in asked if it in ("post-log", "post-cdata")] == []
    assert sum("POST /" in it for it in found.remarks) == 2


def test_a_recording_whose_cookies_chrome_has_left_out_is_remarked(tmp_path):
    one = entry(f"{OWN}/", kind="document", mime="text/html")
    assert any("Chrome" in it for it in draft(tmp_path, one).remarks)
    other = entry(f"{OWN}/me", at_s=0.1, kind="xhr", headers={"Cookie": "a=b"})
    assert not any("Chrome" in it for it in draft(tmp_path, one, other).remarks)


def test_a_draft_is_a_service(tmp_path):
    found = draft(tmp_path, *with_secrets())
    scenario = {"url": found.url, "requests": list(found.requests), **found.settings}
    read = read_service("shop", scenario | {"environment": [*found.secrets]})
    assert [it.label for it in read.requests] == ["visit-shop"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no JSON", "no HAR"),
        ('{"openapi": "3.0.0"}', "log.entries"),
        ('{"log": {"entries": 5}}', "log.entries"),
        ('{"log": {"entries": [{"request": {}}]}}', "log.entries[0]"),
        ('{"log": {"entries": []}}', "no request by HTTP"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(tmp_path, text, named):
    path = tmp_path / "a.har"
    path.write_text(text)
    with pytest.raises(IntakeError) as refused:
        read_har(load(str(path)), "shop")
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_recording_of_failures_alone_is_refused(tmp_path):
    with pytest.raises(IntakeError, match="no request to"):
        draft(tmp_path, entry(f"{OWN}/", status=500))


def test_a_visit_to_the_shop_that_chromium_has_recorded():
    found = read_har(load(str(Path(__file__).with_name("shop.har"))), "shop")
    asked = steps(found)
    labels = ["items", "post-login", "items-2", "items-id", "post-cart-id", "cart", "post-orders"]
    assert [*asked] == labels
    (visit,) = found.requests
    pauses = [it["pause-duration"] for it in visit["do"] if "action" in it]
    assert pauses == ["1000ms", "1000ms"]
    # The browser's own headers stay behind, and cookies come from the login.
    assert {*(name for it in asked.values() for name in it.get("headers", {}))} == {"Content-Type"}
    assert found.settings == {}
    assert asked["post-login"]["body"] == {
        "visitor": "ann",
        "password": "${__P(SHOP_PASSWORD_json)}",
    }
    assert asked["items-2"]["extract-jsonpath"] == {"items_2_id": "$.items[7].id"}
    taken = {name: asked[name]["url"] for name in ("items-id", "post-cart-id")}
    assert taken == {"items-id": "/items/${items_2_id}", "post-cart-id": "/cart/${items_2_id}"}
    assert asked["post-orders"]["body"] == '{"item": ${items_2_id}}'
    left, to_keep, to_set = found.remarks
    assert "git" in to_keep
    assert left == "left out: 1 to other hosts: localhost:22962 (1)"
    assert "SHOP_PASSWORD" in to_set


def test_the_traces_of_a_page_that_was_recorded_stay_behind(tmp_path):
    traces = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "Tracestate": "shop=1"}
    found = draft(tmp_path, entry(f"{OWN}/a", headers={**traces, "X-Shop": "7"}))
    assert "X-Shop" in repr(found)
    assert not re.search("trace(parent|state)", repr(found), re.IGNORECASE)


def test_half_a_pair_of_surrogates_ends_in_no_trace(tmp_path):
    half = "\ud83d"
    asked = [
        entry(f"http://a.example/{half}?q={half}", headers={"Cookie": f"a={half}"}),
        entry("http://a.example/b", "POST", json_body={half: half}),
    ]
    path = har(tmp_path / "visit.har", *asked)
    assert str(read_har(load(str(path)), "shop")).encode()


LIST = {"rows": [{"id": at, "size": at} for at in range(300)]}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["/v/{}/docs", "/café/{}", "/{}", "/uploaded/{}", "/a/b-c/{}"]),
    ids=st.lists(st.integers(0, 99_999) | st.sampled_from(["de", "news"]), min_size=1),
    key=st.sampled_from(["id", "code", "Key", "uuid"]),
    data=st.data(),
)
def test_what_is_short_and_common_is_no_id_by_chance(tmp_path, path, ids, key, data):
    ids += range(1_500)
    value = data.draw(st.sampled_from([it for it in ids if len(str(it)) < 4 or it in range(1_500)]))
    rows = {"rows": [{key: it} for it in ids]}
    asked = steps(
        draft(tmp_path, entry(f"{OWN}/big", answer=rows), entry(OWN + path.format(value), at_s=1))
    )
    assert "extract-jsonpath" not in asked["big"]


@pytest.mark.parametrize(
    ("first", "answer", "then"),
    [
        ("/big", {"order": {"id": 7}}, "/orders/{}"),
        ("/big", {"orderId": 7}, "/order/{}/lines"),
        ("/big", {"categories": [{"id": 1}, {"id": 7}]}, "/category/{}"),
        ("/api/v/2/orders?n=5", [{"id": 1}, {"id": 7}], "/api/orders/{}"),
        ("/countries", [{"code": 7}], "/country/{}"),
        ("/big", {"page": 7}, "/page/{}"),
        ("/big", {"lines": [{"id": 7}]}, "/a?line={}"),
        ("/lines", [{"id": 7}], "/a?lineId={}"),
        ("/big", {"rows": [{"id": 16493}]}, "/cart/{}"),
    ],
)
def test_a_short_value_is_an_id_where_key_or_path_say_so(tmp_path, first, answer, then):
    value = 16493 if "16493" in str(answer) else 7
    found = draft(
        tmp_path, entry(OWN + first, answer=answer), entry(OWN + then.format(value), at_s=0.1)
    )
    assert "${" in found.requests[0]["do"][1]["url"]
    assert not any("by chance" in it for it in found.remarks)


@pytest.mark.parametrize("value", [2, 256])
def test_what_may_be_an_id_by_chance_is_remarked(tmp_path, value):
    found = draft(
        tmp_path, entry(f"{OWN}/big", answer=LIST), entry(f"{OWN}/uploaded/{value}", at_s=0.1)
    )
    assert steps(found)["uploaded-id"]["url"] == f"/uploaded/{value}"
    assert any("uploaded-id" in it and "what big gave" in it for it in found.remarks)


def parts(found):
    """Pages, each by its labels, and the pauses between them."""
    do = found.requests[0]["do"]
    pages = do if any("transaction" in it for it in do) else [{"do": do}]
    return [it.get("pause-duration") or [inner["label"] for inner in it["do"]] for it in pages]


def timed(url, at_s, ms, wait=1, **more):
    """An entry with the time and the wait that a recorder has written."""
    return entry(url, at_s=at_s, **more) | {"time": ms, "timings": {"wait": wait}}


@pytest.mark.parametrize("page", ["tab", ""])
@pytest.mark.parametrize(
    "navigation", [{"kind": "document"}, {"headers": {"Sec-Fetch-Dest": "document"}}, {}]
)
def test_a_navigation_begins_a_page_of_a_tab(tmp_path, page, navigation):
    shown = {"page": page, "mime": "text/html", **navigation}
    fetched = {"page": page, "mime": "text/html", "kind": "xhr"}
    frame = {"page": page, "mime": "text/html", "headers": {"Sec-Fetch-Dest": "iframe"}}
    found = draft(
        tmp_path,
        entry(f"{OWN}/", **shown),
        entry(f"{OWN}/part", at_s=0.1, **fetched),
        entry(f"{OWN}/frame", at_s=0.12, **frame),
        entry(f"{OWN}/old", at_s=0.2, status=302, **shown),
        entry(f"{OWN}/new", at_s=0.21, **shown),
        entry(f"{OWN}/list", at_s=0.22, page=page),
    )
    assert parts(found) == [["home", "part", "frame"], "60ms", ["old", "new", "list"]]


def test_a_time_that_is_the_download_alone_makes_no_pause(tmp_path):
    found = draft(
        tmp_path,
        timed(f"{OWN}/", 0, 2, wait=-1, mime="text/html"),
        timed(f"{OWN}/slow", 0.1, 2, wait=-1),
        timed(f"{OWN}/next", 4, -1, wait=-1),
        timed(f"{OWN}/list", 9, 20),
        timed(f"{OWN}/cart", 9.5, 20),
        timed(f"{OWN}/pay", 12, 20),
    )
    assert parts(found) == [["home", "slow", "next", "list", "cart"], "1000ms", ["pay"]]
    assert any("download alone" in it for it in found.remarks)


@pytest.mark.parametrize("wait", [-1, 0, None])
@pytest.mark.parametrize("kind", ["image", "font", ""])
def test_what_a_cached_picture_took_eats_no_pause(tmp_path, wait, kind):
    found = draft(
        tmp_path,
        timed(f"{OWN}/", 0, 20, mime="text/html"),
        timed(f"{OWN}/a.png", 0.02, 5_000, wait=wait, mime="image/png", kind=kind),
        timed(f"{OWN}/pay", 3, 20),
        with_static=True,
    )
    assert parts(found) == [["home", "a-png"], "1000ms", ["pay"]]
    assert found.remarks == ("pauses of up to 3 s are written as 1 s",)
