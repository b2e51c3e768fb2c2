"""A verdict, a study and a load as tables of the console, grasped in five seconds. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tollgate.base.text import one_line
from tollgate.compare.words import cases
from tollgate.forecast.load import arrival_counts
from tollgate.forecast.model import LoadStep
from tollgate.judge.verdicts import PASS, ExecutionVerdict, RunVerdict
from tollgate.report import capacity
from tollgate.report.table import (
    VERDICT,
    Column,
    Table,
    TableCell,
    paint,
    shorten,
    to_console,
    widths,
)
from tollgate.report.tables import content
from tollgate.report.text import beyond, course
from tollgate.study.model import StudyResult
from tollgate.study.words import AGREES, headline, number
from tollgate.study.words import interval as study_interval

#: More reasons than this are counted, not listed; verdict.md has them all.
REASONS_SHOWN = 8
#: Longer reasons lose their middle; verdict.json has all of them.
REASON_WIDTH = 400
#: Columns of a terminal that nothing of a study is wider than.
STUDY_WIDTH = 120


def verdict_table(verdict: RunVerdict, colour: bool = False) -> str:
    """Every criterion in a row, the worst first; below that the verdict and why."""
    lines: list[str] = []
    for execution in verdict.executions:
        title = f"{_reason(execution.name)}: {execution.verdict}{course(execution)}"
        lines += ["", paint(title, execution.verdict, colour), *_shown(execution, colour)]
    lines += ["", *capacity.scaling_line(verdict.executions), verdict_headline(verdict, colour)]
    shown = verdict.reasons[:REASONS_SHOWN]
    lines += [f"  {paint(it.verdict, it.verdict, colour)} {_reason(it.text)}" for it in shown]
    if len(verdict.reasons) > len(shown):
        lines.append(f"  and {len(verdict.reasons) - len(shown)} more: see verdict.md")
    return "\n".join(lines)


def verdict_headline(verdict: RunVerdict, colour: bool = False) -> str:
    """One line: the verdict, how many criteria, compared metrics or capacities it rests on, and
    whose fault it is."""
    if verdict.share:
        shown = paint(verdict.verdict, verdict.verdict, colour)
        return f"{shown}: engine {verdict.share}, to be merged with the others"
    results = [it for each in verdict.executions for it in each.criteria if it.decides]
    compared = [it for each in verdict.executions for it in cases(each.comparison) if it.is_decided]
    passed = sum(result.verdict == PASS for result in results)
    searched = [it.capacity.result for it in verdict.executions if it.capacity]
    needs_count = results or not (compared or searched)
    counted = [f"{passed} of {len(results)} criteria"] if needs_count else []
    if compared:
        counted.append(f"{sum(it.holds for it in compared)} of {len(compared)} metrics")
    line = f"{' and '.join(counted)} hold" if counted else ""
    if searched:
        answered = sum(it.status == "found" for it in searched)
        line += f"{', ' if line else ''}{answered} of {len(searched)} capacities found"
    faults = {it.fault: None for it in verdict.reasons if it.verdict == verdict.verdict}
    if faults:
        line += f"; the fault of the {' and the '.join(faults)}"
    line += "".join(f"; {_reason(it)}" for it in beyond(verdict))
    return f"{paint(verdict.verdict, verdict.verdict, colour)}: {line}"


def _shown(execution: ExecutionVerdict, colour: bool) -> Iterator[str]:
    for part in content(execution, worst_first=True):
        if isinstance(part, Table):
            yield from to_console(part, colour)
        else:
            yield from (f"  {_reason(line)}" for line in part)
    yield from (f"  ! {_reason(warning)}" for warning in execution.warnings)
    yield from (f"  lint: {_reason(line)}" for line in execution.lint)


def study_table(study: StudyResult) -> str:
    """Every claim in a row, then why those that don't agree do not, in at most STUDY_WIDTH
    columns."""
    lines = [*_claims(study), "", f"Study: {headline(study)}"]
    measured = {it.cell.experiment for it in study.cells}
    absent = [it.of.system for it in study.claims if it.of.system not in measured]
    if absent:
        lines += _wrapped(f"not part of this run: {', '.join(dict.fromkeys(absent))}")
    for claim in study.claims:
        if claim.answer != AGREES and claim.of.system not in absent:
            lines += _wrapped(f"{claim.of.id} {claim.answer}: {claim.of.what}: {claim.reason}")
    for check in study.checks:
        tool = f"{check.tool} {check.version}".strip()
        lines += _wrapped(f"JMeter and {tool}: {check.agreement}: {check.reason}")
    for note in study.notes:
        lines += _wrapped(note)
    return "\n".join(lines)


def _claims(study: StudyResult) -> Iterator[str]:
    rows = []
    for claim in study.claims:
        measured = claim.measured.value
        value = "-" if measured is None else f"{number(measured)} {claim.of.unit}".strip()
        ends = study_interval(claim.measured) or "-"
        rows.append((TableCell(badge=claim.answer), claim.of.id, value, ends, claim.of.published))
    headings = ("claim", "measured", "95 % CI", "published")
    columns = (Column("answer", VERDICT), *map(Column, headings))
    yield from to_console(Table("", columns, rows), most=STUDY_WIDTH)


def _wrapped(text: str) -> list[str]:
    indented = {"initial_indent": "  ", "subsequent_indent": "    "}
    return textwrap.wrap(one_line(text), STUDY_WIDTH, **indented)


def steps_table(steps: Sequence[LoadStep]) -> str:
    """The steps of a load with their rates, requests and targets, numbers to the right."""
    rows = [*_steps(steps)]
    first, *others = widths(rows)
    lines = ("  ".join([row[0].ljust(first), *map(str.rjust, row[1:], others)]) for row in rows)
    return "\n".join(lines)


def _steps(steps: Sequence[LoadStep]) -> Iterator[tuple[str, ...]]:
    targets = list(steps[0].shares)
    yield "step", "from s", "to s", "TPS", "requests", *(f"{name} %" for name in targets)
    for step, count in zip(steps, arrival_counts(steps)[1:], strict=True):
        shares = (f"{100 * step.shares[name]:.4g}" for name in targets)
        times = (f"{step.from_s:.10g}", f"{step.to_s:.10g}")
        yield step.name, *times, f"{step.tps:.6g}", f"{count:,}", *shares


def _reason(text: str) -> str:
    return shorten(one_line(text), REASON_WIDTH)
