"""A recorded request in parts, each value of which can give way to a variable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tollgate.intake.body import body_of
from tollgate.intake.literal import BARE, in_url, pairs, quoted
from tollgate.service.elements import sends_json

#: Of headers that the browser, or JMeter, sends of its own accord.
_OWN_HEADERS = re.compile(
    r"(:.*|host|connection|content-length|cookie|user-agent|accept-encoding|accept-language|dnt"
    r"|origin|referer|sec-.*|upgrade.*|cache-control|pragma|priority|if-.*|te|trailer"
    r"|transfer-encoding|keep-alive|proxy-connection|traceparent|tracestate)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"[\w.+-]+/[ -~]+")
_SCHEME = re.compile(r"(?P<scheme>(?:Bearer|Basic|Token|Digest|Negotiate|ApiKey)\s+)(?P<value>.+)")
#: Of XML an element with a text, and an attribute: its name and the value.
TEXT = re.compile(r"<(?:[\w.-]+:)?(?P<name>[\w.-]+)(?:\s[^<>]*)?>(?P<value>[^<>]+)(?=</)")
_ATTRIBUTE = re.compile(
    r"""\s(?:[\w.-]+:)?(?P<name>[\w.-]+)\s*=\s*(["'])(?P<value>[^<>]+?)(?=\2)"""
)
#: Keys and attributes that say what a value beside them is: `{"name": "password", "value": ...}`.
_LABELS = ("name", "type", "key", "id", "field")
#: A part of a path that names what is asked for; others may be numbers of things, or secrets.
WORD = re.compile(r"[A-Za-z]{1,20}([._-]?[A-Za-z]{1,20}){0,3}\d{0,2}")
#: Characters of a tag that are looked at before a value, and behind it.
_LONGEST_TAG = 200


@dataclass
class Slot:
    """A value of a request. where: path, query, form, json, xml or header. put: writes another one
    in its place. scheme: what stands before it in a header, such as `Bearer `. around: the names of
    what it is a part of, and what stands beside it as its name."""

    where: str
    name: str
    value: str
    put: Callable[[str], None] = field(repr=False)
    scheme: str = ""
    around: Sequence[str] = ()


@dataclass
class Message:
    """One request. headers: those that a load has to send as well. body: a list of pairs of a form,
    what JSON says, or text."""

    method: str
    segments: list[str]
    query: list[list[str]]
    headers: dict[str, str]
    body: Any = None
    kind: str = ""
    lost: str = ""
    """Why its body can't be sent."""
    is_rebuilt: bool = False
    """Whether it sends JSON of which the recording has the fields alone."""

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Message:
        """Of a request of a HAR."""
        url = urlsplit(request["url"])
        sent = {it["name"]: it["value"] for it in request.get("headers") or []}
        body = body_of(request, {name.lower(): value for name, value in sent.items()})
        kept = ((name, it) for name, it in sent.items() if not _OWN_HEADERS.fullmatch(name))
        headers = {name: it for name, it in kept if name.lower() != "accept" or "*/*" not in it}
        if _TYPE.fullmatch(body.mime) and "content-type" not in map(str.lower, sent):
            headers["Content-Type"] = body.mime
        segments = [unquote(it) for it in url.path.split("/")[1:]] or [""]
        query = [list(it) for it in parse_qsl(url.query, keep_blank_values=True)]
        parts = (str(request["method"]).upper(), segments, query, headers, body.value, body.kind)
        return cls(*parts, body.lost, body.is_rebuilt)

    def slots(self) -> list[Slot]:
        """All values that it sends."""
        slots = [
            Slot("path", self.segments[at - 1] if at else "", segment, _putter(self.segments, at))
            for at, segment in enumerate(self.segments)
            if segment
        ]
        slots += [Slot("query", it[0], it[1], _putter(it, 1)) for it in self.query]
        for name, value in self.headers.items():
            scheme = _SCHEME.fullmatch(value)
            head = scheme["scheme"] if scheme else ""
            put = _putter(self.headers, name, head)
            slots.append(Slot("header", name, value.removeprefix(head), put, head))
        if self.kind == "form":
            slots += [Slot("form", it[0], it[1], _putter(it, 1)) for it in self.body]
        elif self.kind == "json":
            slots += _leaves(vars(self), "body", ("",))
        elif self.kind == "xml":
            slots += _of_xml(self)
        return slots

    @property
    def names(self) -> list[str]:
        """Of its query, its form and its JSON: no variable can stand in the place of one."""
        pairs = [*self.query, *(self.body if self.kind == "form" else ())]
        return [*(it[0] for it in pairs), *(_keys(self.body) if self.kind == "json" else ())]

    @property
    def words(self) -> list[str]:
        """What its label is made of, without what differs from visitor to visitor."""
        words = [] if self.method in ("GET", "HEAD") else [self.method.lower()]
        for segment in filter(None, self.segments):
            words += re.findall("[A-Za-z0-9]+", segment) if WORD.fullmatch(segment) else ["id"]
        return words

    def request(self) -> dict[str, Any]:
        """As taurus.yml has it, without a label."""
        encode = partial(quote, safe="~@:!$'()*+,;=")
        url = "/" + "/".join(quoted(it, encode) for it in self.segments)
        if self.query:
            url += "?" + pairs(self.query)
        request: dict[str, Any] = {"url": url}
        if self.method != "GET":
            request["method"] = self.method
        if self.headers:
            request["headers"] = dict(self.headers)
        if self.kind:
            request["body"] = self._written_body()
        return request

    def _written_body(self) -> Any:
        if self.kind == "form":
            as_mapping = dict(self.body)
            # JMeter encodes the values of a mapping, and leaves a text as it is.
            is_whole = len(as_mapping) == len(self.body)
            return as_mapping if is_whole else pairs(self.body, in_url)
        if self.kind != "json":
            return self.body
        text = json.dumps(self.body, ensure_ascii=False)
        # Below any other type Taurus sends a mapping as a form.
        if sends_json(self.headers) and isinstance(self.body, dict) and BARE not in text:
            return self.body
        return re.sub(f'"{BARE}(.*?){BARE}"', r"\1", text)


def _putter(holder: Any, key: Any, head: str = "", tail: str = "") -> Callable[[str], None]:
    return lambda text: holder.__setitem__(key, f"{head}{text}{tail}")


def _replacer(message: Message, whole: str, value: str) -> Callable[[str], None]:
    def put(text: str) -> None:
        message.body = message.body.replace(whole, whole.removesuffix(value) + text, 1)

    return put


def _leaves(holder: Any, key: Any, names: tuple[str, ...]) -> Iterator[Slot]:
    """Of JSON. names: its own, and those around it from the innermost on. A variable in the place
    of a number stands without quotes."""
    value = holder[key]
    if isinstance(value, dict):
        labels = [it for name, it in value.items() if name.lower() in _LABELS]
        labels = [it for it in labels if isinstance(it, str)]
        for inner in list(value):
            around = names if inner.lower() in _LABELS else (*labels, *names)
            yield from _leaves(value, inner, (inner, *around))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield from _leaves(value, at, names)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        quotes = "" if isinstance(value, str) else BARE
        put = _putter(holder, key, quotes, quotes)
        yield Slot("json", names[0], str(value), put, around=names[1:])


def _keys(value: Any) -> Iterator[str]:
    """Of JSON, at any depth."""
    if isinstance(value, dict):
        yield from value
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _of_xml(message: Message) -> Iterator[Slot]:
    """Texts and attributes, with what the attributes of the same tag call them."""
    for pattern in (TEXT, _ATTRIBUTE):
        for match in pattern.finditer(message.body):
            name, value = match["name"], match["value"]
            is_label = pattern is _ATTRIBUTE and name.lower() in _LABELS
            around = () if is_label else _labels(message.body, match.start("value"))
            put = _replacer(message, match[0], value)
            yield Slot("xml", name, unescape(value), put, around=around)


def _labels(xml: str, at: int) -> list[str]:
    """Of the tag at, or right before, a place."""
    first, last = max(0, at - _LONGEST_TAG), at + _LONGEST_TAG
    begin, end = xml.rfind("<", first, at), xml.find(">", at, last)
    tag = xml[max(first, begin + 1) : last if end < 0 else end]
    return [it["value"] for it in _ATTRIBUTE.finditer(tag) if it["name"].lower() in _LABELS]
