"""Thread groups that left no sample though they had to. Pure.

A thread that ends before its first sample, because its CSV file is missing or a script of it is
wrong, leaves nothing but a line in jmeter.log, and JMeter exits with 0. Where a schedule says what
was to be sent, what is missing is known; what else had to be sent, the plan's tree says. Source:
JMeter's manual, Component Reference, "Thread Group", "Loop Controller".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from tollgate.plan.model import Plan, Sampler, ThreadGroup
from tollgate.plan.threads import certain_samplers, wait_s
from tollgate.schedule.schedule import schedules_of
from tollgate.schedule.threads import senders

#: JMeter's own that run what is in them as often as they loop. Those of plugins may have no threads
#: at times, but not for all of their length.
_LOOPING = ("ThreadGroup", "SetupThreadGroup")


@dataclass(frozen=True)
class Silent:
    """What of a plan left no sample."""

    faults: tuple[str, ...] = ()
    """One line for each thread group that had to send and left none."""
    doubts: tuple[str, ...] = ()
    """One line for each that left none and may have had a reason, and for each sampler."""


def silent_parts(
    plan: Plan,
    labels: Collection[str],
    threads: Callable[[], Collection[str] | None],
    until_s: float | None,
) -> Silent:
    """What of the plan left no sample in a run that was neither interrupted nor stopped early.

    labels: all that the JTL has. threads: the names of its threads without their last number, None
    where it has none; asked for only if labels do not show it. until_s: when the load was ended
    before its time, in seconds; None where it ended by itself.
    """
    scheduled = {place for place, _ in schedules_of(plan)[1]}
    due = [each for each in _due(plan) if until_s is None or not each.group.is_teardown]
    without_label = [each for each in due if not _has_own_label(plan, each, labels)]
    # Of a schedule all that was not sent is known and reported.
    in_question = [each for each in without_label if each.place not in scheduled]
    heard = _heard(plan, threads()) if in_question else set()
    silent = [each for each in in_question if heard is None or each.place not in heard]
    faults, doubts = [], []
    for each in silent:
        label = each.samplers[0].label.text
        problem = f"the thread group {each.group.name!r} left no sample"
        if heard is not None and _had_to_send(plan, each, until_s):
            faults.append(f"{problem}, and it had to send {label!r}: see jmeter.log for why not")
        else:
            doubts.append(f"{problem}: see jmeter.log if it was to send {label!r}")
    reported = {each.place for each in without_label if each in silent or each.place in scheduled}
    for each in due if not plan.may_ignore else ():
        if each.place not in reported:
            doubts += _without_a_sample(each, labels)
    return Silent(tuple(faults), tuple(dict.fromkeys(doubts)))


@dataclass(frozen=True)
class _Due:
    """A thread group that is to send."""

    place: int
    """In plan.groups, which tells it from one that is alike."""
    group: ThreadGroup
    samplers: list[Sampler]
    """Those that each of its threads reaches, in their order."""


def _due(plan: Plan) -> Iterator[_Due]:
    for place, group in enumerate(plan.groups):
        samplers = list(certain_samplers(group))
        if samplers:
            yield _Due(place, group, samplers)


def _has_own_label(plan: Plan, due: _Due, labels: Collection[str]) -> bool:
    """Whether a label shows that this thread group has sent something, and no other has."""
    others = [*plan.groups[: due.place], *plan.groups[due.place + 1 :]]
    mine = (label for label in labels if due.group.may_leave(label))
    return any(not any(other.may_leave(label) for other in others) for label in mine)


def _heard(plan: Plan, threads: Collection[str] | None) -> set[int] | None:
    """Places in plan.groups of those that may have sent in the threads of these names; None where
    some name is of none of them, or may be of all."""
    every = range(len(plan.groups))
    by_name = [senders(plan, every, name) for name in threads or [""]]
    if len(every) > 1 and any(len(places) == len(every) for places in by_name):
        return None
    return {place for places in by_name for place in places}


def _had_to_send(plan: Plan, due: _Due, until_s: float | None) -> bool:
    """Whether nothing in the plan lets the group go without a sample."""
    group = due.group
    if plan.may_ignore or group.unresolved or group.name_pattern or _is_hidden(plan, group):
        return False
    loops = group.kind in _LOOPING and group.threads and group.loops
    lasts = group.length_s and not group.is_pool and until_s is None
    had_s = _time_to_send_s(plan, group, until_s)
    had_time = had_s == math.inf or wait_s(group, due.samplers[0]) < had_s
    return bool(loops or lasts) and had_time


def _time_to_send_s(plan: Plan, group: ThreadGroup, until_s: float | None) -> float:
    """How long the group's threads had for certain; inf for no end."""
    length_s = group.duration_s or math.inf
    if until_s is None:
        return length_s
    if plan.is_serial or any(other.is_setup for other in plan.groups):
        return 0.0  # the groups before it may have taken all of the time
    return min(length_s, until_s - (group.delay_s or 0.0))


def _is_hidden(plan: Plan, group: ThreadGroup) -> bool:
    """Whether threads of another group may have the names of its own: JMeter numbers groups that
    set up, and those that tear down, each by themselves."""
    alike = [other for other in plan.groups if other.name == group.name]
    return len({(other.is_setup, other.is_teardown) for other in alike}) > 1


def _without_a_sample(due: _Due, labels: Collection[str]) -> Iterator[str]:
    for sampler in due.samplers:
        label = sampler.label
        is_certain = not label.pattern and sampler.leaves_a_row and not sampler.arrival_timers
        if is_certain and label.text not in labels:
            yield (
                f"no sample has the label {label.text!r}, which the thread group "
                f"{due.group.name!r} sends on no condition: see jmeter.log, unless a script names "
                "it otherwise"
            )
