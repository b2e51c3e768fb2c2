"""The machine: what of it a run may use, what else uses it, what makes its speed vary.

Where a file of Linux is missing, as in most virtual machines or on macOS, the finding says that it
can't be read, and nothing is concluded from that.
"""

from __future__ import annotations

import os
from pathlib import Path

import psutil
from bzt import TaurusConfigError

from tollgate.base.paths import ECOSYSTEM, SUITE
from tollgate.cli.doctor.finding import FAIL, OK, WARN, Diagnosis
from tollgate.cli.doctor.started import started
from tollgate.install import tools
from tollgate.targets import leftovers, lock, pm2, probe
from tollgate.workers.cgroups import CGROUPS, OWN, cores, groups, quota, words

GIB = 1 << 30
#: JMeter takes 0.5 GiB of heap and as much beside it, each worker some 0.1, bzt 0.2.
FREE_MEMORY = {FAIL: 0.75 * GIB, WARN: 1.5 * GIB}
#: A day's samples take some 100 MB, a bootstrap 1 GiB.
FREE_DISK = {FAIL: 0.25 * GIB, WARN: 2 * GIB}
#: The share of the cores that something else may keep busy.
BUSY = 0.25
GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
#: The next step where the machine's speed may vary: a comparison of the code with itself.
NOISE = "`BASE=HEAD tollgate run -compare` shows whether a change can be seen all the same"


def look(node_runs: bool, kind: str, service: str | None = None) -> list[Diagnosis]:
    """node_runs: whether there is a Node to read ecosystem.config.js with. kind: of the run whose
    ports are looked at."""
    usable = cores()
    return [
        _another_run(),
        *_ports(node_runs, kind, service),
        judge_cores(os.cpu_count() or 1, usable, quota(OWN, CGROUPS)),
        judge_room("memory", memory(OWN, CGROUPS), FREE_MEMORY),
        judge_room("disk", psutil.disk_usage(str(SUITE)).free, FREE_DISK),
        judge_load(os.getloadavg()[0], usable),
        judge_governors({path.read_text().strip() for path in Path("/").glob(GOVERNORS[1:])}),
    ]


def _another_run() -> Diagnosis:
    pid = lock.holder()
    if pid is None:
        return Diagnosis(OK, "other runs", "none is under way in this suite")
    todo = "wait for it or end it; two runs measure each other"
    return Diagnosis(FAIL, "other runs", f"one is under way (bzt with pid {pid})", todo)


def _ports(node_runs: bool, kind: str, service: str | None) -> list[Diagnosis]:
    if not node_runs or not tools.pm2().exists():
        state = f"not looked at: they stand in {ECOSYSTEM.name}, which Node and PM2 read"
        return [Diagnosis(WARN, "ports", state, "install these first")]
    try:
        apps = started(kind, os.environ, service)
    except (pm2.Pm2Error, TaurusConfigError, OSError, ValueError) as problem:
        todo = f"correct {ECOSYSTEM.name} or taurus.yml"
        return [Diagnosis(FAIL, "ports", str(problem), todo)]
    if not apps:
        return [Diagnosis(OK, "ports", f"none is needed: -{kind} starts no app")]
    taken = []
    places = [(app, port) for app in apps for port in app.ports]
    for app, port in places:
        if probe.why_taken(pm2.HOST, port):
            state = f"of app {app.name}: in use by {leftovers.port_owner(port)}"
            todo = f"end it, or set PORT_{app.name.upper().replace('-', '_')} to a free port"
            taken.append(Diagnosis(FAIL, f"port {port}", state, todo))
    free = ", ".join(str(port) for _, port in places)
    return taken or [Diagnosis(OK, "ports", f"free: {free}")]


def memory(own: Path, root: Path) -> float:
    """The bytes that are free on the machine, or in the container where that leaves fewer.

    own, root: as for quota. The tightest of the groups counts (version 2: memory.max; version 1:
    memory.limit_in_bytes)."""
    left = [room for folder in groups(own, root) if (room := _room(folder)) is not None]
    return min([psutil.virtual_memory().available, *left])


def _room(folder: Path) -> int | None:
    """Bytes up to the limit of one group, None where it has none."""
    limit = words(folder / "memory.max") or words(folder / "memory.limit_in_bytes")
    used = words(folder / "memory.current") or words(folder / "memory.usage_in_bytes")
    if not (limit and used and limit[0].isdigit()):
        return None
    stat = words(folder / "memory.stat")
    counts = dict(zip(stat[::2], stat[1::2], strict=False))
    # Files that were read and not again since: the kernel drops them before it refuses anything.
    cached = int(counts.get("total_inactive_file", counts.get("inactive_file", 0)))
    return max(int(limit[0]) - int(used[0]) + cached, 0)


def judge_cores(seen: int, usable: int, limit: float | None) -> Diagnosis:
    """seen: by Node as well, which starts a worker for each where `instances` is `max`."""
    may = min(float(usable), limit or float(usable))
    if may < seen:
        todo = f"set `instances` in {ECOSYSTEM.name}: `max` starts {seen} workers"
        return Diagnosis(WARN, "cores", f"{seen}, of which {may:g} may be used", todo)
    if seen < 2:
        todo = "use a machine with two or more: JMeter and the service share this one"
        return Diagnosis(WARN, "cores", "1", todo)
    return Diagnosis(OK, "cores", str(seen))


def judge_room(name: str, free: float, least: dict[str, float]) -> Diagnosis:
    """Of memory or disk, in bytes."""
    status = next((each for each in (FAIL, WARN) if free < least[each]), OK)
    todo = f"make room: {least[WARN] / GIB:g} GiB would do"
    return Diagnosis(status, name, f"{free / GIB:.1f} GiB free", todo)


def judge_load(load: float, usable: int) -> Diagnosis:
    """load: processes at work or waiting for a core, over the last minute."""
    status = OK if load <= BUSY * usable else WARN
    found = f"{load:.2f} on {usable} cores in the last minute"
    return Diagnosis(status, "load", found, f"end what else runs here; {NOISE}")


def judge_governors(governors: set[str]) -> Diagnosis:
    """What decides the frequency of the cores."""
    status = OK if governors <= {"performance"} else WARN
    found = ", ".join(sorted(governors)) or "can't be read here, as in most virtual machines"
    steady = "`cpupower frequency-set -g performance` keeps it from following the load"
    return Diagnosis(status, "frequency", found, f"{steady}; {NOISE}")
