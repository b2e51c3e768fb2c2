"""Values of parameters as a URL or a header has them, by `style` and `explode`. Pure.

Sources: OpenAPI 3.2.0, "Style Values"; Swagger 2.0, `collectionFormat`; RFC 6570.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from tollgate.intake.notation import as_mapping

#: Between the items of a list; of other styles a comma.
_BETWEEN = {"spaceDelimited": " ", "pipeDelimited": "|", "ssv": " ", "tsv": "\t", "pipes": "|"}
#: What `allowReserved` leaves as it is, without what would end a value or the query.
_RESERVED = ":/?@!$'()*,;"
_Write = Callable[[str], str]


def query_pairs(parameter: Mapping[str, Any], value: Any) -> list[tuple[str, str]]:
    """Names and values of a query, encoded. A parameter that is the whole query, as OpenAPI 3.2 has
    them, is one text without a name, or the pairs of a form."""
    name = quote(str(parameter.get("name")))
    write = partial(quote, safe=_RESERVED if parameter.get("allowReserved") is True else "")
    style, explodes = _style_of(parameter, "form")
    is_whole = parameter.get("in") == "querystring"
    if _is_json(parameter):
        return [("" if is_whole else name, write(json.dumps(value)))]
    if isinstance(value, dict) and style == "deepObject":
        return _deep(name, value, write)
    if isinstance(value, dict) and (explodes or is_whole):
        return [(quote(key), write(_text(it))) for key, it in value.items()]
    if isinstance(value, list) and explodes:
        return [(name, write(_text(it))) for it in value]
    return [("" if is_whole else name, _between(style, write).join(_items(value, write, False)))]


def in_path_or_header(parameter: Mapping[str, Any], value: Any) -> str:
    """A value as a path has it, encoded, or a header."""
    write: _Write = str if parameter.get("in") == "header" else partial(quote, safe="")
    style, explodes = _style_of(parameter, "simple")
    if _is_json(parameter):
        return write(json.dumps(value))
    items = _items(value, write, explodes)
    if style == "label":
        return "." + ("." if explodes else ",").join(items)
    if style != "matrix":
        return _between(style, write).join(items)
    name = quote(str(parameter.get("name")))
    if isinstance(value, list) and explodes:
        return "".join(f";{name}={it}" for it in items)
    return ";" + (
        ";".join(items) if isinstance(value, dict) and explodes else f"{name}={','.join(items)}"
    )


def _style_of(parameter: Mapping[str, Any], usual: str) -> tuple[str, bool]:
    """(style, whether each item of it has a name of its own)."""
    if "schema" not in parameter and "content" not in parameter:  # of Swagger 2
        style = str(parameter.get("collectionFormat", "csv"))
        return style, style == "multi"
    style = str(parameter.get("style", usual))
    return style, parameter.get("explode", style == "form") is True


def _is_json(parameter: Mapping[str, Any]) -> bool:
    """Whether it is said by its media type how a value is written."""
    return any("json" in kind for kind in as_mapping(parameter.get("content")))


def _between(style: str, write: _Write) -> str:
    return write(_BETWEEN[style]) if style in _BETWEEN else ","


def _items(value: Any, write: _Write, explodes: bool) -> list[str]:
    if isinstance(value, dict):
        pairs = [(write(key), write(_text(it))) for key, it in value.items()]
        return (
            [f"{key}={it}" for key, it in pairs]
            if explodes
            else [it for pair in pairs for it in pair]
        )
    return [write(_text(it)) for it in (value if isinstance(value, list) else [value])]


def _deep(name: str, value: Any, write: _Write) -> list[tuple[str, str]]:
    """`name[key]=value`, as qs, PHP and Rails read it at any depth."""
    if isinstance(value, dict):
        inner = [(f"{name}%5B{quote(key, safe='')}%5D", it) for key, it in value.items()]
        return [pair for key, it in inner for pair in _deep(key, it, write)]
    return [(name, write(_text(it))) for it in (value if isinstance(value, list) else [value])]


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | dict | list | None) else str(value)
