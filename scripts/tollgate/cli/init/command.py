"""`tollgate init [FOLDER] [--from FILE|URL]`: a suite in any repository.

It writes what is missing and overwrites nothing, so that it may be called again.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tollgate.base.paths import ECOSYSTEMS, RUN_FILE
from tollgate.base.text import UserError, one_line
from tollgate.cli.init import apps, ci, texts
from tollgate.cli.init.commands import InitError
from tollgate.cli.init.look import Found, look
from tollgate.cli.new_target import add_source, reached, read_remote
from tollgate.cli.new_target import files as target_files
from tollgate.cli.new_target.files import NewTarget, checked
from tollgate.intake.draft import Draft
from tollgate.intake.reading import draft_of

#: Labels of a service of whose requests nothing is known but its routes.
_MOST_ROUTES = 3


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("init", help="make a suite in a repository")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="default: this one")
    parser.add_argument("--name", help="of the service; default: that of the package")
    parser.add_argument("--url", help="a service that runs already, in place of an app")
    named = "what it is asked; with OpenAPI an operation that may write; repeatable"
    parser.add_argument("--request", action="append", metavar="'METHOD PATH'", help=named)
    add_source(parser)
    parser.set_defaults(command=init)


def init(arguments: argparse.Namespace) -> int:
    """Write what is missing. Raises UserError before anything is written."""
    folder = arguments.folder
    if not folder.is_dir():
        raise InitError(f"{folder} is no folder: name one, such as the repository's")
    seen = look(folder)
    remarks: list[str] = []
    name, there = texts.service_of(folder)
    if there and (arguments.source or arguments.request or arguments.url):
        raise InitError(
            f"{folder / RUN_FILE} has the service {name!r}: add one by `tollgate new target`"
        )
    target = None if there else _target(arguments, folder, seen, remarks)
    name, app = (name, there.get("app")) if there else (target.name, target.app)
    new = _around(seen, app, remarks)
    if target:
        new[RUN_FILE] = texts.HEAD + target_files.scenario(target)
        new |= target_files.new_files(target)
    new |= _of_ci(folder, name, target.draft.secrets if target else _secrets_of(there))
    changed = {}
    if target and (folder / RUN_FILE).exists():
        text = (folder / RUN_FILE).read_text(encoding="utf-8")
        changed[RUN_FILE] = target_files.with_service(text, target)
        new.pop(RUN_FILE)
    if ignored := texts.ignored(folder):
        (changed if (folder / ".gitignore").exists() else new)[".gitignore"] = ignored
    new = {path: text for path, text in new.items() if not (folder / path).exists()}
    target_files.write(folder, new, changed)
    _show(arguments, name, new, changed, remarks)
    return 0


def _target(
    arguments: argparse.Namespace, folder: Path, seen: Found, remarks: list[str]
) -> NewTarget:
    """The service, with where it answers and what it is asked."""
    name = arguments.name or _asked("name of the service", seen.name)
    requests = () if arguments.source or seen.sources else tuple(arguments.request or ())
    checked(NewTarget(name, requests=requests))
    target_files.refuse_taken(name, {})
    remote = read_remote(arguments.url, name) if arguments.url else None
    draft = _draft(arguments, folder, seen, name, remarks)
    app = apps.Tested(name) if seen.start and not remote else None
    if seen.pm2_file and not remote:
        app = apps.tested(folder, seen, name, _asked)
        remarks += app.remarks
    remarks += [
        f"PM2 7 does not read {file}: save what it exports as ecosystem.config.cjs"
        for file in seen.unread
    ]
    if not app and not remote and draft.url is None:
        raise InitError(
            f"{folder / 'package.json'} has no `start`, and no file that listens is found: say how "
            "the service is started there, or where it answers by --url"
        )
    if not app:
        draft, remote = reached(arguments, draft, remote)
    remarks += draft.remarks
    named, guess = (app.name, app.guess) if app else (None, "")
    return NewTarget(name, remote, named, draft=draft, made_by="init", guess=guess)


def _draft(
    arguments: argparse.Namespace, folder: Path, seen: Found, name: str, remarks: list[str]
) -> Draft:
    """From the source that is named or found; else of routes that the source code has."""
    source, static = arguments.source, arguments.static
    if source:
        return draft_of(source, name, folder, arguments.request or (), static, arguments.url)
    sources = seen.sources
    if sources and _asked(f"requests from {sources[0]}? yes or no", "yes").lower().startswith("y"):
        others = f" (there are also {', '.join(sources[1:])}: --from)" if sources[1:] else ""
        try:
            file, named = str(folder / sources[0]), arguments.request or ()
            draft = draft_of(file, name, folder, named, static, arguments.url)
        except UserError as problem:
            if not all(map(target_files.REQUEST.fullmatch, named)):
                raise  # an operation of the document is meant, by its id
            remarks.append(f"{problem}; its requests are left to you")
        else:
            arguments.source = str(folder / sources[0])
            remarks.append(f"the requests are those of {sources[0]}{others}")
            return draft
    if arguments.request:
        target_files.check_requests(arguments.request)
        return target_files.draft_of_words(name, arguments.request)
    return _of_routes(seen, remarks)


def _of_routes(seen: Found, remarks: list[str]) -> Draft:
    """`home` for /, and a route that tells whether the service is well."""
    is_home = "/" in seen.routes or not seen.routes
    paths = ["/"] if is_home else [*seen.routes[:_MOST_ROUTES]]
    labels = {"home" if it == "/" else "-".join(filter(None, it.split("/"))): it for it in paths}
    if seen.health:
        labels["-".join(filter(None, seen.health.split("/")))] = seen.health
    is_known = seen.routes or seen.health
    guess = "its source has this route" if is_known else "nothing says what it answers"
    requests = ({"label": label, "url": it, "x-guessed": guess} for label, it in labels.items())
    left = [it for it in seen.routes if it not in paths]
    more = f"; its source has {', '.join(left[:8])} as well" if left else ""
    remarks.append(f"the requests are guessed: write yours below `requests` of {RUN_FILE}{more}")
    probes = ({"path": seen.health},) if seen.health else ()
    return Draft(tuple(requests), probes=probes)


def _around(seen: Found, app: str | None, remarks: list[str]) -> dict[str, str]:
    """The files beside taurus.yml. app: that is tested, if any is."""
    new = {texts.FORECAST: texts.forecast(), texts.REPORTS: texts.REPORTS_PAGE}
    # PM2's usual name would make the file an ES module where the folder's files are.
    usual, start = ECOSYSTEMS[seen.is_module], seen.start
    if app and seen.pm2_file:
        if text := apps.standing_in(seen):
            new[usual] = text
    elif app and start:
        new[usual] = texts.ecosystem(app, start)
        if start.fixed_by or not start.reads_port:
            by = start.fixed_by
            what = f"the command with `{by}`" if by else start.script
            remarks.append(
                f"{what} listens at {start.port} whatever PORT says: have it read "
                "process.env.PORT, which a comparison needs"
            )
    return new


def _of_ci(folder: Path, name: str, secrets: Iterable[str]) -> dict[str, str]:
    """The files of CI, which stand at the top of the repository; none where there is none."""
    repository = texts.repository_of(folder)
    if repository is None:
        return {}
    top = Path(os.path.relpath(repository, folder.resolve()))
    files = ci.files(repository, folder, name, secrets)
    return {(top / path).as_posix(): text for path, text in files.items()}


def _secrets_of(service: Mapping[str, Any]) -> list[str]:
    """The variables of the environment that a service names: a list, or the only one."""
    given = service.get("environment") or []
    return given if isinstance(given, list) else [str(given)]


def _asked(question: str, default: str) -> str:
    """The answer of the user; without a terminal the default. Raises InitError where the input
    ends, as by Ctrl-D."""
    if not _is_terminal():
        return default
    try:
        # Python writes the question itself, past what guards this process's output.
        return input(f"{one_line(question)} [{default}]: ").strip() or default
    except EOFError:
        raise InitError(
            f"{question!r} got no answer, and nothing was made: press Enter for {default!r}"
        ) from None


def _is_terminal() -> bool:
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())


def _show(
    arguments: argparse.Namespace,
    name: str,
    new: Iterable[str],
    changed: Iterable[str],
    remarks: Iterable[str],
) -> None:
    lines = [f"{verb:8}{it}" for verb, of in (("made", new), ("changed", changed)) for it in of]
    print(*(lines or ["nothing is missing"]), sep="\n")
    print(*(f"note: {it}" for it in remarks), sep="\n", end="\n" if remarks else "")
    folder, kind = shlex.quote(str(arguments.folder)), shlex.quote(f"-{name}")
    there = f"-C {folder} " if arguments.folder != Path() else ""
    print(f"\nCheck it:   tollgate {there}run {kind}")
    print(f"Compare it: tollgate {there}run {kind} -compare")
