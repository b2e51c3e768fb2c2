"""Writes index.html of a run, of any kind, from the files of its folder alone.

The end of a live run hands over what it has gathered and judged already, so that no samples are
read twice; `tollgate report` starts from the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tollgate.base import atomic
from tollgate.base.text import one_line
from tollgate.gather.judged import Judged, judged
from tollgate.judge.engines import shared_s
from tollgate.judge.verdicts import RunVerdict
from tollgate.report import write as outputs
from tollgate.report.pages.capacity import page as capacity_page
from tollgate.report.pages.compare import page as compare_page
from tollgate.report.pages.kit.assemble import Head, Remark, render
from tollgate.report.pages.kit.names import readable
from tollgate.report.pages.run import (
    criteria,
    headline,
    over_time,
    slowest,
    spread,
    surroundings,
    workers,
)
from tollgate.report.pages.run import failures as failed
from tollgate.report.pages.run.intended import intended, of_engines
from tollgate.report.pages.run.view import View, colours
from tollgate.report.pages.study import page as study_page
from tollgate.report.sentences import of_criteria, sentence
from tollgate.study.model import StudyResult

NAME = "index.html"
#: Of why the run did not pass; all of them stand in verdict.md.
MOST_REASONS = 5
#: Executions that are named.
_NAMES = 3


def judge_and_write(run: Path) -> Judged:
    """Judge a run's folder, and write the verdict for programs and CI systems."""
    outcome = judged(run)
    outputs.write_all(run, outcome.verdict, outcome.run, outcome.record)
    outputs.append_summary(run, outcome.verdict, outcome.record.kind)
    return outcome


def write(run: Path, outcome: Judged | None = None, study: StudyResult | None = None) -> Path:
    """Write the page of a run's folder; returns its path. outcome: if it was judged already. study:
    the answers of a study run.

    Raises PageError, and what evidence.gather and the reading of a study raise, one line each.
    """
    atomic.write(run / NAME, to_html(run, outcome or judged(run), study))
    return run / NAME


def to_html(run: Path, outcome: Judged, study: StudyResult | None = None) -> str:
    """The whole page: what a study, comparison or search found comes before what every run has.

    Raises PageError, and what the reading of a study raises.
    """
    views, verdict, record = _views(run, outcome), outcome.verdict, outcome.record
    judged = verdict.executions
    studied = study_page.part(run, study) if study else None
    compared = compare_page.part(run, record, outcome.run)
    searched = capacity_page.part(verdict)
    spans = workers.spans(views)
    failures, more_failures = criteria.failures(views, judged, outcome.settings, spans)
    return render(
        "run/page.html.jinja",
        _head(outcome, views, studied),
        record=record,
        judged=judged,
        study=studied,
        comparison=compared,
        capacity=searched,
        criteria=criteria.table(judged),
        failures=failures,
        failed=failed.table(run, record, views),
        has_failed=any(view.sent.errors for view in views),
        headline=None if studied or searched else headline.table(views),
        more_failures=more_failures,
        # Arms of a study, and rates of a search, take turns: no times of all are worth a chart.
        over_time=over_time.charts(views, spans, latency=not (studied or searched)),
        spread=None if studied or searched else spread.content(views, spans),
        slowest=None if studied or searched else slowest.table(views),
        forecasts=[pair for pair in zip(views, judged, strict=True) if pair[1].forecast],
        engines=[view for view in views if view.execution.engines],
        shared_s=shared_s,
        workers=workers.content(views, spans),
        command=studied.command if studied else surroundings.repeat_command_line(record),
        report_command=surroundings.report_command(run),
        logs=sorted(it.name for it in run.glob("jmeter*.log")),
        is_here=partial(surroundings.is_here, run),
    )


def _head(outcome: Judged, views: Sequence[View], study: study_page.StudyPart | None) -> Head:
    began = outcome.record.started[:16].replace("T", " ")
    kind, verdict = readable(outcome.record.kind), outcome.verdict
    remarks = [*reasons(verdict), Remark(load(views))]
    text, answer, tone = sentence(verdict), verdict.verdict, ""
    if study:
        # A study answers questions; that the measurement was sound, or not, stands below.
        own = Remark(f"The run itself: {of_criteria(verdict)}", answer)
        remarks = [own, *remarks, *map(Remark, study.remarks)]
        text, answer, tone = study.sentence, study.answer, study.tone
    title, kicker = f"{answer}: {kind}, {began}", f"Tollgate {kind}, {began} UTC"
    return Head(title, kicker, text, answer, remarks, tone)


def _views(run: Path, outcome: Judged) -> list[View]:
    planned, views = outcome.record.executions, []
    for place, (execution, colour) in enumerate(
        zip(outcome.run.executions, colours(planned), strict=True)
    ):
        if outcome.record.engines:
            meant = of_engines(run, outcome.record, place, execution)
        else:
            meant = intended(run, planned[place], execution)
        views.append(View(execution, readable(execution.name), colour, meant))
    return views


def reasons(verdict: RunVerdict) -> list[Remark]:
    """Why the verdict is not PASS, the worst first."""
    shown = [Remark(one_line(it.text), it.verdict) for it in verdict.reasons[:MOST_REASONS]]
    more = len(verdict.reasons) - len(shown)
    rest = "one more reason" if more == 1 else f"{more} more reasons"
    return [*shown, *([Remark(f"And {rest}: see verdict.md.")] if more > 0 else [])]


def load(views: Sequence[View]) -> str:
    """How much was sent to whom: `2,380 requests in fork and cluster; none failed.`"""
    total = sum(view.sent.total for view in views)
    failed = sum(view.sent.errors for view in views)
    if not total:
        return "No request was recorded."
    names = [view.name for view in views if view.sent.total]
    shown = f"{len(names)} executions" if len(names) > _NAMES else " and ".join(names)
    outcome = "none failed" if not failed else f"{failed:,} of them failed"
    return f"{total:,} requests in {shown}, warm-up included; {outcome}."
