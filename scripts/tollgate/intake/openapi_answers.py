"""What an OpenAPI or Swagger document says of answers: status, media types and schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tollgate.intake import values
from tollgate.intake.document import Document, Operation
from tollgate.intake.notation import as_list, as_mapping

JSON = re.compile(r"application/(?:[\w.-]+\+)?json\b.*", re.IGNORECASE)
_NOT_OF_JSON = ("nullable", "discriminator", "xml", "externalDocs", "example")
#: Words of a schema whose values are schemas by names, which may be any, and values as they are.
_BY_NAME = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
_AS_IT_IS = ("enum", "const", "default", "examples")
#: Characters of a pattern that Python is asked about.
_LONGEST_PATTERN = 10_000
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def answer_of(document: Document, operation: Operation) -> tuple[str, list[str], dict[str, Any]]:
    """(status, media types, schema) of what is answered where all is well; empty where it is not
    said, or where there are several."""
    described = operation.described
    responses = {str(key): it for key, it in as_mapping(described.get("responses")).items()}
    fine = sorted(it for it in responses if re.fullmatch("2[0-9][0-9]", it))
    fine = fine or sorted(it for it in responses if re.fullmatch("3[0-9][0-9]", it))
    if not fine:
        return "", [], {}
    response = as_mapping(responses[fine[0]])
    if document.is_swagger:
        types = as_list(described.get("produces")) or as_list(document.root.get("produces"))
        schema = response.get("schema")
    else:
        content = as_mapping(response.get("content"))
        types = [*content]
        media = [it for kind, it in content.items() if JSON.fullmatch(kind)]
        schema = as_mapping(media[0] if media else None).get("schema")
    status = fine[0] if len(fine) == 1 else ""
    if operation.method == "HEAD":  # its answer has no body, whatever GET is answered with
        return status, types, {}
    return status, types, as_json_schema(as_mapping(schema))


def as_json_schema(schema: Any) -> Any:
    """A schema of OpenAPI 3.0 or Swagger 2 in the words of JSON Schema, as one of 3.1 is; without
    what answers do not have, and without what can't be checked."""
    if isinstance(schema, list):
        return [as_json_schema(it) for it in schema]
    if not isinstance(schema, Mapping):
        return schema
    schema = _without_sent(schema)
    words = {key: _below(key, it) for key, it in schema.items() if key not in _NOT_OF_JSON}
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(words.get(key), bool):
            is_exclusive = words.pop(key)
            if is_exclusive and bound in words:
                words[key] = words.pop(bound)
    if "type" in words:
        words["type"] = _type(words["type"])
    if not _compiles(str(words.get("pattern", ""))):
        words["pattern"] = None
    # A word without a value says nothing, but for one of these.
    words = {key: it for key, it in words.items() if it is not None or key in _AS_IT_IS}
    if schema.get("nullable") is True or schema.get("x-nullable") is True:
        return {"anyOf": [words, {"type": "null"}]}
    return words


def _without_sent(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the properties that requests alone have, such as a password."""
    properties = as_mapping(schema.get("properties"))
    sent = [name for name, it in properties.items() if as_mapping(it).get("writeOnly") is True]
    if not sent:
        return schema
    left = {name: it for name, it in properties.items() if name not in sent}
    required = [it for it in as_list(schema.get("required")) if it not in sent]
    return {**schema, "properties": left, "required": required}


def _below(key: str, value: Any) -> Any:
    """What stands behind a word of a schema."""
    if key in _AS_IT_IS:
        return value
    if key not in _BY_NAME or not isinstance(value, Mapping):
        return as_json_schema(value)
    is_pattern = key == "patternProperties"
    names = (name for name in value if not is_pattern or _compiles(str(name)))
    return {name: as_json_schema(value[name]) for name in names}


def _type(kind: Any) -> Any:
    """The type of JSON, or the types, that are meant; None where one is unknown, such as `file`."""
    kinds = kind if isinstance(kind, list) else [kind]
    meant = [values.MEANT.get(str(it), it) for it in kinds]
    if not meant or any(it not in _TYPES for it in meant):
        return None
    return meant if isinstance(kind, list) else meant[0]


@lru_cache(maxsize=4096)
def _compiles(pattern: str) -> bool:
    """Whether Python knows a pattern, for some are of another dialect."""
    if len(pattern) > _LONGEST_PATTERN:
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


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
