"""`tollgate doctor`: what is in the way of a run here, and what to do."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from tollgate.base.exit_codes import ExitCode
from tollgate.cli.doctor import finding, installed, machine
from tollgate.cli.doctor.finding import FAIL, Diagnosis
from tollgate.cli.run import KINDS, own_kinds, services


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("doctor", help="what is in the way of a run of this kind here")
    kinds = [*KINDS, *own_kinds()]
    for each in kinds:
        parser.add_argument(f"-{each}", dest="kind", action="store_const", const=each)
    names = [it for it in services() if it not in kinds]
    for each in names:
        parser.add_argument(f"-{each}", dest="service", action="store_const", const=each)
    options = [f"-{each}" for each in (*kinds, *names)]
    parser.set_defaults(command=show, kind=kinds[0], service=None, options=options)


def show(arguments: argparse.Namespace) -> int:
    """Print a line for each finding as soon as it is known; returns 1 if a run can't start here, 2
    after Ctrl-C."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    findings = []
    try:
        for each in _look(arguments.kind, arguments.service):
            findings.append(each)
            print(finding.line(each, colour), flush=True)
    except KeyboardInterrupt:
        print("tollgate: interrupted: what is above holds", file=sys.stderr)
        return ExitCode.INTERRUPTED
    print(f"\n{finding.summary(findings)}")
    return finding.exit_code(findings)


def _look(kind: str, service: str | None) -> Iterator[Diagnosis]:
    found = installed.look()
    yield from found
    node_runs = not any(each.what == "Node" and each.status == FAIL for each in found)
    yield from machine.look(node_runs, kind, service)
