"""Where the HTTP requests of a plan of JMeter go, as far as that is known before the run.

A place is (protocol, host, port): empty where it is not known, the port also where it is the usual
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from lxml import etree

from tollgate.base.urls import PORTS
from tollgate.plan import nodes
from tollgate.plan.expressions import Expander
from tollgate.plan.model import FRAGMENT, HTTP

PROPERTIES = tuple(f"HTTPSampler.{it}" for it in ("protocol", "domain", "port"))
PATH = "HTTPSampler.path"
NOWHERE = ("", "", "")
#: A variable, or a function, that a text begins with.
_LEAD = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")

Place = tuple[str, str, str]


class Places:
    """Reads the places of a plan. expander: of what is known when the run starts."""

    def __init__(self, expander: Expander) -> None:
        self._expander = expander

    def requests(
        self, tree: etree._Element, around: tuple[etree._Element, ...] = ()
    ) -> Iterator[tuple[etree._Element, Place | None]]:
        """Each HTTP request with its place; None where its path is a whole URL, or may be one,
        whose host is not known. around: HTTP defaults, the innermost last."""
        pairs = nodes.pairs(tree)
        around = (*around, *(it for it, _ in pairs if nodes.kind(it) == "ConfigTestElement"))
        for element, below in pairs:
            if nodes.kind(element) in HTTP:
                yield element, self._place(element, (element, *reversed(around)))
            if nodes.kind(element) != FRAGMENT:
                yield from self.requests(below, around)

    def _place(self, request: etree._Element, said_by: tuple[etree._Element, ...]) -> Place | None:
        """said_by: itself and HTTP defaults, the innermost first."""
        protocol, authority, rest = self.split(request)
        if protocol:
            return place_of(f"{protocol}://{self._expander.expand(authority).shown}")
        if rest.startswith("${") and not any(nodes.text(it, PROPERTIES[1]) for it in said_by):
            return None
        protocol, host, port = (self._first(it, said_by) for it in PROPERTIES)
        usual = PORTS.get(protocol.lower() or "http")
        return protocol.lower(), host.strip("[]").lower(), "" if port == str(usual) else port

    def _first(self, name: str, elements: Iterable[etree._Element]) -> str:
        return next(filter(None, (self.text(it, name) for it in elements)), "")

    def split(self, request: etree._Element) -> tuple[str, str, str]:
        """(protocol, authority, rest) of a path that is a whole URL; of another one the rest alone.
        What it begins with is filled in, for that may hold the host. Other variables stay: they may
        be secret, or differ from visitor to visitor."""
        path = nodes.text(request, PATH)
        if lead := _LEAD.match(path):
            path = self._expander.expand(lead[0]).shown + path[lead.end() :]
        found = re.match(r"(https?)://([^/?#]*)(.*)", path, re.DOTALL)
        return (found[1], found[2], found[3]) if found else ("", "", path)

    def text(self, element: etree._Element, name: str) -> str:
        """A simple property as far as it is known before the run."""
        return (self._expander.expand(nodes.text(element, name)).value or "").strip()


def place_of(url: str) -> Place | None:
    """The place that a URL names; None where its host or its port is not known."""
    try:
        parts = urlsplit(url)
        host, usual = parts.hostname, PORTS.get(parts.scheme)
        port = "" if parts.port in (None, usual) else str(parts.port)
    except ValueError:
        return None
    return (parts.scheme, host, port) if host and "${" not in url else None
