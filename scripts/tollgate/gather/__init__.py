"""A run's folder to the facts that judge needs.

In: run.json, kpi.jtl, workers.jsonl, compare.json of a folder. Out: facts, made once; refusals.
"""

from __future__ import annotations

from tollgate.gather import evidence, refusals
from tollgate.gather.comparison import labels_of

__all__ = ["evidence", "labels_of", "refusals"]
