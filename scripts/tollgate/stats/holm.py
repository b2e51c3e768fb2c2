"""Many hypotheses that share one error: Holm (1979, "A simple sequentially rejective multiple test
procedure"). Pure.

Each hypothesis is tested at its share of the error, by its weight. What the refused ones had goes
to those that are left, until none of these is refused any more. A procedure of several looks begins
with what was refused before (Maurer and Bretz 2013, "Multiple testing in group sequential trials
using graphical approaches").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Key = TypeVar("Key")


def holm(
    weights: Mapping[Key, float],
    error: float,
    is_refused: Callable[[Key, float], bool],
    refused: frozenset[Key] = frozenset(),
    others: float = 0.0,
) -> tuple[dict[Key, float], frozenset[Key]]:
    """(the share of the error that each hypothesis has, those that are refused by now). A share is
    that of the last test; of those refused before it is what a test now would begin with.

    is_refused: tests a hypothesis at a share of the error. refused: those that were before, which
    are tested no more. others: the weight of hypotheses that are tested elsewhere.
    """
    shares: dict[Key, float] = {}
    while True:
        left = [key for key in weights if key not in refused]
        weight_left = others + sum(weights[key] for key in left)
        for key in left if shares else weights:
            shares[key] = error * weights[key] / max(weight_left, weights[key])
        fresh = {key for key in left if is_refused(key, shares[key])}
        if not fresh:
            return shares, refused
        refused |= fresh
