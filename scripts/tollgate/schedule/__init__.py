"""When each request was due, and when it was sent.

In: a Plan and the samples of its thread groups. Out: lateness, its cause, and what was not sent.
"""

from __future__ import annotations

from tollgate.schedule.blame import FAR_LATE_MS
from tollgate.schedule.grammar import Arrivals, Rate, ScheduleError, parse_schedule
from tollgate.schedule.model import ScheduleFacts, Unsent
from tollgate.schedule.open_model import OpenModelArrivals, count_of
from tollgate.schedule.queues import Queue, queues_of
from tollgate.schedule.replay import Replay, foreseen_problems, replay_jtl
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.threads import named_alike, senders

__all__ = [
    "FAR_LATE_MS",
    "Arrivals",
    "OpenModelArrivals",
    "Queue",
    "Rate",
    "Replay",
    "ScheduleError",
    "ScheduleFacts",
    "Unsent",
    "count_of",
    "foreseen_problems",
    "named_alike",
    "parse_schedule",
    "queues_of",
    "replay_jtl",
    "schedules_of",
    "senders",
]
