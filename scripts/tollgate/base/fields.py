"""Types of the fields of records, as a JSON Schema states them, and how an interval is written."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field
from pydantic_core import core_schema

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
    extra="forbid",
    use_attribute_docstrings=True,
    json_schema_serialization_defaults_required=True,
)


class _OfAnyType:
    """A field that is not written may have a type that Pydantic does not know."""

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> core_schema.CoreSchema:
        return core_schema.any_schema()


#: A field that has no place in the JSON.
Unwritten = Annotated[T, Field(exclude=True), _OfAnyType]


def ends(low: float | None, high: float | None) -> list[float | None] | None:
    """An interval as it is written; None without a lower end."""
    return None if low is None else [low, high]
