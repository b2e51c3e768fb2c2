"""Schedules of Open Model Thread Groups as a whole."""

import math

from tollgate.schedule.grammar import RateStep, parse_schedule
from tollgate.schedule.open_model import OpenModelArrivals


def open_model_arrivals(schedule, seed):
    """All arrivals in seconds from the test start, in the order of their threads."""
    return OpenModelArrivals(schedule, seed).arrivals(math.inf)


def schedule_duration_s(schedule):
    """Its length in seconds, pauses included."""
    return sum(
        step.duration_s for step in parse_schedule(schedule) if not isinstance(step, RateStep)
    )
