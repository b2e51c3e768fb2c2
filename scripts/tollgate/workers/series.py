"""Gathers what the looks at an app's workers measured, as numbers in arrays and nothing else."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tollgate.workers.lines import Line
from tollgate.workers.model import WorkerSeries

#: Name in WorkerSeries and key in the lines.
_MEASURED = {
    "rss": "rss",
    "heap": "heap",
    "cpu": "cpu",
    "loop_delay_p50": "loopDelayP50",
    "loop_delay_p95": "loopDelayP95",
    "requests": "requests",
}
_COUNTED = ("pid", "restarts")


class _Columns:
    def __init__(self) -> None:
        self.second = array("d")
        self.counted = {name: array("q") for name in _COUNTED}
        self.measured = {name: array("d") for name in _MEASURED}

    def add(self, second: float, line: Line) -> None:
        self.second.append(second)
        for name, column in self.counted.items():
            column.append(int(line[name]))
        is_told = bool(line.get("rss"))  # else what is said may be of the process before
        for name, column in self.measured.items():
            value = line.get(_MEASURED[name]) if is_told else None
            column.append(math.nan if value is None else value)

    def series(self, worker: Any) -> WorkerSeries:
        return WorkerSeries(
            worker=str(worker),
            second=np.frombuffer(self.second),
            **{name: np.frombuffer(column, "i8") for name, column in self.counted.items()},
            **{name: np.frombuffer(column) for name, column in self.measured.items()},
        )


class SeriesOf:
    """Keeps what the looks between two moments measured, both in seconds since the epoch."""

    def __init__(self, began_s: float, ended_s: float) -> None:
        self.began_s, self.ended_s = began_s, ended_s
        self._workers: dict[Any, _Columns] = {}

    def passing(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The same lines, noted as they pass. A worker without a process has no pid in them, and is
        left out. One whose memory PM2 can't tell is kept: that nobody knew it must be seen."""
        for line in lines:
            if "event" not in line and line["pid"]:
                second = line["time"] / 1000 - self.began_s
                if 0 <= second <= self.ended_s - self.began_s:
                    self._workers.setdefault(line["worker"], _Columns()).add(second, line)
            yield line

    def series(self) -> tuple[WorkerSeries, ...]:
        """One for each worker, in the order of their numbers."""
        numbers = sorted(self._workers, key=lambda worker: (len(str(worker)), str(worker)))
        return tuple(self._workers[number].series(number) for number in numbers)
