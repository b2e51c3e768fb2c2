"""cpu.jsonl: who used the machine's CPUs while the study ran, five times a second.

Each line holds `time` in seconds since the epoch and, cumulative since some moment before the
first line, CPU seconds: `generator` of JMeter's processes, `service` of those under PM2's daemon,
`idle` of the machine. `cores`: how many CPUs it has. Only differences between lines mean
something: mean cores in a window. A counter at a moment between two lines is interpolated; where
lines are missing, nothing is known.
"""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path

import numpy as np

from tollgate.base.text import UserError
from tollgate.stats.arrays import Floats
from tollgate.study.model import COUNTERS
from tollgate.workers.cpu import CpuRecorder, ProcessTree, idle_s, is_recorded

#: Seconds between two lines beyond which what happened in between is not known.
SILENCE_S = 1.0


class CpuError(UserError, ValueError):
    """cpu.jsonl that can't be read. One line: file, line, problem, next step."""


def mean_cores(path: Path, from_s: Floats, to_s: Floats) -> Floats:
    """float[3, W]: mean cores by COUNTERS in each window [from_s, to_s] of seconds since the epoch.

    NaN for a window that does not lie wholly within the record, or with an end in a silence of it,
    and for all of them without the file. Raises CpuError for a line that is none of the recorder's;
    the last one may be cut off.
    """
    record = _read(path)
    cores = np.full((len(COUNTERS), len(from_s)), np.nan)
    if len(record) < 2:
        return cores
    time = record[:, 0]
    starts, ends = (is_recorded(time, moments, SILENCE_S) for moments in (from_s, to_s))
    is_covered = starts & ends & (to_s > from_s)
    low, high = from_s[is_covered], to_s[is_covered]
    for row, counter in enumerate(record.T[1:]):
        used = np.interp(high, time, counter) - np.interp(low, time, counter)
        cores[row, is_covered] = used / (high - low)
    return cores


def _read(path: Path) -> Floats:
    """float[lines, 4]: time and COUNTERS."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return np.empty((0, 4))
    except OSError as error:
        raise CpuError(f"{path}: cannot be read: {error.strerror}") from None
    # A line without its end was cut off; whole files end in an empty one.
    rows = [_row(path, number, line) for number, line in enumerate(lines[:-1], 1)]
    record = np.array(rows, dtype=np.float64).reshape(-1, 4)
    back = np.flatnonzero(np.diff(record[:, 0]) <= 0)
    if len(back):
        raise CpuError(f"{path}:{back[0] + 2}: the clock was set back; run the study again")
    return record


def _row(path: Path, number: int, line: bytes) -> list[float]:
    try:
        values = json.loads(line)
        row = [float(values[name]) for name in ("time", *COUNTERS)]
        if not np.isfinite(row).all():
            raise ValueError("not finite")
    except (ValueError, TypeError, KeyError) as error:
        problem = f"is no line of the recorder's: {error}"
        raise CpuError(f"{path}:{number}: {problem}; run the study again") from None
    return row


#: Seconds between two lines: a block's window of 0.75 s has three or four.
PERIOD_S = 0.2


class StudyCpuRecorder(CpuRecorder):
    """Writes cpu.jsonl."""

    def __init__(self, path: Path, generator: int, service: int, log: logging.Logger) -> None:
        """generator, service: pids of JMeter and of PM2's daemon. Raises psutil.Error."""
        super().__init__(self._write, PERIOD_S, log, f"study: {path.name} ends before the run")
        self.path = path
        self._trees = {"generator": ProcessTree(generator), "service": ProcessTree(service)}

    def _write(self) -> None:
        with self.path.open("a") as out:
            out.write(self._line())

    def _line(self) -> str:
        now = time.time()
        spent = {name: round(tree.cpu_s(), 3) for name, tree in self._trees.items()}
        idle = round(idle_s(), 3)
        return json.dumps({"time": now, **spent, "idle": idle, "cores": os.cpu_count()}) + "\n"
