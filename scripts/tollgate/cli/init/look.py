"""What a repository has that a suite can be made of. Reads alone; what is guessed says why."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tollgate.base.paths import ECOSYSTEMS
from tollgate.cli.init.commands import Command, InitError, start_of
from tollgate.cli.init.node import NodeCommand, node_command
from tollgate.cli.init.routes import routes_of

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
#: Of a file of variables.
_PORT_LINE = re.compile(r"^\s*(?:export\s+)?PORT\s*=\s*['\"]?(\d{2,5})\b", re.MULTILINE)
#: Of apps, which PM2 7 does not read.
_UNREAD = ("ecosystem.config.mjs", "ecosystem.config.ts", "ecosystem.config.mts")
_HEALTH = re.compile(r"/(?:.*/)?_?(health\w*|livez?|liveness|readyz?|readiness|ping|status)")
_DEFAULT_PORT = 3000


@dataclass(frozen=True)
class Start:
    """How an app is started. script, args, env: as PM2 takes them. guess: how sure that is, for a
    comment. reads_port: whether the source reads PORT. fixed_by: what of the command has it listen
    at its port whatever PORT says. folder: below the repository's, in which it runs. node: what a
    command of Node's says; without a script where PM2 starts npm."""

    script: str
    args: str
    env: dict[str, str]
    port: int
    reads_port: bool
    guess: str
    fixed_by: str = ""
    folder: str = ""
    node: NodeCommand = field(default_factory=lambda: NodeCommand(""))

    @property
    def interpreter(self) -> str:
        """Empty where PM2 takes the right one by itself; of TypeScript it takes bun."""
        return "node" if self.node.script and not self.script.endswith(_SUFFIXES) else ""


@dataclass(frozen=True)
class Found:
    """name: of the service. start: None where nothing is there to start. pm2_file: that declares
    apps, empty for none. unread: files of apps that PM2 does not read. health: a route of that
    kind. routes: paths without parameters that answer GET. sources: OpenAPI documents, recordings
    and plans, as they are named from the folder, the likeliest first. is_module: whether a .js file
    is an ES module here."""

    name: str
    start: Start | None
    pm2_file: str
    unread: tuple[str, ...]
    health: str
    routes: tuple[str, ...]
    sources: tuple[str, ...]
    is_module: bool


def look(folder: Path) -> Found:
    """Raises InitError for a package.json that can't be read, or that starts what is not there."""
    package = _package(folder)
    command = start_of(package, folder)
    files = [it for it in _files(folder, _DEPTH) if _is_within(it, folder)]
    entry = _entry(folder, package, command.text)
    texts = _sources(folder, files, entry)
    routes = tuple(it for it in routes_of(texts) if not re.search(r"[:*(){}?+$]", it))
    health = next((it for it in routes if _HEALTH.fullmatch(it)), "")
    return Found(
        name=_name(str(package.get("name") or ""), folder),
        start=None if command.pm2_file else _start(folder, files, command, entry, texts.values()),
        pm2_file=_declaring(folder, command.pm2_file),
        unread=tuple(it for it in _UNREAD if (folder / it).is_file()),
        health=health,
        routes=tuple(it for it in routes if it != health),
        sources=tuple(_described(folder, files)),
        is_module=package.get("type") == "module",
    )


def _declaring(folder: Path, named: str) -> str:
    """The file of PM2's apps. named: by `start`. A process.json that nothing names may be of
    another program."""
    there = (it for it in ECOSYSTEMS if (folder / it).exists())
    own = (it for it in there if it == named or not it.startswith("process."))
    return next(own, named)


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


def _entry(folder: Path, package: dict[str, Any], command: str) -> str:
    """The file that starts the service; empty where none is found."""
    if of_node := node_command(command):
        return next((it for it in _named(of_node.script) if (folder / it).is_file()), "")
    main = package.get("main")
    names = [main] if isinstance(main, str) else []
    names += [f"{it}{suffix}" for it in _ENTRIES for suffix in _SUFFIXES]
    there = (name for it in names for name in _named(it) if (folder / name).is_file())
    return next((it for it in there if ".listen(" in text_of(folder / it)), "")


