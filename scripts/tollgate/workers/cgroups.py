"""What a process may use of the machine: by its affinity, and by the control groups of its
container."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

#: The groups that this process is in, and where the groups stand.
OWN, CGROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """Whole cores that this process may use, one at least."""
    return max(1, int(min(cores(), quota() or math.inf)))


def cores() -> int:
    """How many cores this process may run on."""
    return len(allowed())


def allowed() -> set[int]:
    """The numbers of the cores that this process may run on."""
    try:
        return os.sched_getaffinity(0)
    except AttributeError:  # macOS
        return set(range(os.cpu_count() or 1))


def quota(own: Path = OWN, root: Path = CGROUPS) -> float | None:
    """The CPU time that a container may use, in cores; None where there is no limit.

    own: /proc/self/cgroup. root: where the control groups stand. The tightest limit of the group
    and of those around it counts (version 2: cpu.max; version 1: cpu.cfs_quota_us).
    """
    files = ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    limits = []
    for folder in groups(own, root):
        for names in files:  # quota and period in microseconds; `max` and -1 are no limit
            values = [word for name in names for word in words(folder / name)]
            if len(values) == 2 and values[0].isdigit() and int(values[0]):
                limits.append(int(values[0]) / int(values[1]))
    return min(limits, default=None)


def groups(own: Path, root: Path) -> Iterator[Path]:
    """The folders of the groups that a process is in, and of those around them."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for _, controllers, path in (line.split(":", 2) for line in lines):
        top = root / controllers if controllers else root
        group = Path(path.lstrip("/"))
        yield from (top / folder for folder in (group, *group.parents))


def words(path: Path) -> list[str]:
    """Of a file; none where it can't be read."""
    try:
        return path.read_text().split()
    except OSError:
        return []
