"""Wherever a recording holds a secret, and however it is written there, no draft of it does."""

import itertools
import json
from urllib.parse import quote, quote_plus

import pytest

from support.recordings import entry, har
from tollgate.intake.har import read_har
from tollgate.intake.source import load

OWN = "https://shop.example"
FORM = "application/x-www-form-urlencoded"
TOKEN = "b7Kq2Zx9Lm4Wv8Tn3Rc6Yd1P"
AS_JSON = "${__P(SHOP_PASSWORD_json)}"
AS_XML = "${__escapeXml(${__P(SHOP_PASSWORD)})}"
PATH = "${__urlencode(${__P(SHOP_PATH)})}"
NAMES = ("password", "X-Api-Key", "sessionId", "client_secret")
VALUES = (
    "hV3kq9Zp2LmX8wRt5NcY7bJd",
    "horse-battery!",
    "0fea1eb7961e5cc35256e760a50b989b01acea7a",
    'p"w\\ö &=+/ end',
    "84713029",
)


def posted(mime, text):
    found = entry(f"{OWN}/a", method="POST", at_s=1, headers={"Content-Type": mime})
    found["request"]["postData"] = {"mimeType": mime, "text": text}
    return found


def as_json(value):
    return posted("application/json", json.dumps(value))


#: By the place: the request that holds a value under a name.
PLACES = {
    "query": lambda n, v: entry(f"{OWN}/a?{n}={quote_plus(v)}", at_s=1),
    "form": lambda n, v: entry(f"{OWN}/a", method="POST", at_s=1, body=[("user", "ann"), (n, v)]),
    "JSON": lambda n, v: as_json({"x": [{"y": {n: v}}]}),
    "number of JSON": lambda n, v: as_json({n: int(v) if v.isdigit() else v}),
    "list of JSON": lambda n, v: as_json([{n: [v, v]}]),
    "JSON in JSON": lambda n, v: as_json({"inner": json.dumps({n: v})}),
    "header": lambda n, v: entry(f"{OWN}/a", at_s=1, headers={n: v}),
    "bearer": lambda _, v: entry(f"{OWN}/a", at_s=1, headers={"Authorization": f"Bearer {v}"}),
    "cookie": lambda n, v: entry(f"{OWN}/a", at_s=1, headers={"Cookie": f"a=1; {n}={v}"}),
    "XML": lambda n, v: posted("text/xml", f"<a><{n}>{v.replace('&', '&amp;')}</{n}></a>"),
    "attribute": lambda n, v: posted("text/xml", f"<a {n}='{v.replace('&', '&amp;')}'/>"),
    "CDATA": lambda n, v: posted("text/xml", f"<{n}><![CDATA[{v}]]></{n}>"),
    "text": lambda n, v: posted("text/plain", f"{n}={v}"),
    "URL in a query": lambda n, v: entry(
        f"{OWN}/a?to={quote_plus(f'/b?{n}={quote_plus(v)}')}", at_s=1
    ),
    "user of a URL": lambda _, v: entry(f"https://u:{quote(v, safe='')}@shop.example/a", at_s=1),
}


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_is_in_a_draft(tmp_path, place):
    for name, value in itertools.product(NAMES, VALUES):
        # Also behind a name that says nothing, and in a path.
        again = entry(f"{OWN}/u/{quote(value, safe='')}?q=x{quote_plus(value)}", at_s=2)
        is_named = place != "user of a URL"
        entries = (entry(f"{OWN}/"), PLACES[place](name, value), *([again] if is_named else ()))
        is_out = place in ("text", "CDATA")
        found = read_har(load(str(har(tmp_path / "a.har", *entries[: 2 if is_out else 3]))), "shop")
        given = [found.requests, found.settings, list(found.remarks), dict(found.secrets)]
        written = json.dumps(given, ensure_ascii=False)
        forms = {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
        assert [it for it in forms if it in written] == [], (name, value)


def draft(tmp_path, *entries):
    return read_har(load(str(har(tmp_path / "a.har", *entries))), "shop")


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        (
            [{"name": "user", "value": "ann"}, {"name": "password", "value": "hunter2"}],
            json.dumps([{"name": "user", "value": "ann"}, {"name": "password", "value": AS_JSON}]),
        ),
        ({"type": "password", "value": "hunter2"}, {"type": "password", "value": AS_JSON}),
        ({"Type": "colour", "value": "red"}, {"Type": "colour", "value": "red"}),
        ({"password": {"value": "hunter2"}}, {"password": {"value": AS_JSON}}),
        ({"password": [{"is": 7}]}, f'{{"password": [{{"is": {AS_JSON}}}]}}'),
    ],
)
def test_a_value_is_secret_by_what_stands_around_it_in_json(tmp_path, sent, written):
    found = draft(tmp_path, entry(f"{OWN}/a", method="POST", json_body=sent))
    assert found.requests[0]["body"] == written
    assert {*found.secrets} == ({"SHOP_PASSWORD"} if "PASSWORD" in str(written) else set())


