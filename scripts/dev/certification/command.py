"""scripts/dev/certify: the false-positive rate of the merge gate, and how often it finds a rise.

certify run --minutes 40    live runs, `bzt taurus.yml -compare`; Ctrl-C loses the one under way
certify status              what there is
certify keep                move new runs to those that are committed
certify table               all of it as Markdown, with resampled runs; --gates cpu: by that alone
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

from certification import conditions
from certification.certificate import certificate
from certification.conditions import ConditionError
from certification.live import Limits, Live, LiveError, check_like, session, summary
from certification.store import FOLDER, Store, StoreError
from tollgate.base.exit_codes import ExitCode
from tollgate.base.processes import end_by
from tollgate.cli import Parser
from tollgate.compare.model import METRICS
from tollgate.record.manifest import ManifestError
from tollgate.samples.layout import JtlError

INTERRUPTED = 2


def main() -> None:
    """Run the command named on the command line; exits with its exit code."""
    arguments = _parser().parse_args()
    try:
        arguments.command(arguments, Store(arguments.folder.resolve()))
    except (ConditionError, LiveError, StoreError, JtlError, ManifestError) as problem:
        _say(problem)
        sys.exit(ExitCode.ERROR)
    except KeyboardInterrupt:
        _say("stopped; every finished run is kept")
        sys.exit(INTERRUPTED)


def _say(line: object) -> None:
    print(f"certify: {line}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="certify", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    running = commands.add_parser("run", help="carry on with live runs")
    running.add_argument(
        "--minutes", type=float, default=math.inf, help="start no run after so many"
    )
    running.add_argument("--runs", type=int, default=math.inf, help="start no more than so many")
    running.add_argument(
        "--conditions",
        metavar="LIST",
        help="such as aa*3,work-5,delay-3+noise; default: " + ",".join(conditions.DEFAULT),
    )
    running.add_argument(
        "-o", dest="options", action="append", default=[], metavar="SETTING=VALUE", help="for bzt"
    )
    running.set_defaults(command=_run)
    commands.add_parser("status", help="what there is").set_defaults(command=_status)
    keeping = commands.add_parser("keep", help="move new runs to those that are committed")
    keeping.set_defaults(command=_keep)
    telling = commands.add_parser("table", help="all of it as Markdown")
    telling.add_argument("--sequences", type=int, default=2000, help="resampled runs a condition")
    telling.add_argument("--seed", type=int, default=1, help="of the resampling")
    telling.add_argument(
        "--gates", default="", metavar="LIST", help="that decide, such as cpu; default: the runs'"
    )
    telling.set_defaults(command=_table)
    for each in commands.choices.values():
        each.add_argument("--folder", type=Path, default=FOLDER, help="of new runs")
    return parser


def _run(arguments: argparse.Namespace, store: Store) -> None:
    if arguments.minutes == arguments.runs == math.inf:
        raise ConditionError("say for how long: --minutes 40 or --runs 2")
    names = arguments.conditions and arguments.conditions.split(",")
    weights = conditions.parse(names or conditions.DEFAULT)
    check_like()
    end_by(_interrupt)
    live = Live(store, tuple(arguments.options))
    limits = Limits(arguments.runs, arguments.minutes)
    with store.lock():
        session(store, weights, limits, live, _say)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _status(_: argparse.Namespace, store: Store) -> None:
    runs = store.read()
    for run in runs:
        print(f"{run.began} {run.condition:16} {summary(run)}")
    counts = Counter(run.condition for run in runs)
    listed = ", ".join(f"{n} {condition}" for condition, n in sorted(counts.items()))
    print(f"{len(runs)} runs: {listed}" if runs else "0 runs")


def _keep(_: argparse.Namespace, store: Store) -> None:
    with store.lock():
        for path in store.keep():
            print(path)


def _table(arguments: argparse.Namespace, store: Store) -> None:
    gates = tuple(filter(None, arguments.gates.split(",")))
    if unknown := set(gates) - {*METRICS}:
        raise ConditionError(f"--gates: {unknown.pop()} is no metric: write {', '.join(METRICS)}")
    print(certificate(store, arguments.sequences, arguments.seed, _say, gates), end="")


if __name__ == "__main__":
    main()
