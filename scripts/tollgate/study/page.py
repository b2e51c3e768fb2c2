"""What a study has to say on the page of its run, from the files in its folder alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate import manifest
from tollgate.page.assemble import Section
from tollgate.page.parts import Child, element, listing
from tollgate.study import run as study_run
from tollgate.study.blocks import read_blocks
from tollgate.study.model import Study
from tollgate.study.page_sections import sections
from tollgate.study.series import Answers, pi_series
from tollgate.study.told import answer, summary

#: The design that taurus.yml names.
_DESIGN = "data/study.csv"


@dataclass(frozen=True)
class StudyPart:
    """sentence, answer, tone, remarks: for the head of the page, see page/assemble.py. sections:
    from the answers down to all figures. command: what makes the run again, its blocks in the same
    order. facts: (name, value) pairs beside the machine's. left_out: what was not measured."""

    sentence: str
    answer: str
    tone: str
    remarks: Sequence[Child]
    sections: Sequence[Section]
    command: str
    facts: Sequence[tuple[str, Child]]
    left_out: Sequence[Child]


def part(run: Path, study: Study) -> StudyPart:
    """What the page of a run's folder says of this study.

    Raises JtlError, ManifestError, StudyRunError and DesignError, one line each.
    """
    record, how = manifest.read(run), study_run.read(run)
    jtl = run / record.executions[0].jtl
    blocks = read_blocks(run / study_run.BLOCKS)
    series = pi_series(jtl, blocks) if jtl.is_file() else ()
    return made(study, series, how, str(record.environment.get("cpu", "a machine unknown")))


def made(study: Study, series: Sequence[Answers], how: study_run.StudyRun, cpu: str) -> StudyPart:
    """The same from values."""
    text, tone = answer(study)
    short = "This was the short smoke: it shows that everything works, and no more."
    left_out = [element("h3", "Left out of the study, and why"), listing(study.notes)]
    return StudyPart(
        sentence=summary(study, cpu),
        answer=text,
        tone=tone,
        remarks=[short] if how.short else [],
        sections=sections(study, series),
        command=_command(how),
        facts=[("Seed", str(study.seed))],
        left_out=left_out if study.notes else [],
    )


def _command(how: study_run.StudyRun) -> str:
    settings = {"seed": str(how.seed), "experiments": ",".join(how.experiments)}
    if how.design != _DESIGN:
        settings["design"] = how.design
    if how.short:
        settings["short"] = "true"
    if how.rounds:
        settings["rounds"] = str(how.rounds)
    words = ["./scripts/run", "-study"]
    for name, value in settings.items():
        words += ["-o", f"modules.study.{name}={value}"]
    return shlex.join(words)
