"""What a study says, from the files in its run's folder: study.json.

The end of a live run and `tollgate report` both come through here, so they can't disagree.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tollgate import atomic, manifest
from tollgate.jtl import read_jtl
from tollgate.render import to_json
from tollgate.study import crosscheck
from tollgate.study import run as study_run
from tollgate.study.build import Ran, build
from tollgate.study.design import DesignError, read_blocks
from tollgate.study.load import CpuError
from tollgate.study.model import Study
from tollgate.study.outages import read_outages
from tollgate.study.output import About, to_dict
from tollgate.study.run import StudyRunError
from tollgate.study.samples import read as read_samples
from tollgate.study.table import to_table

__all__ = ["JSON", "PROBLEMS", "is_study", "read", "to_table", "write"]
JSON = "study.json"


class StudyReportError(Exception):
    """One line: what of the run's folder is no study's, and what to do."""


#: All that reading and writing may raise but for what every run's may; one line each.
PROBLEMS = (StudyReportError, StudyRunError, DesignError, CpuError)


def is_study(run: Path) -> bool:
    """Whether a run's folder is that of a study."""
    return (run / study_run.NAME).exists()


def write(run: Path) -> Study:
    """Make study.json of a run's folder anew, whole or not at all.

    Raises PROBLEMS, ManifestError (also for samples that are not those that the run left) and
    JtlError.
    """
    study, about = read(run)
    atomic.write(run / JSON, to_json(to_dict(study, about)))
    return study


def read(run: Path) -> tuple[Study, About]:
    """The study of a run's folder, and what it holds for.

    Raises what `write` does.
    """
    record, how = manifest.read(run), study_run.read(run)
    planned = _execution(run, record)
    manifest.check_seal(planned, run)
    blocks = read_blocks(run / study_run.BLOCKS)
    jtl = read_jtl(run / planned.jtl)
    outages, problems = read_outages(run, record, planned, jtl)
    data = read_samples(run, blocks, outages, jtl.origin_ms / 1000, planned.jtl)
    instances = {target["name"]: target["instances"] for target in planned.targets}
    ran = Ran(record.environment["cores"], instances, how)
    study = build(data, crosscheck.checks(run, blocks, data), outages, ran)
    notes = [*study.notes, *problems]
    if record.interrupted:
        notes.insert(0, "the run was interrupted: what came after that was not measured")
    if record.problem:
        notes.insert(0, record.problem)
    return replace(study, notes=tuple(notes)), About(record.started, record.environment, how)


def _execution(run: Path, record: manifest.Manifest) -> manifest.Execution:
    if len(record.executions) != 1:
        raise StudyReportError(
            f"{run / manifest.NAME} has {len(record.executions)} executions, a study has one: "
            "name the folder of a study"
        )
    return record.executions[0]