@pytest.mark.parametrize(
    "text",
    [
        '<a><param name="password">hunter2</param><param name="user">ann</param></a>',
        '<a><field name="password" value="hunter2"/><field name="user" value="ann"/></a>',
        "<a><field value='hunter2' type='password'/></a>",
    ],
)
def test_a_value_is_secret_by_what_attributes_call_it_in_xml(tmp_path, text):
    found = draft(tmp_path, posted("text/xml", text))
    assert found.requests[0]["body"] == text.replace("hunter2", AS_XML)
    assert {*found.secrets} == {"SHOP_PASSWORD"}


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/cart;jsessionid=0A1B2C3D", f"/cart;jsessionid={PATH}"),
        ("/cart;lang=en;token=7f3/items", f"/cart;lang=en;token={PATH}/items"),
        (f"/bot123:{TOKEN}/send", f"/bot123:{PATH}/send"),
        (f"/of,{TOKEN}", f"/of,{PATH}"),
        (f"/{TOKEN}==", f"/{PATH}"),
        ("/map/12;34", "/map/12;34"),
    ],
)
def test_a_part_of_a_segment_is_secret_and_what_is_around_it_stays(tmp_path, path, url):
    found = draft(tmp_path, entry(f"{OWN}{path}"))
    assert found.requests[0]["url"] == url
    assert {*found.secrets} == ({"SHOP_PATH"} if PATH in url else set())


@pytest.mark.parametrize(
    "odd",
    [
        entry(f"{OWN}/hook?{TOKEN}", at_s=1),
        as_json({"seen": [{TOKEN: True}]}),
        posted(FORM, f"{TOKEN}=1"),
        posted(FORM, quote('{"user":"ann","password":"hunter2"}')),
    ],
)
def test_a_request_with_a_name_that_may_be_secret_is_left_out(tmp_path, odd):
    found = draft(tmp_path, entry(f"{OWN}/"), odd)
    assert found.requests[0]["label"] == "home"
    assert any("with a name that may be a secret" in it for it in found.remarks)
    assert [it for it in (TOKEN, "hunter2") if it in str(found)] == []


@pytest.mark.parametrize(
    "name",
    [
        *("shipping_address_line_1", "shippingAddressLine1Text", "order.lines.0.productVariantId"),
        *("ctl00_MainContent_txtUserName1", "0b8f8c4e-6a0e-4a8b-9a54-5f0f8f5f9c11"),
    ],
)
def test_a_long_name_of_words_and_numbers_is_none(tmp_path, name):
    found = draft(tmp_path, entry(f"{OWN}/a?{name}=x"))
    assert (found.requests[0]["url"], found.secrets) == (f"/a?{name}=x", {})


@pytest.mark.parametrize(
    "query",
    [
        'mutation { login(password: "hunter2", email: "a@b") {token} }',
        'mutation{login(email:"a",password:"hunter2"){token}}',
        'mutation { login(password: """hunter2""") {token} }',
    ],
)
def test_a_literal_of_graphql_is_hidden_with_its_query(tmp_path, query):
    found = draft(tmp_path, entry(f"{OWN}/a", method="POST", json_body={"query": query}))
    assert found.requests[0]["body"] == {"query": "${__P(SHOP_QUERY_json)}"}
    left = draft(tmp_path, entry(f"{OWN}/"), posted("application/graphql", query))
    assert left.requests[0]["label"] == "home"
    assert any("whose text holds what may be a secret" in it for it in left.remarks)


@pytest.mark.parametrize(
    "query", ['{items(first: 5, kind: "fruit") {id}}', "query($token: String!) {me(token: $token)}"]
)
def test_a_query_of_graphql_without_a_secret_stays(tmp_path, query):
    found = draft(tmp_path, entry(f"{OWN}/a", method="POST", json_body={"query": query}))
    assert (found.requests[0]["body"], found.secrets) == ({"query": query}, {})


def test_a_secret_that_begins_with_another_is_hidden_as_a_whole(tmp_path):
    whole = "alice1!Secret"
    login = {"user": "alice1", "password": whole}
    found = draft(
        tmp_path,
        entry(f"{OWN}/", headers={"Cookie": "username=alice1"}),
        entry(f"{OWN}/in", method="POST", at_s=0.1, json_body=login),
        entry(f"{OWN}/log", method="POST", at_s=0.2, json_body={"said": f"as {whole}"}),
    )
    _, logged_in, logged = found.requests[0]["do"]
    user = "${__P(SHOP_COOKIE_USERNAME_json)}"
    assert logged_in["body"] == {"user": user, "password": AS_JSON}
    assert logged["body"] == {"said": f"as {AS_JSON}"}
    assert {*found.secrets} == {"SHOP_COOKIE_USERNAME", "SHOP_PASSWORD"}


def test_a_variable_has_a_name_that_shells_and_ci_take(tmp_path):
    path = har(tmp_path / "visit.har", as_json({"gr\u00fc\u00dfe_password": "horse-battery!"}))
    assert {*read_har(load(str(path)), "shop").secrets} == {"SHOP_GR_E_PASSWORD"}
