"""The highest arrival rate at which limits hold.

In: trials of some seconds each. Out: what to send next, and an estimate with its interval.
"""

from __future__ import annotations

from tollgate.capacity.answer import result
from tollgate.capacity.growth import grew
from tollgate.capacity.model import (
    TRUSTED,
    Ask,
    Limit,
    Point,
    Purpose,
    Ratio,
    Result,
    Settings,
    Status,
    Trial,
    ratio,
)
from tollgate.capacity.search import ceiling_of, next_ask, next_ceiling_ask

__all__ = [
    "TRUSTED",
    "Ask",
    "Limit",
    "Point",
    "Purpose",
    "Ratio",
    "Result",
    "Settings",
    "Status",
    "Trial",
    "ceiling_of",
    "grew",
    "next_ask",
    "next_ceiling_ask",
    "ratio",
    "result",
]
