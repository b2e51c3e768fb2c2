"""java.util.Random as arrays, because JMeter draws its arrivals from one.

Source: the Java SE API documentation of java.util.Random, which fixes the algorithm: a linear
congruential generator of 48 bits (D. Knuth, The Art of Computer Programming, vol. 2, 3.2.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
STATE_BITS = 48
# States computed side by side. 2**16 keeps the working arrays inside a core's cache.
BLOCK = 1 << 16


class JavaRandom:
    """One generator; consecutive calls continue where the last one stopped."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) % (1 << STATE_BITS)

    def doubles(self, count: int) -> NDArray[np.float64]:
        """Return what `count` calls of nextDouble() return, each in [0, 1)."""
        states = self._states(2 * count)
        high = states[0::2] >> np.uint64(STATE_BITS - 26)
        low = states[1::2] >> np.uint64(STATE_BITS - 27)
        return ((high << np.uint64(27)) + low) * 2.0**-53

    def _states(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` states; wrapping at 64 bits leaves the lower 48 right."""
        factors, terms = _jumps(min(count, BLOCK))
        states = np.empty(count, dtype=np.uint64)
        mask = np.uint64((1 << STATE_BITS) - 1)
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            block = (factors[:size] * np.uint64(self._state) + terms[:size]) & mask
            states[start : start + size] = block
            self._state = int(block[-1])
        return states


def _jumps(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return (a, c) such that the state after i+1 steps from s is a[i] * s + c[i].

    Built by doubling: jumping i steps and then m more is again of the form a * s + c.
    """
    factors = np.array([MULTIPLIER], dtype=np.uint64)
    terms = np.array([INCREMENT], dtype=np.uint64)
    while len(factors) < count:
        last_factor, last_term = factors[-1], terms[-1]
        terms = np.concatenate([terms, factors * last_term + terms])
        factors = np.concatenate([factors, factors * last_factor])
    return factors[:count], terms[:count]
