"""A verdict as Markdown, for a job's page or a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tollgate.base.text import code, escaped, row
from tollgate.compare import words
from tollgate.compare.model import FAIL, IMPROVED, INCONCLUSIVE, Finding
from tollgate.compare.result import Comparison
from tollgate.judge.verdicts import CriterionResult, ExecutionVerdict, RunVerdict
from tollgate.outputs import capacity
from tollgate.outputs.text import beyond, forecast_line, interval, limit, observed, worker_lines
from tollgate.profile import words as why_words
from tollgate.profile.model import Why

COMPARED = ("label", "metric", "base", "head", "change", "interval", "verdict")
_STRIKING = (FAIL, INCONCLUSIVE, IMPROVED)


def to_markdown(verdict: RunVerdict, kind: str) -> str:
    """A summary for people: the verdict, the reasons, then every criterion."""
    told = "".join(f"; {escaped(it)}" for it in beyond(verdict))
    lines = [f"## Tollgate: {verdict.verdict} ({escaped(kind)}){told}", ""]
    lines += [f"- **{it.verdict}** ({it.fault}): {escaped(it.text)}" for it in verdict.reasons]
    for execution in verdict.executions:
        lines += ["", f"### {escaped(execution.name)}: {execution.verdict}", ""]
        # Without an empty line between them they would run into one paragraph.
        lines += [it for warning in execution.warnings for it in (f"> {escaped(warning)}", "")]
        if execution.forecast:
            lines += [escaped(forecast_line(execution.forecast)), ""]
        lines += _results(execution)
        if seen := [*worker_lines(execution), *execution.background_lines]:
            lines += ["", *_list(seen)]
        if execution.lint:
            lines += ["", "What was noticed of the plan:", "", *_list(execution.lint)]
    for line in capacity.scaling_line(verdict.executions):
        lines += ["", escaped(line)]
    return "\n".join(lines) + "\n"


def why_section(why: Why) -> str:
    """What a profile says: the outcome, and the first functions that made head slower."""
    lines = ["### Why", "", escaped(why_words.sentence(why))]
    named = [f"- {code(function)}: {escaped(cpu)}" for function, cpu in why_words.named(why)]
    lines += ["", *named] if named else []
    return "\n".join([*lines, "", *map(escaped, why_words.about(why))]).rstrip() + "\n"


def _results(execution: ExecutionVerdict) -> list[str]:
    """What was compared, and the criteria; without either, a table of no criterion."""
    parts = []
    if execution.comparison:
        parts.append(_comparison(execution.comparison))
    if execution.capacity:
        parts.append(_list([*capacity.lines(execution.capacity), capacity.LEAKS]))
    if execution.criteria or not (execution.comparison or execution.capacity):
        parts.append(_table(_headings(execution.criteria), map(_criterion, execution.criteria)))
    first, *others = parts
    return [*first, *(line for part in others for line in ["", *part])]


def _comparison(comparison: Comparison) -> list[str]:
    """Which code was compared, every metric of every label, and how it was decided."""
    course = words.course(comparison)
    noise = words.noise(comparison) if comparison.is_control else []
    more = [*words.processes(comparison), *noise]
    return [
        *_list(words.sides(comparison.record)),
        "",
        *_table(COMPARED, (_finding(each, comparison) for each in comparison.gate.findings)),
        "",
        escaped(f"{course[:1].upper()}{course[1:]}. {words.promise(comparison)}"),
        *(["", *_list(more)] if more or comparison.is_control else []),
    ]


def _list(lines: Iterable[str]) -> list[str]:
    return [f"- {escaped(line)}" for line in lines]


def _table(headings: Sequence[str], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [row(headings), row(["---"] * len(headings)), *map(row, rows)]


def _headings(results: Sequence[CriterionResult]) -> tuple[str, ...]:
    interval_name = results[0].interval_name if results else "interval"
    return ("criterion", "observed", "limit", interval_name, "n", "verdict")


def _criterion(result: CriterionResult) -> tuple[str, ...]:
    return (
        code(result.criterion),
        observed(result),
        limit(result),
        interval(result),
        str(result.samples),
        result.verdict if result.decides else f"{result.verdict}, no say",
    )


def _finding(finding: Finding, comparison: Comparison) -> tuple[str, ...]:
    effect = words.effect_of(comparison, finding)
    verdict = words.verdict(finding)
    return (
        code(finding.label),
        finding.metric,
        words.value(finding, finding.base),
        words.value(finding, finding.head),
        words.change(finding, finding.change, effect),
        words.interval(finding, effect) or words.UNKNOWN,
        f"**{verdict}**" if finding.verdict in _STRIKING and finding.gates else verdict,
    )
