"""A draft of an OpenAPI document, asked of the service that it describes."""

import json
from urllib.parse import unquote, urlsplit

import pytest

from support.http_server import Handler, serving
from support.openapi_documents import by_label, operation, parameter
from tollgate.intake.draft import IntakeError
from tollgate.intake.trial import tried


class _Shop(Handler):
    """Knows the items 1 and 2 but no tag, and lies about names."""

    def respond(self):
        path = urlsplit(self.path).path
        answers = {"/items": "[]", "/items/1": "{}", "/items/2": "{}", "/names": '{"names": 3}'}
        body = answers.get(path)
        self.answer(200 if body else 404, body or "", Content_Type="application/json")


class _Closed(Handler):
    def respond(self):
        self.answer(200 if self.path in ("/open", "/closed?k=right%26") else 403)


def test_a_service_that_answers_already_is_asked_which_guesses_it_knows(draft):
    identity = parameter("id", "path", {"type": "integer"}, required=True)
    names = {"type": "object", "properties": {"names": {"type": "array"}}}
    paths = {
        "/items": {"get": operation(schema={"type": "array"})},
        "/items/{id}": {"get": operation(identity)},
        "/tags/{id}": {"get": operation(identity)},
        "/names": {"get": operation(schema=names)},
        "/gone": {"get": operation(schema={"type": "object"})},
    }
    with serving(_Shop) as server:
        found = tried(draft(paths), f"http://127.0.0.1:{server.server_port}", {})
    assert [*by_label(found)] == ["GET /items", "GET /items/{id}", "GET /names"]
    assert found.data == {"id": ("1", "2")}
    assert [it["path"] for it in found.probes] == ["/items"]
    assert [it.partition(":")[0] for it in found.remarks] == [
        "2 of 20 rows of data are kept for 'GET /items/{id}'",
        "left out 'GET /tags/{id}'",
        "left out 'GET /gone'",
        "'GET /names' answers otherwise than its schema says",
    ]
    assert "GET /items/11 answers 404" in found.remarks[0]


def test_a_service_that_does_not_answer_is_refused_in_one_line(draft):
    with pytest.raises(IntakeError, match=r"answers none of the 1 requests rightly"):
        tried(draft({"/a": {"get": operation()}}), "http://127.0.0.1:9", {})


def test_where_nothing_answers_three_are_asked_and_what_is_not_asked_is_no_suite(draft):
    paths = {f"/{letter}": {"get": operation()} for letter in "abcdefgh"}
    orders = {"/orders": {"get": operation(), "post": operation()}}
    many = draft(paths | orders, "POST /orders")
    assert "POST /orders" in by_label(many)
    said = r"answers none of the 3 requests rightly, such as 'GET /c'"
    with pytest.raises(IntakeError, match=said):
        tried(many, "http://127.0.0.1:9", {})


def test_a_secret_is_asked_with_where_the_environment_has_it_and_said_nowhere(draft):
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "k"}}
    paths = {
        "/open": {"get": operation(security=[])},
        "/closed": {"get": operation(security=[{"key": []}])},
    }
    found = draft(paths, components={"securitySchemes": schemes})
    with serving(_Closed) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        assert tried(found, at, {}) == found
        assert tried(found, at, {"SHOP_KEY": "right&"}) == found
        wrong = tried(found, at, {"SHOP_KEY": "planted"})
    assert [it["label"] for it in wrong.requests] == ["GET /open"]
    assert not wrong.secrets
    assert wrong.remarks == (
        "left out 'GET /closed': GET /closed?k=${__urlencode(${__P(SHOP_KEY)})} answers 403",
    )


class _Strict(Handler):
    """Knows the items 7 and 8 and the users 1 to 3, and takes no other number."""

    def respond(self):
        kind, number = self.path.split("/")[1:3]
        taken = {"items": ("7", "8"), "users": ("1", "2", "3")}[kind]
        self.answer(200 if number in taken else self.server.refuses)


@pytest.mark.parametrize("refuses", [400, 404, 410, 422])
def test_a_label_whose_first_row_is_refused_keeps_the_rows_that_are_not(draft, refuses):
    item, user = (parameter(it, "path", {"type": "integer"}, required=True) for it in ("i", "u"))
    paths = {"/items/{i}": {"get": operation(item)}, "/users/{u}": {"get": operation(user)}}
    with serving(_Strict, refuses=refuses) as server:
        found = tried(draft(paths), f"http://127.0.0.1:{server.server_port}", {})
    assert [*by_label(found)] == ["GET /items/{i}", "GET /users/{u}"]
    assert found.data == {"i": ("7", "8", "7"), "u": ("1", "2", "3")}
    assert [it.partition(":")[0] for it in found.remarks] == [
        "2 of 20 rows of data are kept for 'GET /items/{i}'",
        "3 of 20 rows of data are kept for 'GET /users/{u}'",
    ]


