"""Types of the fields of records, as a JSON Schema states them, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, WrapSerializer
from pydantic_core import core_schema
from typing_extensions import dataclass_transform

T = TypeVar("T")

Count = Annotated[int, Field(ge=0)]
Whole = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Confidence = Annotated[float, Field(gt=0, lt=1)]
Text = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
#: Both ends; null where there is no bound.
Interval = Annotated[list[float | None], Field(min_length=2, max_length=2)]

#: Of a record that is written as JSON: the docstrings of its fields are the schema's.
WRITTEN = ConfigDict(
    extra="forbid", use_attribute_docstrings=True, json_schema_serialization_defaults_required=True
)


@dataclass_transform(frozen_default=True)
def written(record: type[T], config: ConfigDict = WRITTEN) -> type[T]:
    """A frozen dataclass that Pydantic reads and writes by a configuration."""
    record.__pydantic_config__ = config  # type: ignore[attr-defined]
    return dataclass(frozen=True)(record)


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(model: type[T]) -> TypeAdapter[T]:
    """Returns what reads, writes and describes the records of a model."""
    if model not in _ADAPTERS:
        _ADAPTERS[model] = TypeAdapter(model)
    return _ADAPTERS[model]


class _OfAnyType:
    """A field that is not written may have a type that Pydantic does not know."""

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> core_schema.CoreSchema:
        return core_schema.any_schema()


#: A field that is read from a file, and has no place in the JSON of a result.
Excluded = Annotated[T, Field(exclude=True)]
#: A field that has no place in any JSON.
Unwritten = Annotated[T, Field(exclude=True), _OfAnyType]
#: Stands around what an `Inlined` field holds until report/json_model.py has put it in its place.
INLINED = "$inlined"
#: A field with another record, whose fields are written in place of it.
Inlined = Annotated[
    T,
    WrapSerializer(lambda record, write: {INLINED: write(record)}),
    Field(json_schema_extra={INLINED: True}),
]


def ends(low: float | None, high: float | None) -> list[float | None] | None:
    """An interval as it is written; None without a lower end."""
    return None if low is None else [low, high]
