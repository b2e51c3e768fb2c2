"""A clock that was set while the load went on.

All times of a run are the wall clock's: what it stamps wrong falls out of the measured window, or
into it. The live run compares clocks (clock.py). The samples tell by themselves where a clock was
set back, also in a folder that no live run has made.
"""

from __future__ import annotations

from collections.abc import Iterator

from tollgate.base.text import format_duration
from tollgate.gather.samples import ExecutionSamples
from tollgate.record.manifest import Execution
from tollgate.samples.counts import Jtl
from tollgate.samples.order import TOLERANCE_MS, Step, largest, step_back

_NEXT = "the times of the samples are not reliable; run again and leave the clock alone"


def steps_seen(planned: Execution) -> tuple[str, ...]:
    """One line for each step of the clock that the live run saw."""
    return tuple(
        f"the clock was set {'back' if step_s < 0 else 'forward'} by "
        f"{format_duration(abs(step_s))}, {format_duration(max(0.0, at_s))} into the execution"
        f"{'' if step_s < 0 else ' (or the machine slept)'}: {_NEXT}"
        for at_s, step_s in planned.clock_steps
    )


def set_back(samples: ExecutionSamples) -> list[str]:
    """A line where the samples show that the clock was set back, and the live run did not see it.
    Raises JtlError."""
    is_known = samples.context.planned.clock_steps
    return [] if is_known else [f"{it}: {_NEXT}" for it in _signs(samples)][:1]


def _signs(samples: ExecutionSamples) -> Iterator[str]:
    """What shows that the clock was set back, the most exact first."""
    planned, jtl = samples.context.planned, samples.jtl
    # Batches of remote engines overtake one another.
    is_ordered = not samples.context.is_of_remote
    if is_ordered and (step := step_back(samples.store, samples.parents)):
        sign = f"by {planned.jtl} a thread goes on before the rows that it waited for were written"
        yield _line(step, jtl, sign)
    if arrival := largest(samples.replayed.steps):
        yield _line(arrival, jtl, "arrivals of the plan's schedule were sent before they were due")
    began_ms, source = int((planned.began or 0) * 1000), "`began` of run.json"
    if jtl.test_starts_ms:
        began_ms, source = jtl.test_starts_ms[0], "TESTSTART.MS"
    before_ms = began_ms - jtl.first_start_ms
    if before_ms > TOLERANCE_MS:
        yield (
            f"the clock was set back: the first sample's time is {jtl.first_start_ms}, "
            f"{format_duration(before_ms / 1000)} before the test began ({source} {began_ms})"
        )


def _line(step: Step, jtl: Jtl, sign: str) -> str:
    back, at_s = step.back_ms / 1000, max(0.0, (step.at_ms - jtl.origin_ms) / 1000)
    return (
        f"the clock was set back by {format_duration(back)} or more, {format_duration(at_s)} into "
        f"the execution: {sign}"
    )
