"""What verdict.json has of a schedule. Pure."""

from __future__ import annotations

from tollgate.outputs.json_model import Count, Model


class ScheduleEntry(Model):
    """What one schedule meant to be sent beside what was sent. Requests are counted over the whole
    execution, lateness over the measured part of it."""

    labels: list[str]
    """The labels that share this schedule."""
    intended: Count
    """Requests that had to be sent."""
    sent: Count
    """Of those, requests that were sent."""
    missing_service: Count
    """Requests not sent while all threads waited for answers."""
    missing_plan: Count
    """Requests not sent while threads kept to pauses of the plan's own."""
    missing_generator: Count
    """Requests not sent although a thread was free."""
    lateness_p50_ms: float | None
    """Median of actual minus intended start, in ms; slightly negative by JMeter's clock."""
    lateness_p99_ms: float | None
    """99th percentile of the same, in ms."""
    lateness_max_ms: float | None
    """The greatest lateness, in ms."""
    generator_p99_ms: float | None
    """99th percentile of the part of the lateness that is the generator's alone, in ms."""
    late_service: Count
    """Requests late mostly because all threads waited for answers."""
    late_plan: Count
    """Requests late mostly because of the plan's own pauses."""
    late_generator: Count
    """Requests late mostly although a thread was free."""
    extra: Count
    """Requests that no event of the schedule asked for."""
    origin_is_estimated: bool
    """Whether the schedule's zero was guessed from the samples, for want of TESTSTART.MS, so that
    lateness that all of them have in common does not show."""
    measured: Count
    """Requests of the measured part that an event asked for."""
    far_late: Count
    """Of those, requests sent more than a second late."""
    generator_far_late: Count
    """Of those, requests sent more than a second late by the generator alone."""
    displaced: Count
    """Requests that the generator moved to another second than they were due in, as far as other
    requests did not take their places."""
