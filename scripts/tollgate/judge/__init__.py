"""Facts to a verdict. Pure.

In: what was measured of each execution, and its criteria. Out: PASS, FAIL, INCONCLUSIVE or
INVALID, with every reason.
"""

from __future__ import annotations

from tollgate.judge.course import is_settled, noted
from tollgate.judge.ended_early import (
    FINISHED,
    OWN_ENDS,
    STARTED,
    SampledThreads,
    Thread,
    bounded_groups,
    closed_groups,
    early_ends,
    groups_before,
    unscheduled_groups,
)
from tollgate.judge.engines import engine_of, shared_s, together
from tollgate.judge.facts import (
    Course,
    EngineFacts,
    ExecutionFacts,
    JudgeSettings,
    LabelData,
    MeasuredExecution,
    MeasuredRun,
    Searched,
    measured_window,
)
from tollgate.judge.forecast import HELD, MISSED, NOT_REACHED, requests, signed, worst_part
from tollgate.judge.judgement import judge, results_of
from tollgate.judge.levels import estimates
from tollgate.judge.missing_samples import Charged, LoadEnd, charge, silent_parts
from tollgate.judge.observe import select, value_of
from tollgate.judge.verdicts import (
    FAIL,
    INCONCLUSIVE,
    INVALID,
    LOOKS,
    ORDER,
    PASS,
    CriterionResult,
    ExecutionVerdict,
    Reason,
    RunVerdict,
    worst,
)
from tollgate.judge.workers import MB_PER_MIN, events_left, outage_line

__all__ = [
    "FAIL",
    "FINISHED",
    "HELD",
    "INCONCLUSIVE",
    "INVALID",
    "LOOKS",
    "MB_PER_MIN",
    "MISSED",
    "NOT_REACHED",
    "ORDER",
    "OWN_ENDS",
    "PASS",
    "STARTED",
    "Charged",
    "Course",
    "CriterionResult",
    "EngineFacts",
    "ExecutionFacts",
    "ExecutionVerdict",
    "JudgeSettings",
    "LabelData",
    "LoadEnd",
    "MeasuredExecution",
    "MeasuredRun",
    "Reason",
    "RunVerdict",
    "SampledThreads",
    "Searched",
    "Thread",
    "bounded_groups",
    "charge",
    "closed_groups",
    "early_ends",
    "engine_of",
    "estimates",
    "events_left",
    "groups_before",
    "is_settled",
    "judge",
    "measured_window",
    "noted",
    "outage_line",
    "requests",
    "results_of",
    "select",
    "shared_s",
    "signed",
    "silent_parts",
    "together",
    "unscheduled_groups",
    "value_of",
    "worst",
    "worst_part",
]
