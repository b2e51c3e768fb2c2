"""How much an estimate owes to the threads that a side happened to get. Pure.

Where sessions last as long as a thread, the coin falls once a thread: all that a thread sends goes
to one side. Threads have luck of their own, such as a user with a large cart, or a connection to a
busy worker, and no time of measuring averages that out. So what each request adds to an estimate
is summed by thread, and the sums of a side are its independent observations (Liang and Zeger 1986,
"Longitudinal data analysis using generalized linear models": the cluster-robust variance). Degrees
of freedom are Welch and Satterthwaite's, of as many threads as would count alike: where few of them
send most requests, those few decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tollgate.compare.model import Requests
from tollgate.stats.arrays import Flags, Floats, Ints


def joined(*parts: tuple[float, float]) -> tuple[float, float]:
    """(standard error, degrees of freedom) of a sum of independent parts, each with its own."""
    variance = sum(error**2 for error, _ in parts)
    if not variance:
        return 0.0, min(freedom for _, freedom in parts)
    return variance**0.5, variance**2 / sum(error**4 / freedom for error, freedom in parts)


def error_of_threads(
    sides: Sequence[Requests], influences: Sequence[Floats]
) -> tuple[float, float] | None:
    """(standard error of head's mean less base's, degrees of freedom); None where the coin is not
    that of a thread. influences: what each request of base and of head adds; each side's sum to
    0."""
    threads = [side.thread for side in sides if side.thread is not None]
    if len(threads) < len(sides):
        return None
    return joined(*map(_of_side, threads, influences))


def _of_side(thread_of: Ints, influences: Floats) -> tuple[float, float]:
    _, thread = np.unique(thread_of, return_inverse=True)
    n, sums = np.bincount(thread), np.bincount(thread, influences)
    threads = len(n)
    if threads < 2:
        return np.inf, 1.0
    variance = float(sums @ sums) / len(thread) ** 2 * threads / (threads - 1)
    alike = float(n.sum()) ** 2 / float(n @ n)
    return variance**0.5, max(1.0, alike - 1)


def design_effect(sides: Sequence[Requests], hits: Sequence[Flags]) -> float:
    """How much more the difference of two shares varies from thread to thread than it would by
    independent requests, at least 1; 1 where the coin is not that of a thread. hits: of each
    side's requests, those that count."""
    shares = [float(own.mean()) if len(own) else 0.0 for own in hits]
    independent = sum(p * (1 - p) / max(1, len(own)) for p, own in zip(shares, hits, strict=True))
    by_threads = error_of_threads(sides, [own - it for own, it in zip(hits, shares, strict=True)])
    return max(1.0, by_threads[0] ** 2 / independent) if by_threads and independent else 1.0
