"""A comparison in index.html: the outcome for head, every finding with its interval on a common
scale, and how it was decided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tollgate.base.text import format_number
from tollgate.compare import samples, words
from tollgate.compare.looks import course
from tollgate.compare.model import (
    CPU,
    ERRORS,
    LEAST_MS,
    SHARES,
    STALLS,
    Blocks,
    Finding,
)
from tollgate.compare.profile.model import Why, read_why
from tollgate.compare.result import Comparison
from tollgate.judge.facts import MeasuredRun
from tollgate.record import manifest
from tollgate.report.pages.compare import charts
from tollgate.report.pages.kit.bars import Ruler
from tollgate.report.pages.kit.charts import Chart
from tollgate.report.sentences import listed
from tollgate.report.table import Table
from tollgate.report.tables import findings_table

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
class ComparePart:
    """What the page of a comparison has more than that of any run. findings: of times, stalls
    and errors, by name. distributions, looks: charts. why: what was profiled afterwards, None for
    nothing."""

    comparison: Comparison
    findings: Mapping[str, Table]
    distributions: Sequence[Chart]
    looks: Sequence[Chart]
    why: Why | None


def part(run: Path, record: manifest.Manifest, facts: MeasuredRun) -> ComparePart | None:
    """Of a run's folder that was gathered and judged; None where nothing is compared.

    Raises JtlError, ManifestError and OSError.
    """
    pairs = zip(record.executions, facts.executions, strict=True)
    compared = next(((planned, it.comparison) for planned, it in pairs if it.comparison), None)
    if compared is None:
        return None
    planned, comparison = compared
    blocks = _blocks(run, planned, comparison)
    return ComparePart(
        comparison=comparison,
        findings=tables(comparison),
        distributions=charts.distributions(comparison.counts),
        looks=charts.looks([*course(comparison.record, blocks, comparison.gate.looks_s)]),
        why=read_why(run),
    )


def _blocks(run: Path, planned: manifest.Execution, comparison: Comparison) -> tuple[Blocks, ...]:
    """The samples second by second, as far as they count."""
    labels = [each.label for each in comparison.counts]
    if not comparison.seconds:
        return ()
    processes = comparison.record.processes
    return samples.read(
        run / planned.jtl, labels, planned.warmup, comparison.seconds, processes
    ).blocks


def tables(comparison: Comparison) -> dict[str, Table]:
    """Of times, of shares, and of CPU time where it is known, by name."""
    found = {
        "Times": times(comparison),
        "Stalls": stalls(comparison),
        "Errors": failures(comparison),
    }
    if any(it.metric == CPU for it in comparison.gate.findings):
        found["CPU"] = cpu(comparison)
    return found


def times(comparison: Comparison) -> Table:
    """Service times."""
    settings = comparison.gate.settings
    findings = [it for it in comparison.gate.findings if it.metric not in (*SHARES, CPU)]
    caption = (
        f"Service times. Green: a rise of {100 * settings.effect:g} %, of the typical request of "
        f"{100 * settings.typical_effect:g} %, but {LEAST_MS:g} ms at least, is ruled out, or head "
        "is better; red: head is worse beyond doubt; grey: informational. Values are those of "
        "short pieces of time, without the fifth of the pieces with the most extreme ones at "
        "either end; of tail, the mean of answers that count as base's median at least, of all."
    )
    return _findings(caption, findings, comparison)


def stalls(comparison: Comparison) -> Table:
    """Shares of answers that take far longer than base's p95."""
    found = [it for it in comparison.gate.findings if it.metric == STALLS]
    limits = [
        f"{format_number(it.limit_ms)} ms of {it.label}" for it in found if it.limit_ms is not None
    ]
    beyond = f": answers beyond {listed(limits)}" if limits else ""
    return _shares(STALLS, f"Stalls{beyond}", comparison)


def failures(comparison: Comparison) -> Table:
    """Error rates."""
    return _shares(ERRORS, "Failed requests", comparison)


def cpu(comparison: Comparison) -> Table:
    """CPU time of an answered request."""
    effect = comparison.gate.settings.effect_of(CPU)
    found = [it for it in comparison.gate.findings if it.metric == CPU]
    rule = "It is informational"
    if any(it.gates for it in found):
        rule = f"What must be ruled out is a rise of {100 * effect:g} %"
    caption = (
        "CPU time of all processes of a side for each answer, adjusted for the labels and rows "
        f"that it got. {rule}. Waiting is not in it."
    )
    return _findings(caption, found, comparison)


def _shares(metric: str, name: str, comparison: Comparison) -> Table:
    """A metric whose changes are differences, which have a scale of their own."""
    effect = comparison.gate.settings.effect_of(metric)
    findings = [it for it in comparison.gate.findings if it.metric == metric]
    rule = f"What must be ruled out is a rise of {100 * effect:g} percentage points"
    if not any(it.gates for it in findings):
        rule = "They are informational"
    return _findings(f"{name}. {rule}.", findings, comparison)


def _findings(caption: str, findings: Sequence[Finding], comparison: Comparison) -> Table:
    effect = words.effect_of(comparison, findings[0]) if findings else 1.0
    scale = Changes.of(findings, effect)
    ends = [end for it in findings for end in (it.low, it.change, it.high) if end is not None]
    if any(map(scale.side, ends)):
        caption += " An arrow points to what lies beyond the scale."
    settings, samples = comparison.gate.settings, comparison.samples
    return findings_table(caption, findings, settings, samples, scale)


def _round(step: float) -> float:
    """The next of 1, 2, 5, 10... times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= step * (1 - 1e-9))
