"""Reads the lines of workers.jsonl one by one, so that memory does not grow with the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

#: A line as watch-workers.js writes it: a look at one worker, or with `event` what became of one.
Line = dict[str, Any]
#: One look: seconds since the epoch, and the line of each worker.
Look = tuple[float, dict[Any, Line]]
_NUMBERS = ("time", "pid", "restarts")


class WorkersError(ValueError):
    """One line: what is wrong with workers.jsonl, and where."""


class ClockSetBackError(WorkersError):
    """A look at the workers is older than the one before it."""


def lines_of(path: Path, app: str) -> Iterator[Line]:
    """The app's lines, in the order in which they were written.

    A last line that the watcher was killed in the middle of is left out. Raises OSError, or
    WorkersError with the number of a line that is damaged.
    """
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith(b"\n"):
                return
            try:
                line = json.loads(text)
                is_mine = line["app"] == app
                if is_mine:
                    _check(line)
            except (ValueError, TypeError, KeyError) as error:
                raise WorkersError(f"line {number} is damaged: {_reason(error)}") from None
            if is_mine:
                yield line


def _check(line: Line) -> None:
    names = ("time", "pid", "event") if "event" in line else (*_NUMBERS, "status")
    for name in ("worker", *names):
        value = line[name]
        if not isinstance(value, int | float if name in _NUMBERS else str | int):
            raise ValueError(f"{name} is {value!r}")


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error).splitlines()[0]


def looks_of(lines: Iterable[Line], events: list[Line]) -> Iterator[Look]:
    """The lines gathered into looks; those about events go to `events`.

    Raises ClockSetBackError.
    """
    time, look = None, {}
    for line in lines:
        if "event" in line:
            events.append(line)
            continue
        if line["time"] != time:
            if look:
                yield time / 1000, look
                if line["time"] < time:
                    raise ClockSetBackError(f"the look of {line['time']} follows that of {time}")
            time, look = line["time"], {}
        look[line["worker"]] = line
    if look:
        yield time / 1000, look
