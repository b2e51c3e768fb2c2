"""`tollgate history [PLACE...]`: the records of runs as series, their steps, and a gate."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from tollgate.base import paths
from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import UserError
from tollgate.history import files, series, text
from tollgate.targets import git

#: Commits of a step that are listed.
_COMMITS = 20


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("history", help="earlier runs as series, with their steps")
    parser.add_argument(
        "places",
        type=Path,
        nargs="*",
        metavar="PLACE",
        help="files of records, or folders that have some; by default reports/history",
    )
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="copy each run's record there")
    parser.add_argument(
        "--gate",
        action="store_true",
        help=f"exit with {ExitCode.FAIL:d} for a rise beyond the effect since the anchor, or a new "
        "step upwards",
    )
    parser.add_argument(
        "--newest", type=_count, default=7, metavar="N", help="a step counts for N runs (7)"
    )
    parser.add_argument(
        "--anchor", metavar="REVISION", help="only comparisons with this; by default the newest's"
    )
    parser.add_argument(
        "--repository",
        type=Path,
        default=paths.SUITE,
        metavar="FOLDER",
        help="a folder in the checkout whose commits are listed",
    )
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> int:
    """Print the history; the exit code is that of the gate, if it is asked for."""
    if not arguments.repository.is_dir():
        raise UserError(f"--repository {arguments.repository} is no folder")
    records = files.read(arguments.places or [paths.HISTORY], _warn)
    if arguments.to:
        new = files.collect(records, arguments.to)
        print(f"{arguments.to}: {new} of {len(records)} records were new")
    found = series.executions(records, arguments.anchor)
    gating = [it for it in found if it.anchor]
    if not gating and (arguments.gate or arguments.anchor):
        what = f"with {arguments.anchor!r}" if arguments.anchor else "with an anchor"
        raise UserError(
            f"none of {len(records)} runs is a comparison {what}: make one with "
            "BASE=REVISION tollgate run -compare"
        )
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def log(old: str, new: str) -> list[str] | None:
        return _log(arguments.repository, old, new)

    for each in found:
        print(*text.lines(each, arguments.newest, log, colour), "", sep="\n")
    if not gating:
        return ExitCode.PASS
    reasons = [it for each in gating for it in text.reasons(each, arguments.newest)]
    print(*text.summary(records, reasons, arguments.newest), sep="\n")
    return ExitCode.FAIL if arguments.gate and reasons else ExitCode.PASS


def _warn(line: str) -> None:
    print(f"tollgate: {line}", file=sys.stderr)


def _log(root: Path, old: str, new: str) -> list[str] | None:
    # Records may be those of others: what is no commit could be an option of git.
    if not all(re.fullmatch("[0-9a-f]{7,64}", it) for it in (old, new)):
        return None
    try:
        found = git.ask(
            root, "log", "--format=%h %s", f"--max-count={_COMMITS + 1}", f"{old}..{new}"
        )
    except (git.GitError, OSError) as problem:
        raise UserError(f"--repository {root}: {problem}") from None
    if found is None:
        return None
    lines = found.splitlines()
    return [*lines[:_COMMITS], "..."] if len(lines) > _COMMITS else lines


def _count(given: str) -> int:
    if not given.isdecimal() or not int(given):
        raise argparse.ArgumentTypeError(f"{given!r} is no number of runs: write 1 or more")
    return int(given)
