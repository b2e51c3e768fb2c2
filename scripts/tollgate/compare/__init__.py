"""Base against head.

In: blocks of both sides' samples. Out: ratios with intervals for repeated looks.
"""

from __future__ import annotations

from tollgate.compare import pace, record, samples, words
from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.errors import MOST_FAILED
from tollgate.compare.estimates import COSINE_S, STEP_S, percentile_ratio, typical_ratio, unfair
from tollgate.compare.looks import judge_blocks
from tollgate.compare.milliseconds import HALF_MS, doubt_and_place, percentile
from tollgate.compare.model import (
    ERRORS,
    FAIL,
    IMPROVED,
    INCONCLUSIVE,
    OPEN,
    PASS,
    PERCENTILES,
    SHARES,
    STALLS,
    TYPICAL,
    Blocks,
    Finding,
    Gate,
    Requests,
    Settings,
    Side,
)
from tollgate.compare.pace import Cost, Pace
from tollgate.compare.processes import Spread, spread
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.compare.result import NO_LOOK, Comparison, LabelCounts, compared, not_compared
from tollgate.compare.settings import (
    INJECTIONS,
    LARGEST_SEED,
    SETTINGS,
    CompareSettings,
    LagError,
    SettingError,
    again,
    drawn_seeds,
    is_compare,
    lag_s,
    read_settings,
    schedule_of,
    seconds_of,
    seeds_of,
)
from tollgate.compare.watch import Watch
from tollgate.compare.words import Case, cases

__all__ = [
    "COSINE_S",
    "ERRORS",
    "FAIL",
    "HALF_MS",
    "IMPROVED",
    "INCONCLUSIVE",
    "INJECTIONS",
    "LARGEST_SEED",
    "MOST_FAILED",
    "NO_LOOK",
    "OPEN",
    "PASS",
    "PERCENTILES",
    "SETTINGS",
    "SHARES",
    "STALLS",
    "STEP_S",
    "TYPICAL",
    "Blocks",
    "Case",
    "CompareRecord",
    "CompareSettings",
    "Comparison",
    "Cost",
    "Finding",
    "Gate",
    "LabelCounts",
    "LagError",
    "Pace",
    "Requests",
    "SettingError",
    "Settings",
    "Side",
    "SideRecord",
    "Spread",
    "Watch",
    "again",
    "cases",
    "close",
    "compared",
    "doubt_and_place",
    "drawn_seeds",
    "is_compare",
    "judge_blocks",
    "lag_s",
    "look",
    "next_look_s",
    "not_compared",
    "pace",
    "percentile",
    "percentile_ratio",
    "read_settings",
    "record",
    "samples",
    "schedule_of",
    "seconds_of",
    "seeds_of",
    "spread",
    "typical_ratio",
    "unfair",
    "words",
]
