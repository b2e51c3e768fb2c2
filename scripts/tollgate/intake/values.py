"""Values for what an OpenAPI document describes: its examples, else values drawn from the schema.
Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

from tollgate.base.time_limit import within
from tollgate.intake.dialect import MEANT
from tollgate.intake.notation import as_list, as_mapping

#: Of a column; fewer than 20 make a load that a cache answers.
ROWS = 20
#: Values of all columns and bodies of a document, and the length of ten texts in place of one.
#: GitHub's 639 operations that read take 53,000.
MOST_DRAWN = 500_000
#: Values of an `enum` that are looked at.
_MOST_CHOICES = 10_000
#: Seconds of CPU for a pattern.
_MATCHED_S = 0.2
#: Nested schemas are drawn this deep; what is recursive ends there.
_DEEPEST = 6
_TEXT = "abcdefghijklmnopqrstuvwxyz"
#: By format, of the n-th value from 1. Bytes are those of text.
_FORMATS: Mapping[str, Callable[[int, Random], str]] = {
    "date": lambda n, _: f"2026-01-{n % 28 + 1:02}",
    "date-time": lambda n, _: f"2026-01-{n % 28 + 1:02}T12:00:00Z",
    "time": lambda n, _: f"12:{n % 60:02}:00Z",
    "uuid": lambda _, draws: str(UUID(int=draws.getrandbits(128), version=4)),
    "email": lambda n, _: f"user{n}@example.com",
    "hostname": lambda n, _: f"host{n}.example.com",
    "ipv4": lambda n, _: f"192.0.2.{n % 254 + 1}",
    "ipv6": lambda n, _: f"2001:db8::{n:x}",
    "uri": lambda n, _: f"https://example.com/{n}",
    "url": lambda n, _: f"https://example.com/{n}",
    "byte": lambda _n, _draws: "dGV4dA==",
}


class TooManyError(ValueError):
    """A document asks for more values than MOST_DRAWN."""


@dataclass
class Budget:
    """left: of MOST_DRAWN."""

    left: int = MOST_DRAWN

    def spend(self, count: int) -> None:
        """Raises TooManyError."""
        self.left -= count
        if self.left < 0:
            raise TooManyError


class Draws(Random):
    """Random numbers for values, which a budget pays for."""

    budget: Budget

    @classmethod
    def of(cls, seed: int | str, budget: Budget) -> Draws:
        """The same ones for the same seed."""
        draws = cls(seed)
        draws.budget = budget
        return draws


@dataclass(frozen=True)
class Drawn:
    """values: each a JSON value. is_guess: whether the document gives none of them itself."""

    values: tuple[Any, ...]
    is_guess: bool


def examples_of(described: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Any]:
    """The values that a document gives for a parameter or a body: `example`, `examples`, also of
    its schema, which may name the only ones by `enum` or `const`."""
    for source in (described, schema):
        if source.get("example") is not None:
            return [source["example"]]
        examples = source.get("examples")
        if isinstance(examples, Mapping):
            named = map(as_mapping, examples.values())
            # By `dataValue` since OpenAPI 3.2.
            values = [it.get("value", it.get("dataValue")) for it in named]
            examples = [it for it in values if it is not None]
        if isinstance(examples, list) and examples:
            return examples
        for key in ("x-example", "const"):
            if source.get(key) is not None:
                return [source[key]]
    if enum := as_list(schema.get("enum")):
        return [it for it in enum[:_MOST_CHOICES] if it is not None]
    return [schema["default"]] if schema.get("default") is not None else []


def column(described: Mapping[str, Any], schema: Mapping[str, Any], draws: Draws) -> Drawn:
    """As many values of a parameter as a data file has rows."""
    if examples := examples_of(described, schema):
        return Drawn(tuple(examples[n % len(examples)] for n in range(ROWS)), False)
    name = str(described.get("name", "text"))
    is_guess = _kind(schema) != "array" or not examples_of({}, as_mapping(schema.get("items")))
    return Drawn(tuple(drawn(schema, draws, n + 1, name) for n in range(ROWS)), is_guess)


def drawn(
    schema: Mapping[str, Any], draws: Draws, n: int = 1, name: str = "text", depth: int = 0
) -> Any:
    """A value that a schema without references allows, the n-th from 1: its example, or one that
    is made up. name: of what it is for, which texts begin with. Raises TooManyError."""
    draws.budget.spend(1)
    if examples := examples_of({}, schema):
        return examples[(n - 1) % len(examples)]
    for key in ("oneOf", "anyOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return drawn(merged([{**schema, key: None}, schema[key][0]]), draws, n, name, depth)
    if isinstance(schema.get("allOf"), list):
        return drawn(merged([schema]), draws, n, name, depth)
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, draws, n, depth)
    if kind == "array":
        least = max(_count(schema, "minItems"), 0 if depth >= _DEEPEST else 1)
        draws.budget.spend(least)
        items = as_mapping(schema.get("items"))
        return [drawn(items, draws, n + at, name, depth + 1) for at in range(least)]
    if kind in ("integer", "number"):
        return _number(schema, n, kind == "integer")
    if kind in ("boolean", "null"):
        return bool(n % 2) if kind == "boolean" else None
    return _text(schema, draws, n, name)


def merged(schemas: Sequence[object]) -> dict[str, Any]:
    """All of several schemas, as `allOf` means them."""
    together: dict[str, Any] = {}
    for each in schemas:
        if not isinstance(each, Mapping):
            continue
        inner = each.get("allOf")
        each = merged([{**each, "allOf": None}, *inner]) if isinstance(inner, list) else each
        for key, value in each.items():
            before = together.get(key)
            if key == "properties" and isinstance(value, Mapping):
                together[key] = {**as_mapping(before), **value}
            elif key == "required" and isinstance(value, list):
                together[key] = [*as_list(before), *value]
            elif value is not None:
                together[key] = value
    return together


def _kind(schema: Mapping[str, Any]) -> str:
    """Its type; where it says none, that of what it says."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((it for it in kind if it != "null"), "null")
    if isinstance(kind, str):
        return MEANT.get(kind, kind)
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def _object(schema: Mapping[str, Any], draws: Draws, n: int, depth: int) -> dict[str, Any]:
    """Required properties, and those whose values the document gives."""
    required = as_list(schema.get("required"))
    fields = {}
    for key, value in as_mapping(schema.get("properties")).items():
        inner = as_mapping(value)
        if inner.get("readOnly"):
            continue
        if key in required or examples_of({}, inner) or (not required and depth < 2):
            fields[key] = drawn(inner, draws, n, key, depth + 1) if depth < _DEEPEST else None
    return fields


