"""Requests that a waiting thread of a closed loop did not send: coordinated omission, corrected.
Pure.

A thread in a loop sends nothing while it waits, so a service that hangs has few failures. If a
thread waits when the load ends, longer than any response of its group took, and its request failed
or never ended, then the requests that the thread would have sent in that time count too. Each is as
slow as the rest of the wait. Source: G. Tene's correction for coordinated omission in HdrHistogram
(recordValueWithExpectedInterval); the expected interval is the mean one of the thread to its last
good answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tollgate.samples.threads import Key, Sent


@dataclass(frozen=True)
class LoadEnd:
    """How a load was ended before its time, in epoch milliseconds.

    ended_ms: until when requests were to be sent. seen_ms: until when samples were looked at.
    is_lost: whether a request that was under way at seen_ms left no row.
    """

    ended_ms: float
    seen_ms: float
    is_lost: bool


@dataclass
class OmittedRequests:
    """Requests without a row that count as failed."""

    begins_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    elapsed_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    began_ms: float | None = None
    """When the first of the waits began that hid them; None for none."""
    threads: int = 0
    """How many waited."""
    guessed: tuple[str, ...] = ()
    """Labels that a request without a row may have had, where there are several: it counts for
    each."""

    @property
    def requests(self) -> int:
        return sum(len(each) for arrays in self.begins_ms.values() for each in arrays)

    def _add(self, key: Key, begins_ms: np.ndarray, end_ms: float) -> None:
        self.begins_ms.setdefault(key, []).append(begins_ms)
        self.elapsed_ms.setdefault(key, []).append(np.ceil(end_ms - begins_ms))


def correct_coordinated_omission(
    end: LoadEnd,
    sent: Mapping[str, Sent],
    labels: Collection[Key],
    paced: Collection[Key],
    pause_ms: float,
) -> OmittedRequests:
    """What the threads of one thread group did not send, or got no answer to.

    sent: what each of its threads left. labels: that its requests may have. paced: those
    whose requests follow one another in a loop; of a schedule all that is missing is known.
    pause_ms: the longest between two requests of a thread, inf where that is not known.
    """
    omitted = OmittedRequests()
    for left in sent.values():
        waits: list[tuple[float, float]] = [*left.hung]
        if left.ended_ms is not None and left.ended_ms < end.seen_ms:
            if not end.is_lost:
                continue  # nothing was under way
            begun = min(left.ended_ms + pause_ms, end.ended_ms)
            if end.seen_ms - begun <= left.longest_ms:
                continue  # as far as is known it was as fast as others
            waits.append((begun, end.seen_ms))
            own = [key for key in labels if key in left.counts] or labels
            for key in own:
                omitted._add(key, np.array([begun]), end.seen_ms)
            omitted.guessed = tuple(name for name, _ in own) if len(own) > 1 else omitted.guessed
        for begin, until in waits:
            for key, times in _due_while_waiting(left, begin, min(until, end.ended_ms)):
                if key in paced:
                    omitted._add(key, times, until)
        if waits:
            omitted.threads += 1
            firsts = [begin for begin, _ in waits]
            omitted.began_ms = min([*firsts, omitted.began_ms or firsts[0]])
    return omitted


def _due_while_waiting(left: Sent, begin: float, until: float) -> Iterator[tuple[Key, np.ndarray]]:
    """When a thread would have sent each label between two moments, at its own pace until then."""
    span = (left.answered_ms or 0) - (left.first_ms or 0)
    for key, n in left.counts.items():
        if span > 0:
            times = np.arange(begin + span / n, until, span / n)
            if len(times):
                yield key, times
