"""A document and a recording of which somebody else chose every string.

text: makes what stands in a place, by the place's name."""

from urllib.parse import quote

from support.recordings import entry

#: What JMeter evaluates, and Taurus: as it is, behind backslashes, and within itself.
HARMLESS, EVALUATED = "${__longSum(123456123456,654321654321)}", "777777777777"
SPELLINGS = (
    HARMLESS,
    f"\\{HARMLESS}",
    f"\\\\{HARMLESS}",
    f"${HARMLESS}",
    f"${{__P(${{__P(a,b)}},{HARMLESS})}}",
    "${TAURUS_ARTIFACTS_DIR}",
)
#: Long enough to be no chance, where a recorded answer gives it and a request sends it.
TOKEN = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
OWN = "http://shop.example"
STRING = {"type": "string"}


def document(text):
    """OpenAPI."""

    def parameter(name, place, example):
        return {"name": name, "in": place, "required": True, "example": example, "schema": STRING}

    def answer(*types, schema=None):
        content = {it: {"schema": schema or {"type": "object"}} for it in types}
        return {"200": {"description": text("description"), "content": content}}

    def post(kind, **media):
        body = {"content": {kind: media}, "description": text("description")}
        return {"post": {"requestBody": body, "responses": answer("application/json")}}

    keyed = {
        "type": "object",
        "required": [text("required")],
        "properties": {text("required"): {"type": "string", "enum": [text("answer-enum")]}},
    }
    asked = {
        "operationId": text("operationId"),
        "summary": text("summary"),
        "tags": [text("tag")],
        "parameters": [
            parameter("id", "path", text("path-example")),
            parameter(text("path-name"), "path", "b"),
            parameter(text("query"), "query", text("query-example")),
            parameter("X-Own", "header", text("header-example")),
            parameter(text("header-name"), "header", "a"),
            parameter(text("cookie"), "cookie", "a"),
        ],
        "responses": answer(f"application/json; v={text('media')}", schema=keyed),
        "security": [{text("scheme"): [], "named": [], "cookie": []}],
    }
    keys = {text("scheme"): ("query", text("key-query")), "named": ("header", text("key-name"))}
    keys["cookie"] = ("cookie", text("key-cookie"))
    schemes = {it: {"type": "apiKey", "in": at, "name": of} for it, (at, of) in keys.items()}
    example = {text("json-key"): text("json-value"), "n": [{"a\\b": "c\\n", "^x": "", "": "y"}]}
    properties = {text("property"): {"type": "string", "enum": [text("enum")]}}
    field = {"type": "string", "example": text("field-value")}
    form = {"type": "object", "properties": {text("field"): field}}
    return {
        "openapi": "3.0.3",
        "info": {"title": text("title"), "version": "1"},
        "servers": [{"url": "/{v}", "variables": {"v": {"default": text("server")}}}],
        "paths": {
            f"/in/{{id}}/{{{text('path-name')}}}": {"get": asked},
            f"/braces/{text('path')}": {"get": {"responses": answer("application/json")}},
            "/types": {"get": {"responses": answer(f"text/{text('accept')}", "text/plain")}},
            "/example": post(f"application/json; p={text('content-type')}", example=example),
            "/drawn": post("application/json", schema={"properties": properties}),
            "/form": post("application/x-www-form-urlencoded", schema=form),
        },
        "components": {"securitySchemes": schemes},
    }


def recording(text, own=OWN):
    """The entries of a HAR."""
    given = {text("answer-key"): {text("inner-key"): TOKEN}}
    page = f'<input type="hidden" name="{text("hidden")}" value="{TOKEN[::-1]}">'
    cookie = {"Cookie": f"{text('cookie-name')}={text('cookie-value')}; plain=c"}
    xml = {"Content-Type": "text/xml"}
    quoted = [quote(text(it), safe="") for it in ("segment", "query", "query-value")]
    note = entry(f"{own}/xml", "POST", 0.5, headers=xml)
    note["request"]["postData"] = {"mimeType": "text/xml", "text": f"<a>{text('xml')}</a>"}
    return [
        entry(f"{own}/", headers=cookie, mime="text/html", answer=f"<form>{page}</form>"),
        entry(f"{own}/list", at_s=0.1, answer=given, answer_headers={"X-At": text("at")}),
        entry(f"{own}/{quoted[0]}?{quoted[1]}={quoted[2]}", at_s=0.2),
        entry(f"{own}/own", at_s=0.3, headers={"X-Own": text("header-value"), "X-Token": TOKEN}),
        entry(f"{own}/named", at_s=0.4, headers={text("header-name"): "a"}),
        note,
        entry(f"{own}/odd", text("method"), 0.6),
        entry(
            f"{own}/form",
            "POST",
            0.7,
            body=[(text("field"), text("field-value")), ("hidden", TOKEN[::-1])],
        ),
        entry(
            f"{own}/json",
            "POST",
            0.8,
            json_body={text("json-key"): [text("json-value"), {"id": TOKEN, "a\\b": "c\\n"}]},
        ),
        entry(f"{own}/done", "POST", 0.9, json_body={"~x": 1, "b": text("json-text")}),
    ]
