"""Models of the JSON that a run leaves for programs, their text, and their JSON Schemas. Pure.

A model names and describes each field; what is written is no instance of it, so that a wrong value
costs no verdict: tests hold what is written against the schema.
"""

from __future__ import annotations

import json
import math
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from tollgate.base.fields import Digest, Whole


class Model(BaseModel):
    """An object of the JSON. Its docstring and those of its fields are the schema's."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Versions(Model):
    """Versions of the parts; `unknown` where one could not be found."""

    tollgate: str
    """Version of the Python package tollgate."""
    node: str
    """Version of Node."""
    java: str
    """Version of the JVM that runs JMeter."""
    jmeter: str
    """Version of Apache JMeter."""
    taurus: str
    """Version of bzt."""
    pm2: str
    """Version of PM2."""
    python: str
    """Version of Python."""


class Environment(Model):
    """The machine and the versions that a result holds for."""

    cpu: str
    """Model name of the first CPU."""
    cores: Whole | None
    """Logical CPUs; null where the system does not say."""
    memory_bytes: Whole
    """Physical memory in bytes."""
    os: str
    """Name, release and architecture of the operating system."""
    versions: Versions
    """Versions of the parts; `unknown` where one could not be found."""
    commit: str
    """Commit of the checkout, `-dirty` behind it if files differ from it; `unknown` without git."""
    variables: dict[str, str]
    """The environment variables that chose what is run or changed the service or the generator, by
    name; those that were not set are left out."""
    plans: dict[str, Digest]
    """SHA-256 of each plan file and of what it includes, in hexadecimal, by its path below the
    run's folder `plan`."""


def content(model: type[Model], source: object, **given: Any) -> dict[str, Any]:
    """The object of a model: each field as given, or else the source's attribute of its name."""
    if unknown := given.keys() - model.model_fields.keys():
        raise ValueError(f"{model.__name__} has no {', '.join(unknown)}")
    return {
        name: given[name] if name in given else getattr(source, name) for name in model.model_fields
    }


def finite(value: Any) -> Any:
    """JSON knows no infinity: an interval without an upper end ends in null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if is_dataclass(value):
        return finite(
            _adapter(type(value)).dump_python(value, mode="json", by_alias=True, warnings=False)
        )
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def _adapter(record: type) -> TypeAdapter:
    return TypeAdapter(record)


def to_json(content: dict[str, Any]) -> str:
    """The text of a file."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def schema(model: type, title: str) -> str:
    """The text of a model's JSON Schema, or of a record's."""
    fields = _described(TypeAdapter(model).json_schema(mode="serialization"))
    dialect = GenerateJsonSchema.schema_dialect
    # What the fields refer to comes behind them.
    parts = {"$defs": fields.pop("$defs")}
    return to_json({"$schema": dialect, "title": title, **fields, **parts})


#: A title repeats the name; what has a default, and what is computed, is written like all else.
_UNWANTED = ("title", "default", "readOnly")


def _described(value: Any) -> Any:
    """Without what says nothing of the file; each description in one line."""
    if isinstance(value, list):
        return [_described(each) for each in value]
    if not isinstance(value, dict):
        return value.replace("\n", " ") if isinstance(value, str) else value
    kept = {key: it for key, it in value.items() if key not in _UNWANTED or isinstance(it, dict)}
    return {key: _described(each) for key, each in kept.items()}
