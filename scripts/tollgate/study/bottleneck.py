"""What held a cell's throughput: the service, the generator, or neither. Pure.

Operational analysis (P. J. Denning and J. P. Buzen, "The Operational Analysis of Queueing Network
Models", ACM Computing Surveys 10(3), 1978): by the Utilization Law a resource is busy for its
throughput times what a request demands of it, and the one that is busy all the time holds the
throughput. The resources here are the cores that the arm can use, and those of the machine, which
the service and the generator share; where the latter are all busy, whoever demands more of them for
a request holds it.
"""

from __future__ import annotations

import numpy as np

from tollgate.study.model import Bottleneck, CellData

#: A core is never seen wholly busy: looks at counters are a few ticks off, and a closed loop has
#: moments without a request.
BUSY = 0.9
#: Of the machine's cores; less than this that is idle is what the kernel leaves between processes.
IDLE = 0.1
#: Of the measured time for which CPU must be known.
_KNOWN = 0.5


def bottleneck(data: CellData, cores: int, usable_cores: int) -> Bottleneck:
    """Who held the throughput of a cell, and the sentence that says why.

    cores: of the machine. usable_cores: how many the arm could use if it were alone, which is one
    for a single Node process and the workers of a cluster, if the machine has as many cores.
    """
    mean = mean_cores(data)
    service, generator, idle = mean["service"], mean["generator"], mean["idle"]
    if np.isnan([service, generator, idle]).any():
        return Bottleneck("unknown", f"the CPU was not recorded ({_name(data)})")
    usable = max(1, min(usable_cores, cores))
    used = f"the service, PM2 included, used {service:.2f} of the {_cores(usable)} that it can use"
    headroom = max(1.0, usable / service) if service and idle < IDLE * cores else 1.0
    if service >= BUSY * usable:
        return Bottleneck("service", f"{used}, which is {BUSY:.0%} or more", headroom)
    machine = f"{idle:.2f} of the machine's {_cores(cores)} were idle"
    others = cores - idle - service - generator
    if others >= IDLE * cores:
        machine += f", other processes used {others:.2f}"
    if idle >= IDLE * cores:
        return Bottleneck("neither", f"{used}, and {machine}: requests waited for something else")
    who = "generator" if generator >= service else "machine"
    reason = f"{used}, and only {machine}; {_demands(data, generator, service)}"
    return Bottleneck(who, reason, headroom)


def mean_cores(data: CellData) -> dict[str, float]:
    """Mean cores busy with `generator` and `service`, and `idle`, over the windows in which all are
    known; NaN where these are less than half of the measured time."""
    rows = np.array([data.generator_cores, data.service_cores, data.idle_cores], dtype=np.float64)
    known = ~np.isnan(rows).any(axis=0)
    names = ("generator", "service", "idle")
    length = data.window_s[known].sum()
    if not length or length < _KNOWN * data.window_s.sum():
        return dict.fromkeys(names, float("nan"))
    means = rows[:, known] @ data.window_s[known] / length
    return dict(zip(names, means.tolist(), strict=True))


def _demands(data: CellData, generator: float, service: float) -> str:
    """Demand = utilization / throughput, in ms of CPU a request."""
    requests = data.counts.sum()
    if not requests:
        return f"JMeter used {generator:.2f} cores, and no request ended"
    ms = 1000 * data.window_s.sum() / requests
    each = f"{generator * ms:.3g} ms of JMeter's CPU and {service * ms:.3g} ms of the service's"
    return f"a request took {each}"


def _cores(count: int) -> str:
    return "one core" if count == 1 else f"{count} cores"


def _name(data: CellData) -> str:
    cell = data.cell
    return f"{cell.experiment}, {cell.arm}, {cell.users} users"
