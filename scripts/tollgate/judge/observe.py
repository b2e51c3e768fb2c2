"""What a criterion says about samples: the value, its interval, and the basis it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from tollgate.criteria.grammar import Criterion
from tollgate.judge.facts import JudgeSettings, LabelData
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
#: The basis of what counts from the moment at which a request was meant to be sent.
RESPONSE_TIME = "response time"
BASES = {FIRST_BYTE: "time to first byte", CONNECT: "connect time"}


@dataclass(frozen=True)
class JudgedSamples:
    """The samples that one criterion is about, within the measured window.

    problem: why nothing can be said of them, and what to do; empty for nothing.
    """

    counts: Counts
    totals: Totals | None
    basis: str
    errors: int
    problem: str = ""


@dataclass(frozen=True)
class Levels:
    """One-sided errors (levels.py): of the bound that decides FAIL by lying beyond the limit, of
    both ends of the interval, which decides PASS, and of an interval that nothing adjusts. The
    first is the smallest, so that no interval holds the limit of a FAIL."""

    fail: float
    hold: float
    plain: float

    def between(self, condition: str, find: Callable[[float], Observation]) -> Observation:
        """The estimate with what each level gives. find: by the confidence of both ends."""
        found = find(1 - 2 * self.hold)
        if found.low is None:
            return found
        far = found if self.fail == self.hold else find(1 - 2 * self.fail)
        plain = found if self.plain == self.hold else find(1 - 2 * self.plain)
        bound = far.low if condition.startswith(">") else far.high
        return replace(found, fail_bound=bound, unadjusted=(plain.low, plain.high))


@dataclass(frozen=True)
class Observation:
    """A value in the criterion's unit, NaN where there is none, and its interval, None for what was
    counted, which decides by itself. samples: requests, or looks at a worker. window: the seconds
    that it is about, `12-22 s`. deff: the design effect of the samples. fail_bound: the bound that
    decides FAIL. unadjusted: the interval of a single look at a single estimate."""

    value: float
    low: float | None
    high: float | None
    samples: int
    window: str | None = None
    deff: float = math.nan
    fail_bound: float | None = None
    unadjusted: tuple[float, float] | None = None

    def is_beyond(self, criterion: Criterion) -> bool:
        """Whether the whole interval violates the limit."""
        violates = comparison(criterion.condition)
        return all(violates(end, criterion.threshold) for end in (self.low, self.high))

    def times_longer(self, criterion: Criterion) -> float:
        """How many times the samples would settle it, if the interval narrows by their root."""
        distance = abs(self.value - criterion.threshold)
        inner = self.high if self.value <= criterion.threshold else self.low
        if comparison(criterion.condition)(self.value, criterion.threshold):
            inner = self.fail_bound
        return (abs(inner - self.value) / distance) ** 2 if distance else math.inf


def select(
    criterion: Criterion,
    labels: Iterable[LabelData],
    settings: JudgeSettings,
    from_s: float,
    to_s: float,
    without_generator_lateness: bool = False,
) -> JudgedSamples:
    """The samples of the criterion's label, or of all samplers for ''."""
    wanted = [
        data
        for data in labels
        if (data.name == criterion.label if criterion.label else not data.is_transaction)
    ]
    may_respond = criterion.may_respond and settings.latency == "response"
    responds = may_respond and wanted and all(data.response is not None for data in wanted)
    chosen = (data.service for data in wanted)
    if responds:
        chosen = (
            data.response
            if not without_generator_lateness or data.without_generator_lateness is None
            else data.without_generator_lateness
            for data in wanted
        )
    counts = Counts.merged(each.window(from_s, to_s) for each in chosen)
    totals = None
    if wanted and all(data.totals is not None for data in wanted):
        totals = Totals.merged(data.totals.window(from_s, to_s) for data in wanted)
    basis = "samples"
    if criterion.unit == "ms" or criterion.is_latency_slope:
        service = BASES.get(criterion.subject, "service time")
        basis = RESPONSE_TIME if responds else service
    return JudgedSamples(counts, totals, basis, counts.errors, _problem(criterion, wanted, totals))


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
        n = counts.sum_by_second().astype(np.int64)
        slow = counts.sum_by_second(counts.elapsed_ms).astype(np.int64)
        nothing = np.zeros(len(n), np.int64)
        late = Totals(counts.seconds, n, slow, slow, nothing, nothing, counts.width)
        totals = Totals.merged([totals, late])
    return replace(part, counts=Counts.merged([part.counts, counts]), totals=totals)


def _problem(criterion: Criterion, wanted: list[LabelData], totals: Totals | None) -> str:
    if criterion.label and len({data.is_transaction for data in wanted}) > 1:
        return (
            "is the name of a sampler and of a Transaction Controller, which are counted apart: "
            "rename one in the plan"
        )
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
    return levels.between(criterion.condition, lambda it: _observe(criterion, part, it))


def _observe(criterion: Criterion, part: JudgedSamples, confidence: float) -> Observation:
    value, samples = value_of(criterion, part.counts, part.totals), part.counts.total
    if math.isnan(value) or criterion.unit != "ms":
        return Observation(value, None, None, samples)
    interval = _interval(criterion, part, confidence)
    return Observation(value, interval.low, interval.high, samples, deff=interval.deff)


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
    if totals is None or not len(totals.second):
        return math.nan
    column = getattr(totals, TOTALS_COLUMNS[subject])
    if column is None:
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
    if criterion.subject in (FIRST_BYTE, CONNECT):
        sums = getattr(totals, TOTALS_COLUMNS[criterion.subject])
        return mean_interval(totals.bins, totals.n, sums, confidence)
    bins, n = counts.bins, counts.sum_by_second()
    if criterion.subject == "avg-rt":
        return mean_interval(bins, n, counts.sum_by_second(counts.elapsed_ms), confidence)
    return stdev_interval(counts, confidence)


def comparison(condition: str) -> Callable[[float, float], bool]:
    """The condition as a function of value and limit; true where the run fails."""
    return {
        "<": lambda value, limit: value < limit,
        "<=": lambda value, limit: value <= limit,
        "=": lambda value, limit: value == limit,
        ">": lambda value, limit: value > limit,
        ">=": lambda value, limit: value >= limit,
    }[condition]
