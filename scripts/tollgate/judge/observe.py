"""What a criterion says about samples: the value, its interval, and the basis it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import JudgeSettings, LabelData
from tollgate.judge.verdicts import RESPONSE_TIME, Basis
from tollgate.stats.arrays import Ints
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import (
    FEWEST_FOR_MEAN,
    UNKNOWN,
    Interval,
    mean_interval,
    stdev_interval,
)
from tollgate.stats.percentiles import percentile_interval
from tollgate.stats.totals import SOURCES, Totals

FIRST_BYTE, CONNECT = "avg-lt", "avg-ct"
TOTALS_COLUMNS = {
    FIRST_BYTE: "latency_ms",
    CONNECT: "connect_ms",
    "bytes": "bytes",
    "concurr": "threads",
}
BASES: dict[str, Basis] = {FIRST_BYTE: "time to first byte", CONNECT: "connect time"}


@dataclass(frozen=True)
class JudgedSamples:
    """The samples that one criterion is about, within the measured window."""

    counts: Counts
    totals: Totals | None
    basis: Basis
    problem: str = ""
    """Why nothing can be said of them, and what to do; empty for nothing."""


@dataclass(frozen=True)
class Levels:
    """One-sided errors (levels.py). `fail` is the smallest, so that no interval holds the limit of
    a FAIL."""

    fail: float
    """Of the bound that decides FAIL by lying beyond the limit."""
    hold: float
    """Of both ends of the interval, which decides PASS."""
    plain: float
    """Of an interval that nothing adjusts."""

    def estimate(
        self, criterion: Criterion, value: float, samples: int, at: Callable[[float], Interval]
    ) -> Estimate:
        """A value with what each level gives. at: makes its interval at a confidence of both
        ends."""
        interval = at(1 - 2 * self.hold)
        far = interval if self.fail == self.hold else at(1 - 2 * self.fail)
        plain = interval if self.plain == self.hold else at(1 - 2 * self.plain)
        bound = far.low if criterion.condition[0] == ">" else far.high
        return Estimate(value, samples, interval=interval, fail_bound=bound, unadjusted=plain)


@dataclass(frozen=True)
class Observation:
    """What was seen of a criterion, in its unit: counted, so that it decides by itself."""

    value: float
    """NaN where there is none."""
    samples: int
    """Requests, or looks at a worker."""
    window: str | None = None
    """The seconds that it is about, `12-22 s`."""


NOTHING = Observation(math.nan, 0)


@dataclass(frozen=True, kw_only=True)
class Estimate(Observation):
    """A value that the samples know within an interval."""

    interval: Interval
    """It decides PASS."""
    fail_bound: float
    """The bound that decides FAIL."""
    unadjusted: Interval
    """The interval of a single look at a single estimate."""

    def is_beyond(self, criterion: Criterion) -> bool:
        """Whether the whole interval violates the limit."""
        return criterion.violates(self.interval.low) and criterion.violates(self.interval.high)

    def times_longer(self, criterion: Criterion) -> float:
        """How many times the samples would settle it, if the interval narrows by their root."""
        distance = abs(self.value - criterion.threshold)
        inner = self.interval.high if self.value <= criterion.threshold else self.interval.low
        if criterion.violates(self.value):
            inner = self.fail_bound
        return (abs(inner - self.value) / distance) ** 2 if distance else math.inf


def select(
    criterion: Criterion,
    labels: Iterable[LabelData],
    settings: JudgeSettings,
    window: tuple[float, float],
    without_generator_lateness: bool = False,
) -> JudgedSamples:
    """The samples of the criterion's label, or of all samplers for ''."""
    name = criterion.label
    own = [data for data in labels if (data.name == name if name else not data.is_transaction)]
    may_respond = criterion.may_respond and settings.latency == "response"
    responds = bool(may_respond and own and all(data.response is not None for data in own))
    times = (_times(data, responds, without_generator_lateness) for data in own)
    counts = Counts.merged(each.window(*window) for each in times)
    all_totals = [data.totals for data in own if data.totals is not None]
    totals = None
    if own and len(all_totals) == len(own):
        totals = Totals.merged(each.window(*window) for each in all_totals)
    basis: Basis = "samples"
    if criterion.is_of_time:
        service = BASES.get(criterion.subject, "service time")
        basis = RESPONSE_TIME if responds else service
    return JudgedSamples(counts, totals, basis, _problem(criterion, own, totals))


