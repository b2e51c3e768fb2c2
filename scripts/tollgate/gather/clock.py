"""What evidence.py gathers about a clock that was set while the load went on.

All times of a run are the wall clock's: what it stamps wrong falls out of the measured window, or
into it. The live run compares clocks (clock.py). The samples tell by themselves where a clock was
set back, also in a folder that no live run has made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tollgate.base.text import format_duration
from tollgate.judge.facts import ExecutionFacts
from tollgate.record.manifest import Execution
from tollgate.samples.counts import Jtl
from tollgate.samples.order import TOLERANCE_MS, Step, largest

_NEXT = "the times of the samples are not reliable; run again and leave the clock alone"


def steps_seen(planned: Execution) -> tuple[str, ...]:
    """One line for each step of the clock that the live run saw."""
    return tuple(
        f"the clock was set {'back' if step_s < 0 else 'forward'} by "
        f"{format_duration(abs(step_s))}, "
        f"{format_duration(max(0.0, at_s))} into the execution"
        f"{'' if step_s < 0 else ' (or the machine slept)'}: {_NEXT}"
        for at_s, step_s in planned.clock_steps
    )


def with_clock(
    facts: ExecutionFacts, planned: Execution, jtl: Jtl, step: Step | None, early: Iterable[Step]
) -> ExecutionFacts:
    """The facts with a problem of the machine where the samples, which jtl counts, show that the
    clock was set back; as they are where the live run saw the clock being set.

    step: what the order of the rows shows, see step_back. early: what the arrivals of open models
    show, see Replay.
    """
    if planned.clock_steps:
        return facts
    found = next(_signs(planned, jtl, step, early), None)
    problems = (f"{found}: {_NEXT}",) if found else ()
    return replace(facts, machine_problems=(*facts.machine_problems, *problems))


def _signs(planned: Execution, jtl: Jtl, step: Step | None, early: Iterable[Step]) -> Iterator[str]:
    """What shows that the clock was set back, the most exact first."""
    if step:
        sign = f"by {planned.jtl} a thread goes on before the rows that it waited for were written"
        yield _line(step, jtl, sign)
    if arrival := largest(early):
        yield _line(arrival, jtl, "arrivals of the plan's schedule were sent before they were due")
    yield from _before_the_test(planned, jtl)


def _before_the_test(planned: Execution, jtl: Jtl) -> Iterator[str]:
    if jtl.test_starts_ms:
        began_ms, source = jtl.test_starts_ms[0], "TESTSTART.MS"
    elif planned.began:
        began_ms, source = int(planned.began * 1000), "`began` of run.json"
    else:
        return
    before_ms = began_ms - jtl.first_start_ms
    if before_ms > TOLERANCE_MS:
        yield (
            f"the clock was set back: the first sample's time is {jtl.first_start_ms}, "
            f"{format_duration(before_ms / 1000)} before the test began ({source} {began_ms})"
        )


def _line(step: Step, jtl: Jtl, sign: str) -> str:
    at_s = max(0.0, (step.at_ms - jtl.origin_ms) / 1000)
    return (
        f"the clock was set back by {format_duration(step.back_ms / 1000)} or more, "
        f"{format_duration(at_s)} into "
        f"the execution: {sign}"
    )
