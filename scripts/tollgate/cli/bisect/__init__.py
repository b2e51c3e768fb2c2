"""`tollgate bisect GOOD BAD [-SERVICE]`: which commit made it slower."""

from __future__ import annotations

import argparse
import sys

from bzt import TaurusConfigError

from tollgate.base.exit_codes import ExitCode
from tollgate.base.processes import end_by
from tollgate.base.text import UserError
from tollgate.cli.bisect import words
from tollgate.cli.bisect.asked import Asked
from tollgate.cli.bisect.comparison import Runs
from tollgate.cli.bisect.search import Search
from tollgate.cli.run import services
from tollgate.targets.builds import NotBuiltError
from tollgate.targets.checkout import PlaceError
from tollgate.targets.git import GitError


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("bisect", help="which commit made a service slower")
    parser.add_argument("good", metavar="GOOD", help="a commit that is fast enough")
    parser.add_argument("bad", metavar="BAD", help="a later one that is slower")
    own = services()
    for each in own:
        parser.add_argument(f"-{each}", dest="names", action="append_const", const=each)
    parser.add_argument(
        "-o",
        dest="settings",
        action="append",
        metavar="PATH=VALUE",
        help="for each comparison, e.g. modules.compare.budget=5m",
    )
    options = [f"-{it}" for it in own]
    parser.set_defaults(command=bisect, names=[], settings=[], options=options)


def bisect(arguments: argparse.Namespace) -> int:
    """Find the commit, and print it. Returns PASS where it is found and confirmed, INCONCLUSIVE
    where it is not, and else the code of what put an end to it."""
    runs = Runs()
    try:
        asked = Asked.of(arguments)
        end_by(runs.interrupt)
        return Search(asked, runs).run()
    except (TaurusConfigError, GitError, PlaceError, NotBuiltError) as problem:
        raise UserError(str(problem)) from None
    except KeyboardInterrupt:
        print(f"tollgate: {words.INTERRUPTED}", file=sys.stderr)
        return ExitCode.INTERRUPTED
