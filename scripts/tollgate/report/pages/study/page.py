"""What a study has to say on the page of its run, from the files in its folder alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tollgate.record import manifest
from tollgate.report.pages.kit.charts import Chart
from tollgate.report.pages.study import charts
from tollgate.report.pages.study.series import Answers, pi_series
from tollgate.study import record as study_run
from tollgate.study.design import read_blocks
from tollgate.study.model import DESCRIBED, CellResult, StudyResult
from tollgate.study.words import METRIC_NAMES, answer, summary

#: The design that taurus.yml names.
_DESIGN = "data/study.csv"


@dataclass(frozen=True)
class StudyPart:
    """What study.html.jinja takes, from the answers down to all figures. sentence, answer, tone,
    remarks: for the head of the page, see kit/assemble.py. command: what makes the run again, its
    blocks in the same order."""

    study: StudyResult
    sentence: str
    answer: str
    tone: str
    remarks: Sequence[str]
    throughput: Sequence[Chart]
    scaling: Sequence[Chart]
    answers: Sequence[Chart]
    command: str

    #: Headings of the table of all cells, each with the CSS class of its column.
    metrics: ClassVar = {name: (METRIC_NAMES[name], "number") for name in DESCRIBED}

    @property
    def several(self) -> list[CellResult]:
        """Cells whose requests were distributed among workers."""
        return [it for it in self.study.cells if len(it.workers) > 1 and it.requests]


def part(run: Path, study: StudyResult) -> StudyPart:
    """What the page of a run's folder says of this study.

    Raises JtlError, ManifestError and DesignError, one line each.
    """
    record, how = manifest.read(run), study_run.read(run)
    jtl = run / record.executions[0].jtl
    blocks = read_blocks(run / study_run.BLOCKS)
    series = pi_series(jtl, blocks) if jtl.is_file() else ()
    return made(study, series, how, str(record.environment.get("cpu", "a machine unknown")))


def made(
    study: StudyResult, series: Sequence[Answers], how: study_run.StudyRun, cpu: str
) -> StudyPart:
    """The same from values."""
    text, tone = answer(study)
    short = "This was the short smoke: it shows that everything works, and no more."
    return StudyPart(
        study=study,
        sentence=summary(study, cpu),
        answer=text,
        tone=tone,
        remarks=[short] if how.short else [],
        throughput=charts.over_users(study, "throughput"),
        scaling=charts.over_users(study, "concurrency_performance"),
        answers=charts.answers(series),
        command=_command(how),
    )


def _command(how: study_run.StudyRun) -> str:
    settings = {"seed": str(how.seed), "experiments": ",".join(how.experiments)}
    if how.design != _DESIGN:
        settings["design"] = how.design
    if how.short:
        settings["short"] = "true"
    if how.rounds:
        settings["rounds"] = str(how.rounds)
    words = ["tollgate", "run", "-study"]
    for name, value in settings.items():
        words += ["-o", f"modules.study.{name}={value}"]
    return shlex.join(words)
