"""Reads the lines of workers.jsonl one by one, so that memory does not grow with the run.

SeriesOf gathers on the way what the looks measured, as numbers in arrays and nothing else.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tollgate.workers.model import WorkerSeries

#: A line as watch-workers.js writes it: a look at one worker, or with `event` what became of one.
Line = dict[str, Any]
#: One look: seconds since the epoch, and the line of each worker.
Look = tuple[float, dict[Any, Line]]
_NUMBERS = ("time", "pid", "restarts")
_LARGEST = 2.0**53
#: What was measured of a worker, in the order of WorkerSeries.
_MEASURED = ("rss", "heap", "cpu", "loopDelayP50", "loopDelayP95", "requests")


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
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise WorkersError(f"line {number} is damaged: {_reason(error)}") from None
            if is_mine:
                yield line


def _check(line: Line) -> None:
    names = ("time", "pid", "event") if "event" in line else (*_NUMBERS, "status")
    for name in ("worker", *names):
        value = line[name]
        is_number = isinstance(value, int | float) and abs(value) < _LARGEST
        if not is_number and (name in _NUMBERS or not isinstance(value, str)):
            raise ValueError(f"{name} is {value!r:.40}")


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    return str(error).splitlines()[0]


def looks_of(lines: Iterable[Line], events: list[Line]) -> Iterator[Look]:
    """The lines gathered into looks; those about events go to `events`.

    Raises ClockSetBackError.
    """
    time: float = math.nan
    look: dict[Any, Line] = {}
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


class SeriesOf:
    """Keeps what the looks between two moments measured, both in seconds since the epoch."""

    def __init__(self, began_s: float, ended_s: float) -> None:
        self.began_s, self.ended_s = began_s, ended_s
        # Of each worker one look after the other: second, pid, restarts, and what was measured.
        self._workers: dict[Any, array[float]] = {}

    def passing(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The same lines, noted as they pass. A worker without a process has no pid in them, and is
        left out. One whose memory PM2 does not know is kept: that it was not known must be seen."""
        for line in lines:
            if "event" not in line and line["pid"]:
                second = line["time"] / 1000 - self.began_s
                if 0 <= second <= self.ended_s - self.began_s:
                    is_known = bool(line.get("rss"))  # else they may be of the process before
                    measured = [line.get(name) if is_known else None for name in _MEASURED]
                    values = [math.nan if value is None else value for value in measured]
                    look = second, int(line["pid"]), int(line["restarts"]), *values
                    self._workers.setdefault(line["worker"], array("d")).extend(look)
            yield line

    def series(self) -> tuple[WorkerSeries, ...]:
        """One for each worker, in the order of their numbers."""
        numbers = sorted(self._workers, key=lambda worker: (len(str(worker)), str(worker)))
        return tuple(_series(str(number), self._workers[number]) for number in numbers)


def _series(worker: str, values: array[float]) -> WorkerSeries:
    columns = np.frombuffer(values).reshape(-1, 3 + len(_MEASURED)).T.copy()
    second, pid, restarts, rss, heap, cpu, p50, p95, requests = columns
    pids, counts = pid.astype(np.int64), restarts.astype(np.int64)
    return WorkerSeries(worker, second, pids, counts, rss, heap, cpu, p50, p95, requests)
