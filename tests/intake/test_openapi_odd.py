"""OpenAPI documents that are not quite as their rules say, or say it in a rare way."""

import json

import pytest

from support.openapi_documents import ITEM, by_label, operation, parameter
from tollgate.base import json_schema
from tollgate.intake.dialect import as_json_schema
from tollgate.intake.draft import IntakeError
from tollgate.intake.notation import parsed
from tollgate.intake.openapi import read_openapi
from tollgate.intake.source import load

REF = "#/components/schemas/{}".format


def test_yaml_has_the_values_of_json_alone():
    given = ("on", "off", "NO", "12:30", "0123", "0x1F", "0o17", "1e3", ".5", "true", "~", "'1'")
    text = "".join(f"- {it}\n" for it in (*given, "2026-01-01", "1_000"))
    assert parsed("a.yaml", text) == [
        *("on", "off", "NO", "12:30", 123, 31, 15, 1000.0, 0.5, True, None, "1"),
        *("2026-01-01", "1_000"),
    ]
    assert parsed("a.yaml", "200: 1\ntrue: 2\n<<: {b: 3}\n") == {"200": 1, "true": 2, "b": 3}


def test_a_document_in_yaml_is_valid_with_numbers_for_keys(tmp_path):
    path = tmp_path / "openapi.yaml"
    path.write_text(
        "openapi: 3.0.3\n"
        "info: {title: shop, version: '1'}\n"
        "paths:\n"
        "  /light:\n"
        "    get:\n"
        "      parameters:\n"
        "      - {name: state, in: query, required: true, schema: {enum: [on, off]}}\n"
        "      responses:\n"
        "        200: {description: fine}\n"
    )
    found = read_openapi(load(str(path)), "shop")
    assert found.remarks == ()
    assert set(found.data["state"]) == {"on", "off"}


def test_a_base_path_of_swagger_begins_at_the_root(tmp_path):
    path = tmp_path / "swagger.json"
    answer = {"200": {"description": "fine"}}
    info = {"title": "a", "version": "1"}
    paths = {"/items": {"get": {"responses": answer}}}
    path.write_text(json.dumps({"swagger": "2.0", "info": info, "basePath": "v2", "paths": paths}))
    found = read_openapi(load(str(path)), "shop")
    assert (found.url, found.requests[0]["url"]) == (None, "/v2/items")


def test_an_operation_has_the_path_of_its_own_servers_and_is_left_out_if_they_are_others(draft):
    paths = {
        "/items": {"get": operation()},
        "/tags": {"get": operation(servers=[{"url": "/v2"}])},
        "/own": {"get": operation(), "servers": [{"url": "https://shop.example/v3"}]},
        "/files": {"get": operation(), "servers": [{"url": "https://files.example"}]},
    }
    found = draft(paths, servers=[{"url": "https://shop.example/v1"}])
    assert found.url == "https://shop.example"
    assert [it["url"] for it in found.requests] == ["/v1/items", "/v2/tags", "/v3/own"]
    assert found.remarks == ("left out GET /files: its `servers` name files.example",)


def test_a_body_is_read_whole_behind_an_answer_without_an_end(draft):
    names = "abcdefghijkl"
    schemas = {name: {"properties": {it: {"$ref": REF(it)} for it in names}} for name in names}
    body = {"content": {"application/json": {"schema": {"$ref": REF("Item")}}}}
    large = {"$ref": REF("a")}
    item = {"get": operation(schema=large), "post": operation(schema=large, requestBody=body)}
    found = draft({"/a": item}, "POST /a", components={"schemas": {**schemas, "Item": ITEM}})
    assert by_label(found)["POST /a"]["body"] == {"id": 1, "name": "name-1"}


def test_a_path_may_stand_in_another_file(draft, tmp_path):
    get = operation(schema={"$ref": "#/Item"})
    paths = {"item": {"parameters": [parameter("n", required=True)], "get": get}}
    (tmp_path / "paths.json").write_text(json.dumps({**paths, "Item": {"required": ["id"]}}))
    found = draft({"/item": {"$ref": "paths.json#/item"}})
    assert found.requests[0]["url"] == "/item?n=${n}"
    assert found.answers["GET /item"] == {"required": ["id"]}


@pytest.mark.parametrize(
    ("kind", "example", "sent"),
    [
        ("object", '{"name": "x"}', {"name": "x"}),
        ("integer", "5", "5"),
        ("object", "{name}", '"{name}"'),
        ("string", '{"name": "x"}', r'"{\"name\": \"x\"}"'),
    ],
)
def test_an_example_of_json_may_be_its_text(draft, kind, example, sent):
    media = {"schema": {"type": kind}, "example": example}
    body = {"content": {"application/json": media}}
    found = draft({"/a": {"post": operation(requestBody=body)}}, "POST /a")
    assert found.requests[0]["body"] == sent


