"""What came of a comparison: the gate after its last look, and the samples under it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

from pydantic import Field, computed_field

from tollgate.base.fields import WRITTEN, Count, Inlined, Unwritten
from tollgate.compare.cpu import LabelCpu, by_label, cpu_change
from tollgate.compare.decide import close
from tollgate.compare.looks import judge_blocks
from tollgate.compare.model import (
    ALL_LABELS,
    CPU,
    ERRORS,
    IMPROVED,
    INCONCLUSIVE,
    INFORMATIONAL,
    OF_ALL,
    OF_LABEL,
    OPEN,
    PASS,
    TAIL,
    TYPICAL,
    Blocks,
    Finding,
    Gate,
)
from tollgate.compare.pooled import all_of
from tollgate.compare.processes import ProcessSpread, spread
from tollgate.compare.record import CompareRecord
from tollgate.compare.samples import Compared
from tollgate.compare.unlike import LabelAnswers, UnlikeAnswers, unlike_answers
from tollgate.stats.arrays import Ints
from tollgate.workers.background_cpu import BackgroundCpu

#: How a last look may fail to come to what the run took for decided.
NO_LOOK, NOT_DECIDED = "no look", "not decided"
#: Why a label is not said to have improved.
OTHERWISE = "faster, but head answers something else"


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """One label's samples in the seconds that count. values_ms: int[V], the distinct elapsed of
    both sides, ascending. base, head: int[V], samples of each. failed: of base and of head."""

    label: str
    values_ms: Ints
    base: Ints
    head: Ints
    failed: tuple[int, int] = (0, 0)

    @property
    def totals(self) -> tuple[int, int]:
        """Samples of base and of head."""
        return int(self.base.sum()), int(self.head.sum())

    @property
    def shares_failed(self) -> tuple[float, float]:
        base, head = (each / max(1, n) for each, n in zip(self.failed, self.totals, strict=True))
        return base, head

    @classmethod
    def of(cls, blocks: Blocks) -> LabelCounts:
        base, head = blocks.sides
        failed = int(base.failed.sum()), int(head.failed.sum())
        sums = base.counts.sum(axis=0), head.counts.sum(axis=0)
        return cls(blocks.label, blocks.values_ms, *sums, failed)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came of a comparison."""

    __pydantic_config__ = WRITTEN

    record: Inlined[CompareRecord]
    gate: Inlined[Gate]
    """After its last look, closed."""
    counts: Unwritten[tuple[LabelCounts, ...]]
    """One entry for each label."""
    seconds: Annotated[Count, Field(serialization_alias="compared_s")]
    """Whole seconds of measuring that count."""
    doubt: Unwritten[str] = ""
    """NO_LOOK or NOT_DECIDED where the run ended itself and the samples do not bear that out."""
    spreads: tuple[ProcessSpread, ...] = ()
    """How much the processes of each side differ, by label; empty of a single process a side."""
    cpu_by_label: tuple[LabelCpu, ...] = ()
    """What a request of each label takes more CPU time; empty where too little of it is known."""

    unlike: Annotated[tuple[UnlikeAnswers, ...], Field(serialization_alias="unlike_answers")] = ()
    """The labels to which head answers something else than base, with other codes or answers of
    another size; empty where nothing differs beyond chance, and by what matters."""

    @property
    def gating(self) -> tuple[Finding, ...]:
        """The findings that decide."""
        return tuple(each for each in self.gate.findings if each.gates)

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """Of those, what was not decided, as was known before the load."""
        return tuple(it for it in self.gating if it.verdict == INFORMATIONAL)

    @property
    def beyond(self) -> tuple[Finding, ...]:
        """Informational findings that are worse by more than the effect, beyond doubt; CPU time in
        every process of head."""
        effect_of = self.gate.settings.effect_of
        unsure = {CPU for it in self.spreads if it.metric == CPU and not it.is_slower}
        known = [it for it in self.gate.findings if not it.gates and it.low is not None]
        sure = (it for it in known if it.metric not in unsure)
        return tuple(it for it in sure if it.low > effect_of(it.metric, it.base))

    @property
    def as_usual(self) -> tuple[Finding, ...]:
        """Those of tail that pass by what base itself loses: no rise as large as the effect is
        ruled out."""
        effect_of = self.gate.settings.effect_of
        passed = (it for it in self.gating if (it.metric, it.verdict) == (TAIL, PASS))
        return tuple(it for it in passed if it.high >= effect_of(TAIL, it.base))

    @property
    def is_decided(self) -> bool:
        """Whether there was nothing left to find out."""
        verdicts = {finding.verdict for finding in self.gating}
        return bool(self.gate.looks_s) and not verdicts & {OPEN, INCONCLUSIVE}

    @computed_field
    @property
    def background_cpu(self) -> BackgroundCpu | None:
        """Null with services by URL, and for runs of before it was recorded."""
        return BackgroundCpu.of(self.record.background_cpu)

    @computed_field(alias="control")
    @property
    def is_control(self) -> bool:
        """Whether both were the same, A against A, so that all that differs is noise."""
        return self.is_same_code and not (self.record.injected or self.record.is_sided)

    @property
    def is_same_code(self) -> bool:
        """Whether both are one commit or one service, whatever else they are given."""
        base, head = self.record.base, self.record.head
        # A working tree with changes has no revision, and neither have two unlike services.
        known = bool(base.revision or base.url)
        return known and (base.revision, base.url) == (head.revision, head.url)

    @cached_property
    def samples(self) -> dict[str, tuple[int, int]]:
        """By label: samples of base and of head; of all labels those that gate."""
        totals = {each.label: each.totals for each in self.counts}
        if all(it.label != ALL_LABELS for it in self.gate.findings):
            return totals
        mine = {it.label for it in self.gating} & totals.keys() or totals.keys()
        base, head = (sum(totals[label][side] for label in mine) for side in (0, 1))
        return {ALL_LABELS: (base, head)} | totals

    @property
    def mean_rise_us(self) -> float | None:
        """By how many microseconds head's mean response time was longer, over all labels; None
        where that is not known."""
        means = (it for it in self.gate.findings if it.metric == "mean")
        known = (it for it in means if it.base is not None and it.head is not None)
        rises = [(it.head - it.base, sum(self.samples[it.label])) for it in known]
        requests = sum(count for _, count in rises)
        return 1000 * sum(rise * count for rise, count in rises) / requests if requests else None


