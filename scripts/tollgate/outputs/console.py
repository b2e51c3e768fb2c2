"""A verdict, a study and a load as tables of the console, grasped in five seconds. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tollgate.base.text import one_line
from tollgate.compare import words
from tollgate.compare.model import IMPROVED, Finding
from tollgate.compare.result import Comparison
from tollgate.compare.words import cases
from tollgate.forecast.load import arrival_counts
from tollgate.forecast.model import LoadStep
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    ORDER,
    PASS,
    CriterionResult,
    ExecutionVerdict,
    RunVerdict,
)
from tollgate.outputs import capacity
from tollgate.outputs.text import (
    beyond,
    course,
    decided,
    forecast_line,
    interval,
    limit,
    observed,
    shorten,
    width,
    worker_lines,
)
from tollgate.study.model import Claim, StudyResult
from tollgate.study.words import AGREES, DISAGREES, UNKNOWN, number
from tollgate.study.words import interval as study_interval

#: More reasons than this are counted, not listed; verdict.md has them all.
REASONS_SHOWN = 8
#: Longer criteria, labels and reasons lose their middle; verdict.json has all of it.
CRITERION_WIDTH, LABEL_WIDTH, REASON_WIDTH = 72, 48, 400
#: Columns of a terminal that nothing of a study is wider than.
STUDY_WIDTH = 120
#: Colours of a terminal, by verdict.
COLOURS = {PASS: "32", FAIL: "31", INCONCLUSIVE: "33", INVALID: "35"}
COMPARED = ("", "head against base", "base", "head", "change", "at least", "at most")
CLAIMS = ("", "claim", "measured", "95 % CI", "published")
#: Findings, the worst first; what has no say comes last.
_FINDINGS = (FAIL, INCONCLUSIVE, IMPROVED)
_GAP = "  "


def verdict_table(verdict: RunVerdict, colour: bool = False) -> str:
    """Every criterion in a row, the worst first; below that the verdict and why."""
    lines: list[str] = []
    for execution in verdict.executions:
        title = f"{_reason(execution.name)}: {execution.verdict}{course(execution)}"
        lines += ["", _paint(title, execution.verdict, colour)]
        if execution.comparison:
            lines += _comparison(execution.comparison, colour)
        if execution.capacity:
            lines += [f"  {_reason(line)}" for line in capacity.lines(execution.capacity)]
        lines += _criteria(execution, colour)
        forecast = [forecast_line(execution.forecast)] if execution.forecast else []
        seen = (*forecast, *worker_lines(execution), *execution.background_lines)
        lines += [f"  {_reason(line)}" for line in seen]
        lines += [f"  ! {_reason(warning)}" for warning in execution.warnings]
        lines += [f"  lint: {_reason(line)}" for line in execution.lint]
    lines += ["", *capacity.scaling_line(verdict.executions), verdict_headline(verdict, colour)]
    shown = verdict.reasons[:REASONS_SHOWN]
    lines += [f"  {_paint(it.verdict, it.verdict, colour)} {_reason(it.text)}" for it in shown]
    if len(verdict.reasons) > len(shown):
        lines.append(f"  and {len(verdict.reasons) - len(shown)} more: see verdict.md")
    return "\n".join(lines)


def verdict_headline(verdict: RunVerdict, colour: bool = False) -> str:
    """One line: the verdict, how many criteria, compared metrics or capacities it rests on, and
    whose fault it is."""
    if verdict.share:
        shown = _paint(verdict.verdict, verdict.verdict, colour)
        return f"{shown}: engine {verdict.share}, to be merged with the others"
    results = [it for each in verdict.executions for it in each.criteria if it.decides]
    compared = [it for each in verdict.executions for it in cases(each.comparison)]
    passed = sum(result.verdict == PASS for result in results)
    searched = [it.capacity.result for it in verdict.executions if it.capacity]
    needs_count = results or not (compared or searched)
    counted = [f"{passed} of {len(results)} criteria"] if needs_count else []
    if compared:
        counted.append(f"{sum(it.holds for it in compared)} of {len(compared)} metrics")
    line = f"{' and '.join(counted)} hold" if counted else ""
    if searched:
        found = sum(it.status == "found" for it in searched)
        line += f"{', ' if line else ''}{found} of {len(searched)} capacities found"
    faults = {it.fault: None for it in verdict.reasons if it.verdict == verdict.verdict}
    if faults:
        line += f"; the fault of the {' and the '.join(faults)}"
    line += "".join(f"; {_reason(it)}" for it in beyond(verdict))
    return f"{_paint(verdict.verdict, verdict.verdict, colour)}: {line}"


def _criteria(execution: ExecutionVerdict, colour: bool) -> Iterator[str]:
    if not execution.criteria:
        return
    # Python's sort is stable: criteria of one verdict stay in the order of taurus.yml.
    results = sorted(execution.criteria, key=_importance)
    rows = [
        ("", "criterion", "observed", "limit", results[0].interval_name, "n"),
        *map(_criterion, results),
    ]
    if execution.course:
        dates = ["decided", *map(decided, results)]
        rows = [(*row, date) for row, date in zip(rows, dates, strict=True)]
    heading, *lines = _aligned(rows)
    yield heading
    for result, line in zip(results, lines, strict=True):
        yield line if result.verdict == PASS else _paint(line, result.verdict, colour)


def _importance(result: CriterionResult) -> int:
    """The worst verdict first, and what has no say beside what passes."""
    return -ORDER.index(result.verdict if result.decides else PASS)


def _criterion(result: CriterionResult) -> tuple[str, ...]:
    return (
        result.verdict if result.decides else "note",
        shorten(one_line(result.criterion), CRITERION_WIDTH),
        observed(result) + _over(result),
        limit(result),
        interval(result),
        str(result.samples),
    )


def _over(result: CriterionResult) -> str:
    """By how much a violated limit was missed."""
    if result.verdict != FAIL or not result.limit or result.observed is None:
        return ""
    return f" ({100 * (result.observed / result.limit - 1):+.0f} %)"


def _comparison(comparison: Comparison, colour: bool) -> Iterator[str]:
    """Which code was compared, each finding, how it was decided; of a control, the noise."""
    yield from (f"  {_reason(line)}" for line in words.sides(comparison.record))
    # Python's sort is stable: within one verdict they stay in the order of the plan.
    findings = sorted(comparison.gate.findings, key=_weight)
    heading, *lines = _aligned([COMPARED, *(_finding(each, comparison) for each in findings)])
    yield heading
    for finding, line in zip(findings, lines, strict=True):
        is_plain = finding.verdict not in (FAIL, INCONCLUSIVE) or not finding.gates
        yield line if is_plain else _paint(line, finding.verdict, colour)
    noise = words.noise(comparison) if comparison.is_control else ()
    lines = words.course(comparison), *words.processes(comparison), *noise
    yield from (f"  {_reason(line)}" for line in lines)


def _weight(finding: Finding) -> int:
    if not finding.gates:
        return len(_FINDINGS) + 1
    return _FINDINGS.index(finding.verdict) if finding.verdict in _FINDINGS else len(_FINDINGS)


def _finding(finding: Finding, comparison: Comparison) -> tuple[str, ...]:
    effect = words.effect_of(comparison, finding)
    changes = (finding.change, finding.low, finding.high)
    return (
        finding.verdict if finding.gates else "note",
        shorten(one_line(words.name(finding)), LABEL_WIDTH),
        words.value(finding, finding.base),
        words.value(finding, finding.head),
        *(words.change(finding, each, effect) for each in changes),
    )


def study_table(study: StudyResult) -> str:
    """Every claim in a row, then why those that don't agree do not, in at most STUDY_WIDTH
    columns."""
    lines = [*_claims(study.claims), "", study_headline(study)]
    absent = [it.system for it in study.claims if it.system not in study.experiments]
    if absent:
        lines += _wrapped(f"not part of this run: {', '.join(dict.fromkeys(absent))}")
    for claim in study.claims:
        if claim.answer != AGREES and claim.system not in absent:
            lines += _wrapped(f"{claim.id} {claim.answer}: {claim.what}: {claim.reason}")
    for check in study.checks:
        tool = f"{check.tool} {check.version}".strip()
        lines += _wrapped(f"JMeter and {tool}: {check.agreement}: {check.reason}")
    for note in study.notes:
        lines += _wrapped(note)
    return "\n".join(lines)


def study_headline(study: StudyResult) -> str:
    """`Study: 5 claims agree, 1 disagrees, 3 undecided`."""
    answers = [claim.answer for claim in study.claims]
    agreed, refused, unknown = (answers.count(it) for it in (AGREES, DISAGREES, UNKNOWN))
    claims = "claim agrees" if agreed == 1 else "claims agree"
    disagree = "disagrees" if refused == 1 else "disagree"
    return f"Study: {agreed} {claims}, {refused} {disagree}, {unknown} undecided"


def _claims(claims: Sequence[Claim]) -> list[str]:
    if not claims:
        return []
    rows = [CLAIMS, *map(_claim, claims)]
    *widths, _ = _widths(rows)
    left = STUDY_WIDTH - sum(widths) - len(_GAP) * len(CLAIMS)
    return _aligned([(*cells, shorten(last, left)) for *cells, last in rows])


def _claim(claim: Claim) -> tuple[str, ...]:
    found = claim.measured.value
    value = "-" if found is None else f"{number(found)} {claim.unit}".strip()
    return (
        claim.answer,
        claim.id,
        value,
        study_interval(claim.measured) or "-",
        one_line(claim.published),
    )


def _wrapped(text: str) -> list[str]:
    indented = {"initial_indent": _GAP, "subsequent_indent": 2 * _GAP}
    return textwrap.wrap(one_line(text), STUDY_WIDTH, **indented)


def steps_table(steps: Sequence[LoadStep]) -> str:
    """The steps of a load with their rates, requests and targets, numbers to the right."""
    rows = [*_steps(steps)]
    widths = _widths(rows)
    lines = (
        _GAP.join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    )
    return "\n".join(lines)


def _steps(steps: Sequence[LoadStep]) -> Iterator[tuple[str, ...]]:
    targets = list(steps[0].shares)
    yield "step", "from s", "to s", "TPS", "requests", *(f"{name} %" for name in targets)
    for step, count in zip(steps, arrival_counts(steps)[1:], strict=True):
        shares = (f"{100 * step.shares[name]:.4g}" for name in targets)
        times = (f"{step.from_s:.10g}", f"{step.to_s:.10g}")
        yield step.name, *times, f"{step.tps:.6g}", f"{count:,}", *shares


def _widths(rows: Sequence[tuple[str, ...]]) -> list[int]:
    return [max(map(width, column)) for column in zip(*rows, strict=True)]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A line for each row, with columns of the same width."""
    widths = _widths(rows)
    padded = ([c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True)] for row in rows)
    return [f"{_GAP}{_GAP.join(cells)}".rstrip() for cells in padded]


def _reason(text: str) -> str:
    return shorten(one_line(text), REASON_WIDTH)


def _paint(text: str, verdict: str, colour: bool) -> str:
    return f"\033[{COLOURS[verdict]}m{text}\033[0m" if colour else text
