"""Models of the JSON that a run leaves for programs, their text, and their JSON Schemas. Pure.

A model names and describes each field; what is written is no instance of it, so that a wrong value
costs no verdict: tests hold what is written against the schema.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

Count = Annotated[int, Field(ge=0)]
Whole = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Confidence = Annotated[float, Field(gt=0, lt=1)]
Text = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
#: Both ends; null where there is no bound.
Interval = Annotated[list[float | None], Field(min_length=2, max_length=2)]
VerdictName = Literal["PASS", "FAIL", "INCONCLUSIVE", "INVALID"]


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


def contents(model: type[Model], sources: Any) -> list[dict[str, Any]]:
    """The objects of a model, one for each source."""
    return [content(model, each) for each in sources]


def ends(low: float | None, high: float | None) -> list[float | None] | None:
    """An interval; null without a lower end."""
    return None if low is None else [low, high]


def finite(value: Any) -> Any:
    """JSON knows no infinity: an interval without an upper end ends in null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_json(content: dict[str, Any]) -> str:
    """The text of a file."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def schema(model: type, title: str) -> str:
    """The text of a model's JSON Schema, or of a record's."""
    fields = _described(TypeAdapter(model).json_schema())
    dialect = GenerateJsonSchema.schema_dialect
    # What the fields refer to comes behind them.
    parts = {"$defs": fields.pop("$defs")}
    return to_json({"$schema": dialect, "title": title, **fields, **parts})


def _described(value: Any) -> Any:
    """Without titles, which repeat names; and descriptions in one line, whatever the docstring."""
    if isinstance(value, list):
        return [_described(each) for each in value]
    if not isinstance(value, dict):
        return value.replace("\n", " ") if isinstance(value, str) else value
    kept = {key: it for key, it in value.items() if key != "title" or isinstance(it, dict)}
    return {key: _described(each) for key, each in kept.items()}
