"""A run's folder to the facts that judge needs.

In: run.json, kpi.jtl, workers.jsonl, compare.json of a folder. Out: facts, made once; refusals.
"""

from __future__ import annotations

from tollgate.gather import evidence, refusals
from tollgate.gather.comparison import labels_of
from tollgate.gather.evidence import examined
from tollgate.gather.unjudgeable import hardly_decided
from tollgate.gather.watch import Watch, outcome

__all__ = ["Watch", "evidence", "examined", "hardly_decided", "labels_of", "outcome", "refusals"]
