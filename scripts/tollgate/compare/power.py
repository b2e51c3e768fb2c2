"""What a comparison can probably find, known before it measures. Pure.

From the times of a rehearsal follow the errors that estimates.py will have at the end of the
budget, and from these the smallest rise of each metric that fails in FOUND of all runs:

- of a time, the low end of its interval must lie above no change, its estimate above what
  `fail_from` asks for, and with several processes a side every one of head above every one of base
  (processes.py), each of which has a speed of its own (_LUCK_SD);
- of a share, so many answers must fail at head alone as no fair coin would send there.

A metric can be decided where a head that is like its base would probably pass in all that gates, on
a machine that is no quieter than most. Its noise is not known beforehand: where it is loud, less is
found than this says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import special

from tollgate.base import records
from tollgate.base.fields import Count
from tollgate.compare.decide import FIRST_S, SPOTLESS, WEIGHTS
from tollgate.compare.estimates import COSINE_S, FEWEST_BEYOND
from tollgate.compare.milliseconds import HALF_MS, doubt_ms
from tollgate.compare.model import (
    ALL_LABELS,
    CPU,
    ERRORS,
    OF_ALL,
    OF_LABEL,
    PERCENTILES,
    SHARES,
    STALLS,
    TAIL,
    TYPICAL,
    GateSettings,
    Metric,
    Requests,
)
from tollgate.compare.stalls import SLOW
from tollgate.compare.typical import SHORT_MS, off_level
from tollgate.stats.sequential import nominal_level

Key = tuple[str, str]

#: How often a rise is found that is called the smallest, and how often a head that is like its base
#: passes in all that can be decided.
FOUND = 0.8
#: By how much more times erred in runs of services of up to 8 ms on two shared cores than those of
#: requests that are independent of each other would: 0.8 to 1.5 times as much, and 3 times in one
#: run.
_LASTING = 1.5
#: Of the answers of such runs up to so many stalled, so many in a spell that counts as one.
_STALLED, _SPELL = 0.01, 10
#: By how much more a trimmed mean errs than a mean, of normal values (stats/trimmed.py).
_TRIMMED = 1.05
#: How much larger a comparison takes an error to be than it is (WARY in stats/autocorrelation.py).
_WARY = 1.25
#: A rise to more than ten times the time is no figure that a comparison can find.
_MOST = math.log(10)
#: Of the logarithm of a process's speed among others of the same code.
_LUCK_SD = 0.006
#: How short times may become when the processes are warm, against the rehearsal: a share of them,
#: and so many milliseconds less at most. A p95 of 6 ms came to 3.5.
_WARMER, _WARMER_MS = 0.5, 3.0
#: Times of a label from which its spread is estimated, and of a row from which it has a level.
FEWEST, REHEARSED_OF_ROW = 20, 10
#: So many samples that counts are their shares.
_MANY = 100_000


@dataclass(frozen=True)
class Power:
    """What will probably be found of one metric of a label, if the machine is quiet."""

    __pydantic_config__ = records.STRICT

    label: str
    """The label; `all labels` for all requests of a mix together."""
    metric: Metric
    """The metric, one that gates."""
    requests: Count
    """How many requests of the label each side will have answered when the budget is over."""
    rise: float | None
    """The smallest rise that is found in 80 % of runs, as a share of 1; null where there are too
    few requests for any."""
    can_pass: bool
    """Whether a head that is like its base will probably pass; if not, the label is too rare for
    the metric to be decided, or its requests too short for whole milliseconds. Where it is then
    left open, it does not keep the run from passing."""


@dataclass(frozen=True)
class _Tested:
    """A metric of a label, as the last look tests it."""

    metric: str
    times: Requests
    """Of the rehearsal, of both sides together."""
    n: int
    """How many requests each side will have answered."""
    processes: int
    settings: GateSettings
    low: float
    """The one-sided level of a FAIL."""
    high: float
    """That of a PASS."""
    luck: float
    """How many standard errors each of all metrics must not be off by chance, for all to pass in
    FOUND of all runs."""

    @property
    def power(self) -> tuple[float | None, bool]:
        """(the smallest rise that is found, whether a head that is like its base will pass)"""
        return self._of_share() if self.metric in SHARES else self._of_time()

    def _of_time(self) -> tuple[float | None, bool]:
        if self.n < _needed(self.metric) or len(self.times.elapsed_ms) < FEWEST:
            return None, False
        at_ms, spread = _spread(self.metric, self.times)
        coarse = _coarse(self.metric, self.times)
        error = _TRIMMED * spread * math.sqrt(2 / self.n)
        freedom = max(1.0, self.settings.budget_s // COSINE_S)
        ends = (self.low, self.high)
        low, high = (-_WARY * float(special.stdtrit(freedom, it)) for it in ends)
        luck = float(special.ndtri(FOUND))
        effect = self.settings.change(self.metric, at_ms)
        least = [
            coarse + (low + luck) * error,
            self.settings.fail_from * effect + luck * error,
            # A smaller one is known to be small before it is known to be one.
            effect * (low + luck) / (low + high),
        ]
        if self.processes > 1:
            of_process = _TRIMMED * spread * math.sqrt(self.processes / self.n)
            least.append(_apart(self.processes) * math.hypot(of_process, _LUCK_SD))
        # Of a typical time what is coarse is a share of the change itself.
        rise = math.expm1(max(least)) if max(least) < _MOST else None
        return rise, bool(coarse + (high + self.luck) * _LASTING * error < effect)

    def _of_share(self) -> tuple[float | None, bool]:
        """Where base has none of them; but stalls come of themselves."""
        if not self.n:
            return None, False
        effect = self.settings.change(self.metric)
        fewest = math.ceil(-math.log2(self.low))
        decisive = float(special.gammaincinv(fewest, FOUND)) / self.n
        rise = max(decisive, self.settings.fail_from * effect)
        # The bound on what may happen where nothing did (errors.py).
        level = SPOTLESS * self.settings.miss if self.metric == ERRORS else self.high
        bound = -math.expm1(math.log(level) / self.n)
        if self.metric == STALLS:
            luck = self.luck - float(special.ndtri(self.high))
            bound = max(math.sqrt(2) * bound, luck * math.sqrt(2 * _STALLED * _SPELL / self.n))
        return (rise if rise < 1 else None), bound < effect


def power_of(
    settings: GateSettings,
    times: Mapping[str, Requests],
    requests: Mapping[str, int],
    processes: int,
    looks: tuple[float, float] = (FIRST_S, 30.0),
) -> tuple[Power, ...]:
    """For each gating metric of each label. times: of the rehearsal, of both sides together.
    requests: that each side will answer. looks: seconds of the first look, and between looks."""
    family = [
        (label, metric)
        for label in times
        for metric in (OF_ALL if label == ALL_LABELS else OF_LABEL)
        if settings.gating(label, metric)
    ]
    if not family:
        return ()
    luck = float(special.ndtri(1 - (1 - FOUND) / len(family)))
    total = math.fsum(WEIGHTS.get(metric, 1.0) for _, metric in family) + (CPU in settings.gates)
    fractions = _fractions(*looks, settings.budget_s)
    high = nominal_level(fractions, settings.miss)
    powers = []
    for label, metric in family:
        low = nominal_level(fractions, settings.false_alarm * WEIGHTS.get(metric, 1.0) / total)
        n = requests[label]
        tested = _Tested(metric, times[label], n, processes, settings, low, high, luck)
        powers.append(Power(label, metric, n, *tested.power))
    return tuple(powers)


def rise_by_threads(
    threads: int, settings: GateSettings, looks: tuple[float, float], luck: float
) -> float:
    """The rise of a time that fails in FOUND of all runs whose coin is that of a thread, where
    nothing but the luck of threads stands against it: no look sees less of that than another.
    threads: of each side. looks: as of power_of. luck: a standard deviation, as a share."""
    tests = len(settings.gates) * max(1, len(settings.labels))
    level = nominal_level(_fractions(*looks, settings.budget_s), settings.false_alarm / tests)
    freedom = 2.0 * (threads - 1)
    sure = -float(special.stdtrit(freedom, level))
    errors = float(special.nctdtrinc(freedom, 1 - FOUND, sure))
    return math.expm1(errors * luck * math.sqrt(2 / threads))


def foretold(powers: Iterable[Power]) -> frozenset[Key]:
    """Labels and metrics that are too rare or too short to be decided, but not where nothing of
    their kind would be left: times, stalls, and errors. All labels of a mix together always are."""
    kinds: dict[str, list[Power]] = {}
    for power in powers:
        kinds.setdefault(power.metric if power.metric in SHARES else TYPICAL, []).append(power)
    return frozenset(
        (power.label, power.metric)
        for kind in kinds.values()
        if any(it.can_pass or it.label == ALL_LABELS for it in kind)
        for power in kind
        if not power.can_pass and power.label != ALL_LABELS
    )


def _fractions(first_s: float, every_s: float, budget_s: float) -> tuple[float, ...]:
    """The shares of the budget at which is looked, as decide.next_look_s has them."""
    inner = np.arange(min(first_s, budget_s), budget_s - every_s / 2, every_s)
    return (*(inner / budget_s).tolist(), 1.0)


def _needed(metric: str) -> int:
    if metric not in PERCENTILES:
        return 2 * FEWEST_BEYOND
    share = PERCENTILES[metric] / 100
    return math.ceil(FEWEST_BEYOND / min(share, 1 - share))


def _spread(metric: str, times: Requests) -> tuple[float, float]:
    """(ms, the standard deviation that one sample adds to its logarithm) of a metric."""
    if metric == TAIL:
        middle, most = np.quantile(times.elapsed_ms, (0.5, 0.95))
        # What a rehearsal has beyond it is that of cold processes.
        slower = np.clip(times.elapsed_ms, max(middle, HALF_MS), SLOW * max(most, HALF_MS))
        return float(slower.mean()), float(slower.std() / slower.mean())
    if metric not in PERCENTILES:
        rows = off_level([times], REHEARSED_OF_ROW)
        # Both ends of a request are whole milliseconds.
        at_ms = math.exp(rows.log_level.mean())
        tick = min(1.0, SHORT_MS / at_ms) / math.sqrt(6)
        return at_ms, float(max(rows.off.std(), tick) / rows.weight.mean())
    share, shape = PERCENTILES[metric] / 100, _shape(times)
    at = np.quantile(shape.dataset, share)
    return math.exp(at), math.sqrt(share * (1 - share)) / float(shape(at)[0])


def _shape(times: Requests) -> Any:
    """The density of the times' logarithms, smooth inside of whole milliseconds: of a rehearsal
    there are too few times to count them by milliseconds."""
    values, counts = np.unique(times.elapsed_ms, return_counts=True)
    parts = [(np.arange(n) + 0.5) / n - HALF_MS for n in counts]
    inside = np.repeat(values, counts) + np.concatenate(parts)
    from scipy import stats  # which takes as long as most of the rest, at each start

    return stats.gaussian_kde(np.log(np.maximum(inside, HALF_MS / 2)))


def _coarse(metric: str, times: Requests) -> float:
    """By how much whole milliseconds may falsify the change of a percentile, both sides together,
    once the processes are warm. Of a typical time they do so in proportion to the change, which
    decides nothing."""
    if metric not in PERCENTILES:
        return 0.0
    shape = _shape(times)
    rehearsed_ms = math.exp(np.quantile(shape.dataset, PERCENTILES[metric] / 100))
    at_ms = max(_WARMER * rehearsed_ms, rehearsed_ms - _WARMER_MS)
    first_ms = math.floor(at_ms + HALF_MS) - 1.5
    borders_ms = np.maximum(first_ms + np.arange(4), HALF_MS / 2)
    borders = np.log(borders_ms * rehearsed_ms / at_ms)
    around = (shape.integrate_box_1d(*ends) for ends in pairwise(borders))
    return 2 * doubt_ms(tuple(round(_MANY * float(it)) for it in around)) / at_ms


@cache
def _apart(processes: int) -> float:
    """How many standard deviations of a process both sides must be apart for the slowest of base to
    be faster than the fastest of head in FOUND of all cases."""
    random = np.random.default_rng(processes)
    base, head = random.standard_normal((2, 100_000, processes))
    return float(np.quantile(base.max(axis=1) - head.min(axis=1), FOUND))
