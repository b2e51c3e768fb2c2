"""What a load sends of a recording is what the browser has sent; what it can't send is named."""

import pytest

from support.recordings import entry, har
from tollgate.intake.draft import IntakeError
from tollgate.intake.har import read_har
from tollgate.intake.source import load

OWN = "https://shop.example"
LOGIN = '{"user":"ann","password":"hunter2"}'
PASSWORD = "${__P(SHOP_PASSWORD_json)}"


def draft(tmp_path, *entries):
    return read_har(load(str(har(tmp_path / "a.har", *entries))), "shop")


def left(tmp_path, odd):
    """What is told of a request that is left out."""
    found = draft(tmp_path, entry(f"{OWN}/", mime="text/html"), odd)
    assert found.requests[0]["label"] == "home"
    (told,) = (it for it in found.remarks if it.startswith("left out: "))
    return told


@pytest.mark.parametrize(
    ("mime", "body"),
    [
        ("application/json", {"user": "ann", "password": PASSWORD}),
        ("application/vnd.api+json; charset=utf-8", {"user": "ann", "password": PASSWORD}),
        ("text/plain;charset=UTF-8", f'{{"user": "ann", "password": "{PASSWORD}"}}'),
        ("text/json", f'{{"user": "ann", "password": "{PASSWORD}"}}'),
        ("application/x-amz-json-1.1", f'{{"user": "ann", "password": "{PASSWORD}"}}'),
        ("application/x-www-form-urlencoded", f'{{"user": "ann", "password": "{PASSWORD}"}}'),
    ],
)
def test_json_is_a_mapping_only_below_a_type_of_which_it_is_sent_as_json(tmp_path, mime, body):
    one = entry(f"{OWN}/in", method="POST", headers={"Content-Type": mime})
    one["request"]["postData"] = {"mimeType": mime, "text": LOGIN}
    found = draft(tmp_path, one)
    assert found.requests[0]["body"] == body
    assert found.requests[0]["headers"] == {"Content-Type": mime}
    assert {*found.secrets} == {"SHOP_PASSWORD"}


def test_a_form_with_a_name_twice_is_text_whose_variables_are_encoded(tmp_path):
    fields = [("remember_me", "0"), ("remember_me", "1"), ("password", "p4ss word&=")]
    found = draft(tmp_path, entry(f"{OWN}/in", method="POST", body=fields))
    password = "${__urlencode(${__P(SHOP_PASSWORD)})}"
    assert found.requests[0]["body"] == f"remember_me=0&remember_me=1&password={password}"


def test_a_part_of_a_file_is_asked_for_again(tmp_path):
    one = entry(f"{OWN}/report", headers={"Range": "bytes=0-99"}, status=206)
    (found,) = draft(tmp_path, one).requests
    assert found["headers"] == {"Range": "bytes=0-99"}
    assert found["assert"] == [{"subject": "http-code", "contains": "206"}]


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        (
            entry(f"{OWN}//api/items", at_s=1),
            "GET //api/items, whose path begins with //, behind which Taurus reads a host",
        ),
        (
            entry(f"{OWN}/news", at_s=1, mime="text/event-stream"),
            "GET /news, a stream of events, which need not end",
        ),
        (
            entry(f"{OWN}/news", at_s=1, kind="eventsource"),
            "GET /news, a stream of events, which need not end",
        ),
        (entry("wss://shop.example/ws", at_s=1, status=101), "GET /ws, a WebSocket"),
        (entry("wss://shop.example/ws", at_s=1, kind="websocket"), "GET /ws, a WebSocket"),
        (entry("wss://chat.example/ws", at_s=1, status=101), "1 to other hosts: chat.example (1)"),
    ],
)
def test_what_a_load_cannot_send_is_named(tmp_path, odd, told):
    assert left(tmp_path, odd) == f"left out: {told}"


@pytest.mark.parametrize("kind", ["document", ""])
def test_a_service_is_where_a_redirect_of_the_first_page_ends(tmp_path, kind):
    page = {"mime": "text/html", "kind": kind}
    to = {"Location": f"{OWN}/"}
    found = draft(
        tmp_path,
        entry("http://shop.example/", status=301, answer_headers=to, **page),
        entry(f"{OWN}/", at_s=0.1, **page),
    )
    assert (found.url, found.requests[0]["label"]) == (OWN, "home")


def test_a_service_that_redirects_to_a_login_elsewhere_is_the_first_page_still(tmp_path):
    page = {"mime": "text/html", "kind": "document"}
    found = draft(
        tmp_path,
        entry(f"{OWN}/", status=302, answer_headers={"Location": "https://id.example/"}, **page),
        entry("https://id.example/", at_s=0.1, **page),
        entry(f"{OWN}/home", at_s=0.2, **page),
    )
    assert found.url == OWN


@pytest.mark.parametrize(
    ("of", "broken"),
    [
        ("request", {"headers": [{"name": "X-A"}]}),
        ("request", {"headers": [{"value": "a"}]}),
        ("request", {"headers": [{"name": "X-A", "value": 5}]}),
        ("request", {"postData": {"params": [{"value": "a"}]}}),
        ("request", {"postData": {"params": [{"name": "a", "value": 5}]}}),
        ("request", {"postData": "a=b"}),
        ("response", {"headers": [{"name": "X-A"}]}),
        ("response", {"content": "text"}),
    ],
)
def test_a_request_that_cannot_be_read_is_refused_by_its_place(tmp_path, of, broken):
    one = entry(f"{OWN}/in", method="POST")
    one[of].update(broken)
    with pytest.raises(IntakeError) as refused:
        draft(tmp_path, entry(f"{OWN}/", at_s=1), one)
    assert "a.har: log.entries[1] is no request of a HAR" in str(refused.value)
    assert "\n" not in str(refused.value)
