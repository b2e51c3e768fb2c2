"""A comparison for programs: its part of verdict.json, and cases for JUnit. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tollgate.compare import ERRORS, Comparison, Finding
from tollgate.compare import words as told


def comparison_dict(comparison: Comparison | None) -> dict[str, Any] | None:
    """An execution's `comparison` in verdict.json; None where nothing is compared."""
    if comparison is None:
        return None
    record, gate = comparison.record, comparison.gate
    return {
        "base": asdict(record.base),
        "head": asdict(record.head),
        "mode": record.mode,
        "control": comparison.is_control,
        "injected": dict(record.injected),
        "settings": {name: _plain(value) for name, value in asdict(gate.settings).items()},
        "verdict": gate.verdict,
        "compared_s": comparison.seconds,
        "ended_itself_s": record.decided_s,
        "looks_s": list(gate.looks_s),
        "findings": [_finding(each, comparison) for each in gate.findings],
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _finding(finding: Finding, comparison: Comparison) -> dict[str, Any]:
    samples = comparison.samples.get(finding.label, (0, 0))
    ends: Mapping[str, Any] = {
        "interval": None if finding.low is None else [finding.low, finding.high]
    }
    return {
        "label": finding.label,
        "metric": finding.metric,
        "gates": finding.gates,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "unit": "share" if finding.metric == ERRORS else "ms",
        "base": finding.base,
        "head": finding.head,
        "change": finding.change,
        **ends,
        "samples": {"base": samples[0], "head": samples[1]},
        "decided_s": finding.at_s,
        "more_s": finding.more_s,
        "message_line": told.line(finding, told.effect_of(comparison, finding)),
    }
