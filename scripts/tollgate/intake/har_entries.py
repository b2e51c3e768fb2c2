"""The entries of a recording of the browser (HAR 1.2): requests and their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from tollgate.intake.draft import IntakeError
from tollgate.intake.source import HAR, Source

_STATIC_TYPES = ("image", "stylesheet", "script", "font", "media", "texttrack", "manifest")
_STATIC_MIMES = re.compile(r"(image|font|video|audio)/.*|text/css.*|.*(java|ecma)script.*")
_STATIC_FILES = re.compile(r".*\.(css|m?js|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|otf|mp4)")
HELP = "record it anew in the browser and save it with content"


@dataclass(frozen=True)
class Entry:
    """A request of the recording and its answer, as the file has them. place: of log.entries."""

    place: int
    request: Mapping[str, Any]
    response: Mapping[str, Any]
    page: str
    kind: str
    began_s: float
    ended_s: float

    @property
    def origin(self) -> str:
        """Of a WebSocket that of the pages beside it."""
        url = urlsplit(self.request["url"])
        scheme = {"ws": "http", "wss": "https"}.get(url.scheme, url.scheme)
        return f"{scheme}://{url.netloc.rpartition('@')[2]}"

    @property
    def status(self) -> int:
        return int(self.response["status"])

    @property
    def mime(self) -> str:
        """Of the answer."""
        return str((self.response.get("content") or {}).get("mimeType") or "").lower()

    @property
    def is_static(self) -> bool:
        if self.kind:
            return self.kind in _STATIC_TYPES
        path = urlsplit(self.request["url"]).path.lower()
        return bool(_STATIC_MIMES.fullmatch(self.mime) or _STATIC_FILES.fullmatch(path))

    @property
    def is_page(self) -> bool:
        is_html = self.mime.startswith("text/html") and self.request["method"] == "GET"
        return is_html or self.kind == "document"

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status < 400 and self.status != 304

    @property
    def is_websocket(self) -> bool:
        has_scheme = urlsplit(self.request["url"]).scheme in ("ws", "wss")
        return has_scheme or self.status == 101 or self.kind == "websocket"

    def header(self, name: str, message: str = "request") -> list[str]:
        headers = getattr(self, message).get("headers") or []
        return [it["value"] for it in headers if it["name"].lower() == name]


def entries_of(source: Source) -> list[Entry]:
    """In the order in which they were sent."""
    if source.kind != HAR or not isinstance(entries := source.parsed["log"]["entries"], list):
        raise IntakeError(f"{source.name}: has no log.entries, so that it is no HAR: {HELP}")
    read = []
    for place, entry in enumerate(entries):
        with reading(source, place):
            read.append(_entry(place, entry))
    return sorted(read, key=lambda entry: entry.began_s)


@contextmanager
def reading(source: Source, place: int) -> Iterator[None]:
    """Around what reads an entry of the file. Raises IntakeError, which names that."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        where = f"{source.name}: log.entries[{place}]"
        raise IntakeError(f"{where} is no request of a HAR ({problem!r}): {HELP}") from None


def _entry(place: int, log: Mapping[str, Any]) -> Entry:
    # Python 3.10 reads fractions of three or six digits alone.
    moment = re.sub(r"\.\d+", lambda part: f"{part[0]:0<7}"[:7], log["startedDateTime"])
    began_s = datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
    ended_s = began_s + max(0.0, float(log.get("time") or 0)) / 1000
    page, kind = (str(log.get(name) or "") for name in ("pageref", "_resourceType"))
    entry = Entry(place, log["request"], log["response"], page, kind, began_s, ended_s)
    # What is read of all entries, also of those to other hosts.
    _ = entry.origin, entry.status, entry.mime, entry.request["method"].upper()
    _ = entry.header("cookie"), entry.header("set-cookie", "response")
    return entry
