"""The `tollgate` command: the rooms of a live run, on the folder of an archived one.

tollgate judge RUN                      judge again, by the run's own criteria
tollgate judge RUN --criterion 'p95 of search>200ms'    or by others
tollgate report RUN                     draw the dashboards again
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from tollgate import dashboard, evidence, manifest, outputs
from tollgate.jmx import PlanError
from tollgate.judge import judge

ERROR = 1


def main() -> None:
    """Run the command named on the command line; exits with its exit code."""
    arguments = _parser().parse_args()
    try:
        sys.exit(arguments.command(arguments))
    except (manifest.ManifestError, evidence.EvidenceError, PlanError) as problem:
        print(f"tollgate: {problem}", file=sys.stderr)
        sys.exit(ERROR)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """argparse exits with 2, which means that a run was interrupted."""
        self.exit(ERROR, f"tollgate: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tollgate", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    judging = commands.add_parser("judge", help="judge an archived run again")
    judging.add_argument("run", type=Path, help="the run's folder, e.g. reports/latest")
    judging.add_argument(
        "--criterion",
        action="append",
        metavar="TEXT",
        help="judge by this instead of the run's own criteria; may be given several times",
    )
    judging.set_defaults(command=_judge)
    reporting = commands.add_parser("report", help="draw an archived run's dashboards again")
    reporting.add_argument("run", type=Path, help="the run's folder, e.g. reports/latest")
    reporting.set_defaults(command=_report)
    return parser


def _judge(arguments: argparse.Namespace) -> int:
    """Print the verdict; nothing in the run's folder changes."""
    record = manifest.read(arguments.run)
    if arguments.criterion:
        record.criteria = arguments.criterion
        for execution in record.executions:
            execution.criteria = []
    run, settings = evidence.gather(arguments.run, record)
    verdict = judge(run, settings)
    outputs.show(verdict)
    return verdict.exit_code


def _report(arguments: argparse.Namespace) -> int:
    record = manifest.read(arguments.run)
    problems = dashboard.draw_all(
        arguments.run, {each.name: arguments.run / each.jtl for each in record.executions}
    )
    for name, problem in problems.items():
        print(f"tollgate: no dashboard of {name}: {problem}", file=sys.stderr)
    return ERROR if problems else 0