def _times(data: LabelData, responds: bool, without_generator_lateness: bool) -> Counts:
    response = data.response if responds else None
    if response is None:
        return data.service
    adjusted = data.without_generator_lateness if without_generator_lateness else None
    return response if adjusted is None else adjusted


def with_unsent(
    criterion: Criterion, part: JudgedSamples, unanswered: Iterable[Counts]
) -> JudgedSamples:
    """The part with requests that were not sent, as if each had been, and had timed out."""
    counts = Counts.merged(unanswered)
    if criterion.subject.startswith("rc") and criterion.condition[0] != "<":
        # What would have come is not known, and this would have broken the criterion.
        code = criterion.subject[2:].replace("*", "").replace("?", "0")
        counts = replace(counts, codes=tuple(code for _ in counts.codes))
    totals = part.totals
    if totals is not None:
        late = Totals.unanswered(counts)
        totals = Totals.merged([totals, replace(late, connect_ms=late.latency_ms)])
    return replace(part, counts=Counts.merged([part.counts, counts]), totals=totals)


def _problem(criterion: Criterion, own: list[LabelData], totals: Totals | None) -> str:
    if criterion.label and len({data.is_transaction for data in own}) > 1:
        return "is the name of a sampler and of a Transaction Controller: rename one in the plan"
    name = TOTALS_COLUMNS.get(criterion.subject)
    if name is None or (totals is not None and getattr(totals, name) is not None):
        return ""
    source, flag = SOURCES[name]
    return (
        f"the JTL has no column {source}, which {criterion.subject} needs: run it again with "
        f"`modules.jmeter.csv-jtl-flags.{flag}` true"
    )


def observe(criterion: Criterion, part: JudgedSamples, levels: Levels) -> Observation:
    """The criterion's value over all of the part, which is not about a window of it."""
    value, samples = value_of(criterion, part.counts, part.totals), part.counts.total
    if math.isnan(value) or criterion.unit != "ms":
        return Observation(value, samples)
    return levels.estimate(criterion, value, samples, partial(_interval, criterion, part))


def value_of(criterion: Criterion, counts: Counts, totals: Totals | None) -> float:
    """What the criterion's condition compares with its threshold; NaN without samples."""
    if not counts.total:
        return math.nan
    subject = criterion.subject
    if criterion.percentile is not None:
        return counts.percentile(criterion.percentile)
    if subject in TOTALS_COLUMNS:
        return _total_of(subject, totals)
    if subject in ("avg-rt", "stdev-rt"):
        return counts.mean if subject == "avg-rt" else counts.stdev
    hits = int(counts.n @ hit_mask(criterion, counts))
    return 100 * hits / counts.total if criterion.is_percent else float(hits)


def hit_mask(criterion: Criterion, counts: Counts) -> np.ndarray:
    """Which rows a counting subject counts."""
    if criterion.subject == "hits":
        return np.ones(len(counts.n), bool)
    if criterion.subject in ("succ", "fail"):
        return counts.ok if criterion.subject == "succ" else ~counts.ok
    return counts.code_mask(criterion.subject[2:])


def _total_of(subject: str, totals: Totals | None) -> float:
    column: Ints | None = getattr(totals, TOTALS_COLUMNS[subject], None)
    if totals is None or column is None or not len(column):
        return math.nan
    if subject == "concurr":
        return float(column.max())
    return float(column.sum()) if subject == "bytes" else float(column.sum() / totals.n.sum())


def _interval(criterion: Criterion, part: JudgedSamples, confidence: float) -> Interval:
    counts, totals = part.counts, part.totals
    if criterion.percentile is not None:
        return percentile_interval(counts, criterion.percentile, confidence)
    if counts.total < FEWEST_FOR_MEAN:
        return UNKNOWN
    if totals is not None and criterion.subject in (FIRST_BYTE, CONNECT):
        sums = getattr(totals, TOTALS_COLUMNS[criterion.subject])
        return mean_interval(totals.bins, totals.n, sums, confidence)
    if criterion.subject == "stdev-rt":
        return stdev_interval(counts, confidence)
    sums = counts.sum_by_second(counts.elapsed_ms)
    return mean_interval(counts.bins, counts.sum_by_second(), sums, confidence)
