"""What reloads and outages of the workers mean for the verdict, in words. Pure.

A reload of the run's own timetable is there to prove that it loses nothing: one that loses a
request, or that does not come off, is the service's failure. A worker that ended by itself broke
the measurement, whatever was lost: others served in its place, and not what was asked for. Where a
criterion says how many restarts fail a run, a restart is what was measured, and the criterion
judges it: a soak that looks for leaks must not call the leak it found a broken measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from tollgate.base import figure
from tollgate.judge.facts import Execution
from tollgate.judge.verdicts import FAIL, INVALID, SERVICE, Reason
from tollgate.workers import Outage, Reload, Resources


def resource_reasons(resources: Resources, restarts_are_judged: bool) -> Iterator[Reason]:
    """Why an execution can't pass: its lossy or failed reloads and its unplanned outages.

    restarts_are_judged: by a criterion of this execution, which may still let them pass."""
    for outage in resources.outages:
        if not outage.planned and not (restarts_are_judged and _is_counted(outage, resources)):
            yield Reason(INVALID, SERVICE, told(outage))
    for reload in resources.reloads:
        at = f"the reload {_seconds(reload.from_s)} s into the execution"
        if reload.problem:
            yield Reason(FAIL, SERVICE, f"{at} failed: {reload.problem}")
        elif reload.to_s == math.inf:
            yield Reason(FAIL, SERVICE, f"{at} did not end: see pm2.log")
        if reload.lost:
            yield Reason(FAIL, SERVICE, f"{at} lost {_requests(reload.lost)}")


def judges_restarts(execution: Execution) -> bool:
    """Whether a criterion says what a restart of a worker means."""
    return any(each.subject == "restarts" and each.fail for each in execution.criteria)


def outages_judged(execution: Execution) -> list[str]:
    """The outages that make nothing INVALID because a criterion judges them, in words."""
    resources = execution.resources
    found = (it for it in resources.outages if not it.planned and _is_counted(it, resources))
    return [told(outage) for outage in found] if judges_restarts(execution) else []


def _is_counted(outage: Outage, resources: Resources) -> bool:
    """Whether a criterion on restarts counts it: the worker came back, and was looked at."""
    is_seen = any(series.worker == outage.worker for series in resources.workers)
    return outage.to_s is not None and is_seen


def told(outage: Outage) -> str:
    """When a worker died, for how long it was gone, and how many requests that cost."""
    at = f"{_seconds(outage.from_s)} s into the execution"
    lost = ""
    if outage.lost is not None:
        lost = f"; {_requests(outage.lost)} {'was' if outage.lost == 1 else 'were'} lost"
    who = f"worker {outage.worker} (pid {outage.pid}) died"
    if outage.to_s is None:
        return f"{who} {at} and did not come back{lost}"
    back = "its successor was online before"  # somebody reloaded it, without the timetable
    if outage.to_s > outage.from_s:
        back = f"PM2 had it back after {figure(outage.to_s - outage.from_s)} s"
    return f"{who} and was started again {at}; {back}{lost}"


def reloads_told(reloads: Iterable[Reload]) -> Iterator[str]:
    """One line on the reloads that went well."""
    clean = [it for it in reloads if it.lost == 0 and not it.problem and it.to_s < math.inf]
    if clean:
        times = ", ".join(_seconds(reload.from_s) for reload in clean[:_TIMES_SHOWN])
        more = f" and {len(clean) - _TIMES_SHOWN} more" if len(clean) > _TIMES_SHOWN else ""
        what = "one reload" if len(clean) == 1 else f"{len(clean)} reloads"
        yield f"{what} of the target lost no request: {times} s{more} into the execution"


_TIMES_SHOWN = 5


def events_left(events: Iterable[str], outages: Iterable[Outage]) -> tuple[str, ...]:
    """The events of the watch that no outage tells better: those about other processes."""
    known = tuple(f"worker {outage.worker} (pid {outage.pid}) " for outage in outages)
    return tuple(event for event in events if not event.startswith(known))


def _requests(count: int) -> str:
    return "one request" if count == 1 else f"{count} requests"


def _seconds(value: float) -> str:
    return f"{max(value, 0.0):.1f}"
