"""A new target: what it is called, and its files: a service in taurus.yml, its data, and for one of
this project's own server a router, made from templates and added to app/app.js.

The templates are a working example called `meadow`. What is there already is changed as text, so
that its comments stay. All files are written, or none.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from tollgate.base import atomic
from tollgate.base.processes import defer_signals
from tollgate.base.text import UserError, one_line
from tollgate.base.urls import Url
from tollgate.cli.new_target import scenario as service
from tollgate.intake.draft import Draft
from tollgate.intake.values import ROWS
from tollgate.service import xml
from tollgate.service.elements import parts_of
from tollgate.service.model import LONGEST_SLUG, read_service
from tollgate.taurus.run_file import BASE_CONFIG, KINDS_CONFIG

#: Names of files, labels, routes and services.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 40
#: `-latest` could be a service, but reports/latest is the newest run; `check` is a kind without
#: alias; the last three mean something else in the plan of a search for capacity.
TAKEN = ("latest", "new", "both", "check", "nothing", "end", "default")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
#: A request as it is written in words.
REQUEST = re.compile(rf"({'|'.join(METHODS)}) /[^\s,\"\\]*")
TEMPLATES = Path(__file__).with_name("templates")
APP, CONFIG = "app/app.js", "taurus.yml"
_REQUIRE = re.compile(r"^const \w+ = require\('\./targets/[\w-]+'\);\n", re.MULTILINE)
_LIST = re.compile(r"^  const targets = \[\n(?:    .*\n)*", re.MULTILINE)
_SCENARIOS = re.compile(r"^scenarios:.*\n(?:(?:[ #].*)?\n)*?(?=\n*^[^\s#]|\Z)", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class NewTargetError(UserError, ValueError):
    """One line: what can't be made, why, and what to do."""


@dataclass(frozen=True)
class NewTarget:
    """What to make. remote: a service that runs already. app: one of ecosystem.config.js. Without
    both a router of the project's own server. requests: what a service is asked, such as
    `GET /items/${id}`. as_jmx: whether they stand in fragments. draft: of another source, in place
    of requests. made_by: the command, for a comment. guess: why the app is this one."""

    name: str
    remote: Url | None = None
    app: str | None = None
    requests: tuple[str, ...] = ("GET /",)
    as_jmx: bool = False
    draft: Draft | None = None
    made_by: str = "new target"
    guess: str = ""

    @property
    def is_router(self) -> bool:
        return self.remote is None and self.app is None

    @property
    def identifier(self) -> str:
        """The name in JavaScript, which is none of its words: `orderServiceTarget`."""
        first, *others = self.name.split("-")
        return "".join([first, *(word.capitalize() for word in others), "Target"])

    @property
    def drafted(self) -> Draft:
        """What it is asked, its data and its probes."""
        if self.draft:
            return self.draft
        if self.is_router:
            request = {"label": self.name, "url": "${path}", "assert": ["${answer}"]}
            probe = {"path": f"/{self.name}/3", "answer": r'"square":9\b'}
            squares = [(str(n), str(n * n)) for n in range(1, ROWS + 1)]
            paths = tuple(f"/{self.name}/{n}" for n, _ in squares)
            answers = tuple(rf"n\W+{n}\W+square\W+{it}\b" for n, it in squares)
            return Draft((request,), {"path": paths, "answer": answers}, probes=(probe,))
        return draft_of_words(self.name, self.requests)


def draft_of_words(name: str, requests: Iterable[str]) -> Draft:
    """Of requests such as `GET /items/${id}`, whose variables are numbers."""
    by_label: dict[str, dict[str, Any]] = {}
    for each in requests:
        method, path = each.split(" ")
        steps = re.findall(r"\w+", path, re.ASCII)
        if not re.search("[A-Za-z]", "".join(steps)):
            steps = [name, *steps]
        words = [*([method.lower()] if method != "GET" else []), *steps]
        label = "-".join(words)[: LONGEST_SLUG - 3]
        if label in by_label or label in TAKEN:
            label = f"{label}-{len(by_label) + 1}"
        by_label[label] = {"label": label, "url": path}
        if method != "GET":
            by_label[label] |= {"method": method}
    variables = dict.fromkeys(_VARIABLE.findall(" ".join(requests)))
    numbers = tuple(str(n) for n in range(1, ROWS + 1))
    # Only what needs no data can be asked before the load.
    asked_paths = (each.split(" ")[1] for each in requests if each.startswith("GET "))
    still = next((it for it in asked_paths if not _VARIABLE.search(it)), "")
    probes = ({"path": still},) if still else ()
    return Draft(tuple(by_label.values()), dict.fromkeys(variables, numbers), probes=probes)


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
    check_requests(target.requests)
    return target


def check_requests(requests: Iterable[str]) -> None:
    """Raises NewTargetError for what is no method and path."""
    for each in requests:
        if not REQUEST.fullmatch(each):
            raise NewTargetError(
                f"--request {each!r} is none: write a method and a path, without spaces, commas "
                "and quotes in it, such as 'GET /items/${id}'"
            )


