"""How long runs took to get somewhere. Pure.

A run that never got there took longer than any that did. Left out, those that are hard to decide
would be missing, and a condition of which most runs end undecided would look quick.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from certification.store import Run
from tollgate.compare import FAIL, INCONCLUSIVE, OPEN, PASS, Gate

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


def gate_decided_s(gate: Gate) -> float:
    """The same of a closed gate."""
    undecided = any(it.gates and it.verdict in _UNDECIDED for it in gate.findings)
    return NEVER if undecided else gate.looks_s[-1]


def median_s(values: Iterable[float]) -> float | None:
    """NEVER where it falls among those that did not get there; None without values."""
    values = list(values)
    return median(values) if values else None


def quantile_s(values: Iterable[float], share: float) -> float:
    """The least of the values that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
