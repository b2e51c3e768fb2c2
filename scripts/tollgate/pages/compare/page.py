"""A comparison in index.html: the outcome for head, what it rests on, and how it was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tollgate.compare import (
    ERRORS,
    IMPROVED,
    Blocks,
    Comparison,
    Finding,
    Gate,
    look,
    samples,
    words,
)
from tollgate.compare import FAIL as WORSE
from tollgate.judge import FAIL, INCONCLUSIVE, INVALID, PASS, MeasuredRun, RunVerdict
from tollgate.pages.compare import charts, tables
from tollgate.pages.compare.tables import FindingTable
from tollgate.pages.kit.charts import Chart
from tollgate.pages.kit.tables import Table
from tollgate.run import manifest

#: Findings that the sentence names, of those that make it fail.
_MOST_WORSE = 2
#: Labels and metrics that it names.
_NAMED = 4


@dataclass(frozen=True)
class ComparePart:
    """What the page of a comparison has more than that of any run. sentence: the outcome for head,
    empty where something else decided, so that the verdict's own says more. sides, noise: lines.
    findings: of times and of errors. distributions, looks: charts. course: how it was decided, and
    decided: when each metric was."""

    sentence: str
    sides: Sequence[str]
    findings: Sequence[FindingTable]
    promise: str
    noise: Sequence[str]
    distributions: Sequence[Chart]
    looks: Sequence[Chart]
    course: str
    decided: Table


def part(
    run: Path, record: manifest.Manifest, facts: MeasuredRun, verdict: RunVerdict
) -> ComparePart | None:
    """Of a run's folder that was gathered and judged; None where nothing is compared.

    Raises JtlError and OSError.
    """
    pairs = zip(record.executions, facts.executions, strict=True)
    compared = next(((planned, it.comparison) for planned, it in pairs if it.comparison), None)
    if compared is None:
        return None
    planned, comparison = compared
    how = words.course(comparison)
    return ComparePart(
        sentence=sentence(verdict, comparison),
        sides=list(words.sides(comparison.record)),
        findings=[tables.times(comparison), tables.failures(comparison)],
        promise=words.promise(comparison),
        noise=list(words.noise(comparison)) if comparison.is_control else [],
        distributions=charts.distributions(comparison.counts),
        looks=charts.looks(course(comparison, _blocks(run, planned, comparison))),
        course=f"{how[:1].upper()}{how[1:]}.",
        decided=tables.course(comparison),
    )


def _blocks(run: Path, planned: manifest.Execution, comparison: Comparison) -> tuple[Blocks, ...]:
    """The samples second by second, as far as they count."""
    labels = [each.label for each in comparison.counts]
    if not comparison.seconds:
        return ()
    return samples.read(run / planned.jtl, labels, planned.warmup, comparison.seconds).blocks


def course(comparison: Comparison, blocks: Sequence[Blocks]) -> list[Gate]:
    """The gate after each of its looks, taken anew."""
    gates: list[Gate] = []
    gate = Gate(comparison.gate.settings)
    for at_s in comparison.gate.looks_s:
        gate = look(gate, [each.first(int(at_s)) for each in blocks], at_s)
        gates.append(gate)
    return gates


def sentence(verdict: RunVerdict, comparison: Comparison) -> str:
    """What a run with this verdict shows of head: no more than its gating metrics bear out. Empty
    where neither they nor a criterion decided."""
    gating = comparison.gating
    if verdict.verdict == INVALID:
        return "The measurement is broken, so that nothing can be said of head."
    worse = [it for it in gating if it.verdict == WORSE]
    if worse:
        return f"Head is worse than base: {_listed(worse, comparison)}."
    open_ = sum(not it.decided or it.verdict == INCONCLUSIVE for it in gating)
    if verdict.verdict == INCONCLUSIVE and open_:
        return f"Cannot tell: {open_} of {len(gating)} metrics are left undecided."
    if verdict.verdict != PASS:
        return _by_criterion(verdict)
    whose = "Head against base"
    if comparison.is_control:
        whose = "Base against itself passes, and what differs is noise"
    better = [it for it in gating if it.verdict == IMPROVED]
    also = f"; better beyond doubt: {_listed(better, comparison)}" if better else ""
    return f"{whose}{_ruled_out(comparison)}{also}."


def _by_criterion(verdict: RunVerdict) -> str:
    results = (it for each in verdict.executions for it in each.criteria if it.decides)
    if all(it.verdict != verdict.verdict for it in results):
        return ""
    if verdict.verdict == FAIL:
        return "A criterion on both sides together fails."
    return "Cannot tell: a criterion on both sides together is left undecided."


def _ruled_out(comparison: Comparison) -> str:
    """`, of search alone: a rise of 5 % is ruled out for p50 and p95; of errors, one of 0.2
    points`. No labels where all gate."""
    settings, gating = comparison.gate.settings, comparison.gating
    labels = list(dict.fromkeys(it.label for it in gating))
    is_all = len(labels) == len({it.label for it in comparison.gate.findings})
    metrics = list(dict.fromkeys(it.metric for it in gating))
    times = [it for it in metrics if it != ERRORS]
    parts = []
    if times:
        parts.append(f"a rise of {100 * settings.effect:g} % is ruled out for {_and(times)}")
    if ERRORS in metrics:
        points = f"{100 * settings.error_effect:g} points"
        one = f"of errors, one of {points}"
        parts.append(one if times else f"a rise of errors by {points} is ruled out")
    return f"{'' if is_all else f', of {_and(labels)} alone'}: {'; '.join(parts)}"


def _and(names: Sequence[str]) -> str:
    """`sum, search and pi`, `sum, search, pi, kittens and 4 more`."""
    shown = list(names[:_NAMED])
    more = len(names) - len(shown)
    *first, last = [*shown, f"{more} more"] if more else shown
    return f"{', '.join(first)} and {last}" if first else last


def _listed(findings: Sequence[Finding], comparison: Comparison) -> str:
    """`p95 of sum +19.1 %, p50 of sum +16.8 % and 2 more`, the largest change first."""
    ordered = sorted(findings, key=lambda it: -abs(it.change or 0.0))
    texts = [
        f"{words.name(it)} {words.change(it, it.change, words.effect_of(comparison, it))}"
        for it in ordered[:_MOST_WORSE]
    ]
    more = len(findings) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")
