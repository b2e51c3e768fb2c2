"""A verdict as JSON and JUnit XML, and as Markdown by its own module. Pure: values in, text out."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from tollgate.compare import Case, cases
from tollgate.judge import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    CriterionResult,
    Execution,
    ExecutionVerdict,
    Reason,
    Run,
    Verdict,
    worst,
)
from tollgate.outputs import workers as workers_told
from tollgate.outputs.json_comparison import comparison_dict
from tollgate.outputs.json_forecast import forecast_dict
from tollgate.outputs.markdown import to_markdown

__all__ = ["MEASUREMENT", "of_the_run", "to_dict", "to_json", "to_junit", "to_markdown", "unsound"]

#: The name of the test case for everything that is not one criterion's.
MEASUREMENT = "the measurement is sound"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_dict(verdict: Verdict, run: Run, kind: str, environment: dict) -> dict[str, Any]:
    """The content of verdict.json, which verdict.schema.json describes."""
    pairs = zip(verdict.executions, run.executions, strict=True)
    return finite(
        {
            "verdict": verdict.verdict,
            "exit_code": verdict.exit_code,
            "kind": kind,
            "reasons": [asdict(reason) for reason in verdict.reasons],
            "environment": environment,
            "executions": [_execution(each, facts) for each, facts in pairs],
        }
    )


def to_json(content: dict[str, Any]) -> str:
    """The text of verdict.json."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _execution(judged: ExecutionVerdict, execution: Execution) -> dict[str, Any]:
    return {
        "name": judged.name,
        "verdict": judged.verdict,
        "reasons": [asdict(reason) for reason in judged.reasons],
        "warnings": list(judged.warnings),
        "lint": list(judged.lint),
        "url": execution.facts.url,
        "warmup_s": execution.warmup_s,
        "measured_s": execution.measured_s,
        "schedules": [asdict(schedule) for schedule in execution.schedules],
        "criteria": [_criterion(result) for result in judged.criteria],
        "forecast": forecast_dict(execution.forecast, judged.forecast),
        "comparison": comparison_dict(judged.comparison),
        **workers_told.section(judged, execution),
    }


def _criterion(result: CriterionResult) -> dict[str, Any]:
    content = asdict(result)
    low, high = content.pop("low"), content.pop("high")
    content.pop("fault")  # its reason tells it
    content["interval"] = None if low is None else [low, high]
    return {**content, "message_line": result.line}


def finite(value: Any) -> Any:
    """JSON knows no infinity: an interval without an upper end ends in null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_junit(verdict: Verdict, kind: str) -> str:
    """JUnit XML: one suite for the run, then one an execution with a case for each criterion.

    The cases and their names are the same from run to run, whatever came out, so that CI systems
    can follow each over time: red in one run, green in the next.
    """
    class_name = f"tollgate.{kind}"
    # A team that lets INCONCLUSIVE pass wants it green as well: the exit code says so.
    let_pass = {PASS} if verdict.exit_code else {PASS, INCONCLUSIVE}
    root = ET.Element("testsuites", name=_xml(class_name))
    _measurement_case(_suite(root, class_name), class_name, of_the_run(verdict), ())
    for execution in verdict.executions:
        name = f"{class_name}.{execution.name}"
        suite = _suite(root, name)
        _measurement_case(suite, name, unsound(execution), execution.warnings)
        for result in execution.criteria:
            _criterion_case(suite, name, result, let_pass)
        for compared in cases(execution.comparison):
            _comparison_case(suite, name, compared, let_pass)
    for suite in root:
        _count(suite)
    ET.indent(root)
    # Its own declaration would name the encoding of the caller's locale; the file is UTF-8.
    return f"{_DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def of_the_run(verdict: Verdict) -> list[Reason]:
    """The reasons that are no execution's, e.g. that the run was interrupted."""
    return _without(
        verdict.reasons, (each.named(it) for each in verdict.executions for it in each.reasons)
    )


def unsound(execution: ExecutionVerdict) -> list[Reason]:
    """The reasons that are not one criterion's."""
    known = {(result.verdict, result.told) for result in execution.criteria if result.decides}
    known |= {(it.verdict, it.told) for it in cases(execution.comparison)}
    return _without(
        execution.reasons, (it for it in execution.reasons if (it.verdict, it.text) in known)
    )


def _without(reasons: Iterable[Reason], others: Iterable[Reason]) -> list[Reason]:
    """The reasons but for the others, each of which takes away one of its equals. Nothing is
    told apart by how a text begins: an execution may be called anything."""
    left = Counter(others)
    kept = []
    for reason in reasons:
        if left[reason]:
            left[reason] -= 1
        else:
            kept.append(reason)
    return kept


def _suite(root: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(root, "testsuite", name=_xml(name))


def _measurement_case(
    suite: ET.Element, name: str, reasons: list[Reason], warnings: Iterable[str]
) -> None:
    case = _case(suite, name, MEASUREMENT)
    if reasons:
        verdict = worst(reason.verdict for reason in reasons)
        _mark(case, verdict, "; ".join(f"{it.text} (the {it.fault}'s fault)" for it in reasons))
    if warnings:
        ET.SubElement(case, "system-out").text = _xml("\n".join(warnings))


def _criterion_case(
    suite: ET.Element, name: str, result: CriterionResult, let_pass: set[str]
) -> None:
    case = _case(suite, name, result.criterion)
    if result.decides and result.verdict not in let_pass:
        _mark(case, result.verdict, result.line, result.reason)
    else:
        said = result.told if result.reason else result.line
        ET.SubElement(case, "system-out").text = _xml(said)


def _comparison_case(suite: ET.Element, name: str, compared: Case, let_pass: set[str]) -> None:
    case = _case(suite, name, compared.name)
    if compared.holds or compared.verdict in let_pass:
        ET.SubElement(case, "system-out").text = _xml(compared.told)
    else:
        _mark(case, compared.verdict, compared.line, compared.reason)


def _case(suite: ET.Element, class_name: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_xml(class_name), name=_xml(name))


def _mark(case: ET.Element, verdict: str, message: str, text: str = "") -> None:
    tag = "failure" if verdict == FAIL else "error"
    ET.SubElement(case, tag, message=_xml(message), type=verdict).text = _xml(text or message)


def _count(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))


def _xml(text: str) -> str:
    """Characters that XML has no way to write, e.g. of a label, become question marks."""
    return _NOT_XML.sub("?", text)
