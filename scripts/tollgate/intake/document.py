"""An OpenAPI 3 or Swagger 2 document: its operations, with what they refer to in place."""

from __future__ import annotations

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
#: Parts of one operation; beyond these anything is allowed.
_MOST = 20_000


@dataclass(frozen=True)
class Operation:
    """method: in capitals. path: with its `{parameters}`, below base. described: the operation,
    with references in place."""

    method: str
    path: str
    described: Mapping[str, Any]
    parameters: tuple[Mapping[str, Any], ...]

    @property
    def text(self) -> str:
        """`GET /items/{id}`."""
        return f"{self.method} {self.path}"


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
        for path, item in self.root["paths"].items():
            item = self.expanded(item, f"paths.{path}")
            if not isinstance(item, Mapping) or not str(path).startswith("/"):
                continue
            for method in METHODS:
                described = item.get(method)
                if isinstance(described, Mapping):
                    common, own = item.get("parameters") or [], described.get("parameters") or []
                    named = {(it.get("name"), it.get("in")): it for it in [*common, *own]}
                    yield Operation(method.upper(), path, described, tuple(named.values()))

    def expanded(self, node: Any, where: str) -> Any:
        """A part of the document with all references in place. Where something refers to itself,
        and behind the first thousands of parts, anything is allowed. where: for messages."""
        self._left = _MOST
        return self._expanded(node, self._resolver, (), where)

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
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, ValueError) as problem:
            why = f": {problem}" if isinstance(problem, IntakeError) else ""
            raise IntakeError(
                f"{self.source.name}, {where}: {reference!r} is not there: correct it{why}"
            ) from None
        return self._expanded(found.contents, found.resolver, (*inside, reference), where)

    @property
    def base(self) -> tuple[str | None, str]:
        """(where the service answers, without a path, if that is said; the path of all paths)."""
        if self.is_swagger:
            scheme = (self.root.get("schemes") or [urlsplit(self.source.uri).scheme or "http"])[0]
            host = self.root.get("host")
            given = f"{scheme}://{host}" if host else ""
            path = str(self.root.get("basePath") or "")
        else:
            server = (self.root.get("servers") or [{}])[0]
            given = str(server.get("url") or "")
            for name, it in (server.get("variables") or {}).items():
                given = given.replace(f"{{{name}}}", str(it.get("default", "")))
            path = urlsplit(given).path
        if self.source.is_remote:
            # A service of this machine that names another host has been deployed there as well.
            given = self.source.uri if self.source.is_local else urljoin(self.source.uri, given)
        parts = urlsplit(given)
        is_known = parts.scheme in ("http", "https") and parts.netloc
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if is_known else None
        return url, path.rstrip("/")


def _fault(error: Any) -> str:
    return f"{'.'.join(map(str, error.absolute_path)) or 'the document'}: {error.message[:120]}"


def _retrieve(uri: str) -> Resource:
    """Another document that one refers to."""
    is_file = urlsplit(uri).scheme == "file"
    name = sources.path_of(uri) if is_file else uri
    return Resource.opaque(sources.load(name).parsed())
