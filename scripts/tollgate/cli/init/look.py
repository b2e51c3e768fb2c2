"""What a repository has that a suite can be made of. Reads alone; what is guessed says why."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollgate.base.text import UserError

#: Folders that hold nothing of a team's own.
_OTHERS = {"node_modules", "reports", "dist", "build", "coverage", "venv", "vendor", "__pycache__"}
#: Levels of folders that are looked through, and files of each kind that are listed.
_DEPTH, _MOST = 4, 20
#: Bytes of a source file that is looked at.
_LARGEST = 500_000
_OPENAPI = re.compile(r"(openapi|swagger|api-docs)[\w.-]*\.(json|ya?ml)", re.IGNORECASE)
_ENTRIES = ("server", "app", "index", "src/server", "src/app", "src/index", "src/main", "main")
_SUFFIXES = (".js", ".cjs", ".mjs")
_PORT = re.compile(r"\bPORT\b[^\n]{0,40}?(?:\|\||\?\?|,)\s*['\"]?(\d{2,5})\b")
_LISTEN = re.compile(r"\.listen\(\s*(?:\{\s*port:\s*)?(\d{2,5})\b")
_ROUTE = re.compile(r"\.get\(\s*(['\"`])(/[^'\"`\s]*)\1")
#: Of a file whose `.get('/...')` is a route, and no request of a browser.
_SERVES = re.compile(r"express|fastify|koa|hono|restify|createServer|Router\(")
_HEALTH = re.compile(r"/(?:.*/)?_?(health\w*|livez?|liveness|readyz?|readiness|ping|status)")
_DEFAULT_PORT = 3000
#: What a shell has to carry out, in a word of a command.
_OF_SHELL = re.compile(r"[$<>;|&`]")


class InitError(UserError, ValueError):
    """One line: what stands in the way of a suite, and what to do."""


@dataclass(frozen=True)
class Start:
    """How an app is started. script, args, env: as PM2 takes them. guess: how sure that is, for a
    comment. reads_port: whether the source reads PORT."""

    script: str
    args: str
    env: dict[str, str]
    port: int
    reads_port: bool
    guess: str


@dataclass(frozen=True)
class Found:
    """name: of the service. start: None where nothing is there to start. health: a route of that
    kind. routes: paths without parameters that answer GET. sources: OpenAPI documents, recordings
    and plans, as they are named from the folder, the likeliest first. is_module: whether a .js file
    is an ES module here."""

    name: str
    start: Start | None
    health: str
    routes: tuple[str, ...]
    sources: tuple[str, ...]
    is_module: bool


def look(folder: Path) -> Found:
    """Raises InitError for a package.json that can't be read."""
    package = _package(folder)
    files = [it for it in _files(folder, _DEPTH) if _is_within(it, folder)]
    entry = _entry(folder, package)
    texts = _sources(folder, files, entry)
    served = filter(_SERVES.search, texts)
    paths = dict.fromkeys(path for text in served for _, path in _ROUTE.findall(text))
    routes = tuple(it for it in paths if not re.search(r"[:*(){}?+$]", it))
    health = next((it for it in routes if _HEALTH.fullmatch(it)), "")
    return Found(
        name=_name(str(package.get("name") or ""), folder),
        start=_start(package, entry, texts),
        health=health,
        routes=tuple(it for it in routes if it != health),
        sources=tuple(_described(folder, files)),
        is_module=package.get("type") == "module",
    )


def _package(folder: Path) -> dict[str, Any]:
    path = folder / "package.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as problem:
        raise InitError(f"{path} can't be read: {problem}: correct it") from None
    return found if isinstance(found, dict) else {}


