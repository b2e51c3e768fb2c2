"""Values for what an OpenAPI document describes: its examples, else values drawn from the schema.
Pure."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, repeat
from random import Random
from typing import Any

from tollgate.base import json_schema
from tollgate.intake import texts
from tollgate.intake.dialect import MEANT, as_json_schema, as_number
from tollgate.intake.notation import as_list, as_mapping
from tollgate.intake.texts import MATCHED_S

#: Of a column; fewer than 20 make a load that a cache answers.
ROWS = 20
#: Values of all columns and bodies of a document, and the length of ten texts in place of one.
#: GitHub's 639 operations that read take 53,000.
MOST_DRAWN = 500_000
#: Values of an `enum` that are looked at.
_MOST_CHOICES = 10_000
#: Seconds of CPU for values that are compared with their schemas, and made of patterns, in all.
_CHECKED_S = 3.0
#: Nested schemas are drawn this deep; what is recursive ends there.
_DEEPEST = 6
#: Branches of `anyOf` that are drawn from until a value fits.
_MOST_BRANCHES = 10


class TooManyError(ValueError):
    """A document asks for more values than MOST_DRAWN."""


@dataclass
class Budget:
    """left: of MOST_DRAWN. left_s: of _CHECKED_S."""

    left: int = MOST_DRAWN
    left_s: float = _CHECKED_S

    @property
    def is_used(self) -> bool:
        """Whether values are not checked any further."""
        return self.left_s <= 0

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What a check takes."""
        before = time.process_time()
        yield
        self.left_s -= time.process_time() - before

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
        if branches := as_list(schema.get(key))[:_MOST_BRANCHES]:
            wholes = (merged([{**schema, key: None}, branch]) for branch in branches)
            each = (drawn(whole, draws, n, name, depth) for whole in wholes)
            return first_that_fits(schema, each, draws.budget)
    if isinstance(schema.get("allOf"), list):
        return drawn(merged([schema]), draws, n, name, depth)
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, draws, n, depth)
    if kind == "array":
        return _array(schema, draws, n, name, depth)
    if kind in ("integer", "number"):
        return _number(schema, n, kind == "integer")
    if kind in ("boolean", "null"):
        return bool(n % 2) if kind == "boolean" else None
    return _text(schema, draws, n, name)


def first_that_fits(schema: Mapping[str, Any], values: Iterable[Any], budget: Budget) -> Any:
    """The first value that its whole schema allows; without one the first."""
    values = iter(values)
    first = next(values)
    fitting = (it for it in chain([first], values) if not problem_of(schema, it, budget))
    return next(fitting, first)


def problem_of(schema: Mapping[str, Any], value: Any, budget: Budget) -> str:
    """How a value that is sent differs from its schema; empty where it does not, and where the time
    for such checks is used."""
    if budget.is_used:
        return ""
    with budget.timed():
        return json_schema.problem_of(as_json_schema(schema, True), value, MATCHED_S, is_sent=True)


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
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def _object(schema: Mapping[str, Any], draws: Draws, n: int, depth: int) -> dict[str, Any]:
    """Required properties, those whose values the document gives, and as many as it asks for."""
    required = [it for it in as_list(schema.get("required")) if isinstance(it, str)]
    properties = as_mapping(schema.get("properties"))
    others = as_mapping(schema.get("additionalProperties"))
    fields = {}
    for key, value in {**dict.fromkeys(required, others), **properties}.items():
        inner = as_mapping(value)
        if inner.get("readOnly"):
            continue
        if key in required or examples_of({}, inner) or (not required and depth < 2):
            fields[key] = drawn(inner, draws, n, key, depth + 1) if depth < _DEEPEST else None
    return fields if depth >= _DEEPEST else {**fields, **_more(schema, fields, draws, n, depth)}


