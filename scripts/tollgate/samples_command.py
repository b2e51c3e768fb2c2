"""`tollgate samples RUN [EXECUTION]`: the samples of a run as the CSV that JMeter wrote."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tollgate import manifest
from tollgate.jtl_restore import restored


class SamplesError(Exception):
    """One line: which execution can't be written, and what to name instead."""


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "samples", help="write an archived run's samples as CSV, also those that were compacted"
    )
    parser.add_argument("run", type=Path, help="the run's folder, e.g. reports/latest")
    parser.add_argument("execution", nargs="?", help="its name; needed where a run has several")
    parser.set_defaults(command=write)


def write(arguments: argparse.Namespace) -> int:
    """Write them to standard output. Raises ManifestError, SamplesError or JtlError."""
    record = manifest.read(arguments.run)
    execution = _chosen(record, arguments.execution)
    manifest.check_seal(execution, arguments.run)
    try:
        for chunk in restored(arguments.run / execution.jtl):
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # `| head` has seen enough; Python would complain when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _chosen(record: manifest.Manifest, name: str | None) -> manifest.Execution:
    names = [each.name for each in record.executions]
    found = [each for each in record.executions if name in (None, each.name)]
    if len(found) != 1:
        asked = f"the run has no execution {name!r}" if name else "the run has several executions"
        raise SamplesError(f"{asked}: name one of {', '.join(names)}")
    return found[0]
