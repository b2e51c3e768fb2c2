"""An OpenAPI 3 or Swagger 2 document: its operations, with what they refer to in place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from openapi_spec_validator import (
    OpenAPIV2SpecValidator,
    OpenAPIV30SpecValidator,
    OpenAPIV31SpecValidator,
)
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from tollgate.base.text import one_line
from tollgate.base.urls import shown
from tollgate.intake import source as sources
from tollgate.intake.draft import IntakeError
from tollgate.intake.source import Source

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
_VALIDATORS = {
    "2.0": OpenAPIV2SpecValidator,
    "3.0": OpenAPIV30SpecValidator,
    "3.1": OpenAPIV31SpecValidator,
}
#: References within references that are put in place; what is recursive ends there.
_DEEPEST = 12
#: Parts of one key of an operation, such as its answers; beyond these anything is allowed.
_MOST = 20_000
#: The URL of a server that begins with a host: `localhost:3000/v1`, `api.example.com`; not `v1.0`.
_HOST = re.compile(
    r"(localhost|[\w.-]+:\d+|\d+(\.\d+){3}|[\w-]+(\.[\w-]+)*\.[a-z]{2,})([:/].*)?", re.IGNORECASE
)


@dataclass(frozen=True)
class Operation:
    """method: in capitals. path: with its `{parameters}`, below base. described: the operation,
    with references in place. elsewhere: the host that it goes to, if the service is at another."""

    method: str
    path: str
    described: Mapping[str, Any]
    parameters: tuple[Mapping[str, Any], ...]
    base: str = ""
    elsewhere: str = ""

    @property
    def text(self) -> str:
        """`GET /items/{id}`."""
        return f"{self.method} {self.path}"


def as_mapping(given: Any) -> Mapping[str, Any]:
    """A mapping of a document; many a one has something else in its place."""
    return given if isinstance(given, Mapping) else {}


def as_list(given: Any) -> list[Any]:
    """A list of a document."""
    return given if isinstance(given, list) else []


class Document:
    """What a source describes. Raises IntakeError for what can't be read as one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root = source.parsed()
        self._left = _MOST
        self.version = self._version()
        if not isinstance(self.root.get("paths"), Mapping) or not self.root["paths"]:
            raise IntakeError(f"{source.name} has no `paths`: name a document with operations")
        known = Registry(retrieve=_retrieve).with_resource(source.uri, Resource.opaque(self.root))
        self._resolver = known.resolver(source.uri)

    def _version(self) -> str:
        given = str(self.root.get("openapi") or self.root.get("swagger"))
        found = ".".join(given.split(".")[:2])
        if found not in _VALIDATORS:
            raise IntakeError(
                f"{self.source.name} is of version {given!r}: OpenAPI 3.0 and 3.1 and Swagger 2.0 "
                "can be read"
            )
        return found

    @property
    def is_swagger(self) -> bool:
        """Whether it is of version 2, which has other keys."""
        return self.version == "2.0"

    def faults(self) -> list[str]:
        """What is wrong in it by the rules of its version, one line each: many a document that is
        in use has some."""
        try:
            found = _VALIDATORS[self.version](self.root, base_uri=self.source.uri).iter_errors()
            return [_fault(it) for it in found]
        except Exception as problem:  # of several packages
            return [one_line(str(problem))[:200]]

    def operations(self) -> Iterator[Operation]:
        """All of them, in its order."""
        for path, given in self.root["paths"].items():
            if not str(path).startswith("/"):
                continue
            where = f"paths.{path}"
            item, resolver = self._followed(given, self._resolver, where)
            for method in METHODS if isinstance(item, Mapping) else ():
                found, at = self._followed(item.get(method), resolver, where)
                if isinstance(found, Mapping):
                    # Each by itself: an answer may have more parts than are put in place.
                    described = {key: self.expanded(it, where, at) for key, it in found.items()}
                    common = self.expanded(item.get("parameters"), where, resolver)
                    yield self._operation(method.upper(), path, common, described, item)

    def _operation(
        self, method: str, path: str, common: Any, described: Mapping, item: Mapping
    ) -> Operation:
        both = [*as_list(common), *as_list(described.get("parameters"))]
        named = {(it.get("name"), it.get("in")): it for it in both if isinstance(it, Mapping)}
        server = self._server(described, item, self.root)
        # One without a host is at that of the service.
        own = {"", _host(self._server(self.root)), _host(self.base[0] or "")}
        elsewhere = "" if _host(server) in own else _host(server)
        base = self._place(server)[1]
        return Operation(method, path, described, tuple(named.values()), base, elsewhere)

    def expanded(self, node: Any, where: str, resolver: Any = None) -> Any:
        """A part of the document with all references in place. Where something refers to itself,
        and behind the first thousands of parts, anything is allowed. where: for messages.
        resolver: of another document that the part stands in."""
        self._left = _MOST
        return self._expanded(node, resolver or self._resolver, (), where)

    def _expanded(self, node: Any, resolver: Any, inside: tuple[str, ...], where: str) -> Any:
        if isinstance(node, list):
            return [self._expanded(it, resolver, inside, where) for it in node]
        if not isinstance(node, Mapping):
            return node
        self._left -= 1
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self._expanded(it, resolver, inside, where) for key, it in node.items()}
        if reference in inside or len(inside) > _DEEPEST or self._left < 0:
            return {}
        found = self._found(reference, resolver, where)
        return self._expanded(found.contents, found.resolver, (*inside, reference), where)

    def _followed(self, node: Any, resolver: Any, where: str) -> tuple[Any, Any]:
        """(what stands in the place of a reference, the resolver of those in it)."""
        for _ in range(_DEEPEST):
            reference = as_mapping(node).get("$ref")
            if not isinstance(reference, str):
                return node, resolver
            found = self._found(reference, resolver, where)
            node, resolver = found.contents, found.resolver
        return {}, resolver

    def _found(self, reference: str, resolver: Any, where: str) -> Any:
        try:
            return resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError) as problem:
            why = f": {problem}" if isinstance(problem, IntakeError) else ""
            raise IntakeError(
                f"{self.source.name}, {where}: {shown(reference)!r} is not there: correct it{why}"
            ) from None

    @property
    def base(self) -> tuple[str | None, str]:
        """(where the service answers, without a path, if that is said; the path of all paths)."""
        return self._place(self._server(self.root))

    def _server(self, *places: Mapping[str, Any]) -> str:
        """The URL of the first server, of the first of these places that names some."""
        if self.is_swagger:
            schemes = as_list(self.root.get("schemes"))
            scheme = schemes[0] if schemes else urlsplit(self.source.uri).scheme
            host = self.root.get("host")
            path = str(self.root.get("basePath") or "").lstrip("/")
            url = f"{scheme}://{host}/{path}" if host else f"/{path}"
        else:
            named = next(filter(None, (as_list(it.get("servers")) for it in places)), [{}])
            server = as_mapping(named[0])
            url = str(server.get("url") or "/").strip()
            for name, it in as_mapping(server.get("variables")).items():
                url = url.replace(f"{{{name}}}", str(as_mapping(it).get("default", "")))
            url = f"//{url}" if _HOST.fullmatch(url) else url
        try:
            urlsplit(url)
        except ValueError:
            raise IntakeError(
                f"{self.source.name}, servers: {shown(url)!r} is no URL: correct it"
            ) from None
        return url

    def _place(self, server: str) -> tuple[str | None, str]:
        """(where a server answers, without a path, if that is known; the path of all paths)."""
        source = self.source.uri if self.source.is_remote else "/"
        whole = urlsplit(urljoin(source, server), "http")
        # A service of this machine that names another host has been deployed there as well.
        at = urlsplit(self.source.uri) if self.source.is_local else whole
        is_known = at.scheme in ("http", "https") and at.netloc
        url = f"{at.scheme}://{_host(at.geturl())}" if is_known else None
        return url, whole.path.rstrip("/")


def _host(url: str) -> str:
    """With its port, and without a user."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _fault(error: Any) -> str:
    return f"{'.'.join(map(str, error.absolute_path)) or 'the document'}: {error.message[:120]}"


def _retrieve(uri: str) -> Resource:
    """Another document that one refers to."""
    is_file = urlsplit(uri).scheme == "file"
    name = sources.path_of(uri) if is_file else uri
    return Resource.opaque(sources.load(name).parsed())
