"""Writes index.html of a run, of any kind, from the files of its folder alone.

The end of a live run hands over what it has gathered and judged already, so that no samples are
read twice; `tollgate report` starts from the folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tollgate.base import atomic
from tollgate.gather import evidence
from tollgate.judge import Run, Settings, Verdict, judge
from tollgate.pages.compare import page as compare_page
from tollgate.pages.kit import assemble as page
from tollgate.pages.kit.assemble import Page, Section
from tollgate.pages.run import criteria, forecast, over_time, spread, surroundings, told, workers
from tollgate.pages.run.intended import intended
from tollgate.pages.run.view import View, colours, readable
from tollgate.pages.study import page as study_page
from tollgate.run import manifest
from tollgate.study import Study

NAME = "index.html"


@dataclass(frozen=True)
class Judged:
    """A run with the verdict on it."""

    record: manifest.Manifest
    run: Run
    settings: Settings
    verdict: Verdict


def judged(run: Path) -> Judged:
    """From a run's folder. Raises what evidence.gather does."""
    record = manifest.read(run)
    facts, settings = evidence.gather(run, record)
    return Judged(record, facts, settings, judge(facts, settings))


def write(run: Path, known: Judged | None = None, study: Study | None = None) -> Path:
    """Write the page of a run's folder; returns its path. known: if it was judged already. study:
    what a study run said.

    Raises PageError, and what evidence.gather and the reading of a study raise, one line each.
    """
    atomic.write(run / NAME, page.to_html(to_page(run, known or judged(run), study)))
    return run / NAME


def to_page(run: Path, known: Judged, study: Study | None = None) -> Page:
    """The whole page: what a study or a comparison found comes before what every run has."""
    began = known.record.started[:16].replace("T", " ")
    views, verdict = _views(run, known), known.verdict
    asked = study_page.part(run, study) if study else None
    compared = compare_page.part(run, known.record, known.run, verdict)
    sentence = (compared.sentence if compared else "") or told.sentence(verdict)
    remarks = [*told.remarks(verdict), told.load(views)]
    head = (verdict.verdict, told.tone(verdict))
    if asked:
        # A study answers questions; that the measurement was sound, or not, stands below.
        sentence, head = asked.sentence, (asked.answer, asked.tone)
        remarks = [told.badged(verdict), *remarks, *asked.remarks]
    own = asked.sections if asked else compared.sections if compared else ()
    of_both = compare_page.OF_BOTH if compared else ""
    return Page(
        title=f"{head[0]}: {readable(known.record.kind)}, {began}",
        kicker=f"Tollgate {readable(known.record.kind)}, {began} UTC",
        sentence=sentence,
        answer=head[0],
        tone=head[1],
        sections=[it for it in [*own, *_sections(run, known, views, asked, of_both)] if it.content],
        remarks=remarks,
    )


def _sections(
    run: Path,
    known: Judged,
    views: list[View],
    study: study_page.StudyPart | None,
    of_both: str,
) -> list[Section]:
    """From the criteria down to the raw files. of_both: stands above what mixes two sides."""
    verdicts = known.verdict.executions
    spans = workers.spans(views)
    # A study's arms take turns, so that its requests together have no times worth a chart.
    is_mixed = study is not None
    over = over_time.charts(views, spans, latency=not is_mixed)
    by_target = [] if is_mixed else spread.content(views)
    if of_both:
        over, by_target = ([of_both, *each] if each else [] for each in (over, by_target))
    broken = criteria.failures(views, verdicts, known.settings, spans)
    command, more = (study.command, study.facts) if study else (None, ())
    machine = surroundings.content(run, known.record, command, more)
    left_out = study.left_out if study else []
    return [
        Section("criteria", "What was asked, and what came out", criteria.content(verdicts)),
        Section("broken", "Where it went wrong", broken),
        Section("time", "Over time", over),
        Section("spread", "By target", by_target),
        Section("forecast", "The forecast", forecast.content(views, verdicts)),
        Section("machines", "Workers", workers.content(views, verdicts, spans)),
        Section("environment", "Machine, and the same again", [*machine, *left_out]),
    ]


def _views(run: Path, known: Judged) -> list[View]:
    planned = known.record.executions
    return [
        View(execution, readable(execution.name), colour, intended(run, each, execution))
        for each, execution, colour in zip(
            planned, known.run.executions, colours(planned), strict=True
        )
    ]
