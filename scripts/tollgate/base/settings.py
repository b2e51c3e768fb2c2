"""Settings as people write them in taurus.yml: the types of a model's fields, and how it is read.

What to write is said once, by the type: the JSON Schema has it as `errorMessage`, which editors
show, and `read` says it of a wrong value. Likewise for a key that does not exist.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasGenerator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)
from typing_extensions import dataclass_transform

from tollgate.base.fields import Positive, Text, adapter, written
from tollgate.base.text import UserError, did_you_mean

Model = TypeVar("Model")

_SETTINGS = ConfigDict(
    alias_generator=AliasGenerator(validation_alias=lambda name: name.replace("_", "-")),
    validate_by_name=True,
    extra="forbid",
    use_attribute_docstrings=True,
    strict=True,
    allow_inf_nan=False,
)
WORDS = "errorMessage"
#: Taurus's own key of each module.
CLASS = "class"
#: JMeter's functions read no exponents, and YAML 1.1 takes 1e3 for a string.
_PLAIN = re.compile(r"[0-9]+(\.[0-9]+)?")
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_NUMBER = r"(\d+(?:\.\d+)?)"
_TIME = rf"{_NUMBER}|({_NUMBER}\s*(min|[smh])\s*)+"
_A_TIME = "write whole seconds, such as 600 or 10m"


@dataclass_transform(frozen_default=True)
def configured(model: type[Model]) -> type[Model]:
    """A frozen dataclass whose fields are keys of taurus.yml, with - where Python has _."""
    return written(model, _SETTINGS)


class SettingError(UserError, ValueError):
    """One line: which setting, its value, what to write."""


def says(words: str) -> Any:
    """Of a field that pydantic reads by itself. words: what to write."""
    return Field(json_schema_extra={WORDS: words})


def share(value: object) -> float:
    """`5%` or 0.05; NaN for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(%?)", str(value).strip())
    if match is None or isinstance(value, bool):
        return math.nan
    return float(match[1]) / (100 if match[2] else 1)


def seconds_of(name: str, value: object) -> float:
    """`600`, `10m`, `10min`, `90 s`, `1m30s` or `1h`: whole seconds, for these are what is counted.
    name: of the setting. Raises SettingError."""
    text = str(value).strip()
    parts = re.findall(rf"{_NUMBER}\s*(min|[smh]?)", text)
    is_time = re.fullmatch(_TIME, text)
    seconds = sum(float(it) * _SECONDS[unit] for it, unit in parts) if is_time else math.nan
    if isinstance(value, bool) or not seconds >= 1 or seconds % 1:
        raise SettingError(f"{name} is {value!r}: {_A_TIME}")
    return seconds


def number(value: object) -> float:
    """`2`, `0.5`, `1e3` or `1/3`, as a number or as text. Raises ValueError for anything else."""
    text = str(value)
    try:
        found = float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{text!r} is not a number such as 2 or 1/3")
    return found


