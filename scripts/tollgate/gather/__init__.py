"""A run's folder to the facts that judge needs.

In: run.json, kpi.jtl, workers.jsonl, compare.json of a folder. Out: facts, made once; refusals.
"""

from __future__ import annotations

from tollgate.gather import evidence, refusals
from tollgate.gather.arrivals import END, HEADER, LONGEST_NAME, NOTHING, Arrivals, drawn, row
from tollgate.gather.capacity import (
    CapacityRecord,
    TrialRecord,
    arrivals_path,
    record_path,
    sealed,
    trial_of,
)
from tollgate.gather.comparison import labels_of
from tollgate.gather.evidence import examined
from tollgate.gather.looks import judged_until_ms
from tollgate.gather.unjudgeable import hardly_decided
from tollgate.gather.watch import StopWatch, Watch, outcome

__all__ = [
    "END",
    "HEADER",
    "LONGEST_NAME",
    "NOTHING",
    "Arrivals",
    "CapacityRecord",
    "StopWatch",
    "TrialRecord",
    "Watch",
    "arrivals_path",
    "drawn",
    "evidence",
    "examined",
    "hardly_decided",
    "judged_until_ms",
    "labels_of",
    "outcome",
    "record_path",
    "refusals",
    "row",
    "sealed",
    "trial_of",
]
