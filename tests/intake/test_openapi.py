"""OpenAPI and Swagger documents to a draft of a service."""

import json
import random
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest

from support.http_server import Handler, serving
from tollgate.base import json_schema
from tollgate.intake.draft import IntakeError
from tollgate.intake.openapi import read_openapi
from tollgate.intake.openapi_answers import as_json_schema
from tollgate.intake.source import load
from tollgate.intake.trial import tried
from tollgate.intake.values import ROWS, drawn
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service

HERE = Path(__file__).parent
ITEM = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "name": {"type": "string"},
        "note": {"type": "string", "nullable": True},
        "like": {"$ref": "#/components/schemas/Item"},
    },
}


def document(paths, **more):
    schemas = {"components": {"schemas": {"Item": ITEM}}}
    info = {"title": "shop", "version": "1"}
    return {"openapi": "3.0.3", "info": info, **schemas, **more, "paths": paths}


def operation(*parameters, schema=None, status="200", **more):
    answer = {"description": "fine"}
    if schema:
        answer["content"] = {"application/json": {"schema": schema}}
    return {"parameters": [*parameters], "responses": {status: answer}, **more}


def parameter(name, place="query", schema=None, **more):
    return {"name": name, "in": place, "schema": schema or {"type": "string"}, **more}


@pytest.fixture
def draft(tmp_path):
    """Of a document, which is written as JSON."""

    def read(paths, *named, **more):
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps(document(paths, **more)))
        return read_openapi(load(str(path)), "shop", named)

    return read


@pytest.fixture
def refusal(tmp_path):
    """The line with which a text is refused."""

    def read(text, *named):
        path = tmp_path / "api.yaml"
        path.write_text(text)
        with pytest.raises(IntakeError) as refused:
            _read(path, named)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    return read


def _read(path, named):
    source = load(str(path))
    assert source.kind == "openapi"
    return read_openapi(source, "shop", named)


def by_label(found):
    return {it["label"]: it for it in found.requests}


def test_an_operation_is_a_label_by_its_id_or_by_method_and_path(draft):
    found = draft({"/items": {"get": operation(operationId="list")}, "/tags": {"get": operation()}})
    assert [(it["label"], it["url"]) for it in found.requests] == [
        ("list", "/items"),
        ("GET /tags", "/tags"),
    ]


def test_a_parameter_of_a_path_is_a_column_whose_values_are_marked_as_guessed(draft):
    number = {"type": "integer", "minimum": 5, "maximum": 7}
    path = parameter("id", "path", number, required=True)
    found = draft({"/items/{id}": {"parameters": [path], "get": operation()}})
    [request] = found.requests
    assert request["url"] == "/items/${id}"
    assert request["x-guessed"] == "id"
    assert len(found.data["id"]) == ROWS
    assert set(found.data["id"]) == {"5", "6", "7"}


def test_examples_are_taken_as_they_are_and_are_no_guess(draft):
    word = parameter("word", required=True, examples={"a": {"value": "a b"}, "b": {"value": "c/d"}})
    page = parameter("page", schema={"type": "integer", "default": 3})
    left = parameter("left")
    found = draft({"/find": {"get": operation(word, page, left)}})
    [request] = found.requests
    assert request["url"] == "/find?word=${word}&page=${page}"
    assert "x-guessed" not in request
    assert set(found.data["word"]) == {"a%20b", "c%2Fd"}
    assert set(found.data["page"]) == {"3"}


def test_two_parameters_of_one_name_share_a_column_only_where_they_have_the_same_values(draft):
    number = parameter("id", "path", {"type": "integer"}, required=True)
    named = parameter("id", "path", {"type": "string", "enum": ["x"]}, required=True)
    found = draft(
        {
            "/a/{id}": {"get": operation(number)},
            "/b/{id}": {"get": operation(number)},
            "/c/{id}": {"get": operation(named)},
        }
    )
    assert [it["url"] for it in found.requests] == ["/a/${id}", "/b/${id}", "/c/${id_2}"]


