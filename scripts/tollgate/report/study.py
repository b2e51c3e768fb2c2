"""What a study says, from the files in its run's folder: study.json.

The end of a live run and `tollgate report` both come through here, so they can't disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from tollgate.base import atomic
from tollgate.base.fields import Inlined, written
from tollgate.record import manifest
from tollgate.record.environment import Environment
from tollgate.report.console import study_table as to_table
from tollgate.report.json_model import plain, to_json
from tollgate.samples.counts import Jtl, Label, read_jtl
from tollgate.samples.lost import with_losses
from tollgate.samples.store import open_store
from tollgate.study import crosscheck, settings
from tollgate.study import record as study_run
from tollgate.study.answers import build
from tollgate.study.design import read_blocks
from tollgate.study.model import CROSSCHECK, StudyOutage, StudyResult
from tollgate.study.published import StudyMachine
from tollgate.study.record import StudyRun
from tollgate.study.samples import read as read_samples
from tollgate.study.windows import ANOTHER_GENERATOR, CONNECT
from tollgate.workers.model import Resources, WorkerOutage
from tollgate.workers.reading import read_watch

__all__ = ["JSON", "is_study", "read", "to_table", "write"]
JSON = "study.json"
TITLE = "Tollgate's study.json"


@written
class StudyFile:
    """What a study of one process against several measured, and what it says of each published
    claim. Intervals are at 95 %, from a block bootstrap over rounds; every number that is not
    known is null, and a note says why."""

    started: str
    """When the run began, ISO 8601 with its offset."""
    design: StudyRun
    """How the run was set up."""
    environment: Environment
    """The machine and the versions that the study holds for."""
    study: Inlined[StudyResult]
    version: Literal[2] = 2
    """Of this format; raised when a field goes or changes its meaning. Version 1 had a `usl` in
    each curve."""


def is_study(run: Path) -> bool:
    """Whether a run's folder is that of a study."""
    return (run / study_run.NAME).exists()


def write(run: Path) -> StudyResult:
    """Make study.json of a run's folder anew, whole or not at all.

    Raises DesignError, CpuError, JtlError, and ManifestError, also for samples that are not those
    that the run left.
    """
    file = read(run)
    atomic.write(run / JSON, to_json(plain(file)))
    return file.study


def read(run: Path) -> StudyFile:
    """The study of a run's folder. Raises what `write` does."""
    record, how = manifest.read(run), study_run.read(run)
    if len(record.executions) != 1:
        raise manifest.ManifestError(f"{run / manifest.NAME} is no study's: name the folder of one")
    planned = record.executions[0]
    manifest.check_seal(planned, run)
    blocks = read_blocks(run / study_run.BLOCKS)
    with open_store(run / planned.jtl) as store:
        jtl = read_jtl(store)
        outages, problems = _read_outages(run, record, planned, jtl)
        data = read_samples(run, blocks, outages, jtl.origin_ms / 1000, store)
    instances = {target["name"]: target["instances"] for target in planned.targets}
    machine = StudyMachine(record.environment["cores"], instances)
    study = build(data, crosscheck.checks(run, blocks, data), outages, machine, how)
    slower = record.environment.get("variables", {}).get(settings.SLOWER)
    first = (
        record.problem,
        record.interrupted and "the run was interrupted: what came after that was not measured",
        slower and f"{settings.SLOWER} is {slower}: every answer took so much more work",
    )
    study = replace(study, notes=(*filter(None, first), *study.notes, *problems))
    return StudyFile(record.started, how, record.environment, study)


def _read_outages(
    run: Path, record: manifest.Manifest, planned: manifest.Execution, jtl: Jtl
) -> tuple[list[StudyOutage], tuple[str, ...]]:
    """(the workers that ended by themselves under load, in order of time; problems with a file).
    Times are seconds since jtl.origin_ms. Raises JtlError."""
    began_s, ended_s = jtl.origin_ms / 1000, jtl.last_end_ms / 1000
    apps = [target["name"] for target in planned.targets]
    watches = [read_watch(run / "workers.jsonl", app, began_s, ended_s) for app in apps]
    # A file that can't be read is one problem, and not one of each app.
    problems = dict.fromkeys(watched.problem for watched, _ in watches if watched.problem)
    outages = [(it, app) for app, (_, of) in zip(apps, watches, strict=True) for it in of.outages]
    outages.sort(key=lambda outage: outage[0].from_s)
    cut_short = record.interrupted or record.stopped_by
    until_s = ended_s - began_s if cut_short else math.inf
    out = Resources(outages=tuple(outage for outage, _ in outages))
    counted = with_losses(out, (), run / planned.jtl, jtl.origin_ms, until_s).outages
    pairs = zip(counted, (app for _, app in outages), strict=True)
    return [_outage(outage, app, jtl.samplers) for outage, app in pairs], tuple(problems)


def _outage(outage: WorkerOutage, app: str, samplers: Mapping[str, Label]) -> StudyOutage:
    same = {name: getattr(outage, name) for name in ("worker", "pid", "from_s", "to_s", "lost")}
    return StudyOutage(app=app, **same, experiment=_under_way(samplers, outage.from_s))


def _under_way(samplers: Mapping[str, Label], second: float) -> str | None:
    """The experiment whose samples ended nearest to a moment: they don't overlap."""
    at = {name: it.counts.second for name, it in samplers.items() if it.counts.total}
    distances = {it: float(np.abs(at[it] - second).min()) for it in at if it != CONNECT}
    nearest = min(distances, key=lambda name: distances[name], default=None)
    return CROSSCHECK if nearest == ANOTHER_GENERATOR else nearest
