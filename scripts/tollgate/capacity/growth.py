"""Whether a queue grew during a trial, from due times and response times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

#: Parts of a trial, the first of which fills an empty queue and isn't looked at.
PARTS = 17
#: One-sided: how often a queue that doesn't grow is called growing, at most.
FALSE_ALARM = 0.01
#: A part with fewer answers has no median worth the name.
FEWEST = 4


def grew(due_s: ArrayLike, response_ms: ArrayLike, seconds: float) -> bool:
    """Whether response times rose from part to part of a trial more than chance explains.

    due_s: float[n], when each request was due, since the trial began, in any order. response_ms:
    float[n], from then to its answer; inf where none came. seconds: of the trial.

    The work that waits before a server is a random walk while the server is busy (D. Lindley 1952,
    "The theory of queues"): what it gains in one part is independent of what it gains in the next,
    and a growing queue gains more than nothing in the mean. So this is the one-sided t-test of the
    gains of the parts' medians, at FALSE_ALARM. A queue that empties gives back what it gained,
    which makes the test cautious. A rise that does not double the response time is no queue.
    """
    part = np.floor(np.asarray(due_s, float) / seconds * PARTS).astype(int)
    times = np.asarray(response_ms, float)
    if np.bincount(part[(part >= 0) & (part < PARTS)], minlength=PARTS).min() < FEWEST:
        return False
    level = np.array([np.median(times[part == it]) for it in range(1, PARTS)])
    if not np.isfinite(level).all():
        # What never came back took longer than all that did.
        return bool(np.isinf(level[-1]) and np.isfinite(level[0]))
    gains = np.diff(level)
    spread = gains.std(ddof=1) / np.sqrt(len(gains))
    critical = special.stdtrit(len(gains) - 1, 1 - FALSE_ALARM)
    return bool(level[-1] > 2 * level[0] and gains.mean() > critical * spread)