def test_a_required_header_is_a_column_whose_values_are_not_encoded(draft):
    day = parameter("X-Day", "header", {"type": "string", "format": "date-time"}, required=True)
    found = draft({"/items": {"get": operation(day)}})
    assert found.requests[0]["headers"] == {"X-Day": "${X_Day}"}
    assert found.data["X_Day"][0] == "2026-01-02T12:00:00Z"


def test_what_may_write_is_left_out_and_named_unless_it_is_asked_for(draft):
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}}
    post = operation(status="201", operationId="order", requestBody=body)
    paths = {"/items": {"get": operation()}, "/orders": {"post": post, "delete": operation()}}
    assert [it["label"] for it in draft(paths).requests] == ["GET /items"]
    [remark] = draft(paths).remarks
    assert "POST /orders, DELETE /orders" in remark
    for name in ("POST /orders", "order"):
        request = by_label(draft(paths, name))["order"]
        assert request["method"] == "POST"
        assert request["body"] == {"id": 1, "name": "name-1"}
        assert request["headers"] == {"Content-Type": "application/json"}
        assert request["x-guessed"] == "body"
    with pytest.raises(IntakeError, match=r"'POST /order' is no operation.*POST /orders"):
        draft(paths, "POST /order")


def test_status_and_required_keys_are_asserted_and_a_sample_answer_is_validated(draft):
    item = {"$ref": "#/components/schemas/Item"}
    found = draft({"/item": {"get": operation(schema=item, operationId="item")}})
    [request] = found.requests
    assert request["assert"] == [
        {"contains": ["200"], "subject": "http-code"},
        {"contains": ['"id"', '"name"'], "regexp": False},
    ]
    assert found.probes == ({"path": "/item", "schema": "item"},)
    schema = json.loads(json.dumps(found.answers["item"]))
    good = {"id": 1, "name": "a", "note": None, "like": {"id": 2, "name": "b", "like": {}}}
    assert json_schema.mismatch(schema, json.dumps(good)) == ""
    assert "'name' is a required" in json_schema.mismatch(schema, '{"id": 1}')
    assert json_schema.mismatch(schema, '{"id": 0, "name": "a"}').startswith("id: 0 is less")
    assert json_schema.mismatch(schema, "<html>") == "it is no JSON"


def test_what_needs_a_secret_takes_it_from_the_environment_and_is_not_probed(draft):
    schemes = {
        "key": {"type": "apiKey", "in": "query", "name": "k"},
        "user": {"type": "http", "scheme": "basic"},
        "login": {"type": "oauth2", "flows": {}},
    }
    paths = {
        f"/{name}": {"get": operation(schema={"type": "object"}, security=[{name: []}])}
        for name in schemes
    }
    paths["/free"] = {"get": operation(schema={"type": "object"})}
    found = draft(paths, components={"securitySchemes": schemes})
    asked = [(it["url"], it.get("headers")) for it in found.requests]
    assert asked == [
        ("/key?k=${__urlencode(${__P(SHOP_KEY)})}", None),
        ("/user", {"Authorization": "Basic ${__P(SHOP_USER)}"}),
        ("/login", {"Authorization": "Bearer ${__P(SHOP_LOGIN)}"}),
        ("/free", None),
    ]
    assert set(found.secrets) == {"SHOP_KEY", "SHOP_USER", "SHOP_LOGIN"}
    assert [it["path"] for it in found.probes] == ["/free"]


def test_a_password_that_would_have_to_be_guessed_comes_from_the_environment(draft):
    found = draft({"/login": {"get": operation(parameter("password", required=True))}})
    assert found.requests[0]["url"] == "/login?password=${__urlencode(${__P(SHOP_PASSWORD)})}"
    assert [*found.secrets] == ["SHOP_PASSWORD"]
    assert not found.data


