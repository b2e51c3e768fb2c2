"""Labels that were sent far more rarely than their place in the plan says. Pure.

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
from tollgate.plan.model import Plan, Sampler, ThreadGroup
from tollgate.plan.sessions import may_stop

#: By how much less than its part a label may be sent before that counts as far.
_FAR = 0.5
#: How rarely chance alone may do that.
_CHANCE = 1e-6
#: Controllers one child of which runs.
_CHOOSES = "SwitchController"
_SCRIPTS = ("JSR223", "BeanShell", "BSF")


def off_their_share(plan: Plan, counts: Mapping[str, int], most_threads: int) -> tuple[str, ...]:
    """One line for each label that was sent far more rarely than the plan says.

    counts: rows by label. most_threads: that were under way at once.
    """
    if plan.may_ignore or plan.may_rename:
        return ()
    return tuple(
        line
        for group in plan.groups
        if group.on_sample_error == "continue" and not may_stop(group)
        for line in _of_group(plan, group, counts, most_threads)
    )


def _of_group(
    plan: Plan, group: ThreadGroup, counts: Mapping[str, int], most_threads: int
) -> Iterator[str]:
    others = [it for it in plan.groups if it is not group]
    # Turns that the end of the load broke off, and those of each thread's own count.
    has_one_turn = group.loops == 1 or group.is_open_model
    slack = most_threads if has_one_turn else 2 * (group.threads or most_threads)
    for samplers in _turns(group):
        parts = [
            it
            for it in map(_part, samplers)
            if _is_apart(it.sampler, group)
            and not any(other.may_leave(it.sampler.label.text) for other in others)
        ]
        turns = _turns_taken(parts, counts)
        for part in parts:
            sent, expected = part.turns_in(counts), part.share * turns
            is_far = sent + slack < _FAR * expected
            if is_far and special.bdtr(sent + slack, math.floor(turns), part.share) < _CHANCE:
                yield _line(group, part, counts, part.loops * expected, has_one_turn)


@dataclass(frozen=True)
class _Part:
    """share: in how many of the turns the sampler is sent. loops: how often in each of these."""

    sampler: Sampler
    share: float
    loops: int

    def turns_in(self, counts: Mapping[str, int]) -> float:
        """In how many turns it was sent."""
        return counts.get(self.sampler.label.text, 0) / self.loops


def _turns(group: ThreadGroup) -> Iterator[list[Sampler]]:
    """The samplers that run together: below the same controller of those on whose turns answers
    decide, or in no such."""
    found: dict[tuple[int, ...], list[Sampler]] = defaultdict(list)
    for sampler in group.samplers:
        unknown = [at for at, it in enumerate(sampler.controllers) if it.share is None]
        at = unknown[-1] + 1 if unknown else 0
        if unknown and sampler.controllers[unknown[-1]].kind == _CHOOSES:
            at += 1
            if at > len(sampler.controllers):
                continue  # alone
        found[tuple(map(id, sampler.controllers[:at]))].append(sampler)
    yield from found.values()


def _part(sampler: Sampler) -> _Part:
    unknown = [at for at, it in enumerate(sampler.controllers) if it.share is None]
    inside = sampler.controllers[unknown[-1] + 1 if unknown else 0 :]
    share = math.prod(it.share or 0.0 for it in inside)
    return _Part(sampler, share, math.prod(it.loops or 1 for it in inside))


def _is_apart(sampler: Sampler, group: ThreadGroup) -> bool:
    """Whether rows of its label are its own alone."""
    alike = [it for it in group.samplers if it.label.matches(sampler.label.text)]
    is_row = sampler.leaves_a_row and not sampler.kind.startswith(_SCRIPTS)
    return is_row and not sampler.label.pattern and len(alike) == 1


def _turns_taken(parts: Sequence[_Part], counts: Mapping[str, int]) -> float:
    certain = [it.turns_in(counts) for it in parts if it.share == 1]
    shares = math.fsum(it.share for it in parts)
    if certain or not shares:
        return max(certain, default=0.0)
    return math.fsum(it.turns_in(counts) for it in parts) / shares


def _line(
    group: ThreadGroup, part: _Part, counts: Mapping[str, int], expected: float, anew: bool
) -> str:
    label = part.sampler.label.text
    drawn = [it for it in part.sampler.controllers if it.is_drawn and anew]
    why = "see jmeter.log for why not"
    if drawn:
        why = (
            f"{drawn[-1].kind} {drawn[-1].name!r} counts the turns of each thread by itself, and "
            "each has one alone: have it count for all threads"
        )
    return (
        f"{label!r} was sent {counts.get(label, 0)} times, where its place in the thread group "
        f"{group.name!r} asks for some {format_number(expected)}: {why}"
    )
