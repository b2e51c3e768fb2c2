"""What watching the workers cost: CPU seconds of the watcher and of PM2's daemon."""

from __future__ import annotations

import time
from collections.abc import Mapping

import psutil


class WatchingCost:
    """Measured from the moment it is made. Read it again and again: of a process that is gone by
    then, the last reading counts."""

    def __init__(self, watcher: int, daemon: int | None) -> None:
        """Pids; None for a daemon that is not known."""
        self._began = self._read = time.monotonic()
        self._processes = {"watcher_cpu_s": _process(watcher), "pm2_cpu_s": _process(daemon)}
        self._before = {name: _cpu(process) for name, process in self._processes.items()}
        self._now = dict(self._before)

    def read(self) -> None:
        """Take a reading."""
        self._read = time.monotonic()
        found = {name: _cpu(process) for name, process in self._processes.items()}
        self._now |= {name: spent for name, spent in found.items() if spent is not None}

    def so_far(self) -> dict[str, float | None]:
        """run.json's `watching`: CPU seconds by the last reading, and the seconds that passed until
        then. pm2_cpu_s is all that the daemon did meanwhile, the dealing of connections included:
        watching cost that much at most. None for a process that could not be measured."""
        spent: dict[str, float | None] = {}
        for name, before in self._before.items():
            now = self._now[name]
            spent[name] = None if before is None or now is None else round(now - before, 3)
        return {**spent, "wall_s": round(self._read - self._began, 3)}


def share(watching: Mapping[str, float | None] | None) -> float | None:
    """Of one core, from run.json's `watching`. None where it was not measured."""
    names = ("watcher_cpu_s", "pm2_cpu_s", "wall_s")
    watcher_s, pm2_s, wall_s = map((watching or {}).get, names)
    if watcher_s is None or pm2_s is None or not wall_s:
        return None
    return (watcher_s + pm2_s) / wall_s


def _process(pid: int | None) -> psutil.Process | None:
    try:
        return None if pid is None else psutil.Process(pid)
    except psutil.Error:
        return None


def _cpu(process: psutil.Process | None) -> float | None:
    try:
        if process is None or not process.is_running():
            return None
        times = process.cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)
