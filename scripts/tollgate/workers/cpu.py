"""The CPU time of processes and all that they start, and of the machine, while they run."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import psutil

from tollgate.stats.arrays import Flags, Floats
from tollgate.workers.cgroups import allowed

#: Seconds between two looks for new processes: a look reads the state of every process there is.
LOOK_S = 2.0
#: Of a clock's number: that it is a process's, all of its threads together (the kernel's
#: CPUCLOCK_SCHED, include/linux/posix-timers.h; what clock_getcpuclockid(3) of another pid gives).
_OF_PROCESS = 2


class ProcessTree:
    """The CPU time of a process and all that it has started, ended ones included."""

    def __init__(
        self,
        pid: int,
        family: Callable[[psutil.Process], list[psutil.Process]] | None = None,
    ) -> None:
        """family: finds a process and all that it has started, parents before their children; who
        watches several trees looks for their processes once. Raises psutil.Error if there is no
        such process."""
        self._root = psutil.Process(pid)
        self._family = family or _family
        self._members: list[psutil.Process] = []
        self._looked_at = -LOOK_S
        self._lost = 0.0
        self._last = 0.0

    def cpu_s(self) -> float:
        """Cumulative CPU seconds, user and system; never less than the time before.

        The kernel adds the time of an ended process to its parent's as soon as the parent has
        waited for it, so that nothing is lost between two looks, and short-lived processes that
        no look has seen are counted as well.
        """
        if time.monotonic() - self._looked_at >= LOOK_S:
            self._look()
        spent = self._spent()
        # A process whose parent did not wait for it, because that had ended before, say.
        self._lost += max(0.0, self._last - (spent + self._lost))
        self._last = max(self._last, spent + self._lost)  # where a sum was rounded down
        return self._last

    @property
    def has_ended(self) -> bool:
        return not self._root.is_running()

    def _look(self) -> None:
        try:  # parents before their children, see _spent
            self._members = self._family(self._root)
        except psutil.Error:
            self._members = [each for each in self._members if each.pid != self._root.pid]
        self._looked_at = time.monotonic()

    def _spent(self) -> float:
        """One reading of all members. A child that is there after its parent was read is in the
        parent's time not yet; where one is gone, all are read anew, lest it be missed."""
        while True:
            spent, alive = 0.0, []
            for process in self._members:
                try:
                    spent += _cpu_s(process)
                except psutil.Error:
                    continue
                alive.append(process)
            everyone_was_there = len(alive) == len(self._members)
            self._members = alive
            if everyone_was_there:
                return spent


def _family(root: psutil.Process) -> list[psutil.Process]:
    return [root, *root.children(recursive=True)]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()  # macOS tells nothing of children: their time is kept as lost
    return float(_own_s(process.pid, times) + times.children_user + times.children_system)


def _own_s(pid: int, times: Any) -> float:
    """By the process's own clock, in nanoseconds; where there is none by the kernel's ticks of 10
    ms, and so where it has ended since its times were read."""
    if sys.platform == "linux":
        with suppress(OSError):
            return time.clock_gettime((~pid << 3) | _OF_PROCESS)
    return float(times.user + times.system)


class CpuRecorder:
    """Reads CPU times from `start` to `stop`, in a thread of its own."""

    def __init__(
        self, read: Callable[[], None], period_s: float, log: logging.Logger, ended_early: str
    ) -> None:
        """read: takes one reading and keeps it. period_s: seconds between two readings.
        ended_early: the warning if one fails; no later one is taken then."""
        self._read, self._period_s = read, period_s
        self._log, self._ended_early = log, ended_early
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._record, name="cpu-recorder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take the last reading; returns when it is there."""
        self._ended.set()
        self._thread.join()

    def _pause_s(self) -> float:
        """Seconds until the next reading."""
        return self._period_s

    def _record(self) -> None:
        began = time.monotonic()
        try:
            self._read()
            while not self._ended.wait(self._pause_s()):
                self._read()
            self._read()
        except Exception as problem:  # a thread's error is not shown: it would be lost
            self._log.warning("%s: %r", self._ended_early, problem)
        self._log.debug(
            "recording CPU time took %.2f s of CPU in %.0f s",
            time.thread_time(),
            time.monotonic() - began,
        )


def is_recorded(at_s: Floats, moments_s: Floats, silence_s: float) -> Flags:
    """bool[moments]: whether each lies between two readings that are no farther apart than
    silence_s. at_s: when was read, ascending."""
    if len(at_s) < 2:
        return np.zeros(len(moments_s), bool)
    after = np.clip(np.searchsorted(at_s, moments_s), 1, len(at_s) - 1)
    near: Flags = at_s[after] - at_s[after - 1] <= silence_s
    near &= (moments_s >= at_s[0]) & (moments_s <= at_s[-1])
    return near


def idle_s() -> float:
    """CPU seconds in which the machine had nothing to do; what other guests of its host took is
    not among them."""
    return _idle_s(psutil.cpu_times())


def own_cores() -> tuple[int, float]:
    """(how many CPUs this process may run on, CPU seconds in which they had nothing to do)"""
    every, ours = psutil.cpu_times(percpu=True), allowed()
    # Cores that are switched off are not among them: then numbers are no places.
    mine = [every[it] for it in ours] if max(ours) < len(every) else every
    return len(mine), sum(map(_idle_s, mine))


def _idle_s(times: Any) -> float:
    return float(times.idle + getattr(times, "iowait", 0.0))
