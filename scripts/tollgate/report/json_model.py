"""A record as the JSON that a run leaves for programs, and its JSON Schema. Pure.

What is written is not validated, so that a wrong value costs no verdict: tests hold what is written
against the schema.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from tollgate.base.fields import INLINED, adapter

#: A title repeats the name; what has a default, and what is computed, is written like all else.
_UNWANTED = ("title", "default", "readOnly")


def plain(record: object) -> dict[str, Any]:
    """The object of a record. JSON knows no infinity: an interval without an upper end ends in
    null."""
    to_python = adapter(type(record)).dump_python
    return _flat(to_python(record, mode="json", by_alias=True, warnings=False))


def to_json(content: dict[str, Any]) -> str:
    """The text of a file."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def schema(record: type, title: str) -> str:
    """The text of a record's JSON Schema."""
    fields = _described(adapter(record).json_schema(mode="serialization"))
    parts = fields.pop("$defs")
    flat = _flat_schema(fields, parts)
    parts = {name: _flat_schema(part, parts) for name, part in parts.items()}
    text = json.dumps([flat, parts])
    # What the fields refer to comes behind them; what was inlined is not referred to any more.
    parts = {name: part for name, part in parts.items() if f'"#/$defs/{name}"' in text}
    dialect = GenerateJsonSchema.schema_dialect
    return to_json({"$schema": dialect, "title": title, **flat, "$defs": parts})


def _flat(value: Any) -> Any:
    """With the fields of an `Inlined` record in its place, and without infinity and NaN."""
    if isinstance(value, list):
        return [_flat(each) for each in value]
    if not isinstance(value, dict):
        return None if isinstance(value, float) and not math.isfinite(value) else value
    flat: dict[str, Any] = {}
    for name, each in value.items():
        each = _flat(each)
        flat |= each[INLINED] if isinstance(each, dict) and INLINED in each else {name: each}
    return flat


def _flat_schema(record: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """The same of a record's schema. parts: of the records that it refers to."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, field in record["properties"].items():
        if INLINED in field:
            inlined = _flat_schema(parts[field["$ref"].split("/")[-1]], parts)
            properties |= inlined["properties"]
            required += inlined["required"]
        else:
            properties[name] = field
            required.append(name)
    return record | {"properties": properties, "required": required}


def _described(value: Any) -> Any:
    """Without what says nothing of the file; each description in one line."""
    if isinstance(value, list):
        return [_described(each) for each in value]
    if not isinstance(value, dict):
        return value.replace("\n", " ") if isinstance(value, str) else value
    kept = {key: it for key, it in value.items() if key not in _UNWANTED or isinstance(it, dict)}
    return {key: _described(each) for key, each in kept.items()}
