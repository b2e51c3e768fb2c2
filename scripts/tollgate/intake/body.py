"""The body of a recorded request: what it was, or why the recording can't tell."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from tollgate.intake.notation import json_of

_FORM = "application/x-www-form-urlencoded"
#: Methods of which a request that names the type of its body has one.
_WITH_BODY = ("POST", "PUT", "PATCH")
#: Characters for bytes that are none.
_NO_TEXT = re.compile("[\ufffd\ud800-\udfff]")
#: Longer XML is a text, in which no value gives way to a variable.
_LONGEST_XML = 100_000
#: In types whose bodies are text: recorders write bytes of others as characters of any encoding.
_OF_TEXT = re.compile(
    r"^$|^text/|[/+.-](?:(?:nd)?json|xml|(?:java|ecma)script|graphql|yaml|csv|form-urlencoded)\b"
)
_LOST = "whose body the recording does not hold as it was sent"


@dataclass(frozen=True)
class Body:
    """What a request sends behind its headers."""

    value: Any = None
    """Pairs of a form, what JSON says, or text."""
    kind: str = ""
    """form, json, xml or text; nothing of a request without a body."""
    mime: str = ""
    """Its type, as the recording has it."""
    lost: str = ""
    """Why it can't be sent."""
    is_rebuilt: bool = False
    """Whether it is JSON of which the recording has fields, which may have been another."""


def text_of(part: Mapping[str, Any]) -> str:
    """Of `postData` or `content`. A byte that is no text is the replacement character."""
    text = str(part.get("text") or "")
    if part.get("encoding") == "base64":
        with suppress(ValueError):
            return base64.b64decode(text).decode("utf-8", "replace")
    return text


def body_of(request: Mapping[str, Any], headers: Mapping[str, str]) -> Body:
    """headers: all that were sent, by their names in lower case."""
    post = request.get("postData") or {}
    text, fields = text_of(post), post.get("params") or []
    header_type = headers.get("content-type", "")
    mime = str(post.get("mimeType") or header_type)
    if "multipart/" in f"{mime} {header_type}".lower() or any(it.get("fileName") for it in fields):
        return Body(lost="which sends files")
    if file := post.get("_file"):
        name = file if re.fullmatch(r"[\w.-]{1,80}", file) else "a file"
        return Body(lost=f"whose body is in {name}, which is no text beside the recording")
    if not text and not fields:
        return Body(lost=_LOST) if _had_body(request, headers, mime) else Body()
    is_packed = headers.get("content-encoding", "identity").lower() != "identity"
    if is_packed or _NO_TEXT.search(text):
        return Body(lost=_LOST)
    sizes = (headers.get("content-length"), str(request.get("bodySize")))
    body = _parsed(mime, text, fields, sizes)
    # What has a form of its own may have been written anew, as without what was secret.
    is_kept = body.kind != "text" or _is_whole(text, post, mime, headers.get("content-length"))
    return body if is_kept else Body(lost=_LOST)


def _is_whole(text: str, post: Mapping[str, Any], mime: str, length: str | None) -> bool:
    """Whether a text is what was sent, as far as the recording can tell."""
    if length is not None:
        return length == str(len(text.encode()))
    return text.isascii() or "encoding" in post or bool(_OF_TEXT.search(mime.lower()))


def _had_body(request: Mapping[str, Any], headers: Mapping[str, str], mime: str) -> bool:
    """Whether a request was sent with one, though the recording has none."""
    length, size = headers.get("content-length", ""), request.get("bodySize")
    if length.isdigit():  # recorders write a size of 0 beside it
        return length.strip("0") != ""
    if "transfer-encoding" in headers or (isinstance(size, int | float) and size > 0):
        return True
    return request["method"].upper() in _WITH_BODY and mime != ""


def _parsed(
    mime: str, text: str, fields: Sequence[Mapping[str, Any]], sizes: Collection[str | None]
) -> Body:
    """sizes: of what was sent, as the recording has them."""
    lower = mime.lower()
    if "json" in lower and not text:
        value = _json_of_fields(fields)
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        is_rebuilt = str(len(compact.encode("utf-8", "replace"))) not in sizes
        return Body(value, "json", mime, is_rebuilt=is_rebuilt)
    is_form = _FORM in lower or not text
    # Scripts post JSON as a form as well, whose only name it would be.
    if not is_form or text.lstrip().startswith(("{", "[")):
        with suppress(ValueError):
            return Body(json_of(text), "json", mime)
    if is_form:
        by_text = [list(it) for it in parse_qsl(text, keep_blank_values=True)]
        pairs = [(it["name"], it.get("value") or "") for it in fields]
        if not by_text and not all(isinstance(value, str) for _, value in pairs):
            return Body(lost=_LOST)
        # chrome-har has decoded them, others have not.
        decode = str if str(len(urlencode(pairs))) in sizes else unquote
        return Body(by_text or [[*map(decode, it)] for it in pairs], "form", mime)
    is_xml = re.search(r"[/+.-]xml\b", lower) or text.lstrip().startswith("<")
    return Body(text, "xml" if is_xml and len(text) <= _LONGEST_XML else "text", mime)


def _json_of_fields(fields: Sequence[Mapping[str, Any]]) -> Any:
    """What JSON was of which a recorder has kept the fields, as chrome-har does: a name that is
    there twice had a list, and one that is named by their places was one."""
    by_name: dict[str, list[Any]] = {}
    for field in fields:
        by_name.setdefault(field["name"], []).append(field.get("value"))
    values = [it[0] if len(it) == 1 else it for it in by_name.values()]
    is_list = [*by_name] == [str(place) for place in range(len(by_name))]
    return values if is_list else dict(zip(by_name, values, strict=True))
