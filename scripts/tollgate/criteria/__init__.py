"""What is asked of a run.

In: criteria in Taurus's grammar. Out: Criterion objects that are known to fit the plan.
"""

from __future__ import annotations

from tollgate.criteria.check import check, lower_bound_errors
from tollgate.criteria.grammar import Criterion, CriterionError, parse, parse_all
from tollgate.criteria.subjects import MIB, SLOPE

__all__ = [
    "MIB",
    "SLOPE",
    "Criterion",
    "CriterionError",
    "check",
    "lower_bound_errors",
    "parse",
    "parse_all",
]
