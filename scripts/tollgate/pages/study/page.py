"""What a study has to say on the page of its run, from the files in its folder alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollgate.pages.kit.assemble import Section
from tollgate.pages.kit.parts import Child, details, element, listing
from tollgate.pages.study import charts as page_charts
from tollgate.pages.study import rows
from tollgate.pages.study.series import Answers, pi_series
from tollgate.run import manifest
from tollgate.study import CROSSCHECK, Study, answer, read_blocks, summary
from tollgate.study import record as study_run

#: The design that taurus.yml names.
_DESIGN = "data/study.csv"
_RATIOS_TOLD = (
    "Throughput of an arm over that of another at the same number of users, measured by turns in "
    "the same rounds. Bars are 95 % intervals of a block bootstrap; one that crosses 1 can't tell."
)
_PI_TOLD = (
    "As the write-up shows it: a dot is an answer, at the time at which it came. Drag to zoom in, "
    "double-click to see all."
)
_THROUGHPUT_TOLD = "Requests answered a second, with 95 % intervals."
_SCALING_TOLD = (
    "Concurrency performance: the response time of one process under the fewest users, times the "
    "throughput. 1 (dotted) is what one process gives without a queue; above it an arm scales."
)


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
        sections=_sections(study, series),
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


def _sections(study: Study, series: Sequence[Answers]) -> tuple[Section, ...]:
    """From the answers down to all figures; sections without content are left out."""
    found = (
        Section("claims", "Published claims, measured again", [rows.claims(study)]),
        Section("throughput", "Throughput over users", _throughput(study)),
        Section("scaling", "Does it scale?", _scaling(study)),
        Section("pi", "Every answer of pi", _pi(series)),
        Section("ratios", "Arm against arm", _ratios(study)),
        Section("workers", "Who got the requests", rows.workers(study)),
        Section("crosscheck", "Another load generator", _crosscheck(study)),
        Section("arms", "All figures", rows.arms(study)),
        Section("outages", "Workers that died", rows.outages(study)),
    )
    return tuple(section for section in found if section.content)


def _throughput(study: Study) -> list[Any]:
    charts = page_charts.throughput(study)
    return [_THROUGHPUT_TOLD, *charts] if charts else []


def _scaling(study: Study) -> list[Any]:
    charts = page_charts.performance(study)
    return [_SCALING_TOLD, *charts] if charts else []


def _ratios(study: Study) -> list[Child]:
    if not study.comparisons:
        return []
    means = rows.ratios(study, "mean")
    unfolded = details("The same for the mean response time: left of 1 is faster", means)
    return [_RATIOS_TOLD, rows.ratios(study, "throughput"), unfolded]


def _pi(series: Sequence[Answers]) -> list[Any]:
    charts = page_charts.answers(series)
    return [_PI_TOLD, *charts] if charts else []


def _crosscheck(study: Study) -> list[Child]:
    if not study.checks:
        return []
    told = (
        "The same server under the same load, JMeter and another generator by turns. "
        f"The blocks are those of the experiment {CROSSCHECK}."
    )
    return [told, rows.checks(study)]
