"""The verdict as a person sees it at the end of a run: grasped in five seconds. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tollgate.base import one_line
from tollgate.compare import cases
from tollgate.judge import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    ORDER,
    PASS,
    CriterionResult,
    ExecutionVerdict,
    Verdict,
)
from tollgate.outputs import compare_table as comparing
from tollgate.outputs import workers as workers_told
from tollgate.outputs.json_forecast import forecast_line
from tollgate.outputs.text import interval, limit, observed, shorten, width

#: More reasons than this are counted, not listed; verdict.md has them all.
REASONS_SHOWN = 8
#: Longer criteria and reasons lose their middle; verdict.json has all of it.
CRITERION_WIDTH, REASON_WIDTH = 72, 400
#: Colours of a terminal, by verdict.
COLOURS = {PASS: "32", FAIL: "31", INCONCLUSIVE: "33", INVALID: "35"}


def to_table(verdict: Verdict, colour: bool = False) -> str:
    """Every criterion in a row, the worst first; below that the verdict and why."""
    lines: list[str] = []
    for execution in verdict.executions:
        title = f"{_reason(execution.name)}: {execution.verdict}"
        lines += ["", _paint(title, execution.verdict, colour)]
        lines += _compared(execution, colour)
        lines += _rows(execution, colour)
        lines += [f"  {_reason(forecast_line(it))}" for it in (execution.forecast,) if it]
        lines += [f"  {_reason(line)}" for line in workers_told.lines(execution)]
        lines += [f"  ! {_reason(warning)}" for warning in execution.warnings]
        lines += [f"  lint: {_reason(line)}" for line in execution.lint]
    lines += ["", headline(verdict, colour)]
    shown = verdict.reasons[:REASONS_SHOWN]
    lines += [f"  {_paint(it.verdict, it.verdict, colour)} {_reason(it.text)}" for it in shown]
    if len(verdict.reasons) > len(shown):
        lines.append(f"  and {len(verdict.reasons) - len(shown)} more: see verdict.md")
    return "\n".join(lines)


def headline(verdict: Verdict, colour: bool = False) -> str:
    """One line: the verdict, how many criteria or compared metrics it rests on, and whose fault it
    is."""
    results = [it for each in verdict.executions for it in each.criteria if it.decides]
    compared = [it for each in verdict.executions for it in cases(each.comparison)]
    passed = sum(result.verdict == PASS for result in results)
    counted = [f"{passed} of {len(results)} criteria"] if results or not compared else []
    if compared:
        counted.append(f"{sum(it.holds for it in compared)} of {len(compared)} metrics")
    said = f"{' and '.join(counted)} hold"
    faults = {it.fault: None for it in verdict.reasons if it.verdict == verdict.verdict}
    if faults:
        said += f"; the fault of the {' and the '.join(faults)}"
    return f"{_paint(verdict.verdict, verdict.verdict, colour)}: {said}"


def _compared(execution: ExecutionVerdict, colour: bool) -> Iterable[str]:
    if execution.comparison is None:
        return
    yield from (f"  {_reason(line)}" for line in comparing.above(execution.comparison))
    found = comparing.rows(execution.comparison)
    widths = _widths([comparing.HEADINGS, *(cells for _, cells in found)])
    yield _line(comparing.HEADINGS, widths)
    for finding, cells in found:
        line = _line(cells, widths)
        is_plain = finding.verdict not in (FAIL, INCONCLUSIVE) or not finding.gates
        yield line if is_plain else _paint(line, finding.verdict, colour)
    yield from (f"  {_reason(line)}" for line in comparing.below(execution.comparison))


def _rows(execution: ExecutionVerdict, colour: bool) -> Iterable[str]:
    # Python's sort is stable: criteria of one verdict stay in the order of taurus.yml.
    results = sorted(execution.criteria, key=_importance)
    if not results:
        return
    confidence = f"{100 * results[0].confidence:g} % CI"
    headings = ("", "criterion", "observed", "limit", confidence, "n")
    cells = [_cells(result) for result in results]
    widths = _widths([headings, *cells])
    yield _line(headings, widths)
    for result, row in zip(results, cells, strict=True):
        line = _line(row, widths)
        yield line if result.verdict == PASS else _paint(line, result.verdict, colour)


def _importance(result: CriterionResult) -> int:
    """The worst verdict first, and what has no say beside what passes."""
    return -ORDER.index(result.verdict if result.decides else PASS)


def _cells(result: CriterionResult) -> tuple[str, ...]:
    verdict = result.verdict if result.decides else "note"
    return (
        verdict,
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


def _widths(rows: list[tuple[str, ...]]) -> list[int]:
    return [max(width(row[i]) for row in rows) for i in range(len(rows[0]))]


def _line(cells: Iterable[str], widths: list[int]) -> str:
    padded = (cell + " " * (w - width(cell)) for cell, w in zip(cells, widths, strict=True))
    return "  " + "  ".join(padded).rstrip()


def _reason(text: str) -> str:
    return shorten(one_line(text), REASON_WIDTH)


def _paint(text: str, verdict: str, colour: bool) -> str:
    return f"\033[{COLOURS[verdict]}m{text}\033[0m" if colour else text
