"""What a request costs on this machine, measured before a comparison begins."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import psutil

from tollgate.compare import pace
from tollgate.compare.pace import Cost
from tollgate.samples.layout import JtlError
from tollgate.samples.single import read_samples
from tollgate.samples.store import Growing
from tollgate.targets import pm2
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.rerun_load import rerun_load
from tollgate.workers.cpu import ProcessTree

#: The folder of what is measured, in the run's.
FOLDER = "pace"
#: Seconds of load: until what runs often is compiled, and of measuring.
WARMUP_S, MEASURED_S = 5, 10
#: Seconds for JMeter to begin.
PATIENCE_S = 60
#: Fewer answers are too few.
FEWEST = 20
LOOK_AGAIN_S = 0.2


class CostError(Exception):
    """One line: why the cost of a request is not known."""


def cost_of(
    executor: InstalledJMeter, run: Path, labels: Collection[str], usual: Mapping[str, int]
) -> Cost:
    """What one request of each label costs the workers of PM2 and JMeter. Raises CostError,
    Pm2Error and OSError."""
    folder = run / FOLDER
    folder.mkdir()
    samples = folder / "kpi.jtl"
    given = pace.slowed(usual, pace.MEASURED_AT)
    # Whatever has been answered stands in the file.
    given |= {"warmup": WARMUP_S, "measured": 60, "jmeter.save.saveservice.autoflush": "true"}
    try:
        workers = [ProcessTree(it["pid"]) for it in pm2.workers()]
        with rerun_load(executor, folder, samples, **given) as load:
            _await(samples, load)
            watched = workers, [ProcessTree(load.pid)]
            _sleep(WARMUP_S, load)
            from_ms, before = 1000 * time.time(), [*map(_cpu_s, watched)]
            _sleep(MEASURED_S, load)
            to_ms, after = 1000 * time.time(), [*map(_cpu_s, watched)]
            answered = _answered(samples, labels, from_ms, to_ms)
            if any(tree.has_ended for tree in workers):
                raise CostError("a worker that was measured has ended")
    except (psutil.Error, JtlError) as problem:
        raise CostError(str(problem)) from None
    if answered < FEWEST:
        raise CostError(f"{answered} requests were answered in {MEASURED_S} s: see {FOLDER}/")
    each = answered / len(labels)
    return Cost(*(1000 * (two - one) / each for one, two in zip(before, after, strict=True)))


def _await(samples: Path, load: subprocess.Popen) -> None:
    """Until JMeter has written of an answer."""
    deadline = time.monotonic() + PATIENCE_S
    while not (samples.is_file() and samples.stat().st_size):
        if time.monotonic() > deadline:
            raise CostError(f"nothing was answered in {PATIENCE_S} s: see {FOLDER}/jmeter.log")
        _sleep(LOOK_AGAIN_S, load)


def _sleep(seconds: float, load: subprocess.Popen) -> None:
    time.sleep(seconds)
    if load.poll() is not None:
        raise CostError(f"JMeter ended too early: see {FOLDER}/jmeter.log")


def _cpu_s(trees: Iterable[ProcessTree]) -> float:
    return sum(tree.cpu_s() for tree in trees)


def _answered(samples: Path, labels: Iterable[str], from_ms: float, to_ms: float) -> int:
    with Growing(samples).read() as store:
        found = read_samples(store, labels).values()
    ends = ((it.start_ms + it.elapsed_ms, it.ok) for it in found)
    return sum(int((ok & (end > from_ms) & (end <= to_ms)).sum()) for end, ok in ends)
