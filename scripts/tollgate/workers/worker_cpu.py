"""workers-cpu.jsonl: the CPU time of each worker of PM2 and all that it has started, once a second.

A line holds `time` in seconds since the epoch and `cpu`, CPU seconds by the worker's pid: by the
whole process's own clock, in nanoseconds, and those of children that it has waited for, in the
kernel's ticks of 10 ms. Only differences between lines mean something. Garbage collection and
compiling are part of it, and so is what a worker does while nobody asks it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import psutil

from tollgate.stats.arrays import Floats
from tollgate.workers import cpu
from tollgate.workers.cpu import CpuRecorder, ProcessTree
from tollgate.workers.lines import WorkersError
from tollgate.workers.model import WorkerCpu

NAME = "workers-cpu.jsonl"
#: Seconds between two readings.
PERIOD_S = 1.0
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


def read(path: Path) -> WorkerCpu | None:
    """What was recorded so far; None where nothing was. The last line may be cut off. Raises
    OSError, or WorkersError with the number of a line that is damaged."""
    if not path.exists():
        return None
    times: list[float] = []
    used: dict[int, list[tuple[int, float]]] = {}
    for number, text in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            line = json.loads(text)
            at_s = float(line["time"])
            spent = {int(pid): float(value) for pid, value in line["cpu"].items()}
            if not np.isfinite([at_s, *spent.values()]).all():
                raise ValueError("not finite")
        except _DAMAGED as error:
            raise WorkersError(f"{path.name}: line {number} is damaged: {error}") from None
        if times and at_s < times[-1]:
            raise WorkersError(f"{path.name}: line {number}: the clock was set back")
        for pid, value in spent.items():
            used.setdefault(pid, []).append((len(times), value))
        times.append(at_s)
    return WorkerCpu(np.array(times), {pid: _column(it, len(times)) for pid, it in used.items()})


def _column(values: Iterable[tuple[int, float]], size: int) -> Floats:
    """float[size]: the values at their places, and NaN at all others."""
    column = np.full(size, np.nan)
    for place, value in values:
        column[place] = value
    return column


class WorkerCpuRecorder(CpuRecorder):
    """Writes workers-cpu.jsonl, by default at the beginning of each second."""

    def __init__(self, path: Path, daemon: int, log: logging.Logger) -> None:
        """daemon: the pid of PM2's, which starts the workers. Raises psutil.Error."""
        ended_early = "the CPU time of the workers is no longer recorded"
        super().__init__(self._write, PERIOD_S, log, ended_early)
        self.path = path
        #: Seconds by which readings come later than whole ones: who divides the seconds of another
        #: beginning wants them at its edges.
        self.phase_s = 0.0
        self._daemon = psutil.Process(daemon)
        self._trees: dict[int, ProcessTree] = {}
        self._children: dict[int, list[psutil.Process]] = {}
        self._looked_at = -cpu.LOOK_S

    def used_ms(
        self, processes: Sequence[Collection[int]], from_s: float, seconds: int
    ) -> tuple[tuple[float | None, ...], ...]:
        """CPU ms in each of so many seconds from `from_s`, since the epoch, by process; None where
        it is not known. processes: of each the pids of its workers, several in cluster mode."""
        try:
            recorded = read(self.path) or WorkerCpu()
        except (OSError, WorkersError) as problem:
            self._log.warning("the CPU time of the workers is not known: %s", problem)
            recorded = WorkerCpu()
        edges_s = np.asarray(from_s + np.arange(seconds + 1), np.float64)
        rows = []
        for pids in processes:
            used_s = np.full(seconds, 0.0 if pids else np.nan)
            for pid in pids:
                used_s += recorded.of_one(pid, edges_s)
            rows.append(
                tuple(None if np.isnan(it) else round(float(it), 3) for it in used_s * 1000)
            )
        return tuple(rows)

    def _pause_s(self) -> float:
        return self._period_s - (time.time() - self.phase_s) % self._period_s

    def _write(self) -> None:
        if time.monotonic() - self._looked_at >= cpu.LOOK_S:
            self._look()
        now = time.time()
        there = {pid: tree for pid, tree in self._trees.items() if not tree.has_ended}
        used = {pid: round(tree.cpu_s(), 9) for pid, tree in there.items()}
        with self.path.open("a") as out:
            out.write(json.dumps({"time": now, "cpu": used}) + "\n")

    def _look(self) -> None:
        """Know who has started whom, and watch the workers that are there."""
        children: dict[int, list[psutil.Process]] = {}
        for each in self._daemon.children(recursive=True):
            try:
                children.setdefault(each.ppid(), []).append(each)
            except psutil.Error:  # it has ended meanwhile
                continue
        before = {pid: tree for pid, tree in self._trees.items() if not tree.has_ended}
        self._children, self._trees = children, {}
        for each in children.get(self._daemon.pid, ()):
            try:
                self._trees[each.pid] = before.get(each.pid) or ProcessTree(each.pid, self._family)
            except psutil.Error:
                continue
        self._looked_at = time.monotonic()

    def _family(self, root: psutil.Process) -> list[psutil.Process]:
        found = [root]
        for each in found:  # which grows
            found += self._children.get(each.pid, ())
        return found
