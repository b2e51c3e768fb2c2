"""Operations of OpenAPI and Swagger documents as labels of a draft."""

import json

import jsonschema
import pytest

from support.openapi_documents import by_label, operation, parameter
from tollgate.base import json_schema
from tollgate.intake.dialect import as_json_schema
from tollgate.intake.draft import IntakeError
from tollgate.intake.values import ROWS, Budget, Draws, drawn


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
    draws = Draws.of(1, Budget())
    for n in range(1, ROWS + 1):
        jsonschema.validate(drawn(schema, draws, n), as_json_schema(schema))


def test_the_same_document_gives_the_same_draft(draft):
    identity = parameter("id", "path", {"type": "string", "format": "uuid"}, required=True)
    paths = {"/items/{id}": {"get": operation(identity)}}
    assert draft(paths) == draft(paths)
