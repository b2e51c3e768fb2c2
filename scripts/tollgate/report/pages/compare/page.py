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
    GateSettings,
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
    settings, findings = comparison.gate.settings, comparison.gate.findings
    times = [it for it in findings if it.metric not in (*SHARES, CPU)]
    stalls, errors, cpu = (
        [it for it in findings if it.metric == metric] for metric in (STALLS, ERRORS, CPU)
    )
    beyond_ms = [(it.label, it.limit_ms) for it in stalls if it.limit_ms is not None]
    limits = [f"{format_number(limit_ms)} ms of {label}" for label, limit_ms in beyond_ms]
    beyond = f": answers beyond {listed(limits)}" if limits else ""
    captions = {
        "Times": (
            f"Service times. Green: a rise of {100 * settings.effect:g} %, of the typical request "
            f"of {100 * settings.typical_effect:g} %, but {LEAST_MS:g} ms at least, is ruled out, "
            "or head is better; red: head is worse beyond doubt; grey: informational. Values are "
            "those of short pieces of time, without the fifth of the pieces with the most extreme "
            "ones at either end; of tail, the mean of answers that count as base's median at "
            "least, of all."
        ),
        "Stalls": f"Stalls{beyond}. {_rule(STALLS, stalls, settings)}.",
        "Errors": f"Failed requests. {_rule(ERRORS, errors, settings)}.",
        "CPU": (
            "CPU time of all processes of a side for each answer, adjusted for the labels and rows "
            f"that it got. {_rule(CPU, cpu, settings)}. Waiting is not in it."
        ),
    }
    named = zip(captions.items(), (times, stalls, errors, cpu), strict=True)
    return {
        name: _findings(caption, own, comparison)
        for (name, caption), own in named
        if own or name != "CPU"
    }


def _rule(metric: str, findings: Sequence[Finding], settings: GateSettings) -> str:
    """What a metric fails by; changes of shares are differences."""
    if not any(it.gates for it in findings):
        return "They are informational" if metric in SHARES else "It is informational"
    unit = "percentage points" if metric in SHARES else "%"
    return f"What must be ruled out is a rise of {100 * settings.effect_of(metric):g} {unit}"


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
