"""A verdict as Markdown, for a job's page or a pull request. Pure."""

from __future__ import annotations

from tollgate.base import code, escaped, row
from tollgate.judge import CriterionResult, ExecutionVerdict, Verdict
from tollgate.outputs import compare_markdown as comparison
from tollgate.outputs import workers as workers_told
from tollgate.outputs.json_forecast import forecast_line
from tollgate.outputs.text import interval, limit, observed

HEADINGS = ("criterion", "observed", "limit", "interval", "n", "verdict")


def to_markdown(verdict: Verdict, kind: str) -> str:
    """A summary for people: the verdict, the reasons, then every criterion."""
    lines = [f"## Tollgate: {verdict.verdict} ({escaped(kind)})", ""]
    lines += [f"- **{it.verdict}** ({it.fault}): {escaped(it.text)}" for it in verdict.reasons]
    for execution in verdict.executions:
        lines += ["", f"### {escaped(execution.name)}: {execution.verdict}", ""]
        lines += _warnings(execution)
        lines += _forecast(execution)
        lines += _comparison(execution)
        lines += _criteria(execution)
        lines += _workers(execution)
        lines += _lint(execution)
    return "\n".join(lines) + "\n"


def _comparison(execution: ExecutionVerdict) -> list[str]:
    return comparison.to_lines(execution.comparison) if execution.comparison else []


def _criteria(execution: ExecutionVerdict) -> list[str]:
    if execution.comparison and not execution.criteria:
        return []
    between = [""] if execution.comparison else []
    rows = [row(_cells(result)) for result in execution.criteria]
    return [*between, row(HEADINGS), row(["---"] * len(HEADINGS)), *rows]


def _workers(execution: ExecutionVerdict) -> list[str]:
    told = workers_told.lines(execution)
    return ["", *(f"- {escaped(line)}" for line in told)] if told else []


def _lint(execution: ExecutionVerdict) -> list[str]:
    told = [f"- {escaped(line)}" for line in execution.lint]
    return ["", "What was noticed of the plan:", "", *told] if told else []


def _forecast(execution: ExecutionVerdict) -> list[str]:
    told = execution.forecast
    return [escaped(forecast_line(told)), ""] if told else []


def _warnings(execution: ExecutionVerdict) -> list[str]:
    # Without an empty line between them they would run into one paragraph.
    return [line for warning in execution.warnings for line in (f"> {escaped(warning)}", "")]


def _cells(result: CriterionResult) -> tuple[str, ...]:
    return (
        code(result.criterion),
        observed(result),
        limit(result),
        interval(result),
        str(result.samples),
        result.verdict if result.decides else f"{result.verdict}, no say",
    )
