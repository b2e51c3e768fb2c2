"""What a comparison is made of: blocks of time, settings, estimates, and what is said of them.

Every arrival was sent to `base` or to `head` by the toss of a fair coin, so both saw the same
seconds, the same data and the same noise. How much they differ is a `Change`
(compare/estimates.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Final, Literal, get_args

import numpy as np
from pydantic import Field, computed_field

from tollgate.base import records
from tollgate.base.fields import WRITTEN, Interval, Positive, Unwritten, ends
from tollgate.compare.cpu_times import CpuTimes
from tollgate.stats.arrays import Flags, Floats, Ints

#: Percentiles that are compared, by name.
PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}
ERRORS: Final = "errors"
#: Share of the answers that take far longer than base's p95 (compare/stalls.py).
STALLS: Final = "stalls"
#: What slow answers lose: the mean of times that count as base's median at least (compare/tail.py).
TAIL: Final = "tail"
#: Metrics that are shares of a label's requests; the others are times.
SHARES = (STALLS, ERRORS)
#: Of the same request: the geometric mean of head / base.
TYPICAL: Final = "typical"
#: CPU time of an answered request, of all labels together (compare/cpu.py).
CPU: Final = "cpu"
#: What head may answer: anything, or the same as base.
Answers = Literal["any", "same"]
Metric = Literal["typical", "p50", "p95", "p99", "mean", "tail", "stalls", "errors", "cpu"]
METRICS: tuple[Metric, ...] = get_args(Metric)
#: Those of each label.
OF_LABEL: tuple[Metric, ...] = METRICS[:-1]
#: The label that stands for all requests together, and what of a mix is compared of it.
ALL_LABELS = "all labels"
OF_ALL: tuple[Metric, ...] = (TYPICAL, TAIL, STALLS, ERRORS)
#: Those that decide unless modules.compare says otherwise.
GATES: tuple[Metric, ...] = (TYPICAL, "p50", "p95", TAIL, STALLS, ERRORS)
# What can be decided: OPEN asks for more samples, INCONCLUSIVE says that there was no time for
# them, INFORMATIONAL stands at metrics that do not gate.
FAIL, PASS, IMPROVED = "FAIL", "PASS", "IMPROVED"
OPEN, INCONCLUSIVE, INFORMATIONAL = "OPEN", "INCONCLUSIVE", "INFORMATIONAL"


#: No rise of a response time below it matters, whatever its share: JMeter's clock has whole
#: milliseconds, and of requests of 1 ms no run of ten minutes rules out 2 %.
LEAST_MS = 0.03
#: A share of at most one half.
Half = Annotated[float, Field(gt=0, le=0.5)]


@dataclass(frozen=True)
class GateSettings:
    """What the gate promises: modules.compare."""

    __pydantic_config__ = records.STRICT

    effect: Positive = 0.05
    """The smallest rise of a response time that matters, as a share of it."""
    typical_effect: Positive = 0.02
    """The smallest rise of the typical request's time that matters, as a share of it."""
    tail_effect: Positive = 0.05
    """The smallest rise of the mean time of slow answers that matters, as a share of it."""
    cpu_effect: Positive = 0.02
    """The smallest rise of the CPU time of an answered request that matters, as a share of it."""
    error_effect: Half = 0.002
    """The smallest rise of the error rate that matters, a difference of shares."""
    stall_effect: Half = 0.03
    """The smallest rise of the share of stalled answers that matters, a difference of shares."""
    fail_from: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of the effect from which an estimate can fail."""
    false_alarm: Half = 0.01
    """How often a candidate that is like the base may fail, over all that gates and all looks, as a
    share of runs."""
    miss: Half = 0.02
    """How often a metric may pass in spite of a rise as large as the effect, as a share of runs."""
    budget_s: Positive = 600.0
    """After how many seconds of measuring looking ends."""
    gates: Annotated[tuple[Metric, ...], Field(min_length=1)] = GATES
    """The metrics that decide; the others are informational."""
    labels: tuple[str, ...] = ()
    """The labels whose metrics decide; empty for all."""
    fail_fast: bool = True
    """Whether a decided FAIL ended the measuring: what was open then is INCONCLUSIVE."""

    def gating(self, label: str, metric: str) -> bool:
        """Whether this metric of this label has a say."""
        if metric == CPU:
            return CPU in self.gates and label == ALL_LABELS
        chosen = self.labels and (*self.labels, ALL_LABELS)
        return metric in self.gates and (not chosen or label in chosen)

    def effect_of(self, metric: str, base: float | None = None) -> float:
        """The smallest change of a metric that matters, as a share. base: its value, ms of a time;
        None for what is set, which is of times that are not short."""
        own = {
            TYPICAL: self.typical_effect,
            CPU: self.cpu_effect,
            TAIL: self.tail_effect,
            STALLS: self.stall_effect,
            ERRORS: self.error_effect,
        }
        effect = own.get(metric, self.effect)
        if metric in (*SHARES, CPU) or base is None or not base > 0:
            return effect
        return max(effect, LEAST_MS / base)

    def change(self, metric: str, base: float | None = None) -> float:
        """The same on the scale of the metric's changes."""
        effect = self.effect_of(metric, base)
        return effect if metric in SHARES else math.log1p(effect)


