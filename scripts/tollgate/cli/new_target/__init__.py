"""`tollgate new target NAME [--url URL | --app APP] [--request 'GET /items/${id}']...`."""

from __future__ import annotations

import argparse

from bzt import TaurusConfigError

from tollgate.base.paths import SUITE
from tollgate.cli.new_target import files
from tollgate.cli.new_target.files import NewTarget, NewTargetError, checked
from tollgate.targets.pm2 import declared_apps
from tollgate.targets.scenarios import remote_of


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    new = commands.add_parser("new", help="make the files of something new")
    things = new.add_subparsers(required=True, metavar="THING")
    parser = things.add_parser("target", help="a service: requests, data, criteria")
    parser.add_argument("name", help="what it is called everywhere, e.g. order-service")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--url", help="a service that runs already, e.g. http://127.0.0.1:8080")
    where.add_argument("--app", help="an app of yours in ecosystem.config.js")
    asked = "what it is asked, such as 'GET /items/${id}'; may be given several times"
    parser.add_argument("--request", action="append", metavar="'METHOD PATH'", help=asked)
    parser.add_argument("--jmx", action="store_true", help="write requests as fragments of JMeter")
    parser.set_defaults(command=make)


def make(arguments: argparse.Namespace) -> int:
    """Write the files and say what to do next. Raises NewTargetError and Pm2Error."""
    target = checked(_asked(arguments))
    new = files.new_files(target)
    changed = files.changed_files(target, SUITE)
    files.write(SUITE, new, changed)
    for verb, paths in (("made", new), ("changed", changed)):
        print(*(f"{verb:8}{path}" for path in paths), sep="\n")
    print(f"\nRun it: tollgate run -{target.name}\n{_next(target)}")
    return 0


def _asked(arguments: argparse.Namespace) -> NewTarget:
    remote = None
    if arguments.url is not None:
        try:
            remote = remote_of({"url": arguments.url}, arguments.name)
        except TaurusConfigError as problem:
            raise NewTargetError(str(problem).split(": ", 1)[1]) from None
    elif arguments.app is not None:
        declared = declared_apps()
        if arguments.app not in declared:
            raise NewTargetError(
                f"ecosystem.config.js has no app {arguments.app!r}; its apps are: "
                f"{', '.join(declared)}"
            )
    elif arguments.request:
        raise NewTargetError("--request is for a service of yours: name it by --url or --app")
    requests = tuple(arguments.request or ("GET /",))
    return NewTarget(arguments.name, remote, arguments.app, requests, arguments.jmx)


def _next(target: NewTarget) -> str:
    name = target.name
    if target.is_router:
        return (
            f"Then put your own work into app/targets/{name}.js, its answers into data/{name}.csv."
        )
    return (
        f"Then put your weights, patterns of right answers and limits below `{name}:` in "
        "taurus.yml. -stress, -capacity and -compare go with it as well."
    )
