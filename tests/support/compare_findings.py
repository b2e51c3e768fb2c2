"""Verdicts on comparisons whose findings are written down, for the tests of what is written."""

from dataclasses import replace

import numpy as np

from support.compare_folder import BASE, HEAD, SAME
from tollgate.compare.model import ERRORS, SHARES, STALLS, Finding, Gate, GateSettings
from tollgate.compare.record import CompareRecord
from tollgate.compare.result import Comparison, LabelCounts, not_compared
from tollgate.judge.facts import MeasuredExecution, MeasuredRun

SETTINGS = GateSettings(fail_fast=False)
RECORD = CompareRecord(BASE, HEAD, "compare", "fork", SETTINGS, 60.0, 30.0, {}, 120.0)
LABELS = ("sum", "search")


def found(metric, verdict, change, half, label="sum", **more):
    """A finding that gates, of 4.42 ms or of no failures of base."""
    base = 0.0 if metric in SHARES else 4.42
    head = change if metric in SHARES else base * (1 + change)
    reasons = {
        "FAIL": "worse beyond doubt",
        "PASS": "a rise of 5.0 % is ruled out",
        "IMPROVED": "better beyond doubt",
        "INCONCLUSIVE": "cannot tell: some 1.8 times as many samples would",
    }
    at_s = None if verdict == "INCONCLUSIVE" else 120.0
    ends = {"low": change - half, "high": change + half}
    if metric == STALLS:
        more = {"limit_ms": 45.0} | more
    known = {"base": base, "head": head, "change": change, **ends, "at_s": at_s}
    reason = reasons.get(verdict, "")
    return Finding(label, metric, verdict != "INFORMATIONAL", verdict, reason, **(known | more))


ALL_KINDS = (
    found("typical", "PASS", 0.003, 0.006),
    found("p50", "PASS", 0.004, 0.009),
    found("p95", "FAIL", 0.201, 0.031, high=0.234),
    found("p99", "INFORMATIONAL", 0.25, 0.12),
    found("mean", "INFORMATIONAL", 0.11, 0.04),
    found("tail", "PASS", 0.006, 0.014),
    found(STALLS, "PASS", 0.0004, 0.002),
    found(ERRORS, "FAIL", 0.0052, 0.0021),
    found("typical", "PASS", -0.002, 0.008, "search"),
    found("p50", "IMPROVED", -0.12, 0.03, "search"),
    found("p95", "INCONCLUSIVE", 0.021, 0.04, "search", more_s=95.0),
    Finding("search", "p99", False, "INFORMATIONAL", "900 samples on one side, p99 needs 2000"),
    found("mean", "INFORMATIONAL", -0.1, 0.02, "search"),
    found("tail", "PASS", -0.01, 0.02, "search"),
    found(STALLS, "PASS", 0.0, 0.001, "search"),
    found(ERRORS, "PASS", 0.0, 0.0008, "search"),
)
CHANGES = {"typical": 0.002, "p50": 0.004, "p95": -0.01, "p99": 0.02, "mean": 0.005, "tail": 0.004}
GOOD = tuple(
    found(metric, "PASS" if metric in SETTINGS.gates else "INFORMATIONAL", change, 0.009, label)
    for label in LABELS
    for metric, change in (CHANGES | {STALLS: 0.0, ERRORS: 0.0}).items()
)


def comparison(findings=ALL_KINDS, record=RECORD):
    """A comparison that was decided at its third look."""
    values = np.array([4, 5, 9])
    counts = tuple(
        LabelCounts(label, values, np.array([900, 1400, 97]), np.array([500, 1700, 203]), (0, 12))
        for label in dict.fromkeys(each.label for each in findings)
    )
    return Comparison(record, Gate(SETTINGS, (60.0, 90.0, 120.0), findings), counts, 120)


def run_of(compared):
    """A run of this comparison alone, its measurement sound."""
    return MeasuredRun((MeasuredExecution("compare", {}, (), 15.0, 120.0, comparison=compared),))


def at(host, side):
    return replace(side, description=f"http://{host}:1", revision=None, url=f"http://{host}:1")


RUNS = {
    "every kind": comparison(),
    "good": comparison(GOOD),
    "control": comparison(GOOD, replace(RECORD, head=SAME)),
    "injected": comparison(record=replace(RECORD, injected={"work_percent": 20.0})),
    "of urls": comparison(
        record=replace(RECORD, base=at("a", BASE), head=at("b", HEAD), mode="url", decided_s=None)
    ),
    "of nothing": not_compared(RECORD, LABELS),
}
