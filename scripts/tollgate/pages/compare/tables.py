"""The tables of a comparison's page: every finding with its interval on a common scale. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tollgate.compare import ERRORS, Comparison, Finding, words
from tollgate.pages.kit.assemble import tone
from tollgate.pages.kit.bars import IntervalBar, Ruler
from tollgate.pages.kit.tables import Column, Table
from tollgate.study import Estimate

#: How many of the effect's size a scale reaches at most, either way: what is further off is clear.
_FARTHEST = 8
_NUMBERS = 7


@dataclass(frozen=True)
class Changes(Ruler):
    """A scale of changes, in steps of a round number of per cents or points."""

    none: ClassVar[float] = 0.0
    step: float

    @classmethod
    def of(cls, findings: Iterable[Finding], effect: float) -> Changes:
        """One that holds all of them as far as they matter, none, and the effect."""
        ends = [end for it in findings for end in (it.low, it.high, it.change) if end is not None]
        near = [min(max(end, -_FARTHEST * effect), _FARTHEST * effect) for end in ends]
        low, high = min([*near, -effect]), max([*near, 2 * effect])
        step = _round((high - low) / _NUMBERS)
        # What a step leaves over by rounding of numbers alone is no step.
        ends = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(ends[0] * step, ends[1] * step, step)

    @property
    def ticks(self) -> Sequence[float]:
        first, last = round(self.low / self.step), round(self.high / self.step)
        return [number * self.step if number else 0.0 for number in range(first, last + 1)]

    def text(self, tick: float) -> str:
        """`+5`, `0`, `-0.1`: per cents, or points."""
        return f"{100 * tick:+.4g}" if tick else "0"


@dataclass(frozen=True)
class FindingRow:
    """A metric of a label. ends: of the change, or empty. tone: of its verdict, unused where the
    metric is informational."""

    metric: str
    base: str
    head: str
    bar: IntervalBar
    change: str
    ends: str
    is_gating: bool
    verdict: str
    tone: str
    reason: str


@dataclass(frozen=True)
class FindingTable:
    """heading: of the column with the changes. groups: (label, its numbers of requests, rows)."""

    caption: str
    heading: str
    scale: Changes
    groups: Sequence[tuple[str, str, Sequence[FindingRow]]]


def times(comparison: Comparison) -> FindingTable:
    """Service times."""
    effect = comparison.gate.settings.effect
    findings = [it for it in comparison.gate.findings if it.metric != ERRORS]
    caption = (
        f"Service times. Green: a rise of {100 * effect:g} % is ruled out, or head is better; red: "
        "head is worse beyond doubt; grey: informational."
    )
    return _findings(caption, "change, %", findings, comparison)


def failures(comparison: Comparison) -> FindingTable:
    """Error rates, whose changes are differences and have a scale of their own."""
    effect = comparison.gate.settings.error_effect
    findings = [it for it in comparison.gate.findings if it.metric == ERRORS]
    rule = f"What must be ruled out is a rise of {100 * effect:g} percentage points"
    if not any(it.gates for it in findings):
        rule = "They are informational"
    return _findings(f"Failed requests. {rule}.", "change, percentage points", findings, comparison)


def course(comparison: Comparison) -> Table:
    """When each finding that gates was decided."""
    columns = Column("metric"), Column("decided after, s", "number"), Column("because", "wide")
    rows = [
        (words.name(it), words.UNKNOWN if it.at_s is None else f"{it.at_s:g}", words.reason(it))
        for it in comparison.gating
    ]
    return Table("What decided, and when", columns, rows)


def _findings(
    caption: str, heading: str, findings: Sequence[Finding], comparison: Comparison
) -> FindingTable:
    effect = words.effect_of(comparison, findings[0]) if findings else 1.0
    scale = Changes.of(findings, effect)
    ends = [end for it in findings for end in (it.low, it.change, it.high) if end is not None]
    if any(map(scale.side, ends)):
        caption += " An arrow points to what lies beyond the scale."
    groups = []
    for label in dict.fromkeys(it.label for it in findings):
        base, head = comparison.samples.get(label, (0, 0))
        rows = [_row(it, scale, effect) for it in findings if it.label == label]
        groups.append((label, f"{base:,} requests to base, {head:,} to head", rows))
    return FindingTable(caption, heading, scale, groups)


def _row(finding: Finding, scale: Changes, effect: float) -> FindingRow:
    estimate = Estimate(finding.change, finding.low, finding.high)
    kind = tone(finding.verdict) if finding.gates else "across"
    ends = [words.change(finding, it, effect) for it in (finding.low, finding.high)]
    return FindingRow(
        metric=finding.metric,
        base=words.value(finding, finding.base),
        head=words.value(finding, finding.head),
        bar=IntervalBar.of(estimate, scale, kind),
        change=words.change(finding, finding.change, effect),
        ends=", ".join(ends) if finding.low is not None else "",
        is_gating=finding.gates,
        verdict=words.verdict(finding),
        tone=kind,
        reason=words.reason(finding) if finding.gates else finding.reason,
    )


def _round(step: float) -> float:
    """The next of 1, 2, 5, 10... times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))
