"""What a plan says of the end of a thread group: a duration, loops, or none at all. Pure.

Source: JMeter's manual, Component Reference, "Thread Group", "Loop Controller".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tollgate.plan.model import FLOW_CONTROL, LOOPING, Label, Sampler, ThreadGroup
from tollgate.plan.reach import LOOP, certain_samplers, is_endless

#: Stands for whatever label a sample has.
ANY = Label("", "(?s).*")
_NEXT_LOOP = "startnextloop"


@dataclass(frozen=True)
class StatedEnd:
    """When each thread of a group is to end: after duration_s, inf for no such end, or when it has
    looped, whichever comes first.

    needs: samples that a thread with all of its loops behind it has left at least, by label; empty
    for one that loops for ever.
    """

    duration_s: float = math.inf
    needs: Mapping[Label, int] = field(default_factory=dict)

    @property
    def is_never(self) -> bool:
        """Whether nothing ends the threads but what is done to them."""
        return self.duration_s == math.inf and not self.needs


def stated_end(group: ThreadGroup, may_jump: bool) -> StatedEnd | None:
    """None where only the run knows it, and where the samples could not show it.

    may_jump: whether something may leave out a part of a loop, so that no more is known of it than
    that it leaves a sample.
    """
    unknown = {"duration", "delay", "scheduler", "loops"} & set(group.unresolved)
    certain = list(certain_samplers(group))
    if group.kind not in LOOPING or unknown or group.loops is None or not group.samplers:
        return None
    duration_s = group.duration_s or math.inf
    if group.loops < 0 or any(is_endless(each) for it in certain for each in it.parents):
        return StatedEnd(duration_s)
    if not certain:
        return None
    if may_jump or group.on_sample_error == _NEXT_LOOP or any(map(_may_jump, group.samplers)):
        return StatedEnd(duration_s, {ANY: group.loops})
    needs: Counter[Label] = Counter()
    for sampler in certain:
        label = Label(sampler.hidden_by) if sampler.hidden_by else sampler.label
        if sampler.hidden_by:  # one for all that are in it
            needs[label] = group.loops
        else:
            needs[label] += group.loops * math.prod(_turns(sampler))
    return StatedEnd(duration_s, dict(needs))


def _may_jump(sampler: Sampler) -> bool:
    """Whether it is a Flow Control Action that ends a loop or a turn of it."""
    return sampler.kind == FLOW_CONTROL and sampler.all_pauses_ms == 0


def _turns(sampler: Sampler) -> list[int]:
    return [each.loops or 1 for each in sampler.parents if each.kind == LOOP]
