"""OpenAPI and Swagger documents: where they stand, of how many files, and which are refused."""

import json
from pathlib import Path

import pytest

from support.http_server import Handler, serving
from support.openapi_documents import by_label, document, operation
from tollgate.base import json_schema
from tollgate.intake.draft import IntakeError
from tollgate.intake.openapi import read_openapi
from tollgate.intake.source import load
from tollgate.intake.values import ROWS
from tollgate.service.elements import parts_of
from tollgate.service.model import read_service

HERE = Path(__file__).parent


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
        ([{"url": "localhost:3000/v1"}], "http://localhost:3000", "/v1/items"),
        ([{"url": "api.example.com/v1"}], "http://api.example.com", "/v1/items"),
        ([{"url": "//api.example.com"}], "http://api.example.com", "/items"),
        ([{"url": "v1"}], None, "/v1/items"),
        ([{"url": "v1.0/"}], None, "/v1.0/items"),
        ([{"url": "./"}], None, "/items"),
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
    ("text", "said"),
    [
        ("openapi: 4.0.0\npaths: {}", "is of version '4.0.0': OpenAPI 3.0 to 3.2 and Swagger 2.0"),
        ("openapi: 3.0.0", "has no `paths`"),
        ("openapi: 3.0.0\npaths: {/a: {post: {}}}", "no operation that only reads: name others"),
        (
            "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{$ref: '#/b'}]}}}",
            "paths./a: '#/b' is not there",
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


class _Nothing(Handler):
    def respond(self):
        self.answer(404)


class _Document(Handler):
    def respond(self):
        self.answer(200, self.server.text)


def test_a_document_that_this_machine_serves_is_about_the_service_there():
    served = document(
        {"/items": {"get": operation()}}, servers=[{"url": "https://shop.example/v1"}]
    )
    with serving(_Document, text=json.dumps(served)) as server:
        at = f"http://127.0.0.1:{server.server_port}"
        found = read_openapi(load(f"{at}/openapi.json"), "shop")
    assert (found.url, found.requests[0]["url"]) == (at, "/v1/items")


def test_a_url_that_answers_otherwise_is_refused_in_one_line():
    with serving(_Nothing) as server:
        at = f"http://127.0.0.1:{server.server_port}/gone"
        with pytest.raises(
            IntakeError, match=r"gone can't be read: it answers 404: correct the URL"
        ):
            load(at)


class _Raw(Handler):
    def respond(self):
        self.wfile.write(self.server.raw)
        self.close_connection = True


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nopen",
    ],
)
def test_a_server_that_does_not_answer_as_http_says_is_refused_in_one_line(raw):
    with serving(_Raw, raw=raw) as server:
        at = f"http://127.0.0.1:{server.server_port}/openapi.json"
        with pytest.raises(IntakeError, match=r"can't be read: .+: correct") as refused:
            load(at)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://ann:s3cret@a.example/b", "...@a.example/b is given with a user's name or"),
        ("https://ann:s3/cret@a.example/b", "...@a.example/b is no URL: correct it"),
        ("http://[x", "http://[x is no URL: correct it, or name a file"),
        ("http://a.example:99999/b", "http://a.example:99999/b is no URL"),
        ("http://a.example:port/b", "http://a.example:port/b is no URL"),
        ("http://", "http:// is no URL"),
    ],
)
def test_a_url_that_is_not_asked_is_refused_in_one_line_without_its_password(url, said):
    with pytest.raises(IntakeError) as refused:
        load(url)
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)
    assert "s3" not in str(refused.value)


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


OPENAPI_3_2 = """
openapi: 3.2.0
$self: https://shop.example/openapi
info: {title: shop, version: "1"}
paths:
  /books:
    get:
      parameters:
      - name: q
        in: querystring
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {page: {type: integer}, word: {type: string}}}
            examples: {a: {dataValue: {page: 2, word: a b}}}
      responses:
        200:
          description: fine
          content:
            application/json:
              $ref: https://shop.example/openapi#/components/mediaTypes/Books
    query: {responses: {200: {description: fine}}}
    additionalOperations:
      COPY: {operationId: copy, responses: {201: {description: fine}}}
components:
  mediaTypes: {Books: {schema: {type: array}}}
"""


def test_a_document_of_openapi_3_2_is_read(tmp_path):
    path = tmp_path / "openapi.yaml"
    path.write_text(OPENAPI_3_2)
    found = _read(path, ("copy",))
    assert [(it["label"], it["url"]) for it in found.requests] == [("GET /books", "/books?${q}")]
    assert set(found.data["q"]) == {"page=2&word=a%20b"}
    assert found.answers == {"GET /books": {"type": "array"}}
    assert found.remarks == (
        "left out QUERY /books: requests have no such method",
        "left out COPY /books: requests have no such method",
    )
