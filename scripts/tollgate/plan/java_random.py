"""java.util.Random as arrays, because JMeter draws its arrivals from one.

Source: the Java SE API documentation of java.util.Random, which fixes the algorithm: a linear
congruential generator of 48 bits (D. Knuth, The Art of Computer Programming, vol. 2, 3.2.1).
"""

from __future__ import annotations

from functools import cache

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
        drawn = np.empty(count)
        # By blocks: the states of all of them would take several times the memory of the result.
        for start in range(0, count, BLOCK):
            block = drawn[start : start + BLOCK]
            states = self._states(2 * len(block))
            high = states[0::2] >> np.uint64(STATE_BITS - 26)
            low = states[1::2] >> np.uint64(STATE_BITS - 27)
            block[:] = ((high << np.uint64(27)) + low) * 2.0**-53
        return drawn

    def skip(self, count: int) -> None:
        """Leave out `count` calls of nextDouble(), without drawing them.

        Source: F. Brown, "Random number generation with arbitrary strides" (1994): 2^i steps at
        once are again of the form a * s + c.
        """
        factor, term, steps = MULTIPLIER, INCREMENT, 2 * count
        while steps:
            if steps & 1:
                self._state = (factor * self._state + term) % (1 << STATE_BITS)
            factor, term = factor * factor % (1 << STATE_BITS), (factor + 1) * term
            term %= 1 << STATE_BITS
            steps >>= 1

    def fork(self) -> JavaRandom:
        """Return another generator that goes on from here."""
        other = JavaRandom(0)
        other._state = self._state
        return other

    def _states(self, count: int) -> NDArray[np.uint64]:
        """Return the next `count` states; wrapping at 64 bits leaves the lower 48 right."""
        factors, terms = _jumps(BLOCK)
        states = np.empty(count, dtype=np.uint64)
        mask = np.uint64((1 << STATE_BITS) - 1)
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            block = (factors[:size] * np.uint64(self._state) + terms[:size]) & mask
            states[start : start + size] = block
            self._state = int(block[-1])
        return states


@cache
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