class _Pairs(Handler):
    def respond(self):
        self.answer(200 if self.path in ("/a/2", "/a/3", "/b/2/2", "/c/3") else 404)


def test_columns_that_a_request_has_together_keep_the_same_rows(draft):
    a, b = (parameter(it, "path", {"type": "integer"}, required=True) for it in ("a", "b"))
    paths = {
        "/a/{a}": {"get": operation(a)},
        "/b/{a}/{b}": {"get": operation(a, b)},
        "/c/{b}": {"get": operation(b)},
    }
    with serving(_Pairs) as server:
        found = tried(draft(paths), f"http://127.0.0.1:{server.server_port}", {})
    assert found.data == {"a": ("2",), "b": ("2",)}
    assert found.remarks[-1] == "left out 'GET /c/{b}': GET /c/2 answers 404"


class _Moody(Handler):
    def respond(self):
        with self.server.lock:
            self.server.asked.append(self.path)
        self.answer(500)


def test_a_service_that_fails_is_not_asked_for_more_rows(draft):
    item = parameter("id", "path", {"type": "integer"}, required=True)
    found = draft({"/items/{id}": {"get": operation(item)}})
    with serving(_Moody, asked=[]) as server, pytest.raises(IntakeError, match="answers none"):
        tried(found, f"http://127.0.0.1:{server.server_port}", {})
    assert server.asked == ["/items/1"]


class _Library(Handler):
    """Knows things by ids that nobody can guess, and keeps in `server.got` what is written."""

    ids = ("b7", "a/1", "c3")
    key = "id"

    def respond(self):
        path = unquote(self.path.partition("?")[0])
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        things = [{"name": "n", self.key: it} for it in self.ids]
        if self.command != "GET":
            self.server.got.append((self.command, path, body.decode()))
        is_known = path in ("/things", *(f"/things/{it}" for it in self.ids))
        is_taken = self.command != "PUT" or json.loads(body) == {"n": 1}
        self.answer(404 if not is_known else 200 if is_taken else 422, json.dumps({"data": things}))


def _library(identity, schema, **keys):
    one = parameter(identity, "path", {"type": "string", "format": "uuid"}, required=True)
    body = {"content": {"application/json": {"schema": schema}}}
    return {
        "/things": {"get": operation(), "post": operation(requestBody=body, **keys)},
        f"/things/{{{identity}}}": {
            "get": operation(one, schema={"type": "object"}),
            "put": operation(one, requestBody=body),
            "delete": operation(one),
        },
    }


@pytest.mark.parametrize(
    ("identity", "key"),
    [("id", "id"), ("thing_uuid", "uuid"), ("ThingId", "_id"), ("slug", "slug")],
)
def test_ids_that_nobody_can_guess_are_those_that_the_service_lists(draft, identity, key):
    found = draft(_library(identity, {"type": "object"}), f"PUT /things/{{{identity}}}")
    handler = type("Keyed", (_Library,), {"key": key})
    with serving(handler, got=[]) as server:
        kept = tried(found, f"http://127.0.0.1:{server.server_port}", {})
    assert server.got == []
    assert len(kept.requests) == 3
    [ids] = kept.data.values()
    assert (set(ids), len(ids)) == ({"b7", "a%2F1", "c3"}, 20)
    assert [it["path"] for it in kept.probes] == ["/things/b7"]
    [remark] = kept.remarks[1:]
    assert remark.startswith("the ids behind /things/ are those that 'GET /things' lists")


def test_operations_that_may_write_and_are_named_are_asked_once_and_what_removes_last(draft):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    named = ("DELETE /things/{id}", "PUT /things/{id}", "POST /things")
    found = draft(_library("id", schema), *named)
    with serving(_Library, got=[]) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        kept = tried(found, at, {}, may_write=True)
    assert [(method, json.loads(body or "0")) for method, _, body in server.got] == [
        ("POST", {"n": 1}),
        ("PUT", {"n": 1}),
        ("DELETE", 0),
    ]
    assert len(kept.requests) == 5
    assert not [it for it in kept.remarks if it.startswith("correct")]


def test_what_writes_and_is_refused_is_kept_and_named_with_the_answer(draft):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}
    found = draft(_library("id", schema), "PUT /things/{id}")
    with serving(_Library, got=[]) as server:
        kept = tried(found, f"http://127.0.0.1:{server.server_port}", {}, may_write=True)
    assert "PUT /things/{id}" in by_label(kept)
    assert kept.remarks[-1].startswith("correct 'PUT /things/{id}': PUT /things/")
    assert kept.remarks[-1].endswith("answers 422")


def test_a_body_that_is_an_empty_object_is_sent(draft):
    body = {"content": {"application/json": {"schema": {"type": "object"}}}}
    [request] = draft({"/a": {"post": operation(requestBody=body)}}, "POST /a").requests
    assert json.loads(request["body"]) == {}
