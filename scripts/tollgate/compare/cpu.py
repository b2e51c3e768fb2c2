"""How much more CPU time an answered request takes at head than at base. Pure.

CPU time leaves out queues, and most of what neighbours do. What is read is the clock of each whole
process, second by second, so that garbage collection and compiling are part of it. The warm-up is
not. Nothing is trimmed: what comes seldom and costs much, such as a collection of all of the heap,
is a cost like any other.

- **Adjusted for what was asked.** By chance a side gets more of a heavy label, or heavier rows of
  its data. One regression over all processes and seconds says what a second, an answer of each
  label, and a millisecond of its row's level cost (least squares; the same costs for both sides).
  A process then has the CPU time that its own requests let expect. Used over expected is its
  level, and head's over base's is the change (indirect standardization, as epidemiologists compare
  deaths of populations of unlike age: Breslow and Day 1987, "Statistical Methods in Cancer
  Research" II, chapter 2). The coin falls after the request is drawn, so that this adds no bias.
- **Noise over time** is that of the ratio estimator's residuals, second by second and both sides
  together (Cochran 1977, "Sampling Techniques", chapter 6), by their long-run variance
  (error_of_steps in stats/autocorrelation.py).
- **Luck.** Processes of the same code differ for as long as they live, and no time averages that
  out. Where a response time leaves it to its processes (processes.py), the interval here contains
  it: CPU time is so quiet that luck is most of its error. Of four processes a side the standard
  deviation is poorly known, so that what was measured before counts as LUCK_FREEDOM more
  degrees of freedom (Smyth 2004, "Linear models and empirical Bayes methods for assessing
  differential expression": the moderated t statistic). A FAIL needs every process of head to be
  above every one of base, as for a response time.

**By label.** The same regression with costs of its own for each side and label says what a request
of one label takes more. Its errors are those of independent pieces of a process's time (White
1980, "A heteroskedasticity-consistent covariance matrix estimator"), and the luck of processes. It
is less certain than the whole, and says of a label whether head waits or computes: CPU time and
response time are means of the same requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from tollgate.base import records
from tollgate.base.text import format_number
from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.estimates import FEWEST_BEYOND, FEWEST_BLOCKS, LogRatio, row_levels
from tollgate.compare.model import (
    ALL_LABELS,
    CPU,
    FAIL,
    PERCENTILES,
    TYPICAL,
    Blocks,
    Finding,
)
from tollgate.compare.processes import ProcessSpread
from tollgate.compare.threads import joined
from tollgate.compare.typical import usual_ms
from tollgate.stats.arrays import Flags, Floats, Ints
from tollgate.stats.autocorrelation import error_of_steps
from tollgate.stats.intervals import LEAST_KNOWN

#: Of the logarithm of what a process takes more than others of the same code, and how many degrees
#: of freedom that is worth. Two rounds of eight processes had 0.4 and 0.9 %, comparisons of the
#: certification none that noise does not explain (docs/certificate.md). What the processes of a run
#: differ by counts nearly as much. `scripts/dev/bench cpu` measures it.
LUCK_SD, LUCK_FREEDOM = 0.004, 8.0
#: Of a single process a side, which shows nothing of its service's luck: the most that any service
#: had (docs/compare-explained.md).
LUCK_SD_ALONE = 0.013
#: Seconds of a step of the noise's long-run variance, and for each cosine of it: what lasts longer
#: hits both sides alike, or is luck. Of response times, which queue, both are longer.
STEP_S, COSINE_S = 2, 5
#: Answers below which a process has no level.
FEWEST_OF_PROCESS = 20
#: Seconds of a piece for costs by label at least, and how often the longest label's answer fits
#: into it. What is under way at an edge is counted at one side of it and computed at both.
_PIECE_S, _LONGER = 5, 20
#: Of the regression by label: pieces of a process's time for each of its costs. Of that over all
#: processes: seconds of a process.
_ROWS_PER_COST, _SECONDS_PER_COST = 5, 20
#: Why a label takes longer.
WAITING, COMPUTING, UNKNOWN = "waiting", "computing", "unknown"
_SAID = {
    WAITING: "head waits",
    COMPUTING: "head computes more",
    UNKNOWN: "it can't be told whether head waits or computes",
}


@dataclass(frozen=True)
class CpuChange:
    """change: None of seconds that are not known; as of a response time. spread: of the processes,
    None of a single one a side."""

    change: LogRatio
    spread: ProcessSpread | None = None


@records.stored
class LabelCpu:
    """What a request of one label takes more CPU time, and what that says of why it takes longer.
    The intervals of all labels hold together."""

    label: str
    """The label."""
    base_ms: float
    """CPU time of a request in base, in ms."""
    change_ms: float
    """Head - base, in ms."""
    low_ms: float
    """Lower end of its interval, in ms."""
    high_ms: float
    """Upper end of its interval, in ms."""
    rise_ms: float | None
    """By how much longer head took for an answer, in ms; null where the label's times have not
    failed."""
    outcome: Literal["waiting", "computing", "unknown"]
    """`waiting`: CPU time explains less than half of the rise. `computing`: head takes more of it.
    `unknown`: it can't be told, or there is no rise."""

    @property
    def line(self) -> str:
        """`CPU of a request of sum: 7.12 ms in base, +0.05 ms in head (at least -0.1 ms, at most
        +0.2 ms): its answers take 3.1 ms longer, and head waits`."""
        ends = (self.low_ms, self.change_ms, self.high_ms)
        low, change, high = (f"{'-' if it < 0 else '+'}{format_number(abs(it))} ms" for it in ends)
        base = format_number(self.base_ms)
        text = f"{base} ms in base, {change} in head (at least {low}, at most {high})"
        if self.rise_ms is not None:
            longer = f"its answers take {format_number(self.rise_ms)} ms longer"
            text += f": {longer}, and {_SAID[self.outcome]}"
        return f"CPU of a request of {self.label}: {text}"


