"""`tollgate new target NAME [--url URL | --app APP] [--request 'GET /items/${id}']...`."""

from __future__ import annotations

import argparse
import os

from bzt import TaurusConfigError

from tollgate.base.paths import ECOSYSTEM, SUITE
from tollgate.base.patience import telling
from tollgate.base.urls import Url, origin_of
from tollgate.cli.new_target import files
from tollgate.cli.new_target.files import NewTarget, NewTargetError, checked
from tollgate.intake.draft import Draft
from tollgate.intake.reading import draft_of
from tollgate.intake.trial import tried
from tollgate.targets.pm2 import declared_apps, why_not_asked
from tollgate.targets.scenarios import remote_of


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    new = commands.add_parser("new", help="make the files of something new")
    things = new.add_subparsers(required=True, metavar="THING")
    parser = things.add_parser("target", help="a service: requests, data, criteria")
    parser.add_argument("name", help="what it is called everywhere, e.g. order-service")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--url", help="a service that runs already, e.g. http://127.0.0.1:8080")
    where.add_argument("--app", help=f"an app of yours in {ECOSYSTEM.name}")
    request = (
        "what it is asked, such as 'GET /items/${id}'; with --from OpenAPI an operation that may "
        "write; may be given several times"
    )
    parser.add_argument("--request", action="append", metavar="'METHOD PATH'", help=request)
    add_source(parser)
    parser.add_argument("--jmx", action="store_true", help="write requests as fragments of JMeter")
    parser.set_defaults(command=make)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where requests come from."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE|URL",
        help="make the requests from an OpenAPI document, a recording (HAR) or a JMeter plan",
    )
    static = "of a recording: ask for images, scripts and style sheets as well"
    parser.add_argument("--static", action="store_true", help=static)


def make(arguments: argparse.Namespace) -> int:
    """Write the files and say what to do next. Raises NewTargetError and Pm2Error."""
    target = checked(_asked(arguments))
    new = files.new_files(target)
    changed = files.changed_files(target, SUITE)
    files.write(SUITE, new, changed)
    for verb, paths in (("made", new), ("changed", changed)):
        print(*(f"{verb:8}{path}" for path in paths), sep="\n")
    if target.draft:
        print(*(f"note: {it}" for it in target.draft.remarks), sep="\n")
    print(f"\nRun it: tollgate run -{target.name}\n{_next(target)}")
    return 0


def _asked(arguments: argparse.Namespace) -> NewTarget:
    remote = None if arguments.url is None else read_remote(arguments.url, arguments.name)
    if arguments.app is not None:
        declared = declared_apps()
        if arguments.app not in declared:
            raise NewTargetError(
                f"{ECOSYSTEM.name} has no app {arguments.app!r}, only {', '.join(declared)}"
            )
        if why := why_not_asked(declared[arguments.app]):
            raise NewTargetError(why)
    if arguments.source:
        checked(NewTarget(arguments.name))
        return _from_source(arguments, remote)
    if arguments.request and remote is None and arguments.app is None:
        raise NewTargetError("--request is for a service of yours: name it by --url or --app")
    requests = tuple(arguments.request or ("GET /",))
    return NewTarget(arguments.name, remote, arguments.app, requests, arguments.jmx)


def read_remote(url: str, name: str) -> Url:
    """Where a service answers. Raises NewTargetError."""
    try:
        return remote_of({"url": url}, name)
    except TaurusConfigError as problem:
        raise NewTargetError(str(problem).split(": ", 1)[1]) from None


def _from_source(arguments: argparse.Namespace, remote: Url | None) -> NewTarget:
    """Of another's description. Raises IntakeError."""
    named = arguments.request or ()
    place = remote and remote.text
    draft = draft_of(arguments.source, arguments.name, SUITE, named, arguments.static, place)
    if arguments.app is None:
        if remote is None and draft.url is None:
            raise NewTargetError(
                f"{arguments.source} does not say where the service answers: add --url or --app"
            )
        draft, remote = reached(arguments, draft, remote)
    return NewTarget(*(arguments.name, remote, arguments.app), as_jmx=arguments.jmx, draft=draft)


def reached(arguments: argparse.Namespace, draft: Draft, remote: Url | None) -> tuple[Draft, Url]:
    """(the draft, where the service answers). If the user named the URL, the
    service there shows which guesses are right. No other host is asked. Raises IntakeError."""
    place = remote or read_remote(draft.url, arguments.name)
    source = arguments.source or ""
    is_named = source and (remote is not None or origin_of(source) == place.url)
    if not is_named:
        return draft, place
    with telling(f"asking {place.url} for {len(draft.requests):,} requests"):
        return tried(draft, place.url, os.environ, bool(arguments.request)), place


def _next(target: NewTarget) -> str:
    name = target.name
    if target.is_router:
        return f"Then put your work into app/targets/{name}.js, its answers into data/{name}.csv."
    return (
        f"Then put your weights, patterns of right answers and limits below `{name}:` in "
        "taurus.yml. -stress, -capacity and -compare go with it as well."
    )
