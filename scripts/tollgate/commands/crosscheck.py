"""`crosscheck ARM URL USERS SECONDS LEAD_S OUTPUT.json`: one block of autocannon, which ARM names.

plans/study.jmx calls it. The result, a ToolResult, is written to OUTPUT.json,
whole or not at all; the exit code is 0, or 1 with one line on stderr.

LEAD_S, the part of a block that JMeter leaves out, is checked and goes unused: autocannon can't
leave out its beginning (see crosscheck_tools.py). It measures for SECONDS.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import psutil

from tollgate.base import atomic
from tollgate.study.crosscheck_tools import TOOL, ToolError, ToolLoad, run

USAGE = "crosscheck ARM URL USERS SECONDS LEAD_S OUTPUT.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    signal.signal(signal.SIGTERM, _end)
    try:
        load, path = _read(sys.argv[1:] if arguments is None else arguments)
        result = run(load)
        atomic.write(path, json.dumps(asdict(result)) + "\n")
    except ToolError as problem:
        print(f"crosscheck: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"crosscheck: {problem.strerror}: {problem.filename}", file=sys.stderr)
        return 1
    return 0


def _end(_signal: int, _frame: object) -> NoReturn:
    """JMeter ends a command that takes too long: the generator that runs must end with it, even one
    that has been started this very moment and is held by no variable yet."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    sys.exit(1)


def _read(arguments: Sequence[str]) -> tuple[ToolLoad, Path]:
    if len(arguments) != len(USAGE.split()) - 1:
        raise ToolError(f"{len(arguments)} arguments given, usage: {USAGE}")
    tool, url, users, seconds, lead, output = arguments
    if tool != TOOL:
        raise ToolError(f"ARM is {tool!r}, which must be {TOOL}")
    load = ToolLoad(url, _count("USERS", users), _count("SECONDS", seconds))
    try:
        fits = 0 <= float(lead) < load.seconds
    except ValueError:
        fits = False
    if not fits:
        raise ToolError(f"LEAD_S is {lead!r}, which must be at least 0 and less than SECONDS")
    return load, Path(output)


def _count(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ToolError(f"{name} is {text!r}, which must be a whole number of at least 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
