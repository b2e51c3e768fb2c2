"""A stranger's text beside references of ours: JMeter sends that as it is, and evaluates these.

A reader makes each reference by `reference`, between marks that no source can hold, for they are
drawn anew in each process. All else is text, however it came about: decoded, joined, replaced. What
is written at the end knows the two apart, so that a place which is forgotten is not evaluated.
Sources: JMeter 5.6.3, FunctionParser and CompoundVariable, which leave backslashes alone where
nothing is evaluated; bzt 1.17.2, custom_expandvars, which replaces `${NAME}` in any string of
taurus.yml, also behind a backslash, and BetterDict.merge.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote_plus

from tollgate.service.elements import sends_json

_PRIVATE_USE = [chr(it) for it in range(0xE000, 0xF8FF)]
_MARKS = ("".join(secrets.choice(_PRIVATE_USE) for _ in range(9)) for _ in range(3))
#: The last is around what stands in JSON without quotes.
_OPEN, _CLOSE, BARE = _MARKS
#: A reference, with the one within it.
REFERENCE = re.compile(f"({_OPEN}(?:{_OPEN}.*?{_CLOSE}|.)*?{_CLOSE})")
#: A dollar that begins nothing: what a function gives is not evaluated again.
DOLLAR = "${__char(36)}"
#: A header or a cookie (RFC 9110, 5.6.2) that can be a key of taurus.yml.
NAME = re.compile(r"[!#%&'*+.`|\w-][!#$%&'*+.^`|~\w-]*", re.ASCII)
#: What bzt takes for a word on the key behind it.
_NO_KEY = ("", "^", "~", "$")
#: What XML can't hold. Source: XML 1.0, 2.2.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def reference(expression: str) -> str:
    """A variable, or the call of a function, in a text of a draft."""
    return f"{_OPEN}{expression}{_CLOSE}"


def in_url(text: str) -> str:
    """What JMeter encodes after it has evaluated that."""
    return reference(f"__urlencode({text})")


def has_reference(text: str) -> bool:
    return _OPEN in text


def opened(text: str) -> str:
    """With references as JMeter has them, and all else as it stands."""
    return text.replace(_OPEN, "${").replace(_CLOSE, "}")


def written(text: str) -> str:
    """As JMeter has to read it."""
    return _escaped(text) if _is_evaluated(text) else text


def _is_evaluated(text: str) -> bool:
    return _OPEN in text or "${" in text or bool(_NO_XML.search(text))


def _escaped(text: str, is_json: bool = False) -> str:
    """is_json: a string that becomes a part of JSON, which has escapes for control characters."""
    text = text.replace("\\", "\\\\").replace("${", f"{DOLLAR}{{")
    for character in {*_NO_XML.findall(text)}:
        if not is_json or character >= " ":
            text = text.replace(character, f"${{__char({ord(character)})}}")
    return opened(text)


def every(value: Any, write: Callable[[str], str] = written) -> Any:
    """All texts of a value, keys among them; a request's body as a whole."""
    if isinstance(value, str):
        return write(value)
    if isinstance(value, list | tuple):
        return [every(it, write) for it in value]
    if not isinstance(value, Mapping):
        return value
    is_request = write is written
    return {
        write(key): _body(inner, value) if is_request and key == "body" else every(inner, write)
        for key, inner in value.items()
    }


def _body(body: Any, request: Mapping[str, Any]) -> Any:
    """JSON is one text to JMeter, each field of a form is one of its own. A mapping that bzt can't
    have is written as the text that is sent."""
    if not isinstance(body, Mapping):
        return every(body)
    if not sends_json(request.get("headers") or {}):
        fields = {written(key): every(it) for key, it in body.items()}
        return fields if are_keys(fields) else written(pairs(body.items(), in_url))
    text = json.dumps(body, ensure_ascii=False)
    if _is_evaluated(text):
        body = every(body, partial(_escaped, is_json=True))
    return body if are_keys(body) else written(text)


def are_keys(value: Any) -> bool:
    """Whether bzt takes all keys, at any depth, for what they are."""
    if isinstance(value, list):
        return all(map(are_keys, value))
    if not isinstance(value, Mapping):
        return True
    return not any(key[:1] in _NO_KEY for key in value) and all(map(are_keys, value.values()))


def quoted(text: str, how: Callable[[str], str], around: Callable[[str], str] = str) -> str:
    """Quoted for a URL or a form. around: what is written around each reference."""
    parts = REFERENCE.split(text)
    return "".join(around(it) if at % 2 else how(it) for at, it in enumerate(parts))


def pairs(fields: Iterable[Iterable[str]], around: Callable[[str], str] = str) -> str:
    """A query, or a form."""
    texts = ([quoted(str(it), quote_plus, around) for it in field] for field in fields)
    return "&".join(map("=".join, texts))
