"""What an OpenAPI or Swagger document says of answers: status, media types and schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tollgate.intake import values
from tollgate.intake.document import Document, Operation

JSON = re.compile(r"application/(?:[\w.-]+\+)?json\b.*", re.IGNORECASE)
_NOT_OF_JSON = ("nullable", "discriminator", "xml", "externalDocs", "example")


def answer_of(document: Document, operation: Operation) -> tuple[str, list[str], dict[str, Any]]:
    """(status, media types, schema) of what is answered where all is well; empty where it is not
    said, or where there are several."""
    responses = {str(key): it for key, it in (operation.described.get("responses") or {}).items()}
    fine = sorted(it for it in responses if re.fullmatch("2[0-9][0-9]", it))
    fine = fine or sorted(it for it in responses if re.fullmatch("3[0-9][0-9]", it))
    if not fine:
        return "", [], {}
    response = responses[fine[0]]
    response = response if isinstance(response, Mapping) else {}
    if document.is_swagger:
        given = operation.described.get("produces") or document.root.get("produces") or []
        types, schema = [*given], response.get("schema") or {}
    else:
        content = response.get("content") or {}
        types = [*content]
        kind = next(filter(JSON.fullmatch, content), None)
        schema = (content[kind].get("schema") or {}) if kind else {}
    status = fine[0] if len(fine) == 1 else ""
    return status, types, as_json_schema(schema)


def as_json_schema(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 or Swagger 2 in the words of JSON Schema, as one of 3.1 is."""
    if isinstance(schema, list):
        return [as_json_schema(it) for it in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {key: as_json_schema(it) for key, it in schema.items() if key not in _NOT_OF_JSON}
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(found.get(key), bool):
            is_exclusive = found.pop(key)
            if is_exclusive and bound in found:
                found[key] = found.pop(bound)
    if schema.get("nullable") is True or schema.get("x-nullable") is True:
        return {"anyOf": [found, {"type": "null"}]}
    return found


def checks_of(status: str, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is asserted under load: the status, and the keys that an answer always has."""
    checks: list[dict[str, Any]] = []
    if status:
        checks.append({"contains": [status], "subject": "http-code"})
    whole = values.merged([{"allOf": [schema]}])
    required = whole.get("required") if whole.get("type", "object") == "object" else None
    if isinstance(required, list) and required:
        keys = [json.dumps(str(it)) for it in dict.fromkeys(required)]
        checks.append({"contains": keys, "regexp": False})
    return checks
