"""Labels that were sent far more rarely, or oftener, than their place in the plan says. Pure.

A controller that deals out turns by what its thread has run before, such as an Interleave
Controller, does not where each thread has one turn alone; a sampler may be left out by an error in
jmeter.log. Neither leaves a row, so that only the rows of others show what is missing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scipy import special

from tollgate.base.text import format_number
from tollgate.plan.jmx import is_script_kind
from tollgate.plan.model import Plan, Sampler, ThreadGroup
from tollgate.plan.sessions import may_stop

#: By how much less than its part a label may be sent before that counts as far, and by which part
#: of the way to all turns more.
_FAR = 0.5
#: How rarely chance alone may do that.
_CHANCE = 1e-6


@dataclass(frozen=True)
class _Part:
    """share: in how many of the turns the sampler is sent. sent: in how many it was."""

    sampler: Sampler
    share: float
    sent: float

    @property
    def is_by_percent(self) -> bool:
        """Whether nothing but percentages deal out its turns: nothing is missing then elsewhere
        where it is sent too often."""
        deals = {it.kind for it in self.sampler.controllers if it.share not in (None, 1)}
        return deals == {"ThroughputController"}


def off_their_share(plan: Plan, counts: Mapping[str, int], most_threads: int) -> tuple[str, ...]:
    """One line for each label that was sent far more rarely, or oftener, than the plan says.

    counts: rows by label. most_threads: that were under way at once.
    """
    if plan.may_ignore or plan.may_rename:
        return ()
    groups = (it for it in plan.groups if it.on_sample_error == "continue" and not may_stop(it))
    return tuple(line for it in groups for line in _of_group(plan, it, counts, most_threads))


def _of_group(
    plan: Plan, group: ThreadGroup, counts: Mapping[str, int], most_threads: int
) -> Iterator[str]:
    # Turns that the end of the load broke off, and those of each thread's own count.
    has_one_turn = group.loops == 1 or group.is_open_model
    slack = most_threads if has_one_turn else 2 * (group.threads or most_threads)
    for parts in _together(plan, group, counts):
        turns = _turns(parts)
        for part in parts:
            is_far = part.sent + slack < _FAR * part.share * turns
            if is_far and special.bdtr(part.sent + slack, math.floor(turns), part.share) < _CHANCE:
                yield _line(group, part, turns, has_one_turn)
            beyond = part.sent - slack
            is_far = part.is_by_percent and beyond > (1 - _FAR * (1 - part.share)) * turns
            if is_far and special.bdtrc(beyond - 1, math.floor(turns), part.share) < _CHANCE:
                yield _line(group, part, turns, has_one_turn)


def _together(plan: Plan, group: ThreadGroup, counts: Mapping[str, int]) -> Iterator[list[_Part]]:
    """Samplers in the same turns: not below a controller on which answers decide, or below the same
    child of one."""
    by_turns: dict[tuple[int, ...], list[_Part]] = defaultdict(list)
    everyone = [it for other in plan.groups for it in other.samplers]
    for sampler in group.samplers:
        label = sampler.label.text
        is_row = sampler.leaves_a_row and not is_script_kind(sampler.kind)
        is_alone = [it.label.matches(label) for it in everyone].count(True) == 1
        unknown = [at for at, it in enumerate(sampler.controllers) if it.share is None]
        begin = unknown[-1] + 1 if unknown else 0
        around, inside = sampler.controllers[: begin + 1], sampler.controllers[begin:]
        if is_row and is_alone and not sampler.label.pattern and (inside or not unknown):
            share = math.prod(it.share or 0.0 for it in inside)
            loops = math.prod(it.loops or 1 for it in inside)
            part = _Part(sampler, share, counts.get(label, 0) / loops)
            by_turns[tuple(map(id, around if unknown else ()))].append(part)
    yield from by_turns.values()


def _turns(parts: Sequence[_Part]) -> float:
    certain = [it.sent for it in parts if it.share == 1]
    shares = math.fsum(it.share for it in parts)
    if certain or not shares:
        return max(certain, default=0.0)
    return math.fsum(it.sent for it in parts) / shares


def _line(group: ThreadGroup, part: _Part, turns: float, has_one_turn: bool) -> str:
    deals = [it for it in part.sampler.controllers if has_one_turn and it.share not in (None, 1)]
    why = "see jmeter.log for why not"
    if deals:
        why = (
            f"{deals[-1].kind} {deals[-1].name!r} counts the turns of each thread by itself, and "
            "each has one alone: have it count for all threads"
        )
    return (
        f"{part.sampler.label.text!r} was sent in {format_number(part.sent)} of "
        f"{format_number(turns)} turns of the thread group {group.name!r}, where its place asks "
        f"for some {format_number(part.share * turns)}: {why}"
    )