def test_a_document_may_be_of_several_files(tmp_path):
    item = {"type": "object", "required": ["id"]}
    (tmp_path / "schemas.json").write_text(json.dumps({"Item": item}))
    get = operation(schema={"$ref": "schemas.json#/Item"})
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(document({"/item": {"get": get}})))
    found = read_openapi(load(str(path)), "shop")
    assert found.answers["GET /item"]["required"] == ["id"]


@pytest.mark.parametrize(
    ("servers", "url", "path"),
    [
        ([], None, "/items"),
        ([{"url": "/v1/"}], None, "/v1/items"),
        ([{"url": "https://shop.example:8443/v1"}], "https://shop.example:8443", "/v1/items"),
        (
            [
                {
                    "url": "http://{at}/v{n}",
                    "variables": {"at": {"default": "a"}, "n": {"default": "2"}},
                }
            ],
            "http://a",
            "/v2/items",
        ),
    ],
)
def test_the_first_server_says_where_the_service_answers(draft, servers, url, path):
    found = draft({"/items": {"get": operation()}}, servers=servers)
    assert (found.url, found.requests[0]["url"]) == (url, path)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 3, "exclusiveMinimum": True, "maximum": 9},
        {"type": "integer", "exclusiveMinimum": 3, "multipleOf": 5},
        {"type": "number", "maximum": -1},
        {"type": "string", "minLength": 30},
        {"type": "string", "minLength": 2, "maxLength": 3},
        {"type": "string", "format": "uuid"},
        {"type": "string", "format": "date-time"},
        {"type": ["null", "boolean"]},
        {"type": "array", "minItems": 3, "items": {"type": "string", "enum": ["a", "b"]}},
        {"allOf": [{"required": ["a"]}, {"properties": {"a": {"type": "integer", "minimum": 7}}}]},
        {"oneOf": [{"type": "integer", "minimum": 7}, {"type": "string"}]},
        {"const": {"a": [1]}},
        {},
    ],
)
def test_drawn_values_are_what_their_schema_allows(schema):
    draws = random.Random(1)
    for n in range(1, ROWS + 1):
        jsonschema.validate(drawn(schema, draws, n), as_json_schema(schema))


def test_the_same_document_gives_the_same_draft(draft):
    identity = parameter("id", "path", {"type": "string", "format": "uuid"}, required=True)
    paths = {"/items/{id}": {"get": operation(identity)}}
    assert draft(paths) == draft(paths)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("openapi: 4.0.0\npaths: {}", "is of version '4.0.0'"),
        ("openapi: 3.0.0", "has no `paths`"),
        ("openapi: 3.0.0\npaths: {/a: {post: {}}}", "no operation that only reads: name others"),
        (
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/b'}]}}}",
            "paths./a refers to '#/b', which is not there",
        ),
        ("openapi: [", "is neither JSON nor YAML"),
        ("a: 1", "is no OpenAPI or Swagger document, no HAR and no JMeter plan"),
    ],
)
def test_what_can_not_be_read_is_refused_in_one_line(refusal, text, said):
    assert said in refusal(text)


def test_a_file_that_is_not_there_is_refused_in_one_line():
    with pytest.raises(IntakeError, match=r"^nothing\.yaml can't be read: No such file"):
        load("nothing.yaml")


@pytest.mark.parametrize("name", ["httpbin", "petstore"])
def test_documents_of_others_become_services_that_tollgate_reads(name):
    found = read_openapi(load(str(HERE / f"{name}.openapi.json")), name)
    service = {"url": "http://127.0.0.1:1", "requests": [dict(it) for it in found.requests]}
    for it in service["requests"]:
        it.pop("x-guessed", None)
    parts = parts_of(read_service(name, service), Path())
    assert [it.samples for it in parts.requests] == [(it["label"],) for it in found.requests]
    expected = {
        "httpbin": (48, "https://httpbin.org"),
        "petstore": (8, "http://petstore.swagger.io"),
    }
    assert (len(found.requests), found.url) == expected[name]
    assert all(len(it) == ROWS for it in found.data.values())