def _files(folder: Path, depth: int) -> Iterator[Path]:
    """Those of a folder, before those below it."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    yield from (it for it in inside if it.is_file())
    for path in inside if depth else ():
        is_own = not path.name.startswith(".") and path.name not in _OTHERS
        if is_own and path.is_dir() and not path.is_symlink():
            yield from _files(path, depth - 1)


def _is_within(path: Path, folder: Path) -> bool:
    """Whether a link leads to a file of the repository: nobody has named one elsewhere."""
    return not path.is_symlink() or path.resolve().is_relative_to(folder.resolve())


def _name(package: str, folder: Path) -> str:
    """A name that a service may have: that of the package, else of the folder."""
    for text in (package.rpartition("/")[2], folder.resolve().name, "app"):
        words = re.findall("[a-z0-9]+", text.lower())
        name = re.sub("^[^a-z]+", "", "-".join(words))[:40].strip("-")
        if len(name) > 1:
            return name
    return "app"


def _start_script(package: dict[str, Any]) -> str:
    scripts = package.get("scripts")
    found = scripts.get("start") if isinstance(scripts, dict) else None
    return found if isinstance(found, str) else ""


def _entry(folder: Path, package: dict[str, Any]) -> str:
    """The file that starts the service; empty where none is found."""
    if command := _of_node(_start_script(package)):
        return next((it for it in _named(command[0]) if (folder / it).is_file()), "")
    main = package.get("main")
    names = [main] if isinstance(main, str) else []
    names += [f"{it}{suffix}" for it in _ENTRIES for suffix in _SUFFIXES]
    there = (name for it in names for name in _named(it) if (folder / name).is_file())
    return next((it for it in there if ".listen(" in _text(folder / it)), "")


def _named(name: str) -> tuple[str, ...]:
    return (name, f"{name}.js", f"{name}/index.js")


def _of_node(command: str) -> tuple[str, str, dict[str, str]] | None:
    """(script, arguments, variables) of a command that Node alone carries out."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    env = {}
    if words[:1] in (["cross-env"], ["env"]):
        words = words[1:]
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    is_node = len(words) > 1 and words[0] == "node" and not words[1].startswith("-")
    # `PORT=${PORT:-3000} node server.js` is one as well: the port is known otherwise.
    taken = [*words, *(it for name, it in env.items() if name != "PORT")]
    if not is_node or any(map(_OF_SHELL.search, taken)):
        return None
    return words[1], shlex.join(words[2:]), env


def _start(package: dict[str, Any], entry: str, texts: list[str]) -> Start | None:
    command = _start_script(package)
    if not entry and not command:
        return None
    of_node = _of_node(command) if entry else None
    _, args, env = of_node or ("", "", {})
    read, fixed = (
        next((int(match[1]) for text in texts if (match := pattern.search(text))), 0)
        for pattern in (_PORT, _LISTEN)
    )
    number = re.search(r"\d{2,5}", env.pop("PORT", ""))
    port = int(number[0] if number else 0) or read or fixed
    of_port = f"port {port} is that of the source" if port else "nothing says which port it takes"
    reads_port = bool(read) or not fixed or any("env.PORT" in text for text in texts)
    by = "`start` of package.json" if command else f"{entry} listens"
    # Whatever else it does than run a file, such as read .env, is needed as well.
    is_whole = of_node or not command
    script, args = (entry, args) if is_whole else ("npm", "run start")
    return Start(script, args, env, port or _DEFAULT_PORT, reads_port, f"{by}; {of_port}")


def _sources(folder: Path, files: list[Path], entry: str) -> list[str]:
    """The text of the file that starts the service, and of others of its language."""
    first = [folder / entry] if entry else []
    suffixes = (*_SUFFIXES, ".ts")
    own = (it for it in files if not re.search(r"test|spec", str(it.relative_to(folder))))
    others = [it for it in own if it.suffix in suffixes]
    return [_text(it) for it in dict.fromkeys([*first, *others[:200]])]


def _text(path: Path) -> str:
    try:
        is_small = path.stat().st_size <= _LARGEST
        return path.read_text(encoding="utf-8", errors="replace") if is_small else ""
    except OSError:
        return ""


def _described(folder: Path, files: list[Path]) -> Iterator[str]:
    """OpenAPI documents, then recordings, then plans."""
    kinds = (
        [it for it in files if _OPENAPI.fullmatch(it.name) and _is_openapi(it)],
        [it for it in files if it.suffix == ".har"],
        [it for it in files if it.suffix == ".jmx" and "fragments" not in it.parts],
    )
    for each in kinds:
        yield from (it.relative_to(folder).as_posix() for it in each[:_MOST])


def _is_openapi(path: Path) -> bool:
    return bool(re.search(r"[\"']?(openapi|swagger)[\"']?\s*:", _text(path)[:5000]))
