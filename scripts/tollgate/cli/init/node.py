"""A command that Node alone carries out, as PM2 takes it: so it can run in cluster mode as well."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from posixpath import normpath

#: What a shell has to carry out, in a word of a command.
_OF_SHELL = re.compile(r"[$<>;|&`]")
#: Options of Node whose value may be the next word.
_MODULES = {"-r", "--require", "--import", "--loader", "--experimental-loader"}
_FILES = {"--env-file", "--env-file-if-exists"}
_VALUED = _MODULES | _FILES | {"-C", "--conditions", "--disable-warning", "--title"}
#: With these Node runs no file, or it runs one again and again.
_OTHERWISE = re.compile(r"-|--?([epci]|eval|print|check|interactive|test|run|watch\S*)(=.*)?")
#: Programs that are Node with a module which reads TypeScript.
_LOADERS = {
    "tsx": ("--import", "tsx"),
    "ts-node": ("--require", "ts-node/register"),
}
#: What is theirs alone of what follows; ts-node has many options.
_IS_OF_LOADER = re.compile(r"ts-node -|tsx (watch\b|--tsconfig|--no-cache)")


@dataclass(frozen=True)
class NodeCommand:
    """script, args, env: as PM2 takes them. options: of Node, one or two words each, whose files
    and modules are found from the folder of the app."""

    script: str
    args: str = ""
    env: dict[str, str] = field(default_factory=dict)
    options: tuple[tuple[str, ...], ...] = ()

    def expressions(self, folder: str) -> Iterator[str]:
        """The options as JavaScript. folder: that of the app, likewise: in cluster mode Node would
        look for files and modules from the folder of PM2's daemon."""
        for option, *values in self.options:
            yield quoted(option)
            for value in values:
                yield _found_from(folder, option, value)


def node_command(text: str) -> NodeCommand | None:
    """None where a shell, or another program, is needed as well."""
    try:
        words = shlex.split(text)
        env = dict(_variables(words))
        loader = _LOADERS.get(words[0])
        options = [loader] if loader else []
        if words[0] != "node" and (loader is None or _IS_OF_LOADER.match(shlex.join(words[:2]))):
            return None
        options += _options(words)
        script, *args = words
    except (ValueError, IndexError):
        return None
    # `PORT=${PORT:-3000} node server.js` is one as well: the port is known otherwise.
    taken = [*words, *chain(*options), *(it for name, it in env.items() if name != "PORT")]
    if any(map(_OF_SHELL.search, taken)):
        return None
    return NodeCommand(script, shlex.join(args), env, tuple(options))


def _variables(words: list[str]) -> Iterator[tuple[str, str]]:
    """Those that a command sets, which are taken from its words."""
    if words[:1] in (["cross-env"], ["env"]):
        del words[0]
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        yield name, value


def _options(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Those of Node, which are taken from its words with its own name. Raises ValueError where it
    runs no file, and IndexError where a value is missing."""
    del words[0]
    while words[0].startswith("-"):
        if _OTHERWISE.fullmatch(words[0]):
            raise ValueError(words[0])
        name, is_whole, value = words.pop(0).partition("=")
        if name in _VALUED and not is_whole:
            value = words.pop(0)
        yield (name, value) if name in _VALUED else (f"{name}={value}" if is_whole else name,)


def quoted(text: str) -> str:
    """As JavaScript has it."""
    return "'" + json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def _found_from(folder: str, option: str, value: str) -> str:
    is_file = option in _FILES or value.startswith((".", "/"))
    if option not in _MODULES | _FILES or value.startswith("/") or (not is_file and ":" in value):
        return quoted(value)
    if is_file:
        return f"{folder} + {quoted('/' + normpath(value))}"
    return f"require.resolve({quoted(value)}, {{ paths: [{folder}] }})"
