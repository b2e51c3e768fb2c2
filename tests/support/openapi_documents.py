"""OpenAPI documents for tests, from their operations."""

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


def by_label(found):
    return {it["label"]: it for it in found.requests}
