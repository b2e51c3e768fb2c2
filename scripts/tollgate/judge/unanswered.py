"""Requests that had no answer when a load was ended, and those that were held back by them. Pure.

A thread in a loop sends nothing while it waits: a service that hangs keeps its own failures few. So
a thread that was waiting when the load was ended, and whose request failed or never ended after a
time that no answer of its group had taken, is charged with what it would have sent meanwhile at its
own pace, each as slow as what was left of the wait. Source: G. Tene's correction for coordinated
omission in HdrHistogram (recordValueWithExpectedInterval); the expected interval is the mean one of
the thread until its last good answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tollgate.samples import Key, Sent


@dataclass(frozen=True)
class End:
    """How a load was ended before its time, in epoch milliseconds.

    waiting: threads that waited for an answer at ended_ms. lost: those of them that still did at
    killed_ms, when JMeter was ended by force.
    """

    ended_ms: float
    killed_ms: float
    waiting: tuple[str, ...]
    lost: frozenset[str] = frozenset()


@dataclass
class Charged:
    """begins_ms, elapsed_ms by label: of requests without a row that count as failed, by arrays.
    began_ms: when the first of the waits that they are charged for began, None for none.
    threads: how many waited. unsent: those of them that left no row at all. guessed: labels that a
    request without a row may have had, where there are several: it counts for each."""

    begins_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    elapsed_ms: dict[Key, list[np.ndarray]] = field(default_factory=dict)
    began_ms: float | None = None
    threads: int = 0
    unsent: int = 0
    guessed: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        return sum(len(each) for arrays in self.begins_ms.values() for each in arrays)

    def _add(self, key: Key, begins_ms: np.ndarray, end_ms: float) -> None:
        self.begins_ms.setdefault(key, []).append(begins_ms)
        self.elapsed_ms.setdefault(key, []).append(np.ceil(end_ms - begins_ms))


def charge(
    end: End,
    sent: Mapping[str, Sent],
    labels: Collection[Key],
    paced: Callable[[Key], bool],
    began_ms: Callable[[str, Sent], float],
) -> Charged:
    """What the threads of one thread group are charged with.

    sent: what each of its waiting threads left. labels: that its requests may have. paced: whether
    requests of a label follow one another in a loop; of a schedule all that is missing is known.
    began_ms: when a thread's request began that left no row, at the latest.
    """
    charged = Charged()
    for thread, left in sent.items():
        waits = list(left.hung)
        if thread in end.lost and (left.ended_ms or 0) < end.killed_ms:
            begun = min(began_ms(thread, left), end.ended_ms)
            if end.killed_ms - begun <= left.longest_ms:
                continue  # for all that anybody knows it was as fast as others
            waits.append((begun, end.killed_ms))
            own = [key for key in labels if key in left.counts] or labels
            for key in own:
                charged._add(key, np.array([begun]), end.killed_ms)
            charged.guessed = tuple(name for name, _ in own) if len(own) > 1 else charged.guessed
            charged.unsent += left.ended_ms is None
        for begin, until in waits:
            for key, times in _held_back(left, begin, min(until, end.ended_ms)):
                if paced(key):
                    charged._add(key, times, until)
        if waits:
            charged.threads += 1
            firsts = [begin for begin, _ in waits]
            charged.began_ms = min([*firsts, charged.began_ms or firsts[0]])
    return charged


def _held_back(left: Sent, begin: float, until: float) -> Iterator[tuple[Key, np.ndarray]]:
    """When a thread would have sent each label between two moments, at its own pace until then."""
    span = (left.answered_ms or 0) - (left.first_ms or 0)
    for key, n in left.counts.items():
        if span > 0:
            times = np.arange(begin + span / n, until, span / n)
            if len(times):
                yield key, times
