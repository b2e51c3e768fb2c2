"""A comparison as Markdown, for a pull request. Pure."""

from __future__ import annotations

from tollgate.base import code, escaped, row
from tollgate.compare import FAIL, IMPROVED, INCONCLUSIVE, Comparison, Finding
from tollgate.compare import words as told

HEADINGS = ("label", "metric", "base", "head", "change", "interval", "verdict")
_STRIKING = (FAIL, INCONCLUSIVE, IMPROVED)


def to_lines(comparison: Comparison) -> list[str]:
    """Which code was compared, every metric of every label, and how it was decided."""
    lines = [f"- {escaped(side)}" for side in told.sides(comparison.record)]
    lines += ["", row(HEADINGS), row(["---"] * len(HEADINGS))]
    lines += [row(_cells(each, comparison)) for each in comparison.gate.findings]
    lines += ["", escaped(f"{_capital(told.course(comparison))}. {told.promise(comparison)}")]
    if comparison.is_control:
        lines += ["", *(f"- {escaped(line)}" for line in told.noise(comparison))]
    return lines


def _cells(finding: Finding, comparison: Comparison) -> tuple[str, ...]:
    effect = told.effect_of(comparison, finding)
    said = told.verdict(finding)
    return (
        *(code(finding.label), finding.metric),
        *(told.value(finding, each) for each in (finding.base, finding.head)),
        told.change(finding, finding.change, effect),
        told.interval(finding, effect) or told.UNKNOWN,
        f"**{said}**" if finding.verdict in _STRIKING and finding.gates else said,
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
