"""What PM2's workers did, and who took the CPU.

In: workers.jsonl, the kernel's counters. Out: processes, their exits and restarts, what they
needed, and what others took.
"""

from __future__ import annotations

from tollgate.workers.cpu import ProcessTree, idle_s
from tollgate.workers.foreign import CALM, BackgroundCpu, ForeignRecorder
from tollgate.workers.model import (
    Reload,
    Resources,
    WorkerCount,
    WorkerEvent,
    WorkerOutage,
    WorkerSeries,
)
from tollgate.workers.processes import (
    FEWEST_LOOKS,
    SHORTEST_S,
    Growth,
    WorkerFacts,
    growth,
    judged_share,
    lives,
    restarts,
    worker_facts,
)
from tollgate.workers.reading import TargetsWatched, read_targets, read_watch, unwatched
from tollgate.workers.watching_cost import WatchingCost, share

__all__ = [
    "CALM",
    "FEWEST_LOOKS",
    "SHORTEST_S",
    "BackgroundCpu",
    "ForeignRecorder",
    "Growth",
    "ProcessTree",
    "Reload",
    "Resources",
    "TargetsWatched",
    "WatchingCost",
    "WorkerCount",
    "WorkerEvent",
    "WorkerFacts",
    "WorkerOutage",
    "WorkerSeries",
    "growth",
    "idle_s",
    "judged_share",
    "lives",
    "read_targets",
    "read_watch",
    "restarts",
    "share",
    "unwatched",
    "worker_facts",
]