def _more(
    schema: Mapping[str, Any], fields: Mapping[str, Any], draws: Draws, n: int, depth: int
) -> dict[str, Any]:
    """Properties that nobody requires by name but `minProperties` by number."""
    lacking = _count(schema, "minProperties") - len(fields)
    properties = as_mapping(schema.get("properties"))
    optional = {key: as_mapping(it) for key, it in properties.items() if key not in fields}
    usable = [key for key, it in optional.items() if not it.get("readOnly")][: max(lacking, 0)]
    more = {key: drawn(optional[key], draws, n, key, depth + 1) for key in usable}
    patterns = as_mapping(schema.get("patternProperties"))
    pattern = next(iter(patterns), None)
    inner = as_mapping(patterns[pattern] if pattern else schema.get("additionalProperties"))
    called = {"pattern": pattern, **as_mapping(schema.get("propertyNames"))}
    for at in range(lacking - len(usable)):
        draws.budget.spend(1)
        key = str(drawn({**called, "type": "string"}, draws, at + 1, "key"))
        more[key] = drawn(inner, draws, n + at, key, depth + 1)
    return more


def _array(schema: Mapping[str, Any], draws: Draws, n: int, name: str, depth: int) -> list[Any]:
    """One item where any number may stand, and all of those that have a schema by their place."""
    places = as_list(schema.get("prefixItems"))
    most = as_number(schema.get("maxItems"))
    usual = 0 if depth >= _DEEPEST else max(len(places), 1)
    least = max(_count(schema, "minItems"), int(min(usual, usual if most is None else most)))
    draws.budget.spend(least)
    schemas = chain(places, repeat(schema.get("items")))
    return [
        drawn(as_mapping(item), draws, n + at, name, depth + 1)
        for at, item in enumerate(islice(schemas, least))
    ]


def _number(schema: Mapping[str, Any], n: int, is_whole: bool) -> float:
    """From 1 on, or from the least that is allowed; whole numbers where there are some."""
    low, is_above = _bound(schema, "minimum", "exclusiveMinimum", max)
    high, is_below = _bound(schema, "maximum", "exclusiveMaximum", min)
    step = abs(Fraction(str(as_number(schema.get("multipleOf")) or 1)))
    least = -math.inf if low is None else low
    from_one = 1 if least < 1 and (high is None or high >= 1) else None
    far = low if low is not None else (high or 0) - step.numerator * (ROWS - 1)
    for width in (Fraction(step.numerator), step):
        if is_whole and width.denominator > 1:
            continue
        last = None if high is None else math.floor(high / width)
        if last is not None and is_below and last * width == high:
            last -= 1
        for start in (from_one, far):
            if start is None:
                continue
            first = math.ceil(start / width)
            first += is_above and first * width == low
            if last is None or first <= last:
                room = ROWS if last is None else last - first + 1
                value = (first + (n - 1) % max(room, 1)) * width
                return int(value) if value.denominator == 1 else float(value)
    if not is_whole and low is not None and high is not None and not schema.get("multipleOf"):
        return float(low + (high - low) * Fraction(n, ROWS + 1))
    return n


def _bound(
    schema: Mapping[str, Any], name: str, exclusive_name: str, inner: Callable[..., Any]
) -> tuple[Fraction | None, bool]:
    """(a bound of either dialect, whether it is exclusive): that is a number or, until 3.0, a flag.
    inner: of two bounds the one that counts."""
    bound, exclusive = as_number(schema.get(name)), schema.get(exclusive_name)
    if exclusive is True:
        return (None if bound is None else Fraction(str(bound))), True
    bounds = [(it, at) for at, it in enumerate((bound, as_number(exclusive))) if it is not None]
    if not bounds:
        return None, False
    value = inner(it for it, _ in bounds)
    return Fraction(str(value)), (value, 1) in bounds


def _count(schema: Mapping[str, Any], key: str) -> int:
    """A length of a schema; 0 where it says none."""
    return max(0, int(as_number(schema.get(key)) or 0))


def _text(schema: Mapping[str, Any], draws: Draws, n: int, name: str) -> str:
    least, most = _count(schema, "minLength"), as_number(schema.get("maxLength"))
    draws.budget.spend((least + len(name)) // 10)
    if draws.budget.is_used:
        schema = {**schema, "pattern": None}
    with draws.budget.timed():
        return texts.text(schema, draws, n, name, (least, math.inf if most is None else most))
