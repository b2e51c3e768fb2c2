"""What several benchmarks need: tables of Markdown, and noise like that of real machines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Floats = NDArray[np.float64]
#: Values that are drawn before the first that counts, until which the beginning is forgotten.
LEAD = 100


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def remembering(random: np.random.Generator, seconds: int, memory: float) -> Floats:
    """Standard normal values, each of which is correlated by `memory` with the one before."""
    fresh = random.standard_normal(seconds + LEAD) * math.sqrt(1 - memory**2)
    return signal.lfilter([1], [1, -memory], fresh)[LEAD:]


def spells(
    random: np.random.Generator,
    slow_s: float,
    fast_s: float,
    until_s: float,
    most_s: float = math.inf,
) -> Callable[[Floats], NDArray[np.bool_]]:
    """Which moments fall into slow spells. Spells of both kinds take turns; they last exponentially
    long, slow_s and fast_s in the mean and most_s at most."""
    count = 20 + 4 * math.ceil(until_s / (slow_s + fast_s))
    lengths = np.minimum(random.exponential((slow_s, fast_s), (count, 2)), most_s).ravel()
    begins_slow = random.random() < slow_s / (slow_s + fast_s)
    ends = np.cumsum(lengths if begins_slow else lengths[1:])
    return lambda at_s: (np.searchsorted(ends, at_s) % 2 == 0) == begins_slow


def responses(at_ms: Floats, own_ms: Floats) -> Floats:
    """Waiting and service times in a line for one server (D. Lindley 1952, "The theory of
    queues")."""
    steps = np.concatenate([[0.0], np.cumsum(own_ms[:-1] - np.diff(at_ms))])
    return steps - np.minimum.accumulate(steps) + own_ms
