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
    """faults: one line for each thread group that had to send and left no sample. doubts: one line
    for each that left none and may have had a reason, and for each sampler without a sample."""

    faults: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


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
    sent_for = {place: list(certain_samplers(group)) for place, group in enumerate(plan.groups)}
    kept = {at for at, it in enumerate(plan.groups) if until_s is None or not it.is_teardown}
    due = [place for place, sent in sent_for.items() if sent and place in kept]
    unnamed = [place for place in due if not _has_own_label(plan, place, labels)]
    # Of a schedule all that was not sent is known and reported.
    mute = [place for place in unnamed if place not in scheduled]
    seen = _seen(plan, threads()) if mute else set()
    mute = [place for place in mute if seen is None or place not in seen]
    faults, doubts = [], []
    for place in mute:
        group, label = plan.groups[place], sent_for[place][0].label.text
        what = f"the thread group {group.name!r} left no sample"
        if seen is not None and _had_to_send(plan, group, sent_for[place][0], until_s):
            faults.append(f"{what}, and it had to send {label!r}: see jmeter.log for why not")
        else:
            doubts.append(f"{what}: see jmeter.log if it was to send {label!r}")
    left_out = {*mute, *(place for place in unnamed if place in scheduled)}
    for place in due if not plan.may_ignore else ():
        if place not in left_out:
            doubts += _without_a_sample(plan.groups[place], sent_for[place], labels)
    return Silent(tuple(faults), tuple(dict.fromkeys(doubts)))


def _has_own_label(plan: Plan, place: int, labels: Collection[str]) -> bool:
    """Whether a label shows that this thread group has sent something, and no other has."""
    others = [group for it, group in enumerate(plan.groups) if it != place]
    mine = (it for it in labels if plan.groups[place].may_leave(it))
    return any(not any(other.may_leave(it) for other in others) for it in mine)


def _seen(plan: Plan, threads: Collection[str] | None) -> set[int] | None:
    """Places in plan.groups of those that may have sent in the threads of these names; None where
    some name is of none of them, or may be of all."""
    every = range(len(plan.groups))
    found = [senders(plan, every, name) for name in threads or [""]]
    if len(every) > 1 and any(len(each) == len(every) for each in found):
        return None
    return {place for each in found for place in each}


def _had_to_send(plan: Plan, group: ThreadGroup, first: Sampler, until_s: float | None) -> bool:
    """Whether nothing in the plan lets the group go without a sample. first: of those that each of
    its threads reaches."""
    loops = group.kind in _LOOPING and group.threads and group.loops
    lasts = group.length_s and not group.is_pool and until_s is None
    if not (loops or lasts) or plan.may_ignore:
        return False
    # JMeter numbers groups that set up, and those that tear down, each by themselves.
    others = (it for it in plan.groups if it.name == group.name)
    is_alike = len({(it.is_setup, it.is_teardown) for it in others}) > 1
    if group.name_pattern or is_alike or group.unresolved:
        return False
    waits_for_others = plan.is_serial or any(other.is_setup for other in plan.groups)
    if until_s is not None and waits_for_others:
        return False
    ended_s = math.inf if until_s is None else until_s - (group.delay_s or 0.0)
    length_s = min(ended_s, group.duration_s or math.inf)
    return length_s == math.inf or wait_s(group, first) < length_s


def _without_a_sample(
    group: ThreadGroup, samplers: list[Sampler], labels: Collection[str]
) -> Iterator[str]:
    for sampler in samplers:
        known = not sampler.label.pattern and sampler.leaves_a_row and not sampler.arrival_timers
        if known and sampler.label.text not in labels:
            yield (
                f"no sample has the label {sampler.label.text!r}, which the thread group "
                f"{group.name!r} sends on no condition: see jmeter.log, unless a script names it "
                "otherwise"
            )
