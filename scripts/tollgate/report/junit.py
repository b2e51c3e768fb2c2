"""A verdict as JUnit XML, for CI systems. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone

from tollgate.base.text import printable
from tollgate.compare.model import INFORMATIONAL
from tollgate.compare.words import Case, cases
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    CriterionResult,
    ExecutionVerdict,
    Reason,
    RunVerdict,
    worst,
)

#: The name of the test case for everything that is not one criterion's.
MEASUREMENT = "the measurement is sound"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


#: When something began and ended, in seconds since the epoch.
Span = tuple[float, float]


def to_junit(verdict: RunVerdict, kind: str, spans: Mapping[str, Span] | None = None) -> str:
    """JUnit XML: one suite for the run, then one an execution with a case for each criterion.
    spans: of the executions that have begun, by their names.

    The cases and their names are the same from run to run, whatever came out, so that CI systems
    can follow each over time: red in one run, green in the next.
    """
    class_name = f"tollgate.{kind}"
    # A team that lets INCONCLUSIVE pass wants it green as well: the exit code says so.
    let_pass = {PASS} if verdict.exit_code else {PASS, INCONCLUSIVE}
    root = ET.Element("testsuites", name=printable(class_name))
    own = [it for it in of_the_run(verdict) if it.verdict not in let_pass]
    spans = spans or {}
    # Readers add up the times of suites: that of the run's own is none.
    began = min((start for start, _ in spans.values()), default=None)
    whole = None if began is None else (began, began)
    _measurement_case(_suite(root, class_name, whole), class_name, own, ())
    for execution in verdict.executions:
        name = f"{class_name}.{execution.name}"
        suite = _suite(root, name, spans.get(execution.name))
        _measurement_case(suite, name, unsound(execution), execution.warnings)
        for result in execution.criteria:
            passes = not result.decides or result.verdict in let_pass
            _result_case(suite, name, result.criterion, result, passes)
        for compared in cases(execution.comparison):
            passes = compared.holds or compared.verdict in let_pass
            _result_case(suite, name, compared.name, compared, passes)
    for suite in root:
        _count(suite)
    ET.indent(root)
    # Its own declaration would name the encoding of the caller's locale; the file is UTF-8.
    return f"{_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def of_the_run(verdict: RunVerdict) -> list[Reason]:
    """The reasons that are no execution's, e.g. that the run was interrupted. Reasons are compared
    whole, never by how a text begins: an execution may be called anything."""
    of_executions = Counter(each.named(it) for each in verdict.executions for it in each.reasons)
    return [*(Counter(verdict.reasons) - of_executions).elements()]


def unsound(execution: ExecutionVerdict) -> list[Reason]:
    """The reasons that are not one criterion's."""
    results = [it for it in execution.criteria if it.decides]
    of_cases = ((it.verdict, it.line_with_reason) for it in cases(execution.comparison))
    of_criteria = {*((it.verdict, it.line_with_reason) for it in results), *of_cases}
    return [it for it in execution.reasons if (it.verdict, it.text) not in of_criteria]


def _suite(root: ET.Element, name: str, span: Span | None) -> ET.Element:
    """time, timestamp: how long it took, and when it began, as JUnit's schema has it: in UTC and
    without a zone."""
    start, end = span or (0.0, 0.0)
    suite = ET.SubElement(root, "testsuite", name=printable(name), time=f"{end - start:.3f}")
    if span:
        began = datetime.fromtimestamp(start, timezone.utc).replace(tzinfo=None)
        suite.set("timestamp", began.isoformat(timespec="seconds"))
    return suite


def _measurement_case(
    suite: ET.Element, name: str, reasons: list[Reason], warnings: Iterable[str]
) -> None:
    case = _case(suite, name, MEASUREMENT)
    if reasons:
        verdict = worst(reason.verdict for reason in reasons)
        _mark(case, verdict, "; ".join(f"{it.text} (the {it.fault}'s fault)" for it in reasons))
    if warnings:
        ET.SubElement(case, "system-out").text = _unattached("\n".join(warnings))


def _result_case(
    suite: ET.Element, class_name: str, name: str, result: CriterionResult | Case, passes: bool
) -> None:
    case = _case(suite, class_name, name)
    if result.decided_after_s is not None:
        case.set("time", f"{result.decided_after_s:.3f}")
    text = result.line_with_reason if result.reason else result.line
    if result.verdict == INFORMATIONAL:
        ET.SubElement(case, "skipped", message=printable(text))
    elif passes:
        ET.SubElement(case, "system-out").text = _unattached(text)
    else:
        _mark(case, result.verdict, result.line, text)  # GitLab shows the text alone


def _case(suite: ET.Element, class_name: str, name: str) -> ET.Element:
    """time: of the execution, for what its end alone decides."""
    names = {"classname": printable(class_name), "name": printable(name)}
    return ET.SubElement(suite, "testcase", names, time=suite.get("time", ""))


def _mark(case: ET.Element, verdict: str, message: str, text: str = "") -> None:
    tag = "failure" if verdict == FAIL else "error"
    element = ET.SubElement(case, tag, message=printable(message), type=verdict)
    element.text = _unattached(text or message)


def _unattached(text: str) -> str:
    """Printable text that attaches no file of the machine. Source: GitLab's documentation of JUnit
    screenshots, and Jenkins' plugin junit-attachments."""
    return printable(text).replace("[[ATTACHMENT|", "[ [ATTACHMENT|")


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
