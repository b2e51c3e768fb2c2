"""The entries of a recording of the browser (HAR 1.2): requests and their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import NotRequired, TypedDict  # Pydantic takes no other before Python 3.12

from tollgate.intake.draft import IntakeError
from tollgate.intake.message import WORD
from tollgate.intake.notation import as_mapping
from tollgate.intake.source import HAR, Source

_STATIC_TYPES = ("image", "stylesheet", "script", "font", "media", "texttrack", "manifest")
_STATIC_MIMES = re.compile(r"(image|font|video|audio)/.*|text/css.*|.*(java|ecma)script.*")
_STATIC_FILES = re.compile(r".*\.(css|m?js|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|otf|mp4)")
HELP = "record it anew in the browser and save it with content"


#: What a value is that stands in a wrong place.
_KINDS: dict[type, str] = {
    **{str: "a text", int: "a number", float: "a number", bool: "true or false"},
    **{list: "a list", dict: "an object", type(None): "null"},
}


def _url(text: str) -> str:
    urlsplit(text)  # raises ValueError
    return text


class _Header(TypedDict):
    name: str
    value: NotRequired[str | None]


class _Field(TypedDict):
    name: str
    value: NotRequired[Any]
    fileName: NotRequired[Any]


class _Content(TypedDict, total=False):
    """postData of a request, or what an answer holds. _file: has the text, as of Playwright."""

    mimeType: str | None
    text: str | None
    size: Any
    encoding: Any
    params: list[_Field] | None
    _file: str | None


class _Request(TypedDict):
    method: str
    url: Annotated[str, AfterValidator(_url)]
    headers: NotRequired[list[_Header] | None]
    bodySize: NotRequired[Any]
    postData: NotRequired[_Content | None]


class _Response(TypedDict):
    status: FiniteFloat
    headers: NotRequired[list[_Header] | None]
    content: NotRequired[_Content | None]


class _Log(TypedDict):
    """What is read of an entry."""

    startedDateTime: datetime
    time: NotRequired[FiniteFloat | None]
    timings: NotRequired[Mapping[str, Any] | None]
    pageref: NotRequired[Any]
    _resourceType: NotRequired[Any]
    request: _Request
    response: _Response


_LOG = TypeAdapter(_Log)


@dataclass(frozen=True)
class Entry:
    """A request of the recording and its answer, as the file has them."""

    request: Mapping[str, Any]
    response: Mapping[str, Any]
    page: str
    kind: str
    began_s: float
    took_s: float | None
    """Until the end of the answer; None if the recording has the download alone."""

    @property
    def host(self) -> str:
        """With its port, if it is not the usual one."""
        return str(urlsplit(self.request["url"]).netloc).rpartition("@")[2]

    @property
    def origin(self) -> str:
        """Of a WebSocket that of the pages beside it."""
        scheme = urlsplit(self.request["url"]).scheme
        return f"{ {'ws': 'http', 'wss': 'https'}.get(scheme, scheme) }://{self.host}"

    @property
    def status(self) -> int:
        return int(self.response["status"])

    @property
    def mime(self) -> str:
        """Of the answer."""
        return str((self.response.get("content") or {}).get("mimeType") or "").lower()

    @property
    def is_static(self) -> bool:
        if self.kind not in ("", "other"):  # as Chrome calls the icon of a page
            return self.kind in _STATIC_TYPES
        path = urlsplit(self.request["url"]).path.lower()
        return bool(_STATIC_MIMES.fullmatch(self.mime) or _STATIC_FILES.fullmatch(path))

    @property
    def ended_s(self) -> float | None:
        """When what comes next could begin; None if that is not known. Nothing waits for a picture,
        or for what the browser had already: recorders give such seconds."""
        is_cached = self.is_static and self.took_s is None
        if is_cached or re.match("image|font|media|video|audio", self.kind or self.mime):
            return self.began_s
        return None if self.took_s is None else self.began_s + self.took_s

    @property
    def is_page(self) -> bool:
        """Whether the browser went to it, which it does not for a frame or what a script gets."""
        if destination := self.header("sec-fetch-dest"):
            return destination == ["document"]
        is_html = self.mime.startswith("text/html") and self.request["method"] == "GET"
        return self.kind == "document" or (is_html and not self.kind)

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400 and self.status != 304

    @property
    def is_silent(self) -> bool:
        """Whether its answer had a text that could give a value, and the recording has none."""
        content = self.response.get("content") or {}
        is_empty = content.get("size") == 0 or self.status in (204, 304) or self.is_redirect
        is_text = re.search("json|html", self.mime) and self.request["method"] != "HEAD"
        return bool(is_text) and not (is_empty or content.get("text"))

    @property
    def is_websocket(self) -> bool:
        has_scheme = urlsplit(self.request["url"]).scheme in ("ws", "wss")
        return has_scheme or self.status == 101 or self.kind == "websocket"

    def header(self, name: str, message: str = "request") -> list[str]:
        headers = getattr(self, message).get("headers") or []
        return [it["value"] for it in headers if it["name"].lower() == name]


def entries_of(source: Source, remarks: list[str]) -> list[Entry]:
    """In the order in which they were sent. What is no request of a HAR is left out by a remark."""
    if source.kind != HAR or not isinstance(entries := source.parsed["log"]["entries"], list):
        raise IntakeError(f"{source.name}: has no log.entries, so that it is no HAR: {HELP}")
    read: list[Entry] = []
    odd: dict[str, list[str]] = {}
    for place, log in enumerate(entries):
        try:
            read.append(_entry(log))
        except ValidationError as problem:
            odd.setdefault(_why(problem), []).append(f"log.entries[{place}]{_named(log)}")
    lines = [
        f"{names[0]}{f' and {len(names) - 1:,} more' * (len(names) > 1)}, {why}"
        for why, names in odd.items()
    ]
    if lines and not read:
        raise IntakeError(f"{source.name}: {lines[0]}: {HELP}")
    remarks += [f"left out: {line}" for line in lines]
    return sorted(read, key=lambda entry: entry.began_s)


def _named(log: Any) -> str:
    """What an entry asks for, as far as that can be read."""
    request = as_mapping(as_mapping(log).get("request"))
    method, url = str(request.get("method")), request.get("url")
    if not isinstance(url, str) or not WORD.fullmatch(method):
        return ""
    with suppress(ValueError):
        return f" ({method.upper()} {shown_path(urlsplit(url).path)})"
    return ""


def shown_path(path: str) -> str:
    """As a remark has it: a part of it may be secret."""
    return "/".join(it if it == "" or WORD.fullmatch(it) else "..." for it in path.split("/"))


def _why(problem: ValidationError) -> str:
    """The first thing that is wrong, without the value: that may be secret."""
    first = problem.errors(include_url=False)[0]
    parts = (f"[{it}]" if isinstance(it, int) else f".{it}" for it in first["loc"])
    place, kind = "".join(parts).lstrip("."), first["type"]
    if kind == "missing":
        return f"which has no {place}"
    words = {"finite_number": "no finite number", "value_error": "no URL"}.get(kind)
    if isinstance(first["input"], str) and kind.startswith("date"):
        words = "no date"
    words = words or _KINDS[type(first["input"])]
    return f"whose {place} is {words}" if place else f"which is {words}"


def _entry(log: Any) -> Entry:
    """Raises ValidationError."""
    log = _LOG.validate_python(log)
    began = log["startedDateTime"]
    began_s = began.replace(tzinfo=began.tzinfo or timezone.utc).timestamp()
    wait = (log.get("timings") or {}).get("wait", 0)
    is_whole = isinstance(wait, int | float) and wait >= 0
    took_s = max(0.0, log.get("time") or 0) / 1000 if is_whole else None
    page, kind = (str(log.get(name) or "") for name in ("pageref", "_resourceType"))
    for message in (log["request"], log["response"]):
        # JSON has no `undefined`: axios sends no header that has this value.
        headers = message.get("headers") or []
        message["headers"] = [it for it in headers if it.get("value") is not None]
    log["request"]["method"] = log["request"]["method"].upper()
    return Entry(log["request"], log["response"], page, kind, began_s, took_s)