def mounted(app: str, target: NewTarget) -> str:
    """The text of app/app.js with the target's router. Raises NewTargetError."""
    word = target.identifier
    if re.search(rf"\b{word}\b", app):
        raise NewTargetError(
            f"{target.name!r} would be {word} in app/app.js, which is taken: choose another name"
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


def with_service(config: str, target: NewTarget) -> str:
    """The text of taurus.yml with one more scenario, which comes last. Raises NewTargetError."""
    try:
        before = yaml.safe_load(config)
        names = list(before["scenarios"])
    except (yaml.YAMLError, TypeError, KeyError):
        raise NewTargetError("taurus.yml has no `scenarios` that can be read: mend it") from None
    refuse_taken(target.name, before)
    section = _SCENARIOS.search(config)
    if section:
        head, tail = config[: section.end()].rstrip(), config[section.end() :]
        text = f"{head}\n{scenario(target)}{tail if tail.startswith(chr(10)) else chr(10) + tail}"
        try:
            after = yaml.safe_load(text)
            if list(after["scenarios"]) == [*names, target.name] and list(after) == list(before):
                return text
        except yaml.YAMLError:
            pass
    raise NewTargetError(
        "the `scenarios` of taurus.yml can't be added to: write one a line, two spaces in"
    )


def refuse_taken(name: str, config: Mapping[str, Any]) -> None:
    """Raises NewTargetError for the name of a kind or a scenario. config: taurus.yml."""
    kinds = yaml.safe_load(KINDS_CONFIG.read_text(encoding="utf-8"))["cli-aliases"]
    if name in {**kinds, **(config.get("cli-aliases") or {})}:
        raise NewTargetError(f"taurus.yml has a kind {name!r} already: choose another name")
    if name in (config.get("scenarios") or {}):
        raise NewTargetError(f"taurus.yml has a scenario {name!r} already: choose another name")
    # Taurus would merge its own settings of that name into the run.
    of_taurus = yaml.safe_load_all(BASE_CONFIG.read_text(encoding="utf-8"))
    if any(name in part.get("cli-aliases", {}) for part in of_taurus):
        raise NewTargetError(f"Taurus has a kind {name!r} of its own: choose another name")
    if yaml.safe_load(name) != name:
        raise NewTargetError(f"{name!r} means something else in YAML: choose another name")


def scenario(target: NewTarget) -> str:
    """The service, as an entry of scenarios in taurus.yml."""
    place = f"url: {target.remote.url}" if target.remote else f"app: {target.app or 'fork'}"
    if target.guess:
        place += f" # guessed: {one_line(target.guess)}"
    draft = target.drafted
    if target.as_jmx:
        files = ((_fragment(target, it), it["label"]) for it in draft.requests)
        draft = replace(draft, requests=tuple({"include": it, "label": of} for it, of in files))
    head = f"`tollgate run -{target.name}`; made by `tollgate {target.made_by}`"
    return service.entry(target.name, head, place, draft)


def _fragment(target: NewTarget, request: Mapping[str, object]) -> str:
    label = str(request["label"])
    own = label if label == target.name else f"{target.name}-{label}"
    return f"plans/fragments/{own}.jmx"


def new_files(target: NewTarget) -> dict[str, str]:
    """The text of each new file, by its path in the project."""
    name, draft = target.name, target.drafted
    files = dict(draft.files)
    if draft.data:
        files[f"data/{name}.csv"] = _csv(draft.data)
    if draft.answers:
        files[service.answers_path(name)] = f"{json.dumps(draft.answers, indent=2)}\n"
    if target.as_jmx:
        files |= _fragments(target)
    if target.is_router:
        files |= {
            f"app/targets/{name}.js": _filled(target, "router.js"),
            f"tests/app/{name}.test.js": _filled(target, "router.test.js"),
        }
    return files


def _csv(columns: Mapping[str, Sequence[str]]) -> str:
    text = io.StringIO()
    # Python quotes no CR, at which readers end a row.
    has_ends = any("\r" in it for column in columns.values() for it in column)
    quoting = csv.QUOTE_ALL if has_ends else csv.QUOTE_MINIMAL
    writer = csv.writer(text, lineterminator="\n", quoting=quoting)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _fragments(target: NewTarget) -> dict[str, str]:
    requests = target.drafted.requests
    if not all("label" in it and "include" not in it for it in requests):
        raise NewTargetError("--jmx is for requests that are no transactions: leave it out")
    asked = {"url": "http://127.0.0.1", "requests": [*requests]}
    parts = parts_of(read_service(target.name, asked), Path()).requests
    files = {}
    for part, request in zip(parts, requests, strict=True):
        files[_fragment(target, request)] = xml.fragment(part.label, part.elements)
    return files


def changed_files(target: NewTarget, root: Path) -> dict[str, str]:
    """The new text of each file that is there already, by its path. Raises NewTargetError."""
    files = {CONFIG: with_service(_read(root, CONFIG), target)}
    if target.is_router:
        files[APP] = mounted(_read(root, APP), target)
    return files


def _filled(target: NewTarget, template: str) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    words = {"meadowTarget": target.identifier, "meadow": target.name}
    # In one pass: a name may hold one of the words itself.
    return re.sub("|".join(words), lambda match: words[match[0]], text)


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
    try:
        # In reverse order they are put in their places.
        with contextlib.ExitStack() as growing:
            for path, text in [*changed.items(), *new.items()]:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                replacing = atomic.replacing(root / path, "utf-8", _line_ends(root / path))
                file = growing.enter_context(replacing)
                file.write(text)
                file.flush()  # a full disk shows here, before anything has changed
            with defer_signals():
                growing.close()
    except BaseException as error:
        for path in new:
            with contextlib.suppress(OSError):
                (root / path).unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = f"{error.filename or root}: {error.strerror}"
            raise NewTargetError(f"nothing was made: {reason}") from None
        raise


def _line_ends(path: Path) -> str:
    """Those of a file that is there: all its lines would differ in git otherwise."""
    return "\r\n" if path.exists() and b"\r\n" in path.read_bytes() else "\n"
