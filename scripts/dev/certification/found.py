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

from certification.conditions import Condition
from certification.store import Run
from tollgate.compare.model import FAIL, INCONCLUSIVE, OPEN, PASS, GateSettings

LEVEL = 0.95


@dataclass(frozen=True)
class Rate:
    """hits of n."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """NaN without tries."""
        return self.hits / self.n if self.n else float("nan")

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval of the share (Clopper and Pearson 1934, "The use of
        confidence or fiducial limits illustrated in the case of the binomial"); (0, 1) without
        tries."""
        if not self.n:
            return 0.0, 1.0
        found = stats.binomtest(self.hits, self.n).proportion_ci(LEVEL, method="exact")
        return float(found.low), float(found.high)

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
_UNDECIDED = (INCONCLUSIVE, OPEN)


def decided_s(run: Run) -> float:
    """Seconds of measuring until all that gates was decided. NEVER also of a run that was ended for
    taking too long, and of one whose measurement is not valid."""
    undecided = any(it["gates"] and it["verdict"] in _UNDECIDED for it in run.findings)
    if run.verdict not in (PASS, FAIL) or run.seconds is None or undecided:
        return NEVER
    return run.seconds


def failed_s(run: Run) -> float:
    """Seconds of measuring until the first failure; NEVER of a run whose verdict is no FAIL."""
    if run.verdict != FAIL:
        return NEVER
    failures = (it["decided_s"] for it in run.findings if it["gates"] and it["verdict"] == FAIL)
    return min(failures, default=NEVER)


def median_s(values: Iterable[float]) -> float | None:
    """NEVER where it falls among those that did not get there; None without values."""
    values = list(values)
    return median(values) if values else None


def quantile_s(values: Iterable[float], share: float) -> float:
    """The least of the values that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


LIVE, RESAMPLED = "live", "resampled"
#: By metric, within how many seconds of measuring it is to fail.
WITHIN_S = {"typical": 300.0, "p50": 120.0, "p95": 600.0}
#: Of a run with another verdict the samples are not those that were meant to be taken.
MEASURED = (PASS, FAIL, INCONCLUSIVE)


@dataclass(frozen=True)
class Found:
    """One label under one condition. kind: LIVE or RESAMPLED runs. rates: by metric of WITHIN_S in
    how many of them it failed in time, of no tries where it has no say."""

    condition: Condition
    label: str
    kind: str
    rates: dict[str, Rate]


def _failures(run: Run) -> dict[tuple[str, str], float]:
    """By label and metric, after how many seconds of measuring it failed. Nothing where the
    measurement is not valid, whatever was found in it."""
    if run.verdict not in MEASURED:
        return {}
    return {
        (it["label"], it["metric"]): it["decided_s"]
        for it in run.findings
        if it["gates"] and it["verdict"] == FAIL
    }


def found(
    condition: Condition,
    kind: str,
    labels: Iterable[str],
    runs: Sequence[Run],
    settings: GateSettings,
) -> list[Found]:
    """What each of the labels shows in these runs, every one of which counts."""
    failures = [_failures(run) for run in runs]

    def within(label: str, metric: str, most_s: float) -> Rate:
        if not settings.gating(label, metric):
            return Rate(0, 0)
        return rate(it.get((label, metric), NEVER) <= most_s for it in failures)

    return [
        Found(condition, label, kind, {it: within(label, it, s) for it, s in WITHIN_S.items()})
        for label in labels
    ]