@dataclass(frozen=True, eq=False)
class Requests:
    """One side's samples of a label one by one, in the order of their blocks. block, row,
    elapsed_ms, process: int[N]. row: which request it was, such as a row of the plan's data; the
    same number at both sides. process: which of the side's answered, from 0; None if it has one.
    thread, ok: who sent it, and whether it was answered rightly; known where the coin is that of a
    thread. code: which of the response codes it had; known where answers are compared."""

    block: Ints
    row: Ints
    elapsed_ms: Ints
    process: Ints | None = None
    thread: Ints | None = None
    ok: Flags | None = None
    code: Ints | None = None

    def first(self, blocks: int) -> Requests:
        """Those of the first so many blocks alone."""
        return self.where(slice(np.searchsorted(self.block, blocks)))

    def reordered(self, place: Ints) -> Requests:
        """With the blocks in another order: place[i] is where the i-th block comes."""
        at = place[self.block]
        order = np.argsort(at, kind="stable")
        return replace(self.where(order), block=at[order])

    def where(self, which: slice | Ints | Flags) -> Requests:
        """Some of them, in the same order."""
        columns = (getattr(self, it.name) for it in fields(self))
        return Requests(*(None if it is None else it[which] for it in columns))


@dataclass(frozen=True, eq=False)
class Side:
    """One side's samples of a label, B blocks of time by V distinct values.

    counts: int[B, V], samples by elapsed. failed: int[B], how many of each block's samples failed.
    known: the same samples with their rows, None where the rows are unknown.
    """

    counts: Ints
    failed: Ints
    known: Requests | None = None

    @classmethod
    def of(cls, requests: Requests, values_ms: Ints, failed: Ints) -> Side:
        """From single samples, each of whose times is one of the values."""
        counts = np.zeros((len(failed), len(values_ms)), np.int64)
        place = np.searchsorted(values_ms, requests.elapsed_ms)
        np.add.at(counts, (requests.block, place), 1)
        return cls(counts, failed, requests)

    @cached_property
    def upto(self) -> Ints:
        """int[B, V + 1]: how many samples of each block are below the v-th value."""
        upto = np.zeros((self.counts.shape[0], self.counts.shape[1] + 1), np.int64)
        np.cumsum(self.counts, axis=1, out=upto[:, 1:])
        return upto

    @cached_property
    def below(self) -> Ints:
        """int[V + 1]: the same of all blocks together."""
        return self.upto.sum(axis=0)

    @property
    def n(self) -> Ints:
        """int[B]: samples by block."""
        return self.upto[:, -1]

    @property
    def total(self) -> int:
        return int(self.below[-1])

    def first(self, blocks: int) -> Side:
        """The first so many blocks alone."""
        known = self.known and self.known.first(blocks)
        side = Side(self.counts[:blocks], self.failed[:blocks], known)
        side.__dict__["upto"] = self.upto[:blocks]
        return side


