"""In which order the labels of a mix are asked: a sequence drawn by their weights. Pure.

An arrival's place in the order says its label, so that the label of each arrival is known, also of
one that was not sent. Each block of a sequence has as many of each label as its weight says, in an
order of its own: the mix holds for short times as well, and nothing recurs with every block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

#: The property of a plan that has its sequence, and the digits that each part of it takes.
PROPERTY, DIGITS = "mix", 2
#: Parts that a mix may have.
MOST_PARTS = 10**DIGITS
#: Arrivals of a block at most; weights that need more are rounded, to one at least.
LONGEST_BLOCK = 100
#: Arrivals of a sequence at least, before it begins anew.
SHORTEST = 500


def slots(weights: Sequence[float]) -> list[int]:
    """How many arrivals of a block ask each part: its weight's share of them, 0 for a weight of 0
    alone. Raises ValueError, one line, for weights that ask nothing."""
    if not weights or min(weights) < 0 or not math.fsum(weights) > 0:
        raise ValueError("no label has a weight above 0")
    exact = [Fraction(it).limit_denominator(LONGEST_BLOCK) for it in weights]
    scale = math.lcm(*(it.denominator for it in exact))
    whole = [int(it * scale) for it in exact]
    found = [it // (math.gcd(*whole) or 1) for it in whole]
    if sum(found) <= LONGEST_BLOCK and [*map(bool, found)] == [*map(bool, weights)]:
        return found
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


def shares(weights: Mapping[str, float]) -> dict[str, float]:
    """The share of all arrivals that ask each, as a sequence has them."""
    found = slots([*weights.values()])
    return {name: it / sum(found) for name, it in zip(weights, found, strict=True)}
