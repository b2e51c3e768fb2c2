"""How often the rise of a label's metric was found, how soon, and how certain that share is. Pure.

A run that never got there took longer than any that did. Left out, those that are hard to decide
would be missing, and a condition of which most runs end undecided would look quick.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scipy import stats

from certification.store import Run
from tollgate.compare.model import ALL_LABELS, CPU, FAIL, INCONCLUSIVE, PASS, GateSettings


@dataclass(frozen=True)
class Rate:
    """hits of n."""

    hits: int
    n: int

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval of the share (Clopper and Pearson 1934, "The use of
        confidence or fiducial limits illustrated in the case of the binomial"); (0, 1) without
        tries."""
        if not self.n:
            return 0.0, 1.0
        return tuple(stats.binomtest(self.hits, self.n).proportion_ci(0.95, method="exact"))

    def __str__(self) -> str:
        """`2 of 40 (0.6 to 16.9 %)`, and a dash without tries."""
        if not self.n:
            return "-"
        low, high = (f"{end * 100:.3g}" for end in self.interval())
        return f"{self.hits:,} of {self.n:,} ({low} to {high} %)"


def rate(outcomes) -> Rate:
    """Of a column of true and false."""
    outcomes = [bool(each) for each in outcomes]
    return Rate(sum(outcomes), len(outcomes))


#: Seconds of what did not happen.
NEVER = math.inf


def decided_s(run: Run) -> float:
    """Seconds of measuring until all that gates was decided. NEVER also of a run that was ended for
    taking too long, and of one whose measurement is not valid."""
    undecided = any(it.gates and it.verdict == INCONCLUSIVE for it in run.findings)
    if run.verdict not in (PASS, FAIL) or run.seconds is None or undecided:
        return NEVER
    return run.seconds


def failed_s(run: Run) -> float:
    """Seconds of measuring until the first failure; NEVER of a run whose verdict is no FAIL."""
    return min(_failures(run).values(), default=NEVER) if run.verdict == FAIL else NEVER


def median_s(values: Iterable[float]) -> float | None:
    """NEVER where it falls among those that did not get there; None without values."""
    values = list(values)
    return median(values) if values else None


def quantile_s(values: Iterable[float], share: float) -> float:
    """The least of the values that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


#: By metric, within how many seconds of measuring it is to fail.
WITHIN_S = {"typical": 300.0, "p50": 120.0, "p95": 600.0, "cpu": 180.0}
#: Of a run with another verdict the samples are not those that were meant to be taken.
MEASURED = (PASS, FAIL, INCONCLUSIVE)
#: By label and metric of WITHIN_S, in how many runs it failed in time; of no tries where it has no
#: say.
Found = dict[str, dict[str, Rate]]


def _failures(run: Run) -> dict[tuple[str, str], float]:
    """By label and metric, after how many seconds of measuring it failed. Nothing where the
    measurement is not valid, whatever was found in it."""
    if run.verdict not in MEASURED:
        return {}
    return {it.key: it.at_s for it in run.findings if it.gates and it.verdict == FAIL}


def found(labels: Iterable[str], runs: Sequence[Run], settings: GateSettings) -> Found:
    """What each of the labels shows in these runs, every one of which counts."""
    failures = [_failures(run) for run in runs]

    def within(label: str, metric: str, most_s: float) -> Rate:
        if not settings.gating(label, metric) or (label == ALL_LABELS) != (metric == CPU):
            return Rate(0, 0)
        return rate(it.get((label, metric), NEVER) <= most_s for it in failures)

    return {label: {it: within(label, it, s) for it, s in WITHIN_S.items()} for label in labels}
