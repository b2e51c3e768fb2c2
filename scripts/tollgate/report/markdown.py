"""A verdict as Markdown, for a job's page or a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tollgate.base.text import code, escaped
from tollgate.compare import words
from tollgate.compare.profile import words as why_words
from tollgate.compare.profile.model import Why
from tollgate.judge.verdicts import ExecutionVerdict, RunVerdict
from tollgate.report import capacity, table
from tollgate.report.sentences import sentence
from tollgate.report.tables import content
from tollgate.report.text import beyond


def to_markdown(verdict: RunVerdict, kind: str) -> str:
    """A summary for people: the verdict in a sentence, the reasons, then every criterion, of which
    those that hold are folded."""
    remarks = "".join(f"; {escaped(it)}" for it in beyond(verdict))
    title = f"## Tollgate: {verdict.verdict} ({escaped(kind)}){remarks}"
    lines = [title, "", escaped(sentence(verdict)), ""]
    lines += [f"- **{it.verdict}** ({it.fault}): {escaped(it.text)}" for it in verdict.reasons]
    for execution in verdict.executions:
        lines += ["", f"### {escaped(execution.name)}: {execution.verdict}", ""]
        # Without an empty line between them they would run into one paragraph.
        lines += [it for warning in execution.warnings for it in (f"> {escaped(warning)}", "")]
        for part in _parts(execution):
            lines += [*part, ""]
        lines = lines[:-1] if lines[-1] == "" else lines
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
    by_label = _list(why_words.by_label(why))
    lines += ["", *by_label] if by_label else []
    return "\n".join([*lines, "", *map(escaped, why_words.about(why))]).rstrip() + "\n"


def _parts(execution: ExecutionVerdict) -> Iterator[Iterable[str]]:
    """The lines of each part of what an execution shows."""
    for part in content(execution):
        if not isinstance(part, table.Table):
            yield _list(part)
            continue
        open_, folded = table.split(part) if part.has_verdicts else (None, part)
        if open_ and open_.rows:
            yield table.to_markdown(open_)
        if folded.rows:
            # Markdown is read in there only behind an empty line.
            head = f"<details><summary>{folded.caption}</summary>"
            yield [head, "", *table.to_markdown(folded), "", "</details>"]
    if execution.comparison:
        yield [escaped(words.promise(execution.comparison))]
    if execution.capacity:
        yield [escaped(capacity.LEAKS)]


def _list(lines: Iterable[str]) -> list[str]:
    return [f"- {escaped(line)}" for line in lines]
