"""What a load sends of a recording is what the browser has sent; what it can't send is named."""

import math
from contextlib import suppress
from copy import deepcopy
from functools import reduce
from operator import getitem

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    ("part", "broken", "why"),
    [
        ("request", {"headers": [{"value": "a"}]}, "has no request.headers[0].name"),
        ("request", {"headers": [{"name": "X-A", "value": 5}]}, ".headers[0].value is a number"),
        (
            "request",
            {"postData": {"params": [{"value": "a"}]}},
            "has no request.postData.params[0]",
        ),
        ("request", {"postData": "a=b"}, "whose request.postData is a text"),
        ("request", {"url": "http://[::1"}, "whose request.url is no URL"),
        ("request", {"method": None}, "whose request.method is null"),
        ("response", {"content": "text"}, "whose response.content is a text"),
        ("response", {"status": None}, "whose response.status is null"),
        ("response", {"status": math.inf}, "whose response.status is no finite number"),
        ("response", {"headers": {"a": "b"}}, "whose response.headers is an object"),
        (None, {"startedDateTime": "{{now}}"}, "whose startedDateTime is no date"),
        (None, {"time": []}, "whose time is a list"),
        (None, {"response": None}, "whose response is null"),
    ],
)
def test_an_odd_entry_is_left_out_by_its_place_and_the_others_stay(tmp_path, part, broken, why):
    one = entry(f"{OWN}/in", method="POST")
    (one[part] if part else one).update(broken)
    told = left(tmp_path, one)
    assert told.startswith("left out: log.entries[1]")
    assert why in told
    with pytest.raises(IntakeError) as refused:
        draft(tmp_path, one)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def keys_of(value, path=()):
    """The place of each value of JSON."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from keys_of(inner, (*path, key))


WHOLE = entry(
    f"{OWN}/in?a=b", method="POST", at_s=1, headers={"X-A": "b"}, json_body={"a": 1}, kind="fetch"
)
PLACES = [*keys_of(WHOLE)]
ODD = (None, 5, math.nan, True, "", "\ud83d", [], [None], {}, {"name": None}, "absent")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.lists(st.sampled_from(PLACES), min_size=1, max_size=3), value=st.sampled_from(ODD))
def test_no_value_in_any_place_of_an_entry_refuses_the_others(tmp_path, where, value):
    odd = deepcopy(WHOLE)
    for *path, key in where:
        with suppress(LookupError, TypeError, AttributeError):  # an earlier one took it away
            holder = reduce(getitem, path, odd)
            holder.pop(key) if value == "absent" else holder.__setitem__(key, deepcopy(value))
    found = draft(tmp_path, entry(f"{OWN}/", mime="text/html"), odd)
    assert "'home'" in str(found.requests)
    assert not any("Error" in it or "\n" in it for it in found.remarks)


def test_odd_entries_of_one_reason_are_one_line(tmp_path):
    odd = entry(f"{OWN}/in", at_s=1, status=None)
    found = draft(tmp_path, entry(f"{OWN}/"), *[odd] * 1_200)
    told = "log.entries[1] (GET /in) and 1,199 more, whose response.status is null"
    assert f"left out: {told}" in found.remarks


def test_a_header_without_a_value_was_not_sent(tmp_path):
    one = entry(f"{OWN}/in", headers={"X-A": "b"})
    one["request"]["headers"] += [{"name": "Content-Type"}, {"name": "X-B", "value": None}]
    one["request"]["method"] = "get"
    one["response"]["headers"] += [{"name": "Set-Cookie"}]
    (found,) = draft(tmp_path, one).requests
    assert found["headers"] == {"X-A": "b"}


def sent(body=None, method="POST", size=None, **headers):
    """A request with what a recorder has written of its body. headers: `_` for `-`."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    one = entry(f"{OWN}/in", method=method, at_s=1, headers=headers)
    one["request"] |= {} if body is None else {"postData": body}
    one["request"] |= {} if size is None else {"bodySize": size}
    return one


NO_BODY = "whose body the recording does not hold as it was sent"
MULTIPART = "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (sent(Content_Length="7", size=0), NO_BODY),
        (sent({"mimeType": "text/plain", "text": "", "params": []}, Content_Length="3"), NO_BODY),
        (sent(method="DELETE", size=7), NO_BODY),
        (sent(Transfer_Encoding="chunked", size=-1), NO_BODY),
        (sent(Content_Type="application/json", size=-1), NO_BODY),
        (sent({"mimeType": "application/json", "text": ""}, method="PATCH"), NO_BODY),
        (sent({"mimeType": "image/png", "text": "\ufffdPNG"}), NO_BODY),
        (sent({"mimeType": "a/b", "text": "/w==", "encoding": "base64"}), NO_BODY),
        (sent({"mimeType": "application/octet-stream", "text": "\1\2\xff"}, size=3), NO_BODY),
        (sent({"mimeType": "application/x-protobuf", "text": "\n\2h\xe9"}), NO_BODY),
        (sent({"mimeType": "image/png", "text": "\xff"}, Content_Length="1"), NO_BODY),
        (sent({"mimeType": "application/vnd.openxmlformats", "text": "PK\xe9"}), NO_BODY),
        (sent({"mimeType": "text/plain", "text": "a\udcff"}, Content_Length="2"), NO_BODY),
        (sent({"mimeType": "text/plain", "text": "cut o"}, Content_Length="700"), NO_BODY),
        (sent({"mimeType": "text/plain", "text": "plain"}, Content_Encoding="gzip"), NO_BODY),
        (sent({"params": [{"name": "a", "value": {"b": 1}}]}), NO_BODY),
        (sent({"mimeType": "text/plain", "text": "", "_file": "a.txt"}), "whose body is in a.txt"),
        (sent({"text": "", "_file": "../a.txt"}), "whose body is in a file"),
        (sent(Content_Type=MULTIPART, size=0), "which sends files"),
        (sent({"mimeType": MULTIPART, "text": "--x--"}), "which sends files"),
        (sent({"params": [{"name": "a", "fileName": "a.png"}]}), "which sends files"),
    ],
)
def test_a_body_that_the_recording_lacks_is_named(tmp_path, one, why):
    assert left(tmp_path, one).startswith(f"left out: {one['request']['method']} /in, {why}")