def _number(schema: Mapping[str, Any], n: int, is_whole: bool) -> float:
    """From the least that is allowed on, else from 1."""
    step = abs(_number_of(schema.get("multipleOf")) or 1)
    low = _bound(schema, "minimum", "exclusiveMinimum", inward=1)
    high = _bound(schema, "maximum", "exclusiveMaximum", inward=-1)
    try:
        return _between(step, low, high, n, is_whole)
    except OverflowError:  # of bounds and steps of which no number is left
        return n


def _between(step: float, low: float | None, high: float | None, n: int, is_whole: bool) -> float:
    if low is None and high is not None:
        low = min(high, 1) if high >= 1 else high - step * (ROWS - 1)
    low = 1 if low is None else low
    first = math.ceil(low / step) * step
    value = first + step * (n - 1)
    if high is not None and value > high:
        room = max(0, math.floor((high - first) / step)) + 1
        value = first + step * ((n - 1) % room)
    return int(value) if is_whole or float(value).is_integer() else value


def _bound(schema: Mapping[str, Any], name: str, exclusive_name: str, inward: int) -> float | None:
    """A bound of either dialect: an exclusive one is a number or, until 3.0, a flag. inward: from
    an exclusive one to what is allowed."""
    bound, exclusive = _number_of(schema.get(name)), schema.get(exclusive_name)
    if exclusive is True:
        return None if bound is None else bound + inward
    beyond = _number_of(exclusive)
    return bound if beyond is None else beyond + inward


def _number_of(value: Any) -> float | None:
    """A number of a document; None for what is in its place, such as a text or infinity."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None


def _count(schema: Mapping[str, Any], key: str) -> int:
    """A length of a schema; 0 where it says none."""
    return max(0, int(_number_of(schema.get(key)) or 0))


def _text(schema: Mapping[str, Any], draws: Draws, n: int, name: str) -> str:
    least, most = _count(schema, "minLength"), _number_of(schema.get("maxLength"))
    draws.budget.spend((least + len(name)) // 10)
    write = _FORMATS.get(str(schema.get("format")))
    text = write(n, draws) if write else f"{name}-{n}"
    if most is not None and len(text) > int(most):
        text = "".join(draws.choice(_TEXT) for _ in range(max(least, min(int(most), 8))))
    return text + "x" * (least - len(text))


def allows(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a text fits the pattern of its schema, which no value is drawn from, as far as that
    shows in time."""
    pattern = schema.get("pattern")
    if not isinstance(value, str) or not pattern:
        return True
    try:
        with within(_MATCHED_S):
            return bool(re.search(str(pattern), value))
    except (TimeoutError, re.error, OverflowError, RecursionError):  # some are no Python
        return False
