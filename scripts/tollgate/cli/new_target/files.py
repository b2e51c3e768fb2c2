"""A new target: what it is called, and its files, made from templates, added to app/app.js and
taurus.yml, written.

The templates are a working example called `meadow`. What is there already is changed as text, so
that its comments stay. All files are written, or none.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import yaml
from jinja2 import Template

from tollgate.base.processes import defer_signals
from tollgate.base.text import UserError
from tollgate.base.urls import Url
from tollgate.taurus.engine import BASE_CONFIG

#: Names of files, labels, routes and kinds of run.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40
#: `-latest` could be a kind, but reports/latest is the newest run; `check` is a kind without alias;
#: the last three mean something else where plans/capacity.jmx chooses what to send.
TAKEN = ("latest", "new", "both", "check", "nothing", "end", "default")
_REQUIRE = re.compile(r"^const \w+ = require\('\./targets/[\w-]+'\);\n", re.MULTILINE)
_LIST = re.compile(r"^  const targets = \[\n(?:    .*\n)*", re.MULTILINE)


class NewTargetError(UserError, ValueError):
    """One line: what can't be made, why, and what to do."""


@dataclass(frozen=True)
class NewTarget:
    """What to make. remote: a service that runs already. app: one of ecosystem.config.js. Without
    both a router of the project's own server. path: what a service is asked."""

    name: str
    remote: Url | None = None
    app: str | None = None
    path: str = "/"

    @property
    def is_router(self) -> bool:
        return self.remote is None and self.app is None

    @property
    def identifier(self) -> str:
        """The name in JavaScript, which is none of its words: `orderServiceTarget`."""
        first, *others = self.name.split("-")
        return "".join([first, *(word.capitalize() for word in others), "Target"])

    @property
    def prefix(self) -> str:
        """The name in JMeter properties, where bzt takes a dot for a path: `order_service`."""
        return self.name.replace("-", "_")


def checked(target: NewTarget) -> NewTarget:
    """The same. Raises NewTargetError."""
    name = target.name
    if not NAME.fullmatch(name) or not 2 <= len(name) <= LONGEST:
        raise NewTargetError(
            f"{name!r} is no name for a target: 2 to {LONGEST} of a-z, 0-9 and single dashes, "
            "beginning with a letter, such as order-service"
        )
    if name in TAKEN:
        raise NewTargetError(f"{name!r} is taken by Tollgate itself: choose another name")
    if not re.fullmatch(r"/[^\s,\"$\\]*", target.path):
        raise NewTargetError(
            f"{target.path!r} is no path: it begins with / and holds no space, comma or quote"
        )
    return target


def mounted(app: str, target: NewTarget) -> str:
    """The text of app/app.js with the target's router. Raises NewTargetError."""
    word = target.identifier
    if re.search(rf"\b{word}\b", app):
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
    required, to = requires[-1].end(), listed.end()
    require = f"const {word} = require('./targets/{target.name}');\n"
    mount = f"    {word}(settings),\n"
    return f"{app[:required]}{require}{app[required:to]}{mount}{app[to:]}"


def searched(plan: str, target: NewTarget) -> str:
    """The text of plans/capacity.jmx with the target's fragment, behind those of the others.
    Raises NewTargetError."""
    found = _NO_TARGET.search(plan)
    if not found:
        raise NewTargetError(
            f"{SEARCH} has no controller 'nothing' any more, before which targets stand: bring it "
            "back"
        )
    include = _filled(target, "include.jmx")
    return plan[: found.start()] + include + plan[found.start() :]


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
    # Taurus would merge its own settings of that name into the run.
    of_taurus = yaml.safe_load_all(BASE_CONFIG.read_text(encoding="utf-8"))
    if any(name in part.get("cli-aliases", {}) for part in of_taurus):
        raise NewTargetError(f"Taurus has a kind {name!r} of its own: choose another name")
    if yaml.safe_load(name) != name:
        raise NewTargetError(f"{name!r} means something else in YAML: choose another name")


