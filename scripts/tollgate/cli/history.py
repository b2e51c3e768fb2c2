"""`tollgate history [PLACE...]`: the records of runs as series, their steps, and a gate."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from functools import partial
from pathlib import Path

from tollgate.base import paths
from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import UserError
from tollgate.history import files, series
from tollgate.report import history as text
from tollgate.targets import git

#: Commits of a step that are listed.
_COMMITS = 20


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
        help=f"exit with {ExitCode.FAIL:d} for a rise beyond the effect since the anchor, a new "
        "step upwards, or a FAIL of the newest run that needs no other night",
    )
    parser.add_argument(
        "--newest", type=_count, default=7, metavar="N", help="a step counts for N runs (7)"
    )
    newest = parser.add_mutually_exclusive_group()
    newest.add_argument(
        "--anchor", metavar="REVISION", help="only comparisons with this; by default the newest's"
    )
    newest.add_argument(
        "--run",
        type=Path,
        metavar="FOLDER",
        help="the gate is that of this run, with its anchor, e.g. reports/latest; by default the "
        "newest run of each execution decides",
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
    if arguments.anchor == "":
        raise UserError("--anchor is empty: name the release")
    run = files.of_run(arguments.run, _warn) if arguments.run else None
    records = files.read(_places(arguments), _warn)
    if arguments.to:
        new = files.collect(records, arguments.to)
        print(f"{arguments.to}: {new} of {len(records)} records were new")
    executions = series.executions(records, arguments.anchor, run.id if run else None)
    gating = [it for it in executions if it.anchor]
    if not gating and (arguments.gate or arguments.anchor):
        raise UserError(_no_gate(arguments, len(records)))
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    log = partial(_log, arguments.repository)
    for each in executions:
        print(*text.lines(each, arguments.newest, log, colour), "", sep="\n")
    if not gating:
        return ExitCode.PASS
    failed = () if run else series.failed_since(records, gating)
    reasons = text.reasons(gating, arguments.newest, failed)
    print(*text.summary(gating, reasons, arguments.newest), sep="\n")
    return ExitCode.FAIL if arguments.gate and reasons else ExitCode.PASS


def _places(arguments: argparse.Namespace) -> list[Path]:
    """A run's own record is enough where the history does not have it."""
    if not arguments.run:
        return arguments.places or [paths.HISTORY]
    known = [paths.HISTORY] if paths.HISTORY.exists() else []
    return [*(arguments.places or known), arguments.run]


def _no_gate(arguments: argparse.Namespace, records: int) -> str:
    if arguments.run:
        return (
            f"{arguments.run} measured nothing that can gate: it compares nothing, or it was too "
            "short; see its verdict.md"
        )
    what = f"with {arguments.anchor!r}" if arguments.anchor else "with an anchor"
    return (
        f"none of {records} runs is a comparison {what}: make one with "
        "BASE=REVISION tollgate run -compare"
    )


def _warn(line: str) -> None:
    print(f"tollgate: {line}", file=sys.stderr)


def _log(root: Path, old: str, new: str) -> list[str] | str:
    """The commits behind one, up to another; or in words why they are not known."""
    if not shutil.which("git"):
        return "git is not on PATH: install it"
    # Records may be those of others: what is no commit could be an option of git.
    are_commits = all(re.fullmatch("[0-9a-f]{7,64}", it) for it in (old, new))
    what = ("log", "--format=%h %s", f"--max-count={_COMMITS + 1}", f"{old}..{new}")
    try:
        git.demand(root, "rev-parse", "--git-dir")  # no checkout, or one of another user
        commits = git.ask(root, *what) if are_commits else None
        is_shallow = commits is None and git.is_shallow(root)
    except (git.GitError, OSError) as problem:
        return f"{problem}; name another --repository"
    if commits is None:
        step = git.SHALLOW if is_shallow else "`git fetch` it, or name another --repository"
        return f"{old[:7]}..{new[:7]} is not in this repository: {step}"
    lines = commits.splitlines()
    return [*lines[:_COMMITS], "..."] if len(lines) > _COMMITS else lines


def _count(word: str) -> int:
    if not word.isdecimal() or not int(word):
        raise argparse.ArgumentTypeError(f"{word!r} is no number of runs: write 1 or more")
    return int(word)
