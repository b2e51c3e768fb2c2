"""In which order the labels of a mix are asked: a sequence drawn by their weights. Pure.

An arrival's place in the order says its label, so that the label of each arrival is known, also of
one that was not sent. Each block of a sequence has as many of each label as its weight says, in an
order of its own: the mix holds for short times as well, and nothing recurs with every block.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tollgate.plan.model import Controller, Plan

#: The properties of a plan that have its sequence and the seed of that, and the digits that each
#: part of a sequence takes.
PROPERTY, SEED, DIGITS = "mix", "mix_seed", 2
#: Parts that a mix may have.
MOST_PARTS = 10**DIGITS
_SWITCH = "SwitchController"
#: Arrivals of a block at most; weights that need more are rounded, to one at least.
LONGEST_BLOCK = 100
#: Arrivals of a sequence at least, before it begins anew.
SHORTEST = 500


def slots(weights: Sequence[float]) -> list[int]:
    """How many arrivals of a block ask each part: its weight's share of them, 0 for a weight of 0
    alone. Raises ValueError, one line, for weights that ask nothing."""
    if not weights or min(weights) < 0 or not math.fsum(weights) > 0:
        raise ValueError("no label has a weight above 0")
    if len(weights) > MOST_PARTS:
        raise ValueError(f"{len(weights)} labels are more than {MOST_PARTS}")
    exact = [Fraction(it).limit_denominator(LONGEST_BLOCK) for it in weights]
    scale = math.lcm(*(it.denominator for it in exact))
    whole = [int(it * scale) for it in exact]
    counts = [it // (math.gcd(*whole) or 1) for it in whole]
    if sum(counts) <= LONGEST_BLOCK and [*map(bool, counts)] == [*map(bool, weights)]:
        return counts
    total = math.fsum(weights)
    return [max(int(it > 0), round(LONGEST_BLOCK * it / total)) for it in weights]


def sequence(weights: Sequence[float], seed: int) -> str:
    """What the property of a plan is: DIGITS for each arrival, the place of the part it asks."""
    block = np.repeat(np.arange(len(weights)), slots(weights))
    random = np.random.default_rng(seed)
    blocks = [random.permutation(block) for _ in range(math.ceil(SHORTEST / len(block)))]
    return written(np.concatenate(blocks).tolist())


def written(parts: Sequence[int]) -> str:
    """A sequence of parts by their places, as the property has it."""
    return "".join(f"{it:0{DIGITS}d}" for it in parts)


def parts_of(text: str) -> list[int]:
    """The parts of a property's text. Raises ValueError for one that is none."""
    if not text or len(text) % DIGITS or not (text.isascii() and text.isdigit()):
        raise ValueError(f"the property {PROPERTY} is {text!r}: write {DIGITS} digits an arrival")
    return [int(text[at : at + DIGITS]) for at in range(0, len(text), DIGITS)]


@dataclass(frozen=True)
class Part:
    """What an arrival may ask. name: of its controller. labels: that its samplers leave."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Mix:
    """The parts of a plan by their places, with the arrivals of each in a block."""

    parts: tuple[Part, ...]
    weights: tuple[int, ...]

    def parts_with(self, labels: Collection[str]) -> tuple[Part, ...]:
        """Those that leave one of the labels."""
        return tuple(it for it in self.parts if {*it.labels} & {*labels})

    def without(self, names: Collection[str]) -> Mix:
        """With no arrivals of some parts."""
        pairs = zip(self.parts, self.weights, strict=True)
        return replace(self, weights=tuple(0 if it.name in names else n for it, n in pairs))

    def share(self, label: str) -> float:
        """Of all arrivals, those that ask a label."""
        weighted = zip(self.parts, self.weights, strict=True)
        return sum(n for it, n in weighted if label in it.labels) / sum(self.weights)


def rehearsed(mix: Mix, period_ms: int, warmup_s: float, seconds: float) -> dict[str, str]:
    """The property of a rehearsal: each part in turn, arrival by arrival while JMeter warms up, and
    then one part after the other, for a second each or more."""
    places = [place for place, n in enumerate(mix.weights) if n]
    first = math.ceil(1000 * warmup_s / period_ms / len(places)) * places
    each = math.ceil(1000 * max(1.0, seconds / len(places)) / period_ms)
    return {PROPERTY: written(first + [place for place in places for _ in range(each)])}


def mix_of(plan: Plan, text: str) -> Mix | None:
    """What a plan mixes, by the sequence that it has itself; None where it mixes nothing. text: the
    plan's own. Raises ValueError where the sequence has places that the plan has not."""
    default = re.search(rf"\$\{{__P\({PROPERTY},(\d+)\)\}}", text)
    if default is None:
        return None
    parts: dict[Controller, list[str]] = {}
    for sampler in (it for group in plan.groups for it in group.samplers):
        around = [it.kind for it in sampler.controllers]
        if _SWITCH in around[:-1]:
            part = sampler.controllers[around.index(_SWITCH) + 1]
            parts.setdefault(part, []).extend([sampler.label.text] * sampler.leaves_a_row)
    places = parts_of(default[1])
    if max(places) >= len(parts):
        raise ValueError(f"the property {PROPERTY} names place {max(places)} of {len(parts)}")
    weights = slots([places.count(place) for place in range(len(parts))])
    in_order = (Part(it.name, tuple(dict.fromkeys(labels))) for it, labels in parts.items())
    return Mix(tuple(in_order), tuple(weights))
