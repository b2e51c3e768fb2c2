"""What a late generator means for the verdict: the one rule. Pure.

1. A criterion on response time is judged with all lateness counted in. One that holds, holds: the
   generator made it no easier. One that does not is judged again without the generator's own part
   of the lateness; only if that changes a FAIL is the generator to blame, and the run INVALID.
   (A criterion that fails for too short a time, `p95<5ms`, is the same the other way round.)
2. Whatever the criteria say, the load has to be the one that was meant. A schedule is broken where
   more than FAR_LATE_SHARE of its measured requests were sent more than FAR_LATE_MS late, or where
   the pattern of its arrivals is lost: the generator has moved more than DISPLACED_SHARE of them to
   another second than the one they were due in. One request, of a few, may always be late.

Lateness that is not the generator's was brought about by the service, or by the plan's own pauses.
It hides what a free thread would have met, so that rule 2 holds for it as well, unless the
execution fails by itself: a service that hangs has failed, and is no broken measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tollgate.base import figure
from tollgate.judge.verdicts import FAIL, GENERATOR, INVALID, PASS, SERVICE, Reason
from tollgate.schedule import FAR_LATE_MS, ScheduleFacts

#: The p99 of the lateness must lie below FAR_LATE_MS.
FAR_LATE_SHARE = 0.01
#: Three requests in four still met the second that they were meant for. Two unlike Poisson streams
#: of one request a second differ by half of them, of ten by a sixth.
DISPLACED_SHARE = 0.25


def schedule_reasons(schedule: ScheduleFacts, has_failed: bool) -> Iterator[Reason]:
    """Rule 2. has_failed: whether the execution fails by one of its criteria."""
    name = ", ".join(schedule.labels)
    tolerated = max(1.0, FAR_LATE_SHARE * schedule.measured)
    of = f"of {schedule.measured} requests of {name}"
    second = f"more than {figure(FAR_LATE_MS / 1000)} s late"
    if schedule.generator_far_late > tolerated:
        text = f"the generator sent {schedule.generator_far_late} {of} {second}"
        yield Reason(INVALID, GENERATOR, f"{text}: give it more of the machine, or send less")
    elif schedule.displaced > max(1.0, DISPLACED_SHARE * schedule.measured):
        yield Reason(
            INVALID,
            GENERATOR,
            f"the generator sent {schedule.displaced} {of} in another second than they were meant "
            "for, so that the load was another one: give it more of the machine, or send less",
        )
    elif schedule.far_late > tolerated and not has_failed:
        yield Reason(
            INVALID,
            SERVICE,
            f"{schedule.far_late} {of} were sent {second}, while all threads were busy: the "
            "service did not get the load that was meant; give the thread group more threads",
        )


def decided_by_lateness(condition: str, verdict: str, without: Callable[[], str]) -> str | None:
    """Rule 1: the verdict on a criterion, given the one with all lateness counted in. without:
    finds the one without the generator's part. None: the generator is to blame."""
    settled = FAIL if condition.startswith("<") else PASS
    if verdict == settled:
        return verdict
    other = without()
    if FAIL in (verdict, other) and verdict != other:
        return None
    if verdict == PASS:
        return other
    return verdict