@dataclass(frozen=True, eq=False)
class _Asked:
    """Of K processes, by the coin's numbers, in B seconds. n: float[K, B, L], answers by label.
    size: float[K, B, L], by how many ms the levels of their rows are above their label's mean."""

    n: Floats
    size: Floats

    @classmethod
    def of(cls, labels: Sequence[Blocks], processes: int) -> _Asked:
        seconds = len(labels[0].base.n)
        shape = 2 * processes, seconds, len(labels)
        n, size = np.zeros(shape), np.zeros(shape)
        for at, label in enumerate(labels):
            times = [it.elapsed_ms.astype(float) for it in label.requests]
            levels = row_levels(label.requests, times, usual_ms)
            rows = [levels[it.row] for it in label.requests]
            middle = np.concatenate(rows).mean() if label.base.total + label.head.total else 0.0
            for side, (requests, row) in enumerate(zip(label.requests, rows, strict=True)):
                process = 0 if requests.process is None else requests.process
                place = (side + 2 * process) * seconds + requests.block
                above = np.where(np.isclose(row, middle), 0.0, row - middle)
                for sums, weight in ((n, None), (size, above)):
                    counts = np.bincount(place, weight, minlength=shape[0] * seconds)
                    sums[:, :, at] += counts.reshape(shape[:2])
        return cls(n, size)

    @property
    def answers(self) -> Floats:
        """float[K, B]"""
        return self.n.sum(axis=2)

    @property
    def sized(self) -> Floats:
        """float[K, B, L']: of labels whose rows differ."""
        return self.size[:, :, self.size.any(axis=(0, 1))]

    def where(self, seconds: Flags) -> _Asked:
        return _Asked(self.n[:, seconds], self.size[:, seconds])

    def in_pieces(self, begins: Ints) -> _Asked:
        """Seconds added up from each of these to the next."""
        return _Asked(*(np.add.reduceat(it, begins, axis=1) for it in (self.n, self.size)))


