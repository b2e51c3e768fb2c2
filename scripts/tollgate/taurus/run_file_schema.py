"""The JSON Schema of taurus.yml, which editors read: the keys of Tollgate, and what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bzt.engine import Configuration
from pydantic.json_schema import GenerateJsonSchema

from tollgate.base.settings import CLASS, WORDS, form_of, unknown
from tollgate.report.json_model import to_json
from tollgate.targets.scenarios import Probe
from tollgate.taurus.run_file import (
    BASE_CONFIG,
    EXECUTION,
    MODULES,
    OWN,
    SCENARIO,
    SECTIONS,
    TAURUS_EXECUTION,
    TAURUS_SCENARIO,
    entry_keys,
)


def schema() -> str:
    """The text of the JSON Schema. A kind, below cli-aliases, may hold whatever the file may."""
    taurus = Configuration()
    taurus.load([str(BASE_CONFIG)])
    modules = _closed({name: {"$ref": f"#/$defs/{name}"} for name in MODULES}, False)
    others = "|".join(sorted(taurus["modules"].keys() - MODULES))
    modules["patternProperties"] |= {f"^({others})$": True}
    modules["additionalProperties"] = {"type": ["object", "string"], "required": [CLASS]}
    sections = {
        "modules": {"$ref": "#/$defs/modules"},
        "scenarios": {"type": "object", "additionalProperties": {"$ref": "#/$defs/scenario"}},
        "execution": {
            "if": {"type": "object"},
            "then": {"$ref": "#/$defs/execution"},
            "else": {"type": "array", "items": {"$ref": "#/$defs/execution"}},
        },
        "services": {"type": "array", "items": {"$ref": "#/$defs/service"}},
        "reporting": {"type": "array", "items": {"$ref": "#/$defs/reporter"}},
        "cli-aliases": {"type": "object", "additionalProperties": {"$ref": "#"}},
    }
    inline = {"scenario": {"if": {"type": "object"}, "then": {"$ref": "#/$defs/scenario"}}}
    parts = {name: _settings(model, {CLASS: True}) for name, model in MODULES.items()}
    parts |= {
        "probe": _settings(Probe) | {"required": ["path"]},
        "modules": modules,
        "scenario": _closed({**SCENARIO, **dict.fromkeys(TAURUS_SCENARIO, True)}),
        "execution": _closed({**EXECUTION, **dict.fromkeys(TAURUS_EXECUTION, True), **inline}),
        "service": _entries("services"),
        "reporter": _entries("reporting"),
    }
    title = {"$schema": GenerateJsonSchema.schema_dialect, "title": "taurus.yml of Tollgate"}
    whole = _closed({**dict.fromkeys(SECTIONS, True), **sections})
    return to_json({**title, **whole, "$defs": parts})


def _closed(fields: Mapping[str, Any], may_have_own: bool = True) -> dict[str, Any]:
    """An object that takes no other keys, but for the user's own (x-...) where it may have them.
    fields: a schema by key, True for any value. ~, ^ and $ before a key say how Taurus merges it.
    WORDS says what to write for another key."""
    sections = [it for it in fields if it in SECTIONS and fields[it] is not True]
    others = "|".join(it for it in fields if it not in sections)
    return {
        "type": "object",
        "properties": dict(fields),
        "patternProperties": {
            **({f"^{OWN}": True} if may_have_own else {}),
            rf"^[~^$]+({others})$": True,
            **{rf"^[~^$]+{it}$": fields[it] for it in sections},
        },
        "additionalProperties": False,
        WORDS: f"a key {unknown('', sorted(fields))}",
    }


def _settings(model: type, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Of a model, whose descriptions stand in one line each."""
    form = form_of(model)
    fields = {}
    for name, field in form["properties"].items():
        fields[name] = {key: it for key, it in field.items() if key != "title"}
        if "description" in field:
            fields[name]["description"] = field["description"].replace("\n", " ")
    description = form["description"].replace("\n", " ")
    return {"description": description, **_closed({**fields, **(more or {})})}


def _entries(section: str) -> dict[str, Any]:
    """Of a list's entries: a module's name, or an object; other modules are Taurus's."""
    choices = []
    for name in MODULES:
        module = {"type": "object", "properties": {"module": {"const": name}}}
        module["required"] = ["module"]
        choices.append({"if": module, "then": _closed(entry_keys(section, name))})
    return {"type": ["object", "string"], "allOf": choices}
