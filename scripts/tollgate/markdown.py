"""A verdict as Markdown, for a job's page or a pull request. Pure."""

from __future__ import annotations

import html
import re

from tollgate import workers_told
from tollgate.cells import interval, limit, observed, one_line
from tollgate.forecast_output import forecast_line
from tollgate.verdicts import CriterionResult, ExecutionVerdict, Verdict

HEADINGS = ("criterion", "observed", "limit", "interval", "n", "verdict")
# Whatever begins markup in CommonMark or in GitHub's dialect of it.
_SPECIAL = re.compile(r"([\\`*_<>|\[\]&~$#])")
# Inside <code> Markdown goes on working; &, < and > are entities by then.
_IN_CODE = re.compile(r"[\\`*_|\[\]~$#]")


def to_markdown(verdict: Verdict, kind: str) -> str:
    """A summary for people: the verdict, the reasons, then every criterion."""
    lines = [f"## Tollgate: {verdict.verdict} ({escaped(kind)})", ""]
    lines += [f"- **{it.verdict}** ({it.fault}): {escaped(it.text)}" for it in verdict.reasons]
    for execution in verdict.executions:
        lines += ["", f"### {escaped(execution.name)}: {execution.verdict}", ""]
        lines += _warnings(execution)
        lines += _forecast(execution)
        lines += [row(HEADINGS), row(["---"] * len(HEADINGS))]
        lines += [row(_cells(result)) for result in execution.criteria]
        lines += _workers(execution)
    return "\n".join(lines) + "\n"


def _workers(execution: ExecutionVerdict) -> list[str]:
    told = workers_told.lines(execution)
    return ["", *(f"- {escaped(line)}" for line in told)] if told else []


def _forecast(execution: ExecutionVerdict) -> list[str]:
    told = execution.forecast
    return [escaped(forecast_line(told)), ""] if told else []


def _warnings(execution: ExecutionVerdict) -> list[str]:
    # Without an empty line between them they would run into one paragraph.
    return [line for warning in execution.warnings for line in (f"> {escaped(warning)}", "")]


def _cells(result: CriterionResult) -> tuple[str, ...]:
    return (
        _code(result.criterion),
        observed(result),
        limit(result),
        interval(result),
        str(result.samples),
        result.verdict if result.decides else f"{result.verdict}, no say",
    )


def row(cells: tuple[str, ...] | list[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """As code. Where backticks can't hold the text, for they know no escape, as HTML."""
    text = one_line(text)
    if not re.search(r"[`|\\]", text):
        return f"`{text}`"
    markup = html.escape(text, quote=False)
    return f"<code>{_IN_CODE.sub(lambda it: f'&#{ord(it[0])};', markup)}</code>"


def escaped(text: str) -> str:
    """Text of unknown origin as one line that is no markup."""
    return _SPECIAL.sub(r"\\\1", one_line(text))
