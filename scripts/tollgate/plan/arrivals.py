"""The moments at which timers mean to send: those of a Precise Throughput Timer, replayed from its
seed, and evenly spaced ones.

Source of the first: JMeter 5.6.3's own classes, driven for the golden files in tests/golden, and
its manual, Component Reference, "Precise Throughput Timer". What they do:

- Time zero is JMeter's test start, the value of TESTSTART.MS, not the start of the thread group.
- A window lasts `duration` seconds and holds ceil(rate * duration) events, uniform and sorted.
- When a window is used up the next one follows at once, drawn from the same generator, so a
  schedule goes on for as long as threads ask for events.
- With batches of n a window holds ceil(rate / n * duration) moments, each handed out n times.
- `exactLimit`, `allowedThroughputSurplus` and `batchThreadDelay` have no effect in 5.6.3.
- A seed whose lowest 32 bits are zero (0 among them) means: a new schedule on every run.

JMeter draws them from java.util.Random, which JavaRandom is, as arrays. Source: the Java SE API
documentation of java.util.Random, which fixes the algorithm: a linear congruential generator of 48
bits (D. Knuth, The Art of Computer Programming, vol. 2, 3.2.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tollgate.stats.arrays import Floats

MULTIPLIER = 0x5DEECE66D
INCREMENT = 0xB
STATE_BITS = 48
# States computed side by side. 2**16 keeps the working arrays inside a core's cache.
BLOCK = 1 << 16
# JMeter counts the events of a window in a Java int.
MAX_EVENTS_PER_WINDOW = 2**31 - 1


class JavaRandom:
    """One generator; consecutive calls continue where the last one stopped."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) % (1 << STATE_BITS)

    def doubles(self, count: int) -> Floats:
        """Return what `count` calls of nextDouble() return, each in [0, 1)."""
        drawn = np.empty(count)
        # By blocks: the states of all of them would take several times the memory of the result.
        for start in range(0, count, BLOCK // 2):
            block = drawn[start : start + BLOCK // 2]
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
        """Return the next `count` states, at most BLOCK."""
        factors, terms = _jumps()
        # Wrapping at 64 bits leaves the lower 48 right.
        states = factors[:count] * np.uint64(self._state) + terms[:count]
        states &= np.uint64((1 << STATE_BITS) - 1)
        self._state = int(states[-1])
        return states


@cache
def _jumps() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return (a, c) such that the state after i+1 steps from s is a[i] * s + c[i], for a block.

    Built by doubling: jumping i steps and then m more is again of the form a * s + c.
    """
    factors = np.array([MULTIPLIER], dtype=np.uint64)
    terms = np.array([INCREMENT], dtype=np.uint64)
    while len(factors) < BLOCK:
        last_factor, last_term = factors[-1], terms[-1]
        terms = np.concatenate([terms, factors * last_term + terms])
        factors = np.concatenate([factors, factors * last_factor])
    return factors, terms


class NotReplayableError(ValueError):
    """The schedule cannot be computed beforehand; the message is the reason, in one line."""


@dataclass(frozen=True)
class PreciseThroughput:
    """The settings of a Precise Throughput Timer that decide when it sends.

    rate: requests a second, JMeter's throughput divided by throughputPeriod.
    duration_s: whole seconds of one window.
    """

    seed: int
    rate: float
    duration_s: int
    batch_size: int = 1

    def __post_init__(self) -> None:
        if self.seed % 2**32 == 0:
            raise NotReplayableError("the random seed is 0, so every run has a schedule of its own")
        if not self.rate > 0 or not math.isfinite(self.rate):
            raise NotReplayableError(f"the throughput is {self.rate:g}, which sends nothing")
        if self.duration_s < 1:
            raise NotReplayableError(f"the timer's duration is {self.duration_s} s")
        if self.batch_size < 1:
            raise NotReplayableError(f"a batch size of {self.batch_size} repeats an event for ever")
        if self.moments_per_window > MAX_EVENTS_PER_WINDOW:
            raise NotReplayableError("a window holds more events than JMeter can count")

    @property
    def moments_per_window(self) -> int:
        return math.ceil(self.rate / self.batch_size * self.duration_s)

    def drawn(self, until_s: float, limit: int | None = None) -> float:
        """How many events are held at once for those before `until_s`."""
        events = self.rate * until_s
        events = events if limit is None else min(events, limit)
        return max(events, self.moments_per_window * self.batch_size)

    def windows(self) -> Iterator[Floats]:
        """Yield window after window of sorted offsets in seconds from the test start."""
        random = JavaRandom(self.seed)
        offset = 0.0
        while True:
            moments = offset + random.doubles(self.moments_per_window) * float(self.duration_s)
            moments.sort()
            yield np.repeat(moments, self.batch_size)
            offset += self.duration_s

    def arrivals(self, until_s: float, limit: int | None = None) -> Floats:
        """Return all events before `until_s` (seconds), at most the first `limit` of them."""
        parts: list[Floats] = []
        total = 0
        for number, window in enumerate(self.windows()):
            parts.append(window)
            total += len(window)
            if (number + 1) * self.duration_s >= until_s or (limit is not None and total >= limit):
                break
        events = np.concatenate(parts)[:limit]
        return events[: np.searchsorted(events, until_s, side="left")]


#: The delay of a Constant Timer by which a request waits until it is due: `{}` is the variable in
#: which a Counter says when, in ms since the test start.
EVEN_DELAY = "${{__longSum(${{TESTSTART.MS}},${{{}}},-${{__time()}})}}"


@dataclass(frozen=True)
class EvenArrivals:
    """A Counter that all threads of a group draw from, and a Constant Timer that waits for what was
    drawn (EVEN_DELAY): arrival n is due first_ms + n * period_ms after the test start.

    Source: JMeter 5.6.3. The Counter goes on when an iteration of the controller around it begins
    (CounterConfig.iterationStart), the timer computes its delay when a sampler is about to wait
    (ConstantTimer.delay), once for each turn of the thread (FunctionProperty.getStringValue). A
    thread whose wait would go beyond its duration ends (JMeterThread.delay); a request whose moment
    has passed is sent at once.
    """

    first_ms: int
    period_ms: int

    def __post_init__(self) -> None:
        if self.first_ms < 0 or self.period_ms < 1:
            raise NotReplayableError(
                f"the counter starts at {self.first_ms} ms and goes on by {self.period_ms} ms: "
                "write at least 0 and at least 1"
            )

    @property
    def rate(self) -> float:
        """Arrivals a second."""
        return 1000 / self.period_ms

    def drawn(self, until_s: float, limit: int | None = None) -> float:
        """As PreciseThroughput.drawn."""
        events = self.rate * until_s
        return events if limit is None else min(events, limit)

    def arrivals(self, until_s: float, limit: int | None = None) -> Floats:
        """As PreciseThroughput.arrivals."""
        if math.isfinite(until_s):
            # A bound that no rounding makes too low; what is not before `until_s` is cut below.
            most = max(0, math.ceil(until_s * 1000) - self.first_ms) // self.period_ms + 1
            limit = most if limit is None else min(most, limit)
        if limit is None:
            raise ValueError("a schedule without an end needs a limit")
        events = (self.first_ms + self.period_ms * np.arange(limit)) / 1000
        return events[: np.searchsorted(events, until_s, side="left")]