def test_what_requests_alone_have_is_not_looked_for_in_answers(draft):
    password = {"type": "string", "writeOnly": True}
    properties = {"id": {"type": "integer"}, "password": password}
    user = {"type": "object", "required": ["id", "password"], "properties": properties}
    found = draft({"/me": {"get": operation(schema=user)}})
    assert found.requests[0]["assert"][1] == {"contains": ['"id"'], "regexp": False}
    assert json_schema.mismatch(found.answers["GET /me"], '{"id": 1}') == ""


def test_no_body_is_looked_for_in_an_answer_to_head(draft):
    found = draft({"/item": {"head": operation(schema={"$ref": REF("Item")})}})
    assert found.requests[0]["assert"] == [{"contains": ["200"], "subject": "http-code"}]


@pytest.mark.parametrize(
    ("schema", "usable"),
    [
        ({"type": "string", "pattern": r"^\p{L}+$"}, {"type": "string"}),
        ({"type": "string", "pattern": "^[a-z]+$"}, {"type": "string", "pattern": "^[a-z]+$"}),
        ({"type": "int", "nullable": True}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"type": ["int", "null"]}, {"type": ["integer", "null"]}),
        ({"type": "file"}, {}),
        (
            {"properties": {"example": {"type": "float"}}, "enum": [{"xml": 1}]},
            {"properties": {"example": {"type": "number"}}, "enum": [{"xml": 1}]},
        ),
    ],
)
def test_a_schema_is_written_so_that_it_can_be_used(schema, usable):
    assert as_json_schema(schema) == usable


@pytest.mark.parametrize(
    "given", ["\u043f\u043e\u0438\u0441\u043a", "default", "End", "123", "all labels"]
)
def test_an_id_that_no_label_may_have_gives_way_to_method_and_path(draft, given):
    found = draft({"/items": {"get": operation(operationId=given)}})
    assert [it["label"] for it in found.requests] == ["GET /items"]


@pytest.mark.parametrize(
    "item",
    [
        {"parameters": None, "get": operation()},
        {"get": {**operation(), "parameters": {"name": "a"}}},
        {"get": {**operation(), "parameters": [None]}},
        {"get": {"responses": {"200": {"content": {"application/json": None}}}}},
        {"get": {"responses": [1]}},
        {"get": {**operation(), "servers": {"url": "/v1"}}},
    ],
)
def test_what_has_no_place_in_a_document_is_passed_over(draft, item):
    [request] = draft({"/items": item}).requests
    assert (request["label"], request["url"]) == ("GET /items", "/items")


def test_a_body_of_which_nothing_is_said_is_drawn(draft):
    post = {**operation(), "requestBody": {"content": {"application/json": None}}}
    [request] = draft({"/a": {"post": post}}, "POST /a").requests
    assert (request["body"], request["x-guessed"]) == ('"text-1"', "body")


@pytest.mark.parametrize("security", [["key"], {"key": []}, [{"key": []}]])
def test_a_scheme_is_one_secret_however_it_is_named(draft, security):
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "k"}}
    paths = {"/key": {"get": operation(security=security)}}
    found = draft(paths, components={"securitySchemes": schemes})
    assert found.requests[0]["url"] == "/key?k=${__urlencode(${__P(SHOP_KEY)})}"
    assert [*found.secrets] == ["SHOP_KEY"]


def test_a_server_that_is_no_url_is_refused_in_one_line(draft):
    said = r"servers: 'http://\[host' is no URL: correct it"
    with pytest.raises(IntakeError, match=said) as refused:
        draft({"/items": {"get": operation()}}, servers=[{"url": "http://[host"}])
    assert "\n" not in str(refused.value)


HALF = "\ud83d"


@pytest.mark.parametrize(
    "item",
    [
        {"get": operation(parameter("q", "query", required=True, example=HALF))},
        {"get": operation(parameter(HALF, "query", required=True))},
        {"get": operation(parameter("X-A", "header", required=True, example=HALF))},
        {"get": operation(security=[{"k": []}])},
    ],
)
def test_half_a_pair_of_surrogates_is_written_as_utf_8_can(tmp_path, item):
    """JSON has escapes for it, and some programs cut an emoji in two."""
    found = {"paths": {"/a" + HALF: item}, "openapi": "3.0.3", "info": {}}
    found["components"] = {
        "securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": HALF}}
    }
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(found))
    draft = read_openapi(load(str(path)), "shop")
    assert str(draft).encode()
    assert "/a%EF%BF%BD" in draft.requests[0]["url"]


def test_json_reads_pairs_of_surrogates_and_backslashes_as_they_are():
    written = r'["\ud83d\ude00", "\\ud83d", "\n\u00e4"]'
    assert parsed("a.json", written) == ["\U0001f600", "\\ud83d", "\n\u00e4"]


def test_of_many_operations_some_are_named_where_none_is_meant(draft):
    with pytest.raises(IntakeError, match=r"known are GET /a0, .* and 150 more$"):
        draft({f"/a{n}": {"get": operation()} for n in range(200)}, "zzz")


def test_a_label_stands_in_one_line(draft):
    found = draft({"/a": {"get": operation(operationId="list\x85all\u2028items")}})
    assert [it["label"] for it in found.requests] == ["list-all-items"]