def names(value: object) -> tuple[str, ...]:
    """A list, or names parted by commas; each once."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        return ()
    return tuple(dict.fromkeys(each for each in (str(part).strip() for part in parts) if each))


def weights(value: object) -> dict[object, object]:
    """A mapping, or names that all weigh the same."""
    if isinstance(value, Mapping):
        return dict(value)
    return dict.fromkeys(value if isinstance(value, list) else [value], 1.0)


def plain_property(properties: Mapping[str, object], name: str, default: float) -> float:
    """A JMeter property such as warmup and measured, in its own unit, as the plan reads it.
    Raises SettingError."""
    value = properties.get(name, default)
    if not _PLAIN.fullmatch(str(value)):
        raise SettingError(
            f"the property {name} is {value!r}: write plain digits without a unit, such as "
            f"{default or 60:g}"
        )
    return float(str(value))


def form(words: str, *types: str, pattern: str = "", **more: Any) -> WithJsonSchema:
    """The JSON Schema of a value that a reader of its own takes. words: what to write. pattern: of
    a text, which may also be a `${VARIABLE}` for Taurus to replace."""
    if pattern:
        more["pattern"] = rf"^\s*({pattern}|\$\{{.+\}})\s*$"
    return WithJsonSchema({"type": [*types], **more, WORDS: words})


def _form_of_share(most: str) -> WithJsonSchema:
    words = f"write a share above 0 and {most}, such as 5% or 0.05"
    return form(words, *_EITHER, pattern=r"(\d+(\.\d+)?|\.\d+)\s*%?")


_EITHER = ("number", "string")
_AT_LEAST_ONE = form("name at least one", "array", "string", minItems=1, minLength=1)
#: Numbers and dates are text where text is meant: a revision may be 1234567.
Word = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) in (int, float) else value),
    form("write a text", *_EITHER),
]
Number = Annotated[
    float,
    BeforeValidator(number),
    form("write a number such as 2 or 1/3", *_EITHER, pattern=r"[-+\d.]+(e[-+\d]+|/\d+)?"),
]
Share = Annotated[float, BeforeValidator(share), Field(gt=0, lt=1), _form_of_share("below 1")]
HalfShare = Annotated[
    float, BeforeValidator(share), Field(gt=0, le=0.5), _form_of_share("at most 0.5")
]
Seconds = Annotated[
    float,
    BeforeValidator(lambda value: seconds_of("", value)),
    form(_A_TIME, *_EITHER, pattern=_TIME),
]
#: None where it is switched off. YAML 1.1 has `off` for false.
SecondsOrOff = Annotated[
    float | None,
    BeforeValidator(
        lambda value: None if value is False or value == "off" else seconds_of("", value)
    ),
    form(f"{_A_TIME}, or off", *_EITHER, "boolean", pattern=f"off|{_TIME}"),
]
Names = Annotated[tuple[str, ...], BeforeValidator(names), Field(min_length=1), _AT_LEAST_ONE]
#: A list, or the only one of it.
Listed = Annotated[
    tuple[Text, ...],
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else (value,)),
    Field(min_length=1),
    _AT_LEAST_ONE,
]
#: Names, or names with their weights: {list: 6, order: 1}.
Weights = Annotated[
    dict[Text, Positive],
    BeforeValidator(weights),
    Field(min_length=1),
    form(
        "name at least one, or write names with their weights above 0, such as {list: 6, order: 1}",
        *("array", "string", "object"),
        minItems=1,
        minLength=1,
        minProperties=1,
        additionalProperties={"type": "number", "exclusiveMinimum": 0},
    ),
]


def read(
    model: type[Model],
    settings: Mapping[str, Any],
    where: str,
    environment: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Model:
    """The settings at a place of taurus.yml, e.g. `modules.compare`. No setting is null.

    variables: of the environment that go before settings, by their names; an empty one counts as
    unset. Raises SettingError.
    """
    environment = environment or {}
    set_by = {key: it for key, it in (variables or {}).items() if environment.get(it)}
    own = {str(key): it for key, it in settings.items() if key != CLASS}
    forms = form_of(model)["properties"]  # type: ignore[arg-type] # a class is hashable
    refuse_other(f"{where} has the setting", own, [*forms])
    own |= {key: environment[it] for key, it in set_by.items()}
    wrong = next((key for key, it in own.items() if it is None), None)
    try:
        if wrong is None:
            return adapter(model).validate_json(json.dumps(own, default=str))
    except ValidationError as error:
        wrong = str(error.errors(include_url=False)[0]["loc"][0])
    value = f"is {own[wrong]!r}" if wrong in own else "is missing"
    place = set_by.get(wrong, f"{where}.{wrong}")
    raise SettingError(f"{place} {value}: {forms[wrong][WORDS]}")


def refuse_other(owner: str, names: Iterable[object], known: Sequence[str]) -> None:
    """Raises SettingError for a name that is not known. owner: has it, as the line begins."""
    for name in map(str, names):
        if name not in known:
            raise SettingError(f"{owner} {name!r}, {unknown(name, known)}")


def unknown(name: str, known: Iterable[str]) -> str:
    """What is wrong with a name that is not known, and the next step."""
    return f"which does not exist: {did_you_mean(name, known)}"


@cache
def form_of(model: type) -> dict[str, Any]:
    """The JSON Schema of a model: its fields may all be absent, are never null, and say what to
    write. Pydantic finds the docstrings of a field in the class that has it."""
    found = adapter(model).json_schema()
    fields = {name: {**it.pop("anyOf", [{}])[0], **it} for name, it in found["properties"].items()}
    for base in filter(is_dataclass, model.__bases__):
        fields |= form_of(base)["properties"]
    found["properties"] = {name: {WORDS: _words(it), **it} for name, it in fields.items()}
    return found


def _words(form: Mapping[str, Any]) -> str:
    """What to write, by the JSON Schema of a plain value."""
    if "enum" in form:
        return f"write {' or '.join(map(str, form['enum']))}"
    if form.get("type") == "boolean":
        return "write true or false"
    kind = "a whole number" if form.get("type") == "integer" else "a number"
    least, most = form.get("minimum"), form.get("maximum")
    return f"write {kind} " + (f"of {least} or more" if most is None else f"from {least} to {most}")
