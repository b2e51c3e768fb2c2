"""How often the rise of a label's metric was found, and found in time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from certification.conditions import Condition
from certification.rates import Rate, rate
from certification.store import Run
from certification.times import NEVER
from tollgate.compare import FAIL, INCONCLUSIVE, PASS, Gate, Settings

LIVE, RESAMPLED = "live", "resampled"
#: By metric, within how many seconds of measuring it is to fail.
WITHIN_S = {"p50": 120.0, "p95": 600.0}
#: Of a run with another verdict the samples are not those that were meant to be taken.
MEASURED = (PASS, FAIL, INCONCLUSIVE)
#: Of one run, by label and metric: after how many seconds of measuring it failed.
Failures = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Found:
    """One label under one condition. kind: LIVE or RESAMPLED runs. rates: by metric of WITHIN_S in
    how many of them it failed in time, of no tries where it has no say."""

    condition: Condition
    label: str
    kind: str
    rates: dict[str, Rate]


def failures_of(run: Run) -> Failures:
    """Nothing where the measurement is not valid, whatever was found in it."""
    if run.verdict not in MEASURED:
        return {}
    return {
        (it["label"], it["metric"]): it["decided_s"]
        for it in run.findings
        if it["gates"] and it["verdict"] == FAIL
    }


def gate_failures(gate: Gate) -> Failures:
    """The same of a gate."""
    return {it.key: it.at_s for it in gate.findings if it.gates and it.verdict == FAIL}


def found(
    condition: Condition,
    kind: str,
    labels: Iterable[str],
    runs: Sequence[Failures],
    settings: Settings,
) -> list[Found]:
    """What each of the labels shows in these runs, every one of which counts."""

    def within(label: str, metric: str, most_s: float) -> Rate:
        if not settings.gating(label, metric):
            return Rate(0, 0)
        return rate(run.get((label, metric), NEVER) <= most_s for run in runs)

    return [
        Found(condition, label, kind, {it: within(label, it, s) for it, s in WITHIN_S.items()})
        for label in labels
    ]
