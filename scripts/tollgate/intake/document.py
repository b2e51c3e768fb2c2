"""An OpenAPI 3 or Swagger 2 document: its operations, with what they refer to in place."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from openapi_spec_validator import (
    OpenAPIV2SpecValidator,
    OpenAPIV30SpecValidator,
    OpenAPIV31SpecValidator,
    OpenAPIV32SpecValidator,
)
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

from tollgate.base.text import one_line
from tollgate.base.time_limit import within
from tollgate.base.urls import shown
from tollgate.intake.draft import IntakeError
from tollgate.intake.notation import DEEPEST, as_list, as_mapping, parsed, size_of
from tollgate.intake.reach import LARGEST, text_beside
from tollgate.intake.source import Source

#: That requests of a service may have.
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
_VALIDATORS = {
    "2.0": OpenAPIV2SpecValidator,
    "3.0": OpenAPIV30SpecValidator,
    "3.1": OpenAPIV31SpecValidator,
    "3.2": OpenAPIV32SpecValidator,
}
#: References within references that are put in place; what is recursive ends there.
_DEEPEST = 12
#: Values of one key of an operation, such as its answers; beyond these anything is allowed.
_MOST = 80_000
#: Of all keys; each may have some more. GitHub's 639 operations that read take 382,000.
_MOST_IN_ALL, _LEAST = 1_000_000, 500
#: GitHub has 1,200.
_MOST_OPERATIONS = 20_000
_LONGEST_PATH, _LONGEST_URL = 2_000, 2_000
#: Other documents that one refers to, and the seconds within which they are read.
_MOST_OTHERS, _OTHERS_S = 5_000, 120
#: Seconds of CPU, and faults, after which a document is not checked any further.
_CHECKED_S, _MOST_FAULTS = 3, 100
#: Of an operation what has references that are put in place.
_PARTS = ("parameters", "requestBody", "responses")
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
    resolver: Any = field(default=None, repr=False)
    """Of the document that the operation stands in."""

    @property
    def text(self) -> str:
        """`GET /items/{id}`."""
        return f"{self.method} {self.path}"


class Document:
    """What a source describes. Raises IntakeError for what can't be read as one."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root = source.parsed
        self._left_in_all, self._left = _MOST_IN_ALL, _MOST
        # By `$self` of 3.2 a document names itself; what stands beside it is where it was read.
        self._others = {str(self.root.get("$self")): self.root}
        self._others_size, self._others_until = 0, 0.0
        self.version = self._version()
        if not as_mapping(self.root.get("paths")):
            raise IntakeError(f"{source.name} has no `paths`: name a document with operations")
        others: Registry[Any] = Registry(  # type: ignore[call-arg]
            retrieve=lambda uri: Resource.opaque(self._other(uri))
        )
        documents = others.with_resource(source.uri, Resource.opaque(self.root))
        self._resolver = documents.resolver(source.uri)

    def _version(self) -> str:
        stated = str(self.root.get("openapi") or self.root.get("swagger"))
        version = ".".join(stated.split(".")[:2])
        if version not in _VALIDATORS:
            raise IntakeError(
                f"{self.source.name} is of version {stated!r}: OpenAPI 3.0 to 3.2 and Swagger "
                "2.0 can be read"
            )
        return version

    @property
    def is_swagger(self) -> bool:
        """Whether it is of version 2, which has other keys."""
        return self.version == "2.0"

    def faults(self) -> list[str]:
        """What is wrong in it by the rules of its version, one line each: many a document that is
        in use has some. The first ones of a large document, or of one that takes long to check."""
        faults: list[str] = []
        try:
            with suppress(TimeoutError), within(_CHECKED_S):
                validator = _VALIDATORS[self.version]
                checks = type("_Checks", (validator,), {"resolver_handlers": _Handlers(self)})
                errors = checks(self.root, base_uri=self.source.uri).iter_errors()
                faults.extend(_fault(it) for it in islice(errors, _MOST_FAULTS))
        except RecursionError:
            faults.append("the document: what refers to itself in it can't be checked")
        except Exception as problem:  # of several packages
            faults.append(one_line(str(problem))[:200])
        return faults

    def operations(self) -> Iterator[Operation]:
        """All of them, in its order, with references as they are."""
        count = 0
        for path, place in self.root["paths"].items():
            if not str(path).startswith("/"):
                continue
            item, resolver = self._followed(place, self._resolver, f"paths.{path[:_LONGEST_PATH]}")
            named = {method: as_mapping(item).get(method) for method in (*METHODS, "query")}
            named |= as_mapping(as_mapping(item).get("additionalOperations"))
            for method, operation in named.items():
                described, at = self._followed(operation, resolver, f"paths.{path}")
                if isinstance(described, Mapping):
                    count += 1
                    self._check_size(count, path)
                    common = self.expanded(item.get("parameters"), f"paths.{path}", resolver)
                    yield self._operation(method.upper(), path, common, described, item, at)

    def _check_size(self, count: int, path: str) -> None:
        if count > _MOST_OPERATIONS:
            raise IntakeError(
                f"{self.source.name} has more than {_MOST_OPERATIONS:,} operations: "
                "name a part of it"
            )
        if len(path) > _LONGEST_PATH:
            raise IntakeError(
                f"{self.source.name}, paths.{path[:60]}...: the path has {len(path):,} characters, "
                f"and no more than {_LONGEST_PATH:,} can be asked: shorten it"
            )

    def completed(self, operation: Operation) -> Operation:
        """An operation with what it refers to in place."""
        where = f"paths.{operation.path}"
        # Each by itself: an answer may have more values than are put in place.
        described = {
            key: self.expanded(part, where, operation.resolver) if key in _PARTS else part
            for key, part in operation.described.items()
        }
        both = [*operation.parameters, *as_list(described.get("parameters"))]
        mappings = [it for it in both if isinstance(it, Mapping)]
        named = {(str(it.get("name")), str(it.get("in"))): it for it in mappings}
        return replace(operation, described=described, parameters=tuple(named.values()))

    def _operation(
        self, method: str, path: str, common: Any, described: Any, item: Any, resolver: Any
    ) -> Operation:
        server = self._server(described, item, self.root)
        # One without a host is at that of the service.
        own = {"", _host(self._server(self.root)), _host(self.base[0] or "")}
        elsewhere = "" if _host(server) in own else _host(server)
        base = self._place(server)[1]
        shared = tuple(as_list(common))
        return Operation(method, path, described, shared, base, elsewhere, resolver)

    def expanded(self, node: Any, where: str, resolver: Any = None) -> Any:
        """A part of the document with all references in place. Where something refers to itself,
        and behind the first thousands of parts, anything is allowed. where: for messages.
        resolver: of another document that the part stands in."""
        self._left = before = max(_LEAST, min(_MOST, self._left_in_all))
        expanded = self._expanded(node, resolver or self._resolver, (), where)
        self._left_in_all -= before - self._left
        return expanded

    def _expanded(
        self, node: Any, resolver: Any, inside: tuple[str, ...], where: str, depth: int = 0
    ) -> Any:
        below = (inside, where, depth + 1)
        if isinstance(node, list):
            return [self._expanded(it, resolver, *below) for it in node]
        if not isinstance(node, Mapping):
            self._left -= size_of(node) - 1
            return node
        lists = [value for value in node.values() if isinstance(value, list)]
        self._left -= sum(map(size_of, node)) + sum(map(len, lists))
        if (inside and self._left < 0) or depth > DEEPEST:
            return {}
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: self._expanded(it, resolver, *below) for key, it in node.items()}
        if reference in inside or len(inside) > _DEEPEST:
            return {}
        target = self._found(reference, resolver, where)
        within_it = (*inside, reference)
        return self._expanded(target.contents, target.resolver, within_it, where, depth + 1)

    def _followed(self, node: Any, resolver: Any, where: str) -> tuple[Any, Any]:
        """(what stands in the place of a reference, the resolver of those in it)."""
        for _ in range(_DEEPEST):
            reference = as_mapping(node).get("$ref")
            if not isinstance(reference, str):
                return node, resolver
            target = self._found(reference, resolver, where)
            node, resolver = target.contents, target.resolver
        return {}, resolver

    def _found(self, reference: str, resolver: Any, where: str) -> Any:
        try:
            return resolver.lookup(reference)
        except (Unresolvable, ValueError, TypeError, LookupError) as problem:
            refused: BaseException | None = problem
            while refused and not isinstance(refused, IntakeError):
                refused = refused.__cause__ or refused.__context__
            why = refused or (f"{shown(reference)[:_LONGEST_URL]!r} is not there: correct it")
            raise IntakeError(f"{self.source.name}, {where}: {why}") from None

    def _other(self, uri: str) -> Any:
        """Another document that this one refers to, read once. Raises IntakeError."""
        uri = uri.partition("#")[0]
        if uri in self._others:
            return self._others[uri]
        self._others_until = self._others_until or time.monotonic() + _OTHERS_S
        if len(self._others) >= _MOST_OTHERS or time.monotonic() > self._others_until:
            raise IntakeError(
                f"it refers to more than {_MOST_OTHERS:,} others, or to what takes more than "
                f"{_OTHERS_S} s to get: make one document of all"
            )
        text = text_beside(self.source.name, self.source.uri, uri)
        self._others_size += len(text)
        if self._others_size > LARGEST:
            raise IntakeError(f"what it refers to has more than {LARGEST >> 20} MB: name less")
        self._others[uri] = parsed(shown(uri), text)
        return self._others[uri]

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
            servers = filter(None, (as_list(it.get("servers")) for it in places))
            server = as_mapping(next(servers, [{}])[0])
            url = str(server.get("url") or "/").strip()
            variables = as_mapping(server.get("variables"))

            def filled(name: re.Match[str]) -> str:
                variable = variables.get(name[1], {"default": name[0]})
                return str(as_mapping(variable).get("default", ""))[:_LONGEST_URL]

            url = re.sub(r"\{([^{}]*)\}", filled, url[: _LONGEST_URL + 1])
            url = f"//{url}" if _HOST.fullmatch(url) else url
        try:
            if len(url) > _LONGEST_URL:
                raise ValueError
            urlsplit(url)
        except ValueError:
            raise IntakeError(
                f"{self.source.name}, servers: {shown(url)[:200]!r} is no URL: correct it"
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


class _Handlers(dict[str, Any]):
    """What fetches for openapi-spec-validator, which would do so itself: URIs of every protocol."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def __contains__(self, scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        return self._document._other
