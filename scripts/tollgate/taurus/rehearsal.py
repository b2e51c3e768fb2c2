"""A rehearsal of a comparison: whether both sides answer, what a request costs on this machine, and
how long answers take, before anything is measured."""

from __future__ import annotations

import csv
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tollgate.compare import pace
from tollgate.compare.answers import Answer, Found, Rehearsal
from tollgate.compare.mix import Mix, rehearsed
from tollgate.compare.pace import Cost
from tollgate.samples.layout import allow_long_cells
from tollgate.targets import pm2
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.rerun_load import rerun_load
from tollgate.workers.cpu import ProcessTree

#: The folder of what is rehearsed, in the run's.
FOLDER = "rehearsal"
#: Seconds of load: until what runs often is compiled, and of measuring.
WARMUP_S, MEASURED_S = 5, 10
#: Compile at once, and not too well: of a load that is as slow as a mix's rehearsal the JVM would
#: have compiled little. A request then cost JMeter 0.8 ms of CPU instead of 1.9 to 3.3 after 15 s;
#: after 30 s of a comparison it is 0.5 to 0.6 ms.
COMPILE_SOON = (
    "-XX:TieredStopAtLevel=1 -XX:Tier3InvocationThreshold=20 -XX:Tier3MinInvocationThreshold=10 "
    "-XX:Tier3CompileThreshold=200 -XX:Tier3BackEdgeThreshold=5000"
)
#: Seconds for JMeter to begin.
PATIENCE_S = 60
#: Fewer answers are too few.
FEWEST = 20
LOOK_AGAIN_S, READ_S = 0.2, 0.5


class RehearsalError(Exception):
    """One line: why nothing is known of a request."""


@dataclass(frozen=True)
class _Reading:
    """CPU seconds of the services and of JMeter until a moment."""

    at_ms: float
    service_s: float
    generator_s: float


def rehearse(
    executor: InstalledJMeter,
    run: Path,
    labels: Collection[str],
    mix: Mix | None,
    timing: Mapping[str, int],
    sees_cpu: bool,
    check: Callable[[Sequence[Answer]], Found],
) -> Rehearsal:
    """The load of a comparison for a quarter of a minute or so. timing: its period and lag, nothing
    of a plan of a user's own. check: is asked as soon as each label has been, and may raise. Raises
    RehearsalError, Pm2Error, OSError."""
    folder = run / FOLDER
    folder.mkdir()
    samples = folder / "kpi.jtl"
    properties: dict[str, object] = {"warmup": WARMUP_S, "measured": 600, **timing}
    # How often a plan of a user's own asks shows in its answers alone.
    length_s = MEASURED_S if sees_cpu or not timing else 0
    if mix:
        properties |= rehearsed(mix, timing[pace.PERIOD], WARMUP_S, length_s or 1)
        length_s = sees_cpu * max(length_s, len(mix.parts))
    # Whatever has been answered stands in the file.
    properties["jmeter.save.saveservice.autoflush"] = "true"
    try:
        workers = [ProcessTree(it["pid"]) for it in pm2.workers()] if sees_cpu else []
        jvm_args = COMPILE_SOON if mix else ""
        with rerun_load(executor, folder, samples, jvm_args, **properties) as load:
            _await(samples, load)
            watched = workers, [ProcessTree(load.pid)]
            _sleep(WARMUP_S, load)
            check(_answers(samples))
            readings = _readings(watched, length_s, load)
        if any(tree.has_ended for tree in workers):
            raise RehearsalError("a worker that was measured has ended")
    except psutil.Error as problem:
        raise RehearsalError(str(problem)) from None
    answers = _answers(samples)
    if new := check(answers).left_out:
        mix = mix and mix.without([it.name for it in mix.parts_with(new)])
    return Rehearsal(tuple(answers), _cost(answers, readings, labels, mix) if sees_cpu else None)


def _cost(
    answers: Iterable[Answer],
    readings: Sequence[_Reading],
    labels: Collection[str],
    mix: Mix | None,
) -> Cost:
    """The CPU time that service and generator take: of each part of a mix, else of asking for all
    labels once. Raises RehearsalError."""
    ends = np.array([it.at_ms for it in readings])
    # A part of a mix is sent once where its first label is.
    counted = [it.labels[:1] for it in mix.parts] if mix else [tuple(labels)]
    answered = np.zeros((len(readings) - 1, len(counted)))
    for answer in answers:
        window = np.searchsorted(ends, answer.end_ms) - 1
        if answer.ok and 0 <= window < len(answered):
            answered[window] += [answer.label in names for names in counted]
    if answered.sum() < FEWEST:
        raise RehearsalError(f"only {answered.sum():.0f} answers in {MEASURED_S} s: see {FOLDER}/")
    spent = np.diff([(it.service_s, it.generator_s) for it in readings], axis=0).T * 1000
    service_ms, generator_ms = spent
    if mix:
        return pace.cost_of_mix(answered, service_ms, generator_ms, mix)
    service, generator = (it.sum() * len(labels) / answered.sum() for it in spent)
    return Cost(service, generator)


def _readings(
    watched: Iterable[Sequence[ProcessTree]], seconds: float, load: subprocess.Popen[Any]
) -> list[_Reading]:
    until, readings = time.monotonic() + seconds, []
    while True:
        service_s, generator_s = (sum(tree.cpu_s() for tree in trees) for trees in watched)
        readings.append(_Reading(1000 * time.time(), service_s, generator_s))
        if time.monotonic() >= until:
            return readings
        _sleep(READ_S, load)


def _answers(samples: Path) -> list[Answer]:
    """All rows that are whole: JMeter still writes the last one."""
    allow_long_cells()
    with samples.open(newline="", encoding="utf-8", errors="replace") as file:
        return [it for it in map(Answer.of, csv.DictReader(file)) if it]


def _await(samples: Path, load: subprocess.Popen[Any]) -> None:
    """Until JMeter has written of an answer."""
    deadline = time.monotonic() + PATIENCE_S
    while not (samples.is_file() and samples.stat().st_size):
        if time.monotonic() > deadline:
            problem = f"nothing was answered in {PATIENCE_S} s: see {FOLDER}/jmeter.log"
            raise RehearsalError(problem)
        _sleep(LOOK_AGAIN_S, load)


def _sleep(seconds: float, load: subprocess.Popen[Any]) -> None:
    time.sleep(seconds)
    if load.poll() is not None:
        raise RehearsalError(f"JMeter ended too early: see {FOLDER}/jmeter.log")
