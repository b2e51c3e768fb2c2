"""What each thread of a group reaches, how long it waits on the way, and when it ends. Pure.

The end is what the plan states: a duration, loops, or none at all.
Source: JMeter's manual, Component Reference, "Thread Group", "Loop Controller", "Timers".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tollgate.plan.model import (
    FLOW_CONTROL,
    LOOPING,
    Controller,
    Plan,
    PlanLabel,
    Sampler,
    ThreadGroup,
)

LOOP = "LoopController"
#: Controllers that may go on for as long as the thread does.
_LASTING = ("RunTime", "WhileController")
#: Those that run what is in them again and again, as often as the plan may not say.
_REPEATING = (LOOP, "ForeachController", *_LASTING)
#: Whose threads wait for each other, or sample in threads of their own: the time between two
#: samples of one thread has no bound.
_HOLDING = ("CriticalSectionController", "ParallelSampler")
#: Stands for whatever label a sample has.
ANY = PlanLabel("", "(?s).*")


def certain_samplers(group: ThreadGroup) -> Iterator[Sampler]:
    """Samplers that each thread of the group reaches, if nothing ends it before, in order."""
    if group.threads == 0 or group.loops == 0:
        return
    lasting: set[Controller] = set()
    for sampler in group.samplers:
        if not lasting <= set(sampler.controllers):
            return  # behind a loop that may not end
        if sampler.may_jump:
            return  # it may end the thread or its turn
        lasting |= {it for it in sampler.controllers if is_endless(it) or it.kind in _LASTING}
        if sampler.kind != FLOW_CONTROL and all(map(_runs_once, sampler.controllers)):
            yield sampler


def _runs_once(controller: Controller) -> bool:
    """Whether the controller runs what is in it, once at least."""
    loops = controller.kind == LOOP and controller.loops not in (None, 0)
    return controller.is_plain or loops


def is_endless(controller: Controller) -> bool:
    """Whether it is a loop that never ends by itself, as far as the plan shows."""
    return controller.kind == LOOP and (controller.loops is None or controller.loops < 0)


def wait_s(group: ThreadGroup, first: Sampler) -> float:
    """The longest that timers and pauses hold back the sampler in its thread, in seconds; inf where
    that is not known."""
    if any("Throughput" in timer.kind for timer in first.timers):
        return math.inf
    before = group.samplers[: group.samplers.index(first) + 1]
    return _seconds(each.all_pauses_ms for each in before)


def is_steady(group: ThreadGroup) -> bool:
    """Whether each turn of the group's threads, and of each loop in it, leaves a sample for
    certain, so that pauses alone are between two samples of a thread."""
    around = {controller for sampler in group.samplers for controller in sampler.controllers}
    if group.may_be_cached or any(controller.kind in _HOLDING for controller in around):
        return False
    loops = [each for each in around if each.kind in _REPEATING]
    return any(certain_samplers(group)) and all(_leaves_a_sample(group, each) for each in loops)


def _leaves_a_sample(group: ThreadGroup, loop: Controller) -> bool:
    """Whether each turn of a loop in the group does."""
    return any(
        sampler.kind != FLOW_CONTROL
        and loop in sampler.controllers
        and all(map(_runs_once, sampler.controllers[sampler.controllers.index(loop) + 1 :]))
        for sampler in group.samplers
    )


def silence_s(group: ThreadGroup) -> float:
    """The longest that pauses make a thread of a steady group silent, in seconds: no more than each
    of them once. inf where that is not known."""
    waits = [wait_s(group, group.samplers[-1]), *(_timers_s(each) for each in group.samplers)]
    return math.inf if math.inf in waits else waits[0]


def longest_timer_s(group: ThreadGroup) -> float:
    """The longest that timers hold back any one sampler of the group, in seconds, inf where that is
    not known. A thread ends by so much before its duration does: JMeter ends it at once where a
    timer would wait beyond that (JMeterThread.delay)."""
    return max(map(_timers_s, group.samplers))


def _timers_s(sampler: Sampler) -> float:
    if any("Throughput" in timer.kind for timer in sampler.timers):
        return math.inf
    return _seconds(timer.pause_ms for timer in sampler.timers)


def _seconds(pauses_ms: Iterable[float | None]) -> float:
    """All of them together; inf where one is not known."""
    return math.fsum(math.inf if it is None else it for it in pauses_ms) / 1000


@dataclass(frozen=True)
class StatedEnd:
    """When each thread of a group is to end: after duration_s, inf for no such end, or when it has
    looped, whichever comes first.

    needs: samples that a thread with all of its loops behind it has left at least, by label; empty
    for one that loops for ever.
    """

    duration_s: float = math.inf
    needs: Mapping[PlanLabel, int] = field(default_factory=dict)

    @property
    def is_never(self) -> bool:
        """Whether nothing ends the threads but what is done to them."""
        return self.duration_s == math.inf and not self.needs


def stated_end(group: ThreadGroup, may_jump: bool) -> StatedEnd | None:
    """None where only the run knows it, and where the samples could not show it.

    may_jump: whether something may leave out a part of a loop, so that no more is known of it than
    that it leaves a sample.
    """
    if group.length_s and group.samplers:
        return StatedEnd(group.length_s)
    unknown = {"duration", "delay", "scheduler", "loops"} & set(group.unresolved)
    certain = list(certain_samplers(group))
    if group.kind not in LOOPING or unknown or group.loops is None or not group.samplers:
        return None
    duration_s = group.duration_s or math.inf
    if group.loops < 0 or any(is_endless(each) for it in certain for each in it.controllers):
        return StatedEnd(duration_s)
    if not certain:
        return None
    jumps = any(it.may_jump for it in group.samplers)
    if group.may_be_cached:  # the first request of a thread finds nothing in its cache
        return StatedEnd(duration_s, {ANY: 1})
    if may_jump or group.on_sample_error == "startnextloop" or jumps:
        return StatedEnd(duration_s, {ANY: group.loops})
    needs: Counter[PlanLabel] = Counter()
    labels = {it.label.text: it.label for it in group.transactions}
    for sampler in certain:
        label = labels[sampler.hidden_by] if sampler.hidden_by else sampler.label
        if sampler.hidden_by:  # one for all that are in it
            needs[label] = group.loops
        else:
            turns = (each.loops or 1 for each in sampler.controllers if each.kind == LOOP)
            needs[label] += group.loops * math.prod(turns)
    return StatedEnd(duration_s, dict(needs))


def is_done(group: ThreadGroup, samples: Mapping[str, int]) -> bool:
    """Whether a thread with so many samples by label has nothing left to send, for certain."""
    sending = [each for each in group.samplers if each.kind != FLOW_CONTROL]
    stated = stated_end(group, may_jump=False)
    if stated is None or not stated.needs or group.may_be_cached:
        return False
    if list(certain_samplers(group)) != sending:
        return False
    is_fixed = not any(label.pattern for label in stated.needs)
    return is_fixed and all(samples.get(it.text, 0) >= n for it, n in stated.needs.items())


def groups_before(plan: Plan, place: int) -> list[int]:
    """Places of the groups that JMeter waits for before it starts this one."""
    stages = [2 if it.is_teardown else 0 if it.is_setup else 1 for it in plan.groups]
    return [
        other
        for other, stage in enumerate(stages)
        if stage < stages[place] or (plan.is_serial and stage == stages[place] and other < place)
    ]


def longest_s(plan: Plan) -> float | None:
    """Seconds in which the plan sends, by the durations of its thread groups; None where one has
    none."""
    ends_s: dict[int, float] = {}
    order = sorted(range(len(plan.groups)), key=lambda place: len(groups_before(plan, place)))
    for place in order:
        group = plan.groups[place]
        if group.duration_s is None:
            return None
        begin_s = max((ends_s[it] for it in groups_before(plan, place)), default=0.0)
        ends_s[place] = begin_s + (group.delay_s or 0.0) + group.duration_s
    return max(ends_s.values(), default=None)