@pytest.mark.parametrize(
    "one",
    [
        sent(Content_Length="0", Content_Type="text/plain"),
        sent({"mimeType": "", "text": ""}, Content_Length="0", size=0),
        sent(method="DELETE", size=-1),
        sent(method="GET", Content_Type="application/json", size=-1),
        sent(size=0),
    ],
)
def test_a_request_without_a_body_stays(tmp_path, one):
    (found,) = draft(tmp_path, one).requests
    assert "body" not in found


@pytest.mark.parametrize("more", [{"text": "h\u00e9"}, {"text": "aMOp", "encoding": "base64"}])
def test_a_text_of_the_length_that_was_sent_stays(tmp_path, more):
    one = sent({"mimeType": "text/plain", **more}, Content_Length="3")
    (found,) = draft(tmp_path, one).requests
    assert (found["body"], found["headers"]) == ("h\u00e9", {"Content-Type": "text/plain"})


@pytest.mark.parametrize(
    ("mime", "more", "length"),
    [
        ("application/octet-stream", {"text": "\1\2"}, ""),
        ("application/octet-stream", {"text": "h\xe9"}, "3"),
        ("application/x-protobuf", {"text": "aMOp", "encoding": "base64"}, ""),
        ("application/graphql", {"text": "h\xe9"}, ""),
        ("", {"text": "h\xe9"}, ""),
    ],
)
def test_characters_that_can_only_be_the_bytes_that_were_sent_stay(tmp_path, mime, more, length):
    headers = {"Content_Length": length} if length else {}
    (found,) = draft(tmp_path, sent({"mimeType": mime, **more}, **headers)).requests
    assert found["body"]


def test_a_body_and_an_answer_in_files_beside_the_recording_are_read(tmp_path):
    (tmp_path / "in.json").write_text(LOGIN)
    (tmp_path / "out.json").write_text('{"order": {"id": 7}}')
    one = sent({"mimeType": "application/json", "text": "", "_file": "in.json"}, size=35)
    one["response"]["content"] = {"mimeType": "application/json", "_file": "out.json"}
    found = draft(tmp_path, one, entry(f"{OWN}/orders/7", at_s=2))
    posted, asked = found.requests[0]["do"]
    assert posted["body"] == {"user": "ann", "password": PASSWORD}
    assert asked["url"] == "/orders/${post_in_id}"


@pytest.mark.parametrize("name", ["../a.txt", "/etc/hostname", "a\0b", "x" * 5_000, "http://a/b"])
def test_no_file_outside_of_the_folder_is_read(tmp_path, name):
    (tmp_path / "a.txt").write_text("hello")
    (folder := tmp_path / "below").mkdir()
    body = {"mimeType": "text/plain", "text": "", "_file": name}
    assert "whose body is in a file" in left(folder, sent(body))


def test_an_answer_that_the_recording_lacks_is_remarked(tmp_path):
    one = entry(f"{OWN}/list", mime="application/json")
    one["response"]["content"] = {"mimeType": "application/json", "size": -1}
    told = "no value is taken out of answers that the recording lacks: list"
    assert draft(tmp_path, one).remarks == (told,)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ([("n", 5), ("o", {"x": [1]}), ("z", None)], {"n": 5, "o": {"x": [1]}, "z": None}),
        ([("tags", "a"), ("tags", "b")], {"tags": ["a", "b"]}),
        ([("0", {"a": 1}), ("1", "b")], '[{"a": 1}, "b"]'),
    ],
)
def test_json_that_was_recorded_in_fields_is_sent_as_json(tmp_path, fields, body):
    params = [{"name": name, "value": value} for name, value in fields]
    found = draft(tmp_path, sent({"mimeType": "application/json", "params": params}))
    assert found.requests[0]["body"] == body
    assert found.requests[0]["headers"] == {"Content-Type": "application/json"}
    assert any("post-in sends JSON that the recording has in fields" in it for it in found.remarks)


def test_json_in_fields_that_has_the_length_that_was_sent_is_no_guess(tmp_path):
    params = [{"name": "user", "value": "ann"}, {"name": "n", "value": 5}]
    post = {"mimeType": "application/json", "params": params}
    assert draft(tmp_path, sent(post, size=20)).remarks == ()


@pytest.mark.parametrize(("size", "value"), [(12, "100%25 x"), (-1, "100% x")])
def test_a_field_of_a_form_is_decoded_once(tmp_path, size, value):
    post = {"params": [{"name": "c", "value": "100%25 x"}]}
    (found,) = draft(tmp_path, sent(post, size=size)).requests
    assert found["body"] == {"c": value}


def test_the_icon_of_a_page_is_a_static_file(tmp_path):
    told = left(tmp_path, entry(f"{OWN}/favicon.ico", at_s=1, kind="other"))
    assert told == "left out: 1 of static files: ico (1)"


def test_other_hosts_have_their_ports(tmp_path):
    told = left(tmp_path, entry("https://u:pw@shop.example:8443/", at_s=1))
    assert told == "left out: 1 to other hosts: shop.example:8443 (1)"
