"""Which thread group of a plan sent a sample, by its label and by the name of its thread. Pure.

JMeter's threads are called `<thread group> <number>-<thread>`. It numbers thread groups from 1 in
the plan's order, those that set up and those that tear down each by themselves (its
StandardJMeterEngine.run). So groups of one name differ by their number, but for a setUp Thread
Group and another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tollgate.plan.model import Plan, ThreadGroup
from tollgate.plan.threads import stated_end
from tollgate.schedule.schedule import schedules_of

#: JMeter's words for the end of a thread that has looped, or whose arrival is through.
LOOPED = "Thread is done"


def may_send(plan: Plan, label: str) -> list[int]:
    """Places in plan.groups of the thread groups that have a sampler with this label, or a script
    that may give one any label."""
    return [
        place
        for place, group in enumerate(plan.groups)
        if group.may_rename
        or any(it.leaves_a_row and it.label.matches(label) for it in group.samplers)
    ]


def senders(plan: Plan, candidates: Sequence[int], thread_group: str) -> list[int]:
    """Those of the candidates, places in plan.groups, that may have sent in such a thread.

    thread_group: a thread's name without its last number, as in Samples.groups. Candidates whose
    name and number fit, or else whose name alone does; all of them where none does, as in a file
    that has no names of threads.
    """
    return named_alike(plan, candidates, thread_group) or list(candidates)


def named_alike(plan: Plan, candidates: Sequence[int], thread_group: str) -> list[int]:
    """As senders, but none where something else than its thread group has named the thread."""
    numbers = _numbers(plan)
    exact = [it for it in candidates if _fits(plan.groups[it], str(numbers[it]), thread_group)]
    return exact or [it for it in candidates if _fits(plan.groups[it], "[0-9]+", thread_group)]


def _fits(group: ThreadGroup, number: str, thread_group: str) -> bool:
    name = group.name_pattern or re.escape(group.name)
    # Of a plugin's group its starter has named them.
    return re.fullmatch(f"{name}(-ThreadStarter)? {number}", thread_group) is not None


def _numbers(plan: Plan) -> list[int]:
    """The number of each thread group of the plan."""
    numbers = []
    counted: dict[tuple[bool, bool], int] = {}
    for group in plan.groups:
        kind = (group.is_setup, group.is_teardown)
        counted[kind] = counted.get(kind, 0) + 1
        numbers.append(counted[kind])
    return numbers


def bounded_groups(plan: Plan) -> list[int]:
    """Places in plan.groups of those whose end the plan states, and no schedule."""
    return [it for it in unscheduled_groups(plan) if stated_end(plan.groups[it], may_jump=False)]


def closed_groups(plan: Plan) -> list[int]:
    """Places in plan.groups of those whose threads send as soon as they can, and go on."""
    own = unscheduled_groups(plan)
    return [it for it in own if not plan.groups[it].is_open_model and not plan.groups[it].is_pool]


def unscheduled_groups(plan: Plan) -> list[int]:
    """Places in plan.groups of all that have no schedule which shows what is missing."""
    scheduled = {place for place, _ in schedules_of(plan)[1]}
    return [it for it in range(len(plan.groups)) if it not in scheduled]