def _named(name: str) -> tuple[str, ...]:
    return (name, f"{name}.js", f"{name}/index.js")


def _start(
    folder: Path, files: list[Path], command: Command, entry: str, texts: Collection[str]
) -> Start | None:
    if not entry and not command.text:
        return None
    others = _packages_with(folder, files, command) if command.task else []
    if len(others) == 1 and (start := look(folder / others[0]).start):
        below = (Path(others[0]) / start.folder).as_posix()
        return replace(start, folder=below, guess=f"`{command.text}` starts {below}; {start.guess}")
    of_node = node_command(command.text) if entry else None
    run = of_node or NodeCommand("")
    args, env = run.args, {**run.env}
    read, in_source = (
        next((int(match[1]) for text in texts if (match := pattern.search(text))), 0)
        for pattern in (_PORT, _LISTEN)
    )
    variable = env.pop("PORT", "")
    number = re.search(r"\d{2,5}", variable)
    stated, fixed_by = (0, "") if number else command.port
    in_file = _port_of_env_file(folder, command)
    port = int(number[0] if number else 0) or stated or in_file or read or in_source
    says = fixed_by or (f"PORT={variable}" if number else ".env" if in_file else "the source")
    of_port = f"port {port} is that of {says}"
    of_port = of_port if port else "nothing says which port it takes"
    reads_port = bool(read) or not in_source or any("env.PORT" in text for text in texts)
    by = "`start` of package.json" if command.text else f"{entry} listens"
    if command.task:
        listed = ", ".join(others) or "those that it finds"
        by += f", which starts other packages ({listed}): make a suite in the folder of one"
    # Whatever else than Node it needs is needed as well.
    is_whole = of_node or not command.text
    script, args = (entry, args) if is_whole else ("npm", command.run)
    guess = f"{by}; {of_port}"
    if of_node and fixed_by and (at := args.find(fixed_by)) >= 0:
        args = args[:at] + fixed_by.replace(str(stated), "${PORT}") + args[at + len(fixed_by) :]
        fixed_by = ""
    return Start(script, args, env, port or _DEFAULT_PORT, reads_port, guess, fixed_by, node=run)


def _packages_with(folder: Path, files: list[Path], command: Command) -> list[str]:
    """The folders of those packages of the repository whose script a command runs: the ones that
    it names, if it names any."""
    found = {}
    for path in files:
        if path.name != "package.json" or path.parent == folder:
            continue
        package = _package(path.parent)
        scripts = package.get("scripts")
        if isinstance(scripts, dict) and command.task in scripts:
            found[path.parent.relative_to(folder).as_posix()] = str(package.get("name", ""))
    words = {part for word in command.last for part in re.split("[=:]", word)}
    named = [it for it, name in found.items() if {it, name, it.rpartition("/")[2]} & words]
    return named or [*found]


def _port_of_env_file(folder: Path, command: Command) -> int:
    """PORT of the file that Node reads variables from; what PM2 sets goes before it."""
    options = re.findall(r"--env-file(?:-if-exists)?[= ]([^\s'\"]+)", command.text)
    found = (_PORT_LINE.search(text_of(folder / it)) for it in [*options, ".env"])
    return next((int(it[1]) for it in found if it), 0)


def _sources(folder: Path, files: list[Path], entry: str) -> dict[Path, str]:
    """The text of the file that starts the service, and of others of its language."""
    first = [folder / entry] if entry else []
    suffixes = (*_SUFFIXES, ".ts")
    own = (it for it in files if not re.search(r"test|spec", str(it.relative_to(folder))))
    others = [it for it in own if it.suffix in suffixes]
    return {it: text_of(it) for it in (*first, *others[:200])}


def text_of(path: Path) -> str:
    """Of a file of source; empty for what is too large or can't be read."""
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
    return bool(re.search(r"[\"']?(openapi|swagger)[\"']?\s*:", text_of(path)[:5000]))
