"""`tollgate doctor`: what is in the way of a run here, and of believing it; and what to do."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator

from tollgate.doctor import finding, installed, machine, measure, ports, quiet
from tollgate.doctor.finding import FAIL, WARN, Finding

INTERRUPTED = 2


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("doctor", help="what is in the way of a run on this machine")
    parser.add_argument("--quick", action="store_true", help="without the A/A of ten seconds")
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> int:
    """Print a line for each finding as soon as it is known; returns 1 if a run can't start here or
    could not be believed, 2 after Ctrl-C."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    findings = []
    try:
        for each in _look(arguments.quick):
            findings.append(each)
            print(finding.line(each, colour), flush=True)
    except KeyboardInterrupt:
        print("tollgate: interrupted: what is above holds", file=sys.stderr)
        return INTERRUPTED
    print(f"\n{finding.summary(findings)}")
    return finding.exit_code(findings)


def _look(quick: bool) -> Iterator[Finding]:
    found = installed.look()
    yield from found
    node_runs = not any(each.what == "Node" and each.status == FAIL for each in found)
    places = ports.look(node_runs)
    yield from places
    yield from machine.look()
    if quick:
        return
    if ports.another_run(places):
        yield Finding(WARN, "A/A", "not measured beside another run", "wait for it to end")
    elif not shutil.which("node"):
        yield Finding(WARN, "A/A", "not measured: its servers need Node", "install Node")
    else:
        yield from _quiet()


def _quiet() -> list[Finding]:
    try:
        return quiet.judge(measure.measure())
    except measure.CannotMeasure as problem:
        return [Finding(FAIL, "A/A", str(problem), "try `node scripts/tollgate/doctor/server.js`")]
