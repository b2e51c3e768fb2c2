"""A noisy neighbour: `burner.py SEED SECONDS` burns one core now and then.

It ends after SECONDS, or as soon as its standard input is closed, which also a starter that was
killed does. The bursts are drawn from SEED.
"""

from __future__ import annotations

import random
import select
import sys
import time

#: Mean seconds of a burst and of a pause, and the longest of either: about half of a core.
MEAN_S, MOST_S = 1.0, 5.0
#: Seconds between two looks at standard input while it burns.
LOOK_S = 0.02


def main() -> None:
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    rng = random.Random(seed)  # noqa: S311 - noise, not a secret
    end = time.monotonic() + seconds
    burning = False
    while time.monotonic() < end and not closed(0):
        until = min(end, time.monotonic() + min(rng.expovariate(1 / MEAN_S), MOST_S))
        burning = not burning
        if not burning:
            closed(max(0.0, until - time.monotonic()))
            continue
        while time.monotonic() < until and not closed(0):
            burn(min(until, time.monotonic() + LOOK_S))


def burn(until: float) -> None:
    while time.monotonic() < until:
        pass


def closed(wait_s: float) -> bool:
    """Whether the starter has gone, waiting for that at most so long."""
    return bool(select.select([sys.stdin], [], [], wait_s)[0])


if __name__ == "__main__":
    main()
