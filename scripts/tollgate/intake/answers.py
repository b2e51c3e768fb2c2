"""What a recorded answer gives, and how to take it out of one that a load gets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote

import lxml.html
from lxml import etree

from tollgate.intake.body import text_of
from tollgate.intake.notation import json_of

#: Characters of an answer that is looked through.
LONGEST_ANSWER = 10_000_000
#: Longer texts, or more of an answer's values, are not looked through.
LONGEST_VALUE, MOST_VALUES = 1_000, 5_000
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*")
#: Headers whose value no later request has any use for.
_OTHER_HEADERS = re.compile(
    r"date|age|server|connection|keep-alive|vary|via|allow|expires|last-modified|etag|(content|accept"
    r"|access-control|cache|strict|cross-origin|transfer|referrer|permissions|x-powered|x-content"
    r"|x-frame|x-xss|x-dns|x-download|x-permitted|alt)-?.*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Given:
    """A value of an answer. name: of its key, its field or its header. around: the key of what
    holds it. extractor: the key of taurus.yml and what stands below it."""

    name: str
    value: str
    extractor: tuple[str, Any]
    around: str = ""


def given_by(response: Mapping[str, Any]) -> list[Given]:
    """All values of an answer of a HAR that a later request could send."""
    values = [*_of_headers(response)]
    content = response.get("content") or {}
    mime = str(content.get("mimeType") or "").lower()
    is_short = len(content.get("text") or "") <= LONGEST_ANSWER
    text = text_of(content) if is_short else ""
    if "html" in mime and text:
        values += _of_html(text)
    elif text:
        with suppress(ValueError):
            values += islice(_of_json(json_of(text), "$", "", ""), MOST_VALUES)
    return [it for it in values[:MOST_VALUES] if 0 < len(it.value) <= LONGEST_VALUE]


def _of_headers(response: Mapping[str, Any]) -> Iterator[Given]:
    for header in response.get("headers") or []:
        name, value = header["name"], header["value"]
        if name.lower() == "set-cookie":
            for line in value.split("\n"):
                cookie, _, rest = line.partition("=")
                regexp = rf"(?i)Set-Cookie: *{re.escape(cookie.strip())}=([^;\r\n]+)"
                yield _by_regexp(cookie.strip(), rest.split(";")[0].strip(), regexp)
        elif name.lower() == "location" and len(value) <= LONGEST_VALUE:
            segments = re.split(r"[/?#&=]", value.split("://")[-1])
            for at, segment in enumerate(segments[1:], 1):
                before = r"[^/?#&=\r\n]*[/?#&=]" * at
                regexp = rf"(?im)^Location: *(?:\w+://)?{before}([^/?#&=\s]+)"
                yield _by_regexp(segments[at - 1] or "location", unquote(segment), regexp)
        elif not _OTHER_HEADERS.fullmatch(name):
            yield _by_regexp(name, value, rf"(?im)^{re.escape(name)}: *(.+?)\s*$")


def _by_regexp(name: str, value: str, regexp: str) -> Given:
    return Given(name, value, ("extract-regexp", {"regexp": regexp, "subject": "headers"}))


def _of_json(value: Any, path: str, name: str, around: str) -> Iterator[Given]:
    if isinstance(value, dict):
        for key, inner in value.items():
            step = f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key)}]"
            yield from _of_json(inner, path + step, key, name)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _of_json(inner, f"{path}[{at}]", name, around)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield Given(name, str(value), ("extract-jsonpath", path), around)


def _is(name: str) -> str:
    """What an attribute is, in a selector. Source: jsoup 1.17, QueryParser, which takes a backslash
    for an escape of what is behind it, and leaves it where it is: such a name is a pattern."""
    if not re.search(r'["\\]|\$\{', name):
        return f'="{name}"'
    pattern = "".join(it if it.isalnum() else f"\\x{{{ord(it):x}}}" for it in name)
    return f"~=^{pattern}$"


def _of_html(text: str) -> Iterator[Given]:
    """Hidden fields, and what `meta` says."""
    try:
        page = lxml.html.document_fromstring(text)
    except (etree.ParserError, ValueError):
        return
    for element in page.iter("input", "meta"):
        name = element.get("name") or ""
        is_input = element.tag == "input"
        attribute = "value" if is_input else "content"
        if (not is_input or element.get("type") == "hidden") and name and element.get(attribute):
            css = f"{element.tag}[name{_is(name)}]"
            how = {"expression": css, "attribute": attribute, "match-no": 1}
            yield Given(name, element.get(attribute), ("extract-css-jquery", how))
