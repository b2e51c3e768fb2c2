"""A .jmx as it will run.

In: a plan's file and the properties given to JMeter. Out: a Plan (thread groups, timers,
samplers), what a reader would point out in it, when it ends, whom it asks.
"""

from __future__ import annotations

from tollgate.plan import bounds, copy, data_files, lint, plugins
from tollgate.plan.arrivals import (
    EvenArrivals,
    JavaRandom,
    NotReplayableError,
    PreciseThroughput,
)
from tollgate.plan.bounds import Stops, stops_of
from tollgate.plan.expressions import Expander
from tollgate.plan.inline import put_in_place, shares_fragments
from tollgate.plan.jmx import Element, PlanError, read_tree
from tollgate.plan.model import (
    FLOW_CONTROL,
    LOOPING,
    PRECISE_THROUGHPUT,
    Plan,
    PlanLabel,
    Sampler,
    ThreadGroup,
)
from tollgate.plan.passes import Pass, rates_of, write_by_arrivals
from tollgate.plan.read import expander_of, read_hosts, read_plan
from tollgate.plan.remote import START_AT, begin_together, for_engines, own_name
from tollgate.plan.threads import (
    ANY,
    StatedEnd,
    certain_samplers,
    is_done,
    is_steady,
    longest_timer_s,
    silence_s,
    stated_end,
    wait_s,
)
from tollgate.plan.timers import read_timer

__all__ = [
    "ANY",
    "FLOW_CONTROL",
    "LOOPING",
    "PRECISE_THROUGHPUT",
    "START_AT",
    "Element",
    "EvenArrivals",
    "Expander",
    "JavaRandom",
    "NotReplayableError",
    "Pass",
    "Plan",
    "PlanError",
    "PlanLabel",
    "PreciseThroughput",
    "Sampler",
    "StatedEnd",
    "Stops",
    "ThreadGroup",
    "begin_together",
    "bounds",
    "certain_samplers",
    "copy",
    "data_files",
    "expander_of",
    "for_engines",
    "is_done",
    "is_steady",
    "lint",
    "longest_timer_s",
    "own_name",
    "plugins",
    "put_in_place",
    "rates_of",
    "read_hosts",
    "read_plan",
    "read_timer",
    "read_tree",
    "shares_fragments",
    "silence_s",
    "stated_end",
    "stops_of",
    "wait_s",
    "write_by_arrivals",
]