TEMPLATES = Path(__file__).with_name("templates")
#: Rows of the feed; fewer than 20 make a load that a cache answers.
ROWS = 20
APP, CONFIG, SEARCH = "app/app.js", "taurus.yml", "plans/capacity.jmx"
#: What the plan of a search for capacity sends beside targets.
_NO_TARGET = re.compile(r"^ *<GenericController [^>]*testname=\"nothing\"", re.MULTILINE)


def new_files(target: NewTarget) -> dict[str, str]:
    """The text of each new file, by its path in the project."""
    name = target.name
    files = {
        f"plans/check-{name}.jmx": _plan(target),
        f"plans/fragments/{name}.jmx": _filled(target, "fragment.jmx"),
        f"data/{name}.csv": "".join(f"{line}\n" for line in _rows(target)),
    }
    if target.is_router:
        files |= {
            f"app/targets/{name}.js": _filled(target, "router.js"),
            f"tests/app/{name}.test.js": _filled(target, "router.test.js"),
        }
    return files


def changed_files(target: NewTarget, root: Path) -> dict[str, str]:
    """The new text of each file that is there already, by its path. Raises NewTargetError."""
    files = {
        CONFIG: with_kind(_read(root, CONFIG), target, alias(target)),
        SEARCH: searched(_read(root, SEARCH), target),
    }
    if target.is_router:
        files[APP] = mounted(_read(root, APP), target)
    return files


def alias(target: NewTarget) -> str:
    """The kind of run that asks the target alone, as an entry of cli-aliases in taurus.yml."""
    name = target.name
    probe, answer = (f"/{name}/3", r'"square":9\b') if target.is_router else (target.path, "")
    template = Template((TEMPLATES / "alias.yml.jinja").read_text("utf-8"), trim_blocks=True)
    return template.render(
        target=target,
        name=name,
        modes=("fork", "cluster") if target.is_router else (name,),
        probe=json.dumps(probe),
        answer=answer,
    )


def _rows(target: NewTarget) -> Iterator[str]:
    yield "path,answer"
    if target.is_router:
        squares = ((n, n * n) for n in range(1, ROWS + 1))
        yield from (rf"/{target.name}/{n},n\W+{n}\W+square\W+{it}\b" for n, it in squares)
        return
    sign = "&" if "?" in target.path else "?"
    yield from (f"{target.path}{sign}visitor={number},." for number in range(1, ROWS + 1))


def _plan(target: NewTarget) -> str:
    text = _filled(target, "check.jmx")
    if target.remote:
        host = escape(target.remote.host)
        text = text.replace("__P(host,127.0.0.1)", f"__P(host,{host})")
        text = text.replace("__P(port,3001)", f"__P(port,{target.remote.port})")
        text = text.replace("__P(protocol,http)", f"__P(protocol,{target.remote.protocol})")
    return text


def _filled(target: NewTarget, template: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    words = {
        "meadowTarget": target.identifier,
        "meadow_": f"{target.prefix}_",
        "meadow": target.name,
    }
    # In one pass: a name may hold one of the words itself.
    return re.sub("|".join(words), lambda found: words[found[0]], text)


def _read(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="utf-8")
    except OSError as error:
        raise NewTargetError(f"{path} can't be read: {error.strerror}") from None


def write(root: Path, new: Mapping[str, str], changed: Mapping[str, str]) -> None:
    """Write new files, and others anew. Raises NewTargetError and leaves everything as it was
    where one of the new files is there already, or one can't be written. New files are put in
    their places first: where that fails, they are removed again."""
    there = [path for path in new if (root / path).exists()]
    if there:
        raise NewTargetError(f"{there[0]} is there already: choose another name, or remove it")
    texts = {**new, **changed}
    try:
        for path, text in texts.items():  # a full disk shows here, before anything has changed
            _growing(root / path).write_text(text, encoding="utf-8")
        with defer_signals():
            for path in texts:
                _growing(root / path).replace(root / path)
    except BaseException as error:
        for path in [*map(_growing, map(root.joinpath, texts)), *map(root.joinpath, new)]:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = f"{error.filename or root}: {error.strerror}"
            raise NewTargetError(f"nothing was made: {reason}") from None
        raise


def _growing(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")
