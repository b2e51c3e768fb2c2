"""Schemas of OpenAPI and Swagger in the words of JSON Schema. Pure."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from tollgate.intake.notation import as_list, as_mapping

#: What is often written in place of a type, and the type of JSON that it means.
MEANT = {
    **{"int": "integer", "long": "integer", "float": "number", "double": "number"},
    "bool": "boolean",
}
_NOT_OF_JSON = ("nullable", "discriminator", "xml", "externalDocs", "example")
#: Words of a schema whose values are schemas by names, which may be any, and values as they are.
_BY_NAME = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
_AS_IT_IS = ("enum", "const", "default", "examples")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LARGEST = sys.float_info.max
#: Characters of a pattern that Python is asked about.
_LONGEST_PATTERN = 10_000
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def as_json_schema(schema: Any, is_sent: bool = False) -> Any:
    """A schema of OpenAPI 3.0 or Swagger 2 in the words of JSON Schema, as one of 3.1 is; without
    what answers, or requests, do not have, and of answers without what can't be checked."""
    if isinstance(schema, list):
        return [as_json_schema(it, is_sent) for it in schema]
    if not isinstance(schema, Mapping):
        return schema
    schema = _without(schema, "readOnly" if is_sent else "writeOnly")
    words = {key: _below(key, it, is_sent) for key, it in schema.items() if key not in _NOT_OF_JSON}
    for key, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(words.get(key), bool):
            is_exclusive = words.pop(key)
            if is_exclusive and bound in words:
                words[key] = words.pop(bound)
    if "type" in words:
        words["type"] = _type(words["type"])
    if not is_sent and not _compiles(str(words.get("pattern", ""))):
        words["pattern"] = None
    words |= {key: as_number(it) for key, it in words.items() if key in _BOUNDS}
    # A word without a value says nothing, but for one of these.
    words = {key: it for key, it in words.items() if it is not None or key in _AS_IT_IS}
    if schema.get("nullable") is True or schema.get("x-nullable") is True:
        return {"anyOf": [words, {"type": "null"}]}
    return words


def as_number(value: Any) -> float | None:
    """A number of a document, which some write as a text, as apispec does decimals; None for what
    is in its place, such as a flag, or a number that no float holds."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and -_LARGEST <= value <= _LARGEST else None


def _without(schema: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    """Without the properties of which a word is true, such as `writeOnly` of a password."""
    properties = as_mapping(schema.get("properties"))
    others = [name for name, it in properties.items() if as_mapping(it).get(word) is True]
    if not others:
        return schema
    left = {name: it for name, it in properties.items() if name not in others}
    required = [it for it in as_list(schema.get("required")) if it not in others]
    return {**schema, "properties": left, "required": required}


def _below(key: str, value: Any, is_sent: bool) -> Any:
    """What stands behind a word of a schema."""
    if key in _AS_IT_IS:
        return value
    if key not in _BY_NAME or not isinstance(value, Mapping):
        return as_json_schema(value, is_sent)
    is_pattern = key == "patternProperties"
    names = (name for name in value if not is_pattern or _compiles(str(name)))
    return {name: as_json_schema(value[name], is_sent) for name in names}


def _type(kind: Any) -> Any:
    """The type of JSON, or the types, that are meant; None where one is unknown, such as `file`."""
    kinds = kind if isinstance(kind, list) else [kind]
    meant = [MEANT.get(str(it), it) for it in kinds]
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