class _Shop(Handler):
    """Knows the items 1 and 2 but no tag, and lies about names."""

    def respond(self):
        path = urlsplit(self.path).path
        answers = {"/items": "[]", "/items/1": "{}", "/items/2": "{}", "/names": '{"names": 3}'}
        body = answers.get(path)
        self.answer(200 if body else 404, body or "", Content_Type="application/json")


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


def test_a_document_that_this_machine_serves_is_about_the_service_there():
    served = document(
        {"/items": {"get": operation()}}, servers=[{"url": "https://shop.example/v1"}]
    )
    with serving(_Document, text=json.dumps(served)) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        found = read_openapi(load(f"{at}/openapi.json"), "shop")
    assert (found.url, found.requests[0]["url"]) == (at, "/v1/items")


class _Document(Handler):
    def respond(self):
        self.answer(200, self.server.text)


def test_a_url_that_answers_otherwise_is_refused_in_one_line():
    with serving(_Shop) as server:
        at = f"http://127.0.0.1:{server.server_port}/gone"
        with pytest.raises(
            IntakeError, match=r"gone can't be read: it answers 404: correct the URL"
        ):
            load(at)


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


class _Closed(Handler):
    def respond(self):
        self.answer(200 if self.path in ("/open", "/closed?k=right%26") else 403)


def test_swagger_2_has_bodies_forms_and_schemas_in_other_places(tmp_path):
    form = [
        {"name": "user", "in": "formData", "type": "string", "required": True},
        {"name": "age", "in": "formData", "type": "integer", "required": True},
    ]
    file = [{"name": "picture", "in": "formData", "type": "file", "required": True}]
    body = [{"name": "it", "in": "body", "schema": {"$ref": "#/definitions/Item"}}]
    answer = {"200": {"description": "", "schema": {"$ref": "#/definitions/Item"}}}
    item = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer", "x-nullable": True}},
    }
    document = {
        "swagger": "2.0",
        "info": {"title": "a", "version": "1"},
        "host": "shop.example",
        "basePath": "/v2/",
        "schemes": ["https", "http"],
        "produces": ["application/json"],
        "definitions": {"Item": item},
        "paths": {
            "/items": {"get": {"responses": answer}},
            "/form": {"post": {"parameters": form, "responses": answer}},
            "/file": {"post": {"parameters": file, "responses": answer}},
            "/body": {"put": {"parameters": body, "responses": answer}},
        },
    }
    path = tmp_path / "swagger.json"
    path.write_text(json.dumps(document))
    found = read_openapi(load(str(path)), "shop", ("POST /form", "POST /file", "PUT /body"))
    assert found.url == "https://shop.example"
    asked = by_label(found)
    assert asked["GET /items"]["url"] == "/v2/items"
    assert asked["POST /form"]["body"] == {"user": "user-1", "age": "1"}
    assert "headers" not in asked["POST /form"]
    assert asked["PUT /body"]["body"] == {"id": 1}
    assert asked["PUT /body"]["headers"] == {"Content-Type": "application/json"}
    assert [*asked] == ["GET /items", "POST /form", "PUT /body"]
    assert found.remarks == ("left out POST /file: it sends multipart/form-data",)
    assert json_schema.mismatch(found.answers["GET /items"], '{"id": null}') == ""


def test_what_is_nested_without_an_end_is_cut_off(draft):
    wide = {name: {"$ref": "#/components/schemas/Item"} for name in "abcdefgh"}
    names = "abcdefghijkl"
    schemas = {
        name: {"properties": {it: {"$ref": f"#/components/schemas/{it}"} for it in names}}
        for name in names
    }
    item = {"type": "object", "properties": wide}
    paths = {"/items": {"get": operation(schema={"$ref": "#/components/schemas/a"})}}
    found = draft(paths, components={"schemas": {**schemas, "Item": item}})
    assert json_schema.mismatch(found.answers["GET /items"], '{"a": {"b": {}}}') == ""
