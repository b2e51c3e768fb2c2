"""When each request is due, and when it was sent; one engine's share of that.

In: a Plan and the samples of its thread groups, or ENGINE=k/N. Out: lateness, its cause, what was
not sent; the properties and rows of a share.
"""

from __future__ import annotations

from tollgate.schedule.blame import FAR_LATE_MS
from tollgate.schedule.grammar import Arrivals, Rate, ScheduleError, parse_schedule
from tollgate.schedule.model import ScheduleFacts, Unsent
from tollgate.schedule.open_model import OpenModelArrivals, count_of
from tollgate.schedule.queues import Queue, queues_of
from tollgate.schedule.replay import Replay, foreseen_problems, replay_jtl
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.share import Share, ShareError, parse_share
from tollgate.schedule.share_load import shared_properties, shared_schedule
from tollgate.schedule.share_rows import (
    COPY,
    HOW,
    SPLIT,
    Feed,
    feeds_of,
    records_of,
    share_of_rows,
)
from tollgate.schedule.threads import named_alike, senders

__all__ = [
    "COPY",
    "FAR_LATE_MS",
    "HOW",
    "SPLIT",
    "Arrivals",
    "Feed",
    "OpenModelArrivals",
    "Queue",
    "Rate",
    "Replay",
    "ScheduleError",
    "ScheduleFacts",
    "Share",
    "ShareError",
    "Unsent",
    "count_of",
    "feeds_of",
    "foreseen_problems",
    "named_alike",
    "parse_schedule",
    "parse_share",
    "queues_of",
    "records_of",
    "replay_jtl",
    "schedules_of",
    "senders",
    "share_of_rows",
    "shared_properties",
    "shared_schedule",
]