@dataclass(frozen=True, eq=False)
class Blocks:
    """One label. values_ms: int[V], the distinct elapsed of both sides, ascending. Both sides have
    the same B blocks, each of the same length, one after the other without a gap. background_cpu:
    float[B], the background CPU load in each, as a share of the cores; None where unknown. repeats:
    how many requests one toss of the coin sends at most; None where the sides may send unlike
    numbers. parts: each label of all together. cpu: of the processes, which is of all labels; None
    where it is not known."""

    label: str
    values_ms: Ints
    base: Side
    head: Side
    background_cpu: Floats | None = None
    repeats: float | None = 1.0
    parts: tuple[Blocks, ...] = ()
    cpu: CpuTimes | None = None

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.base, self.head

    @cached_property
    def requests(self) -> tuple[Requests, Requests]:
        """Of base and of head; all of one row where the rows are unknown."""
        if self.base.known is None or self.head.known is None:
            return self._without_rows(self.base), self._without_rows(self.head)
        return self.base.known, self.head.known

    def _without_rows(self, side: Side) -> Requests:
        block, place = np.nonzero(side.counts)
        n = side.counts[block, place]
        block, elapsed_ms = np.repeat(block, n), np.repeat(self.values_ms[place], n)
        return Requests(block, np.zeros(len(block), np.int64), elapsed_ms)

    @property
    def processes(self) -> int:
        """How many each side has, as far as is known."""
        numbers = [it.process for it in self.requests if it.process is not None]
        return 1 + max((int(it.max(initial=0)) for it in numbers), default=0)

    def against_base(self, side: int, process: int) -> Blocks:
        """With the samples of a process of either side in place of head's. side: 0 of base."""
        failed, own = np.zeros(len(self.base.n), np.int64), self.requests[side]
        parts = tuple(it.against_base(side, process) for it in self.parts)
        head = Side.of(own.where(own.process == process), self.values_ms, failed)
        return replace(self, head=head, parts=parts)

    def first(self, blocks: int) -> Blocks:
        """The first so many blocks alone."""
        return replace(
            self,
            base=self.base.first(blocks),
            head=self.head.first(blocks),
            background_cpu=None if self.background_cpu is None else self.background_cpu[:blocks],
            parts=tuple(it.first(blocks) for it in self.parts),
            cpu=self.cpu and self.cpu.first(blocks),
        )

    def beside(self, background_cpu: Sequence[float | None]) -> Blocks:
        """With what others took in the first seconds; of one that is not known, and of those
        behind, it is 0. Nothing is known where `background_cpu` is empty."""
        if not len(background_cpu):
            return self
        taken = np.zeros(len(self.base.n))
        recorded = np.nan_to_num(np.array(background_cpu[: len(taken)], np.float64))
        taken[: len(recorded)] = recorded
        return replace(self, background_cpu=taken)

    def reordered(self, order: Ints) -> Blocks:
        """With the blocks in another order: order[i] is the block that comes i-th."""
        place = np.argsort(order)
        base, head = (
            Side(side.counts[order], side.failed[order], requests.reordered(place))
            for side, requests in zip(self.sides, self.requests, strict=True)
        )
        return Blocks(self.label, self.values_ms, base, head, repeats=self.repeats)


