"""The tables of a comparison's page: every finding with its interval on a common scale. Pure."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tollgate.compare import ERRORS, FAIL, IMPROVED, INCONCLUSIVE, PASS, Comparison, Finding
from tollgate.compare import words as told
from tollgate.pages.kit.bars import along, beyond, interval_bar, scale_head
from tollgate.pages.kit.parts import Child, Column, Group, Row, badge, element, table
from tollgate.study import Estimate

TONES = {PASS: "good", IMPROVED: "good", FAIL: "bad", INCONCLUSIVE: "unsure"}
#: How many of the effect's size a scale reaches at most, either way: what is further off is clear.
_FARTHEST = 8
_NUMBERS = 7


@dataclass(frozen=True)
class Changes:
    """A scale of changes, from low to high, in steps of a round number of per cents or points."""

    none: ClassVar[float] = 0.0
    low: float
    high: float
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

    def at(self, value: float) -> str:
        """Where a change lies, as an SVG length; those beyond an end lie on it."""
        within = min(max(value, self.low), self.high)
        return along((within - self.low) / (self.high - self.low))

    def lacks(self, value: float | None) -> bool:
        """Whether a change lies beyond an end."""
        return value is not None and beyond(value, self) != 0

    def told(self, tick: float) -> str:
        """`+5`, `0`, `-0.1`: per cents, or points."""
        return f"{100 * tick:+.4g}" if tick else "0"


def times(comparison: Comparison) -> ET.Element:
    """Response times."""
    effect = comparison.gate.settings.effect
    findings = [it for it in comparison.gate.findings if it.metric != ERRORS]
    caption = (
        f"Service times. Green: a rise of {100 * effect:g} % is ruled out, or head is better; red: "
        "head is worse beyond doubt; grey: told, without a say."
    )
    return _findings(caption, "change, %", findings, comparison)


def failures(comparison: Comparison) -> ET.Element:
    """Error rates, whose changes are differences and have a scale of their own."""
    effect = comparison.gate.settings.error_effect
    findings = [it for it in comparison.gate.findings if it.metric == ERRORS]
    say = f"What must be ruled out is a rise of {100 * effect:g} percentage points"
    if not any(it.gates for it in findings):
        say = "They are told, without a say"
    return _findings(f"Failed requests. {say}.", "change, percentage points", findings, comparison)


def course(comparison: Comparison) -> ET.Element:
    """When each finding that gates was decided."""
    columns = Column("metric"), Column("decided after, s", "number"), Column("because", "wide")
    rows = (
        (told.name(it), told.UNKNOWN if it.at_s is None else f"{it.at_s:g}", told.reason(it))
        for it in comparison.gating
    )
    return table("What decided, and when", columns, list(rows))


def _findings(
    caption: str, heading: str, findings: Sequence[Finding], comparison: Comparison
) -> ET.Element:
    effect = told.effect_of(comparison, findings[0]) if findings else 1.0
    scale = Changes.of(findings, effect)
    if any(scale.lacks(end) for it in findings for end in (it.low, it.change, it.high)):
        caption += " An arrow points to what lies beyond the scale."
    columns = (
        *(Column("metric"), Column("base", "number"), Column("head", "number")),
        *(Column(heading, "bar", scale_head(scale)), Column("change: at least, at most", "number")),
        Column("verdict"),
    )
    rows: list[Row] = []
    for label in dict.fromkeys(it.label for it in findings):
        base, head = comparison.samples.get(label, (0, 0))
        counts = element("span", f"{base:,} requests to base, {head:,} to head", class_="small")
        rows.append(Group((label, " ", counts)))
        rows += [_row(it, scale, effect) for it in findings if it.label == label]
    return table(caption, columns, rows, kind="cards")


def _row(finding: Finding, scale: Changes, effect: float) -> Sequence[Child]:
    estimate = Estimate(finding.change, finding.low, finding.high)
    tone = TONES.get(finding.verdict, "across")
    ends = [told.change(finding, it, effect) for it in (finding.low, finding.high)]
    within = element("span", ", ".join(ends), class_="small") if finding.low is not None else None
    return (
        finding.metric,
        *(told.value(finding, each) for each in (finding.base, finding.head)),
        interval_bar(estimate, scale, tone),
        element("span", told.change(finding, finding.change, effect), within),
        _verdict(finding),
    )


def _verdict(finding: Finding) -> Child:
    if not finding.gates:
        return element("span", "told only", element("span", finding.reason, class_="small"))
    reason = element("span", told.reason(finding), class_="small")
    return element("span", badge(told.verdict(finding), TONES[finding.verdict]), reason)


def _round(step: float) -> float:
    """The next of 1, 2, 5, 10... times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))