def cpu_change(labels: Sequence[Blocks], cpu: CpuTimes | None) -> CpuChange:
    """Of all requests together; base and head are CPU ms for an answer of what both were asked."""
    if cpu is None:
        return _unknown("the CPU time of the processes was not recorded")
    requests, used, note = _measured(labels, cpu)
    if note:
        return _unknown(note)
    processes, seconds = len(used) // 2, used.shape[1]
    expected, levels = _levels(requests, used)
    if min(expected[it::2].sum() for it in (0, 1)) <= 0:
        return _unknown("what was asked does not explain the CPU time")
    base, head = (float(used[it::2].sum() / expected[it::2].sum()) for it in (0, 1))
    added = [
        (used[side::2] - ratio * expected[side::2]).sum(axis=0) / used[side::2].sum()
        for side, ratio in enumerate((base, head))
    ]
    steps = max(1, seconds // STEP_S)
    summed = np.bincount(np.arange(seconds) * steps // seconds, added[1] - added[0], steps)
    luck = _luck(levels, cpu.workers)
    error, freedom = joined(error_of_steps(summed, seconds // COSINE_S), luck)
    middle = float(expected.sum() / requests.n.sum())
    value, lasting = math.log(head / base), luck[0] / error
    change = LogRatio(CPU, base * middle, head * middle, value, error, freedom, lasting=lasting)
    spread = None
    if processes > 1:
        ratios = np.expm1(levels - math.log(base)).tolist()
        spread = ProcessSpread(ALL_LABELS, CPU, tuple(ratios[0::2]), tuple(ratios[1::2]))
    return CpuChange(change, spread)


def _unknown(note: str) -> CpuChange:
    return CpuChange(LogRatio(CPU, math.nan, math.nan, note=note))


def _measured(labels: Sequence[Blocks], cpu: CpuTimes) -> tuple[_Asked, Floats, str]:
    """(what was asked in the seconds that are known, CPU ms by process in them, why they say
    nothing)"""
    is_known = np.isfinite(cpu.used_ms).all(axis=0)
    used = cpu.used_ms[:, is_known]
    requests = _Asked.of(labels, len(used) // 2).where(is_known)
    return requests, used, _cannot_tell(cpu, requests.answers.sum(axis=1), used)


def _cannot_tell(cpu: CpuTimes, answers: Floats, used: Floats) -> str:
    if cpu.doubt:
        return cpu.doubt
    seconds, measured = used.shape[1], cpu.used_ms.shape[1]
    least = max(FEWEST_BLOCKS, math.ceil(LEAST_KNOWN * measured))
    if seconds < least:
        return f"the CPU time of {seconds} of {measured} s is known, {least} s are needed"
    fewest = int(min(answers[0::2].sum(), answers[1::2].sum()))
    if fewest < 2 * FEWEST_BEYOND:
        return f"{fewest} answers on one side, {CPU} needs {2 * FEWEST_BEYOND}"
    if min(used[0::2].sum(), used[1::2].sum()) <= 0:
        return "one side used no CPU time"
    return ""


def _levels(requests: _Asked, used: Floats) -> tuple[Floats, Floats]:
    """(float[K, B]: the CPU ms that what was asked costs by a regression over all processes;
    float[K]: the logarithm of used over expected of each process, NaN with too few answers). Of few
    seconds with many labels the costs are those of all answers alike: else they would explain, by
    chance, a part of what head takes more."""
    n, ones, answers = requests.n, np.ones((*used.shape, 1)), requests.answers
    for costly in ([n, requests.sized], [n], [answers[:, :, None]]):
        terms = np.concatenate([ones, *costly], axis=2)
        if used.size >= _SECONDS_PER_COST * terms.shape[2]:
            break
    cost, *_ = np.linalg.lstsq(terms.reshape(-1, terms.shape[2]), used.ravel(), rcond=None)
    expected = terms @ cost
    sums, sums_expected = used.sum(axis=1), expected.sum(axis=1)
    is_known = (answers.sum(axis=1) >= FEWEST_OF_PROCESS) & (sums > 0) & (sums_expected > 0)
    levels = np.full(len(used), np.nan)
    levels[is_known] = np.log(sums[is_known] / sums_expected[is_known])
    return expected, levels


def _luck(levels: Floats, workers: int) -> tuple[float, float]:
    """(standard error of the change by the luck of processes, degrees of freedom). levels: float[K]
    of logarithms, NaN where not known. workers: of PM2 that each of them is the sum of."""
    sides = [it[np.isfinite(it)] for it in (levels[0::2], levels[1::2])]
    freedom = sum(max(0, len(it) - 1) for it in sides)
    squares = sum(float(((it - it.mean()) ** 2).sum()) for it in sides if len(it))
    before = LUCK_FREEDOM * (LUCK_SD if freedom else LUCK_SD_ALONE) ** 2 / workers
    variance = (before + squares) / (LUCK_FREEDOM + freedom)
    error = math.sqrt(variance * sum(1 / max(1, len(it)) for it in sides))
    return error, LUCK_FREEDOM + freedom


def by_label(
    labels: Sequence[Blocks], cpu: CpuTimes, findings: Iterable[Finding], level: float
) -> tuple[LabelCpu, ...]:
    """What a request of each label takes more; empty where too little is known. findings: of the
    comparison. level: how often an interval of any label may miss, both ends together."""
    requests, used, note = _measured(labels, cpu)
    kept = [at for at in range(len(labels)) if requests.n[:, :, at].sum() >= 2 * FEWEST_BEYOND]
    if note or not kept:
        return ()
    labels = [labels[at] for at in kept]
    length, seconds = _length_s(labels), used.shape[1]
    begins = np.arange(0, max(1, seconds // length)) * length
    pieces = _Asked(requests.n[:, :, kept], requests.size[:, :, kept]).in_pieces(begins)
    fit = _costs(pieces, np.add.reduceat(used, begins, axis=1), np.diff(begins, append=seconds))
    if fit is None:
        return ()
    cost, covariance, freedom = fit
    luck, luck_freedom = _luck(_levels(requests, used)[1], cpu.workers)
    rises, by_label = _rises(findings), []
    for at, label in enumerate(labels):
        base, head = cost[[1 + at, 1 + len(labels) + at]]
        apart = np.zeros(len(cost))
        apart[[1 + at, 1 + len(labels) + at]] = -1, 1
        parts = (apart @ covariance @ apart) ** 0.5, luck * max(base, head, 0)
        error, of_error = joined((parts[0], freedom), (parts[1], luck_freedom))
        half = -float(special.stdtrit(of_error, level / 2 / len(labels))) * error
        change, rise = float(head - base), rises.get(label.label)
        ends = change - half, change + half
        outcome = _outcome(*ends, rise)
        by_label.append(LabelCpu(label.label, float(base), change, *ends, rise, outcome))
    return tuple(by_label)


def _length_s(labels: Sequence[Blocks]) -> int:
    """Of a piece of time, within which answers are held against what was used."""
    means = [it.elapsed_ms.mean() for label in labels for it in label.requests if len(it.row)]
    return max(_PIECE_S, math.ceil(_LONGER * max(means, default=0.0) / 1000))


def _costs(requests: _Asked, used: Floats, lengths: Ints) -> tuple[Floats, Floats, float] | None:
    """(CPU ms of a second, of an answer by label in base, of one in head, and of a millisecond of
    its row's level by label; their covariance; degrees of freedom). None of too few pieces."""
    is_head = (np.arange(len(used)) % 2 == 1)[:, None, None]
    idle = np.broadcast_to(lengths[None, :, None], (*used.shape, 1))
    n = requests.n
    terms = np.concatenate([idle, n * ~is_head, n * is_head, requests.sized], axis=2)
    flat, values = terms.reshape(-1, terms.shape[2]), used.ravel()
    rows, costs = flat.shape
    if rows < _ROWS_PER_COST * costs or np.linalg.matrix_rank(flat) < costs:
        return None
    bread = np.linalg.inv(flat.T @ flat)
    cost = bread @ (flat.T @ values)
    scores = flat * (values - flat @ cost)[:, None]
    covariance = bread @ (scores.T @ scores) @ bread * rows / (rows - costs)
    return cost, covariance, float(rows - costs)


def _rises(findings: Iterable[Finding]) -> dict[str, float]:
    """By label whose times have failed, by how many ms head's answers take longer: of the same
    request or at the middle where that failed, else in the mean."""
    of_label: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        of_label.setdefault(finding.label, {})[finding.metric] = finding
    rises = {}
    for label, own in of_label.items():
        failed = [it for it in (TYPICAL, *PERCENTILES) if it in own and own[it].verdict == FAIL]
        rise = own.get(failed[0] if failed and failed[0] in (TYPICAL, "p50") else "mean")
        if failed and rise and rise.base is not None and rise.head is not None:
            rises[label] = rise.head - rise.base
    return rises


def _outcome(low: float, high: float, rise: float | None) -> str:
    """Head waits where its CPU time can have risen by no more than half of what its answers take
    longer."""
    if rise is None or rise <= 0:
        return UNKNOWN
    if high < rise / 2:
        return WAITING
    return COMPUTING if low > 0 else UNKNOWN
