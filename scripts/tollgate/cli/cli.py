"""The `tollgate` command.

tollgate init [FOLDER]                  make a suite in a repository
tollgate run [-KIND]                    run the suite of this folder: tollgate run --help
tollgate bisect GOOD BAD [-SERVICE]     find the commit that made it slower
tollgate judge RUN                      judge again, by the run's own criteria
tollgate judge RUN --criterion 'p95 of search>200ms'    or by others
tollgate judge RUN --json               print it as verdict.json has it
tollgate report RUN                     make its page and dashboards again; of a study as well
tollgate report RUN --dashboards        also of more samples than a run itself draws them from
tollgate report reports                 the list of all runs again
tollgate export RUN --otlp URL          send it to a collector of OpenTelemetry, with its own times
tollgate export RUN --openmetrics FILE  write it as OpenMetrics text
tollgate merge RUN... --to FOLDER       judge the shares of a load, see ENGINE, as one run
tollgate history [PLACE...] [--gate]    what earlier runs found, with steps and their commits
tollgate engine k/N                     be a remote engine for a run with ENGINES
tollgate plan -SERVICE [-KIND]          write the plan that such a run would have
tollgate gui PLAN                       open a plan in JMeter's window
tollgate forecast FILE                  check a forecast and show the load that comes of it
tollgate new target NAME [--url URL]    make the files of a target
tollgate install [--from ARCHIVE]       install JMeter and PM2, which `run` does by itself
tollgate doctor [-KIND]                 what is in the way of such a run on this machine
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path

from tollgate.base import paths
from tollgate.base.exit_codes import ExitCode
from tollgate.base.text import UserError, did_you_mean
from tollgate.cli import (
    Parser,
    bisect,
    doctor,
    engine,
    export,
    forecast,
    gui,
    history,
    merge,
    new_target,
    plan,
    run,
)
from tollgate.cli.init import command as init
from tollgate.cli.version import ShowVersions
from tollgate.gather.context import refuse_lower_bounds
from tollgate.gather.early_decisions import judged_until_ms
from tollgate.gather.judged import judged
from tollgate.install import assemble
from tollgate.record import manifest
from tollgate.report import dashboard
from tollgate.report import study as study_report
from tollgate.report import write as outputs
from tollgate.report.pages.run import write as run_page
from tollgate.report.pages.runs import build as runs_page

#: Commands of modules of their own, in the order of the help.
OWN = (init, bisect, export, merge, history, engine, forecast, plan, gui, new_target, doctor)


def main() -> None:
    """Run the command named on the command line; exits with its exit code."""
    parser = _parser()
    arguments, rest = parser.parse_known_args()
    if rest:
        options = getattr(arguments, "options", ())
        step = f": {did_you_mean(rest[0], options)}" if options else ""
        parser.error(f"unrecognized arguments: {' '.join(rest)}{step}")
    if sys.stdout is None:
        sys.exit("tollgate: standard output is closed, and there is something to print: open it")
    try:
        code = arguments.command(arguments)
        sys.stdout.flush()
    except (UserError, OSError) as problem:
        code = ExitCode.ERROR
        if isinstance(problem, OSError):
            # Nothing more goes to standard output: Python would try once more as it ends.
            with contextlib.suppress(OSError, AttributeError):  # closed, or no file at all
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):  # a reader such as `head` has enough
            for line in str(problem).splitlines() or [type(problem).__name__]:
                print(f"tollgate: {line}", file=sys.stderr)
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="tollgate", description=__doc__.split("\n")[0])
    parser.add_argument("-C", metavar="FOLDER", help="as if it were called in that folder")
    parser.add_argument("--version", nargs=0, action=ShowVersions, help="of all that a run uses")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("run", help="run the suite of this folder: tollgate run --help")
    installing = commands.add_parser("install", help="install JMeter and PM2 if they are missing")
    installing.add_argument(
        "--from",
        dest="source",
        metavar="ARCHIVE",
        help="take JMeter from this file, folder or URL, whose SHA-256 is checked; by default from "
        "Tollgate's release, or by Maven where there is none",
    )
    installing.set_defaults(command=_install)
    judging = commands.add_parser("judge", help="judge an archived run again")
    judging.add_argument("run", type=Path, help="the run's folder, e.g. reports/latest")
    judging.add_argument(
        "--criterion",
        action="append",
        metavar="TEXT",
        help="judge by this instead of the run's own criteria: fails if it applies, as in "
        "'p95 of search>250ms'; may be given several times",
    )
    as_json = "print the verdict as verdict.json has it"
    judging.add_argument("--json", action="store_true", help=as_json)
    judging.set_defaults(command=_judge)
    reporting = commands.add_parser("report", help="make an archived run's reports again")
    reporting.add_argument("run", type=Path, help="a run's folder, or that of all runs, reports")
    reporting.add_argument(
        "--dashboards",
        action="store_true",
        help="however many samples there are: it takes JMeter minutes and gigabytes of memory",
    )
    reporting.set_defaults(command=_report)
    for each in OWN:
        each.add_to(commands)
    return parser


def _install(arguments: argparse.Namespace) -> int:
    assemble.provide(arguments.source)
    if (paths.SUITE / paths.RUN_FILE).is_file():
        run.lay_out_schema()
    return 0


def _judge(arguments: argparse.Namespace) -> int:
    """Print the verdict; nothing in the run's folder changes."""
    record = manifest.read(arguments.run)
    if arguments.criterion:
        executions = [replace(it, criteria=[]) for it in record.executions]
        record = replace(record, criteria=arguments.criterion, executions=executions)
    outcome = judged(arguments.run, record)
    if arguments.criterion:
        refuse_lower_bounds(it for each in outcome.run.executions for it in each.criteria)
    if arguments.json:
        print(outputs.to_json(outcome.verdict, outcome.run, record), end="")
    else:
        outputs.show(outcome.verdict)
    return outcome.verdict.exit_code


def _report(arguments: argparse.Namespace) -> int:
    if runs_page.holds_runs(arguments.run):
        print(runs_page.write(arguments.run))
        return 0
    record = manifest.read(arguments.run)
    try:
        assemble.provide()
    except assemble.InstallError as problem:  # only dashboards need JMeter
        print(f"tollgate: {problem}", file=sys.stderr)
    jtls = {each.name: arguments.run / each.jtl for each in record.executions if each.jtl}
    until_ms = judged_until_ms(arguments.run, record)
    problems = dashboard.draw_all(arguments.run, jtls, arguments.dashboards, until_ms)
    for name, why in problems.items():
        print(f"tollgate: no dashboard of {name}: {why}", file=sys.stderr)
    study = study_report.write(arguments.run) if study_report.is_study(arguments.run) else None
    if study:
        print(study_report.to_table(study))
    print(run_page.write(arguments.run, study=study))
    return ExitCode.ERROR if problems else 0
