"""The paths that a service in JavaScript answers by GET, as its source has them: a router's are
below what it is mounted at. What is mounted out of sight is left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_ROUTE = re.compile(r"(\b\w+)?\.get\(\s*(['\"`])(/[^'\"`\s]*)\2")
#: Of a file whose `.get('/...')` is a route, and no request of a browser.
_SERVES = re.compile(r"express|fastify|koa|hono|restify|createServer|Router\(")
#: `const app = express()`, `router = express.Router()`, Koa's `new Router({prefix: '/items'})`.
_OBJECT = re.compile(
    r"\b(\w+)(?:\s*:\s*[\w.]+)?\s*=\s*(?:new\s+)?[\w.()'\"]*?\b(Router|express|Hono)\("
    r"(?:\s*\{[^}]*\bprefix:\s*['\"`]([^'\"`]*))?"
)
_USE = re.compile(r"(\b\w+)?\.(?:use|route)\(\s*(?:(['\"`])(/[^'\"`\s]*)\2)?")
_REQUIRED = re.compile(r"\brequire\(\s*['\"`](\.[^'\"`]*)")
#: The names that a file gives to what another one exports.
_IMPORTED = re.compile(
    r"(?:\b(\w+)|\{([^{}]*)\})\s*(?:=\s*require\(|from\b)\s*['\"`](\.[^'\"`]*)['\"`]"
)
_SUFFIXES = ("", ".js", ".ts", ".cjs", ".mjs", "/index.js", "/index.ts")
#: A first argument that may be any path.
_COMPUTED = re.compile(r"\s*(?:`|[\w.]*(?:prefix|path|base|root|url)\w*\s*[,+])", re.IGNORECASE)
#: Characters of a call that are looked at.
_LONGEST_CALL = 500

#: A file, and the name of a router or an app in it.
_Owner = tuple[Path, str]


def routes_of(sources: Mapping[Path, str]) -> tuple[str, ...]:
    """Those of all files, each once. sources: the text of each file."""
    mounts = _Mounts(sources)
    paths: dict[str, None] = {}
    for file, text in sources.items():
        for match in _ROUTE.finditer(text) if _SERVES.search(text) else ():
            for prefix in mounts.prefixes((file, match[1] or "")):
                paths[_joined(prefix, match[3])] = None
    return tuple(paths)


class _Mounts:
    """Where each router hangs."""

    def __init__(self, sources: Mapping[Path, str]) -> None:
        self._sources = sources
        self._own: dict[_Owner, str] = {}  # the prefix that a router has of itself
        self._routers: set[_Owner] = set()
        self._below: dict[_Owner, list[tuple[_Owner, str]]] = {}
        for file, text in sources.items():
            for name, kind, prefix in _OBJECT.findall(text):
                self._own[file, name] = prefix
                if kind == "Router":
                    self._routers.add((file, name))
        for is_own in (True, False):  # what a file mounts itself is not what it exports
            for file, text in sources.items():
                self._mount(file, text, is_own)

    def prefixes(self, owner: _Owner, above: tuple[_Owner, ...] = ()) -> Iterator[str]:
        """What comes before its paths, once for each place where it hangs; nothing of a router
        that hangs nowhere. above: what was passed on the way, for routers that hang in a ring."""
        own = self._own.get(owner, "")
        if owner in above:
            return
        if owner not in self._below and owner not in self._routers:
            yield own
        for parent, prefix in self._below.get(owner, ()):
            for first in self.prefixes(parent, (*above, owner)):
                yield _joined(first, _joined(prefix, own))

    def _mount(self, file: Path, text: str, is_own: bool) -> None:
        imported = {} if is_own else {name: rest for name, *rest in _imported(text)}
        for match in _USE.finditer(text):
            parent, call = (file, match[1] or ""), _rest_of_call(text, match.end())
            if _COMPUTED.match(call):
                continue
            words = dict.fromkeys(re.findall(r"\w+", call))
            children = [(file, word) for word in words] if is_own else []
            places = [imported[word] for word in words if word in imported]
            if not is_own:
                places += [[place, ""] for place in _REQUIRED.findall(call)]
            children += [owner for place in places for owner in self._exported(file, *place)]
            for child in children:
                if child in self._own and child != parent:
                    self._below.setdefault(child, []).append((parent, match[3] or ""))

    def _exported(self, file: Path, place: str, name: str) -> list[_Owner]:
        """The routers and apps of the file that another one names; of them the one that is
        imported by its name."""
        base = os.path.normpath(file.parent / place)
        typed = re.sub(r"\.([cm]?)js$", r".\1ts", base)
        names = (*(Path(base + suffix) for suffix in _SUFFIXES), Path(typed))
        target = next((path for path in names if path in self._sources), file)
        if (target, name) in self._own:
            return [(target, name)]
        return [
            owner
            for owner in self._own
            if owner[0] == target != file
            and all(at[0] != target for at, _ in self._below.get(owner, ()))
        ]


def _imported(text: str) -> Iterator[tuple[str, str, str]]:
    """What the file calls it, the other file, and what that calls it."""
    for name, names, place in _IMPORTED.findall(text):
        for word in re.split(r"\s*,\s*", names.strip()) if names else (name,):
            theirs, *ours = re.split(r"\s+as\s+|\s*:\s*", word)
            yield (ours or [theirs])[0], place, theirs if names else ""


def _rest_of_call(text: str, start: int) -> str:
    """To the parenthesis that ends it."""
    depth = 1
    for index in range(start, min(len(text), start + _LONGEST_CALL)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if not depth:
            return text[start:index]
    return text[start : start + _LONGEST_CALL]


def _joined(prefix: str, path: str) -> str:
    """`/items` of `/items` and `/`: a router answers both."""
    return (prefix.rstrip("/") + path).rstrip("/") or ("/" if path else "")
