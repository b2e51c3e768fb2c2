"""How often the turns of a thread reach some of its samplers, at least and at most. Pure.

Where answers decide, or the plan does not say, the least is 0 and the most has no bound.
Source: JMeter's manual, Component Reference, "Loop Controller", "Once Only Controller",
"Throughput Controller", "Interleave Controller", "Switch Controller"; of its 5.6.3
ThroughputController.decide, which rounds.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

from tollgate.plan.model import Controller, Sampler

#: Run all of their children in a turn, in another order; one of them; that, or none.
_SHUFFLING, _SWITCH = "RandomOrderController", "SwitchController"
_PICKING = ("InterleaveControl", "RandomController", "WeightedSwitchController", _SWITCH)


class Times(NamedTuple):
    """How often something happens, whole numbers or inf."""

    least: float
    most: float

    def times(self, other: Times) -> Times:
        """So often, each time."""
        return Times(*(a * b if a and b else 0 for a, b in zip(self, other, strict=True)))


NEVER, ONCE = Times(0, 0), Times(1, 1)


def reached(samplers: Sequence[Sampler], counted: Collection[Sampler], turns: float) -> Times:
    """How often a thread reaches any of the counted samplers in so many turns, if nothing ends it
    or a turn of it before. samplers: all of its group."""
    return _below(samplers, 0, counted, Times(turns, turns), ONCE)


def _below(
    samplers: Sequence[Sampler],
    depth: int,
    counted: Collection[Sampler],
    turns: Times,
    begun: Times,
) -> Times:
    """Of the samplers below one controller. depth: of its children. turns: of it. begun: how often
    the loop around it begins."""
    each = [
        _of_child(list(inside), depth, counted, turns, begun)
        for _, inside in groupby(samplers, lambda sampler: id(_child(sampler, depth)))
    ]
    return Times(sum(it.least for it in each), sum(it.most for it in each))


def _child(sampler: Sampler, depth: int) -> Controller | Sampler:
    return sampler.controllers[depth] if sampler.controllers[depth:] else sampler


def _of_child(
    inside: Sequence[Sampler], depth: int, counted: Collection[Sampler], turns: Times, begun: Times
) -> Times:
    """Of one child, with the samplers in it."""
    child = _child(inside[0], depth)
    if isinstance(child, Sampler):
        return turns if child in counted else NEVER

    def below(turns: Times, begun: Times) -> Times:
        return _below(inside, depth + 1, counted, turns, begun)

    if child.is_plain or child.kind == _SHUFFLING:
        return below(turns, begun)
    if child.kind == "OnceOnlyController":
        return below(Times(*map(min, turns, begun)), begun)
    if child.kind == "LoopController" and child.loops is not None:
        loops = child.loops if child.loops >= 0 else math.inf
        return below(turns.times(Times(loops, loops)), turns)
    if child.kind == "ThroughputController" and child.share is not None:
        return below(_rounded(turns, child.share), begun)
    if child.kind == "IfController":
        return Times(0, below(turns, begun).most)
    if child.kind in _PICKING:
        parts = [
            _of_child(list(part), depth + 1, counted, ONCE, ONCE)
            for _, part in groupby(inside, lambda sampler: id(_child(sampler, depth + 1)))
        ]
        least = 0 if child.kind == _SWITCH else min(1, *(it.least for it in parts))
        return turns.times(Times(least, max(it.most for it in parts)))
    return Times(0, below(Times(0, math.inf), Times(0, math.inf)).most)


def _rounded(turns: Times, share: float) -> Times:
    """A share of them, down and up to whole ones."""
    least, most = turns.times(Times(share, share))
    return Times(
        least if math.isinf(least) else math.floor(least),
        most if math.isinf(most) else math.ceil(most),
    )
