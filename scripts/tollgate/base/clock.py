"""Whether the wall clock was set, by a steady clock beside it.

A clock that is slowed or hastened drifts by a millisecond between two looks, and the steady clock
with it; one that is set jumps. The steady clock stands still while the machine sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds by which neighbouring looks must differ: below that no time in a verdict changes.
SMALLEST_S = 0.5
# Both clocks are read within that time, or the machine was busy in between and the look is none.
_TOGETHER_S = 0.1


class ClockWatch:
    """Looks at both clocks, in seconds; wall: since the epoch."""

    def __init__(
        self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._steady = wall, steady
        self._last: tuple[float, float] | None = None

    def look(self) -> tuple[float, float] | None:
        """(moment, step) if the wall clock was set since the last look: what it would show now if
        it had not been, and by how much it was set forward, less than 0 for back."""
        before, wall, after = self._steady(), self._wall(), self._steady()
        if after - before > _TOGETHER_S:
            return None
        last, self._last = self._last, (wall, before)
        if last is None:
            return None
        due = last[0] + before - last[1]
        return (due, wall - due) if abs(wall - due) > SMALLEST_S else None
