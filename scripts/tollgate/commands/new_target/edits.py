"""Puts a new target into app/app.js and taurus.yml, as text: comments stay where they are."""

from __future__ import annotations

import re
from importlib import resources

import yaml

from tollgate.commands.new_target.model import NewTarget, NewTargetError

#: Words of JavaScript that can't name a variable.
_WORDS = """
    arguments await break case catch class const continue debugger default delete do else enum eval
    export extends false finally for function if implements import in instanceof interface let new
    null package private protected public return static super switch this throw true try typeof
    undefined var void while with yield
"""
RESERVED = frozenset(_WORDS.split())
_REQUIRE = re.compile(r"^const \w+ = require\('\./targets/[\w-]+'\);\n", re.MULTILINE)
_LIST = re.compile(r"^  const targets = \[\n(?:    .*\n)*", re.MULTILINE)


def mounted(app: str, target: NewTarget) -> str:
    """The text of app/app.js with the target's router. Raises NewTargetError."""
    word = target.identifier
    if word in RESERVED or re.search(rf"\b{re.escape(word)}\b", app):
        raise NewTargetError(
            f"{target.name!r} would be {word} in app/app.js, where that is taken: "
            "choose another name"
        )
    requires = list(_REQUIRE.finditer(app))
    listed = _LIST.search(app)
    if not requires or not listed:
        raise NewTargetError(
            "app/app.js has no list `const targets = [` below the `require`s of its targets any "
            "more: bring them back, or name the service by --url or --app"
        )
    parts = (
        app[: requires[-1].end()],
        f"const {word} = require('./targets/{target.name}');\n",
        app[requires[-1].end() : listed.end()],
        f"    {word}(settings),\n",
        app[listed.end() :],
    )
    return "".join(parts)


def with_kind(config: str, target: NewTarget, alias: str) -> str:
    """The text of taurus.yml with one more kind of run, which comes last. Raises NewTargetError.

    alias: its text, indented as an entry of cli-aliases."""
    try:
        before = yaml.safe_load(config)
        kinds = list(before["cli-aliases"])
    except (yaml.YAMLError, TypeError, KeyError):
        raise NewTargetError(
            "taurus.yml has no `cli-aliases` that can be read: mend it first"
        ) from None
    _refuse_taken(target.name, before)
    text = f"{config.rstrip()}\n\n{alias.rstrip()}\n"
    try:
        after = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        line = " ".join(str(problem).split())
        raise NewTargetError(
            f"what would be added to taurus.yml is no YAML ({line}): choose another name, path or "
            "url"
        ) from None
    if list(after["cli-aliases"]) != [*kinds, target.name] or list(after) != list(before):
        raise NewTargetError(
            "taurus.yml does not end in its `cli-aliases`, where a kind of run is added: move "
            "them to its end"
        )
    return text


def _refuse_taken(name: str, config: dict) -> None:
    if name in config["cli-aliases"]:
        raise NewTargetError(f"taurus.yml has a kind {name!r} already: choose another name")
    if name in (config.get("scenarios") or {}):
        raise NewTargetError(f"taurus.yml has a scenario {name!r} already: choose another name")
    if name in _aliases_of_taurus():
        raise NewTargetError(f"Taurus has a kind {name!r} of its own: choose another name")
    if yaml.safe_load(name) != name:
        raise NewTargetError(f"{name!r} means something else in YAML: choose another name")


def _aliases_of_taurus() -> list[str]:
    """Taurus would merge its own settings of that name into the run."""
    base = resources.files("bzt") / "resources" / "10-base-config.yml"
    parts = yaml.safe_load_all(base.read_text(encoding="utf-8"))
    return [name for part in parts for name in part.get("cli-aliases", {})]
