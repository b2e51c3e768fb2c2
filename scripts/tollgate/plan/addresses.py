"""The host that each HTTP request of a plan asks, and how to replace it, as XML."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from lxml import etree

from tollgate.base.urls import PORTS, place_of
from tollgate.plan import nodes
from tollgate.plan.expressions import ExpandedText, Expander
from tollgate.plan.model import FRAGMENT

_PREFIX = "HTTPSampler."
_PLACE = ("protocol", "domain", "port")
_TIMEOUTS = ("connect_timeout", "response_timeout")
_SCHEMES = ("http://", "https://")
NO_HOST = "it names no host"


@dataclass(frozen=True)
class Asked:
    """One HTTP request. host, port: whom it asks, None where that is not known before the run, for
    the reason given. is_active: whether JMeter runs it where it stands, and not elsewhere.
    timeouts: in ms, by the name of the property; without those that are not set. rest: of a path
    that is a whole URL, what stands behind the host. may_stray: whether its path begins with what
    is known to the run alone, and may be a whole URL, which JMeter takes in place of the host."""

    element: etree._Element
    is_active: bool
    host: str | None = None
    port: int | None = None
    reason: str = ""
    timeouts: tuple[tuple[str, int], ...] = ()
    rest: str | None = None
    may_stray: bool = False

    @property
    def place(self) -> str:
        """`shop.example:443`."""
        return f"{self.host}:{self.port}"

    def send(self, protocol: str, host: str, port: str) -> None:
        """Have it ask these, which may be expressions."""
        for name, text in zip(_PLACE, (protocol, host, port), strict=True):
            put(self.element, f"{_PREFIX}{name}", text)
        if self.rest is not None:
            put(self.element, f"{_PREFIX}path", self.rest)

    def limit(self, usual_ms: dict[str, int]) -> None:
        """Have it wait no longer than by properties, where the plan sets no limit."""
        for name in _TIMEOUTS:
            if name not in dict(self.timeouts):
                put(self.element, f"{_PREFIX}{name}", f"${{__P({name},{usual_ms[name]})}}")


def asked(
    tree: etree._Element,
    expander: Expander,
    defaults: Sequence[etree._Element] = (),
    is_active: bool = True,
) -> Iterator[Asked]:
    """All HTTP requests below a hashTree. defaults: HTTP Request Defaults around it, the innermost
    first."""
    inner = (*_defaults(tree), *defaults)
    for element, below in nodes.pairs(tree):
        on = is_active and element.get("enabled") != "false" and element.tag != FRAGMENT
        if nodes.kind(element).startswith("HTTPSampler"):
            yield _asked(element, expander, (*_defaults(below), *inner), on)
        else:
            yield from asked(below, expander, inner, on)


def _defaults(tree: etree._Element) -> list[etree._Element]:
    switched_on = (it for it, _ in nodes.pairs(tree) if it.get("enabled") != "false")
    return [it for it in switched_on if nodes.kind(it) == "ConfigTestElement"]


def _asked(
    element: etree._Element, expander: Expander, defaults: Sequence[etree._Element], is_active: bool
) -> Asked:
    def text(name: str) -> str:
        texts = (nodes.text(it, f"{_PREFIX}{name}") for it in (element, *defaults))
        return next(filter(None, texts), "")

    limits = {name: expander.expand(text(name)).value or "" for name in _TIMEOUTS}
    timeouts = tuple((name, int(it)) for name, it in limits.items() if it.isdecimal() and int(it))
    path = expander.expand(text("path")).shown
    if path.startswith(_SCHEMES):
        scheme, _, behind = path.partition("://")
        authority = behind.split("/", 1)[0].split("?", 1)[0]
        rest = behind[len(authority) :]
        host, port = place_of(f"{scheme}://{authority}") or ("", 0)
        if not host or "${" in authority:
            return Asked(element, is_active, reason=f"its URL is {path!r}", timeouts=timeouts)
        rest = rest if rest.startswith("/") else f"/{rest}"
        return Asked(element, is_active, host, port, timeouts=timeouts, rest=rest)
    parts = {it: expander.expand(text(it)) for it in _PLACE}
    by_parts = _by_parts(element, is_active, parts, timeouts)
    return replace(by_parts, may_stray=path.startswith("${"))


def _by_parts(
    element: etree._Element,
    is_active: bool,
    parts: Mapping[str, ExpandedText],
    timeouts: tuple[tuple[str, int], ...],
) -> Asked:
    values = {name: it.value for name, it in parts.items()}
    unknown = next((name for name, it in values.items() if it is None), None)
    if unknown or not values["domain"]:
        reason = f"its {unknown} is {parts[unknown].shown!r}" if unknown else NO_HOST
        return Asked(element, is_active, reason=reason, timeouts=timeouts)
    port = values["port"] or str(PORTS.get((values["protocol"] or "http").lower(), 80))
    if not port.isdecimal():
        return Asked(element, is_active, reason=f"its port is {port!r}", timeouts=timeouts)
    return Asked(element, is_active, values["domain"].strip("[]"), int(port), timeouts=timeouts)


def put(element: etree._Element, name: str, text: str) -> None:
    """Set a simple property of an element."""
    prop = element.find(f"*[@name='{name}']")
    if prop is None:
        prop = etree.SubElement(element, "stringProp", name=name)
    prop.tag, prop.text = "stringProp", text


def spread_credentials(
    tree: etree._Element,
    expander: Expander,
    service: tuple[str | None, int | None],
    urls: Sequence[str],
) -> None:
    """Have what HTTP Authorization and Cookie Managers hold for one service hold for others.

    service: its host and port. urls: of the others, such as http://127.0.0.1:3001."""
    for row in [*tree.iter("elementProp")]:
        if (url := row.find("stringProp[@name='Authorization.url']")) is not None:
            shown = expander.expand(url.text or "").shown
            others = urls if place_of(shown) == service else ()
            values = [f"{each}{urlsplit(shown).path}" for each in others]
        elif (url := row.find("stringProp[@name='Cookie.domain']")) is not None:
            is_of_service = expander.expand(url.text or "").value == service[0]
            hosts = dict.fromkeys(urlsplit(it).hostname or "" for it in urls)
            values = [*hosts] if is_of_service else []
        else:
            continue
        for value in values:
            other = copy.deepcopy(row)
            other.find(f"stringProp[@name='{url.get('name')}']").text = value
            row.addprevious(other)
        if values:
            row.getparent().remove(row)
