"""Records: a dataclass as the JSON object of a file, read strictly, by Pydantic.

A dataclass that is `stored`, or whose `__pydantic_config__` is STRICT, takes no unknown field and
no value of another type: a text is no number, and neither are NaN and Infinity, which no run writes
and no comparison with a limit survives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError
from typing_extensions import dataclass_transform

from tollgate.base import atomic
from tollgate.base.fields import WRITTEN, adapter, written

Record = TypeVar("Record")

STRICT = ConfigDict(**WRITTEN, strict=True, allow_inf_nan=False)
#: A wrong value is quoted up to this many characters.
_QUOTED = 40


@dataclass_transform(frozen_default=True)
def stored(record: type[Record]) -> type[Record]:
    """A frozen dataclass that a later command reads again, strictly."""
    return written(record, STRICT)


def write(path: Path, record: Any, **more: Any) -> None:
    """Write a record, and more fields behind its own, whole or not at all. Raises OSError."""
    fields = {**asdict(record), **more}
    atomic.write(path, json.dumps(fields, indent=2, default=str) + "\n")


def read(
    path: Path,
    model: type[Record],
    raises: type[Exception],
    kind: str,
    again: str = "",
    prepare: Callable[[dict[str, Any]], Any] | None = None,
) -> Record:
    """The record in a file of a run's folder. Raises `raises` with one line: file, field, value.

    kind: of folder that has such a file, e.g. `comparison`. again: what to do about a wrong one.
    prepare: checks and changes the object before it is validated; may raise ValueError.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would keep its reader waiting
            raise ValueError("it is no file")
        fields = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        if not isinstance(fields, dict):
            raise ValueError(f"it holds no object but {_quoted(fields)}")
        if prepare:
            prepare(fields)
        return parse(model, fields)
    except (FileNotFoundError, NotADirectoryError):
        raise raises(
            f"{path.parent} is not the folder of a {kind}: it has no {path.name}; "
            "name one under reports/"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise raises(f"{path} can't be read: {error}{again and f'; {again}'}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"it holds {constant}, which is no number")


def parse(model: type[Record], fields: Mapping[str, Any]) -> Record:
    """The record of a JSON object. Raises ValueError, one line that names field and value."""
    # As JSON once more, for in that a list is a tuple and an object a dataclass, strict or not.
    # Half a surrogate pair, as of a file name that is not UTF-8, is no text for Pydantic.
    text = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
    try:
        return adapter(model).validate_json(text)
    except ValidationError as error:
        raise ValueError(_line(error)) from None


def _line(error: ValidationError) -> str:
    """The first error, e.g. `executions.0.warmup: input should be a valid number, not '5'`."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "missing":
        why = "it is missing"
    elif first["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        why = f"there is no such field, and it is {_quoted(first['input'])}"
    elif "error" in first.get("ctx", {}):  # a record's own check
        why = str(first["ctx"]["error"])
    else:
        why = f"{first['msg'][:1].lower()}{first['msg'][1:]}, not {_quoted(first['input'])}"
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), why)))


def _quoted(value: Any) -> str:
    return repr(value)[:_QUOTED]