@dataclass(frozen=True)
class Finding:
    """What is said of one metric of one label."""

    __pydantic_config__ = WRITTEN

    label: str
    """The label; `all labels` for all requests together, of a mix and of `cpu`."""
    metric: Metric
    """The metric."""
    gates: bool
    """Whether it has a say in the verdict."""
    verdict: Literal["PASS", "FAIL", "IMPROVED", "INCONCLUSIVE", "INFORMATIONAL"]
    """FAIL: worse beyond doubt. PASS: a rise as large as the effect is ruled out. IMPROVED:
    better beyond doubt, which passes. INCONCLUSIVE: the time was too short to tell. INFORMATIONAL:
    it has no say; of a metric that gates, it was not decided, as was known before the load."""
    reason: str
    """Why, in words; may be empty where it has no say."""
    base: float | None = None
    """What base gave; null without samples."""
    head: float | None = None
    """What head gave; null without samples."""
    change: float | None = None
    """How much more head takes: of times head / base - 1, of shares head - base; null where it is
    not known."""
    low: Unwritten[float | None] = None
    """Lower end of `interval`; of a metric that was refused it holds at the share of those that are
    left."""
    high: Unwritten[float | None] = None
    """Upper end of it."""
    refused: Unwritten[bool] = False
    """Whether "no worse" was ever refused."""
    at_s: Annotated[Positive | None, Field(serialization_alias="decided_s")] = None
    """After how many seconds of measuring it was decided; null where it was not."""
    more_s: Positive | None = None
    """About how many seconds more would decide it; null where that is not known."""
    is_coarse: Unwritten[bool] = False
    """Whether no time would, for whole milliseconds are too coarse, were the estimate to stay as it
    is."""
    limit_ms: Positive | None = None
    """Of stalls: beyond how many ms an answer counts. Null of other metrics, and where it is not
    known."""

    @computed_field
    @property
    def unit(self) -> Literal["ms", "share"]:
        """Of base and head: `ms`, which are of CPU time where the metric is `cpu`, or `share` for
        errors and stalls, a share of 1."""
        return "share" if self.metric in SHARES else "ms"

    @computed_field
    @property
    def interval(self) -> Interval | None:
        """Ends of the repeated interval of the change, which holds at all looks together. The low
        end misses the truth in `false_alarm` of all runs at most, with everything else that gates;
        the high end in `miss` of them. Null where it is not known, and an end where it has no
        bound."""
        return ends(self.low, self.high)

    @property
    def decided(self) -> bool:
        return self.verdict not in (OPEN, INFORMATIONAL)

    @property
    def key(self) -> tuple[str, str]:
        return self.label, self.metric


@dataclass(frozen=True)
class Gate:
    """Everything after a look."""

    __pydantic_config__ = WRITTEN

    settings: Unwritten[GateSettings]
    looks_s: tuple[Positive, ...] = ()
    """When the samples were looked at, in seconds of measuring."""
    findings: Unwritten[tuple[Finding, ...]] = ()
    is_mix: Unwritten[bool] = False
    """Whether the labels are those of a mix, so that all of them together are compared as well."""
    has_cpu: Unwritten[bool] = False
    """Whether the CPU time of an answered request is compared: not of services by URL."""
    foretold: Unwritten[frozenset[tuple[str, str]]] = frozenset()
    """Labels and metrics that will probably not be decided: they may fail, and nothing waits for
    them (compare/power.py)."""

    @computed_field
    @property
    def verdict(self) -> Literal["PASS", "FAIL", "INCONCLUSIVE"]:
        """What the findings that gate come to. What makes the measurement itself doubtful is among
        the execution's reasons."""
        verdicts = {finding.verdict for finding in self.findings if finding.gates}
        order = (FAIL, OPEN, INCONCLUSIVE)
        return next((it for it in order if it in verdicts), PASS if verdicts else OPEN)

    @property
    def left_open(self) -> tuple[Finding, ...]:
        """What gates and was open when a failure ended the measuring."""
        if not (self.settings.fail_fast and self.verdict == FAIL):
            return ()
        return tuple(it for it in self.findings if it.gates and it.verdict in (OPEN, INCONCLUSIVE))

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to find out, or a failure makes an end."""
        if not self.looks_s:
            return False
        gating = (each for each in self.findings if each.gates)
        is_decided = all(each.decided or each.key in self.foretold for each in gating)
        return is_decided or (self.settings.fail_fast and self.verdict == FAIL)
