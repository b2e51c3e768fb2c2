"""What the `start` of a package.json comes to: through npm's scripts and PM2, to one program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.base.text import UserError

#: The commands of PM2, and the words by which `pm2` itself starts something.
_PM2 = {"pm2", "pm2-runtime", "pm2-dev", "pm2-docker"}
#: Its options whose value is the next word.
_VALUED = {"-i", "-n", "-o", "-e", "-l", "-p", "-u", "--only", "--env", "--cwd", "--interpreter"}
_VALUED |= {"--instances", "--name", "--namespace", "--output", "--error", "--log", "--pid"}
_VALUED |= {"--node-args", "--max-memory-restart", "--user", "--uid", "--gid"}
_STARTS = {"start", "restart", "reload"}
_STARTS |= {f"startOr{it}" for it in ("Restart", "Reload", "GracefulReload")}
#: Of a file of PM2's apps: isConfigFile in its lib/Common.js, and .ts, which it takes for a script.
_OF_APPS = re.compile(r"\.(json|ya?ml)$|\.config\.([cm]?js|ts)$")
_ALIAS = re.compile(r"(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)? ([\w:.-]+)")
_MANAGERS = {"npm", "pnpm", "yarn", "bun"}
#: What runs the scripts of other packages: by themselves, and as options of package managers.
_RUNNERS = {"turbo", "nx", "lerna"}
_OTHERS = re.compile(r"(-w|-F|-r|--filter|--workspaces?|--recursive|workspaces?)(=.*)?")
_PORT_OPTION = re.compile(r"(-p|-l|--port|--listen)")
_NUMBER = re.compile(r"\d{2,5}")


class InitError(UserError, ValueError):
    """One line: what stands in the way of a suite, and what to do."""


@dataclass(frozen=True)
class Command:
    """What starts a service."""

    text: str = ""
    """As a shell takes it, without PM2 and the scripts that only name another; empty for none."""
    pm2_file: str = ""
    """The file of PM2 that declares what is started; empty where `text` says it."""
    run: str = "run start"
    """What npm is told to have a shell carry out the text."""

    last: tuple[str, ...] = ()
    """The words of the command that serves: whatever stands before it has ended."""

    @property
    def task(self) -> str:
        """The script that is run in other packages, such as by turbo; empty for none."""
        words = self.last
        name = Path(words[0]).name if words else ""
        if name not in _RUNNERS and not (name in _MANAGERS and any(map(_OTHERS.fullmatch, words))):
            return ""
        plain = [it for it in words[1:] if re.fullmatch(r"[\w:.-]+", it) and it[0] != "-"]
        tasks = [it.rpartition(":")[2] for it in plain if it not in ("run", "run-many", "exec")]
        return next((it for it in tasks if it in ("start", "serve", "preview")), "start")

    @property
    def port(self) -> tuple[int, str]:
        """The port that the command fixes, and the words that do; 0 where it fixes none."""
        before = ""
        for word in self.last:
            option, _, value = word.rpartition("=")
            option, is_alone = (option, True) if option else (before, False)
            is_port = option == "PORT" or _PORT_OPTION.fullmatch(option)
            if is_port and _NUMBER.fullmatch(value):
                return int(value), word if is_alone else f"{option} {value}"
            before = word
        return 0, ""


def start_of(package: Mapping[str, object], folder: Path) -> Command:
    """Of a package. Raises InitError where it has PM2 start what is not there, or itself."""
    scripts = package.get("scripts")
    texts = scripts if isinstance(scripts, dict) else {}
    texts = {name: it for name, it in texts.items() if isinstance(it, str)}
    text, passed, run = texts.get("start", ""), {"start"}, "run start"
    while True:
        alias = _ALIAS.fullmatch(text.strip())
        if alias and alias[1] in passed:
            raise InitError(f"`start` of {folder / 'package.json'} calls itself: correct it")
        if alias and alias[1] in texts:
            passed.add(alias[1])
            text, run = texts[alias[1]], f"run {alias[1]}"
            continue
        commands = [*_all_simple(text, texts, passed)]
        under_pm2 = next((it for it in map(_given_to_pm2, commands) if it is not None), None)
        if under_pm2 is None:
            return Command(text, last=tuple(*commands[-1:]), run=run)
        started = _started(under_pm2, folder)
        if started.pm2_file:
            return started
        text, run = started.text, started.run


def _all_simple(text: str, scripts: Mapping[str, str], passed: set[str]) -> Iterator[list[str]]:
    """Those of a script, with those of the scripts that it calls in their place."""
    for words in _simple(text):
        alias = _ALIAS.fullmatch(" ".join(words))
        if alias and alias[1] in scripts and alias[1] not in passed:
            yield from _all_simple(scripts[alias[1]], scripts, {*passed, alias[1]})
        else:
            yield words


def _simple(text: str) -> Iterator[list[str]]:
    """The commands of a line, each as its words."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="&;|")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set("&;|"):
                yield from [words] if words else []
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield from [words] if words else []


def _given_to_pm2(words: Sequence[str]) -> list[str] | None:
    """What stands behind `pm2 start`; None where that is not called."""
    for at, word in enumerate(words):
        if (name := Path(word).name) in _PM2:
            rest = [*words[at + 1 :]]
            if rest and rest[0] in _STARTS:
                return rest[1:]
            return None if name == "pm2" else rest
    return None


def _started(words: list[str], folder: Path) -> Command:
    """What PM2 starts by these words. Raises InitError."""
    at = words.index("--") if "--" in words else len(words)
    pairs = zip(words[:at], ["", *words], strict=False)
    own = [it for it, before in pairs if not it.startswith("-") and before not in _VALUED]
    arguments = words[at + 1 :]
    named = next(filter(_OF_APPS.search, own), "ecosystem.config.js" if not own else "")
    if named:
        if not _is_file(folder / named):
            raise InitError(
                f"`start` of {folder / 'package.json'} has PM2 read {named}, which is not there: "
                "correct it, or say by --url where the service answers"
            )
        return Command(pm2_file=named)
    script = next((it for it in own if " " in it or _is_file(folder / it)), own[0])
    runner = ["node", script] if _is_file(folder / script) else [script]
    text = script if " " in script else shlex.join([*runner, *arguments])
    return Command(text, run=f"exec --call {shlex.quote(text)}")


def _is_file(path: Path) -> bool:
    """Also of a word that is too long for a name."""
    try:
        return path.is_file()
    except OSError:
        return False