def compared(record: CompareRecord, samples: Compared) -> Comparison:
    """The comparison of what was measured, decided anew by the looks that a run takes.

    samples: no more seconds than count. Where the run ended itself, that has to come of the same
    looks: there is no other last one.
    """
    ended = record.decided_s is not None
    blocks, seconds = samples.blocks, samples.seconds
    gate = judge_blocks(record, blocks, seconds, live=ended)
    doubt = _doubt(record, gate) if ended else ""
    gate = close(gate)
    if not gate.findings:
        labels = [each.label for each in blocks]
        gate = _unlooked(gate, labels, f"{seconds} s were measured, too few for a look")
    pool = all_of(gate, blocks)
    spreads = [spread(each, TYPICAL) for each in (pool, *blocks) if each]
    of_labels: tuple[LabelCpu, ...] = ()
    cpu = record.cpu_times(seconds)
    if cpu and seconds:
        spreads.append(cpu_change(blocks, cpu).spread)
        of_labels = by_label(blocks, cpu, gate.findings, record.settings.false_alarm)
    counts = tuple(map(LabelCounts.of, blocks))
    several = tuple(filter(None, spreads))
    return Comparison(record, gate, counts, seconds, doubt, several, of_labels)


def with_answers(comparison: Comparison, answers: Sequence[LabelAnswers]) -> Comparison:
    """With what head answers otherwise than base. What it does faster then is no improvement."""
    gate, counts = comparison.gate, {it.label: it for it in comparison.counts}
    answers = [replace(it, failed=counts[it.label].shares_failed) for it in answers]
    fractions = tuple(it / gate.settings.budget_s for it in gate.looks_s)
    unlike = unlike_answers(answers, fractions)
    labels = {it.label for it in unlike} | ({ALL_LABELS} if unlike else set())
    findings = (
        replace(finding, verdict=PASS, reason=OTHERWISE)
        if finding.verdict == IMPROVED and finding.metric != ERRORS and finding.label in labels
        else finding
        for finding in gate.findings
    )
    return replace(comparison, gate=replace(gate, findings=tuple(findings)), unlike=unlike)


def not_compared(record: CompareRecord, labels: Sequence[str]) -> Comparison:
    """The comparison of a run that left nothing to compare: nothing of it is known."""
    gate = _unlooked(record.first_gate, labels, "nothing was measured")
    return Comparison(record, gate, (), 0)


def _unlooked(gate: Gate, labels: Sequence[str], why: str) -> Gate:
    """Every metric stands in the outputs of each run, whatever came of it."""
    of_all = [(ALL_LABELS, it) for it in OF_ALL if gate.is_mix and len(labels) > 1]
    of_cpu = [(ALL_LABELS, CPU)] if gate.has_cpu else []
    of_labels = ((label, it) for label in labels for it in OF_LABEL)
    findings = [
        Finding(label, metric, True, INCONCLUSIVE, f"cannot tell: {why}")
        if gate.settings.gating(label, metric)
        else Finding(label, metric, False, INFORMATIONAL, why)
        for label, metric in [*of_all, *of_labels, *of_cpu]
    ]
    return replace(gate, findings=tuple(findings))


def _doubt(record: CompareRecord, gate: Gate) -> str:
    if gate.finished:
        return ""
    looked = gate.looks_s[-1] if gate.looks_s else None
    return NOT_DECIDED if looked == record.decided_s else NO_LOOK
