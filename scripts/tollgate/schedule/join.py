"""Joins the events of a schedule with the samples that were sent for them. Pure arrays, no I/O.

JMeter hands events out in order and a thread sends when its event is due, or at once if that has
passed. So the k-th event belongs to the k-th sample by start, and no sample starts before its
event. Two things spoil that: samples that are in the file but not in the schedule, which make
later samples look early, and events that left no sample, which make later samples look late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tollgate.stats.arrays import Flags, Floats, Ints

# A sample may start this much before its event. JMeter aims at whole milliseconds, rounding down,
# and adds a clock that it corrects every five seconds: 2.0 ms early was the most in 3,000 samples.
EARLY_TOLERANCE_MS = 5.0
# A sample this close to an event, either way, is taken for that event's when looking for gaps.
MATCH_MS = 2.0
# Chance that unrelated samples fit the schedule as well as those that prove a gap do.
GAP_ERROR_RATE = 1e-6
# Never take fewer samples than this for proof, however unlikely: events may come in bursts.
SHORTEST_PROOF = 8
NO_EVENT = -1


@dataclass(frozen=True)
class Rows:
    """All samples of one thread group, in any order, Transaction Controllers' rows left out.

    start_ms: epoch milliseconds. elapsed_ms: JMeter's elapsed. thread: any number that is the same
    for the same thread. is_governed: which rows the schedule is about; the others only tell how
    long a thread was busy.
    """

    start_ms: Ints
    elapsed_ms: Ints
    thread: Ints
    is_governed: Flags


def align(event_ms: Floats, start_ms: Floats) -> Ints:
    """Return for each sample, both sorted by time, the index of its event or NO_EVENT.

    Indices grow from sample to sample and no sample gets an event that is due more than
    EARLY_TOLERANCE_MS after its start. A gap in the events is only seen where samples behind it fit
    the schedule so well, for so long, that chance would do that once in a million files; without
    such proof the k-th event stays the k-th sample's and the samples count as late.
    """
    samples = np.arange(1, len(start_ms) + 1)
    due = np.searchsorted(event_ms, start_ms + EARLY_TOLERANCE_MS, side="right")
    # Each sample takes the next event if one is due, and is extra otherwise.
    taken = samples + np.minimum.accumulate(np.append(0, due - samples))[1:]
    is_new = np.diff(taken, prepend=0) > 0
    events = np.full(len(start_ms), NO_EVENT, dtype=np.int64)
    events[is_new] = taken[is_new] - 1
    events[is_new] += _gaps_before(event_ms, start_ms[is_new], events[is_new])
    # Behind a gap, too, a sample that starts before the event it would get is extra.
    events = np.minimum(events, due - 1)
    highest = np.maximum.accumulate(np.append(NO_EVENT, events))[:-1]
    return np.where(events > highest, events, NO_EVENT)


def _gaps_before(event_ms: Floats, start_ms: Floats, events: Ints) -> Ints:
    """Return for each sample how many events before its own left no sample."""
    if len(events) == 0 or events[-1] == len(event_ms) - 1:
        return np.zeros(len(events), dtype=np.int64)
    nearest = np.searchsorted(event_ms, start_ms + MATCH_MS, side="right") - 1
    fits = (nearest >= events) & (start_ms - event_ms[np.maximum(nearest, 0)] <= MATCH_MS)
    shift = np.where(fits, nearest - events, NO_EVENT)
    # Runs of neighbouring samples that all fit with the same shift.
    first = np.flatnonzero(np.diff(shift, prepend=NO_EVENT - 1))
    length = np.diff(first, append=len(shift))
    proven = (shift[first] >= 0) & (length >= _proof_length(event_ms, len(start_ms)))
    first, proofs = first[proven], shift[first[proven]]
    # Gaps only add up, so a later run with fewer of them refutes an earlier one with more.
    proofs = np.minimum.accumulate(proofs[::-1])[::-1]
    run = np.searchsorted(first, np.arange(len(events)), side="right")
    gaps = np.append(0, proofs)[run]
    # Two events close together end a run; carry each proof back over all samples that fit it.
    for sample in np.flatnonzero(np.diff(gaps)):
        gap, back = gaps[sample + 1], sample
        while back >= 0 and abs(start_ms[back] - event_ms[events[back] + gap]) <= MATCH_MS:
            back -= 1
        gaps[back + 1 : sample + 1] = gap
    return gaps


def _proof_length(event_ms: Floats, samples: int) -> int:
    """Return how many samples in a row must fit to prove a gap.

    A random moment lies within MATCH_MS of an event with probability p = 1 - exp(-rate * 2 *
    MATCH_MS); a run of n starts anywhere among the samples with at most samples * p**n.
    """
    span = event_ms[-1] - event_ms[0]
    if len(event_ms) < 2 or span <= 0:
        return samples + 1
    p = -math.expm1(-len(event_ms) / span * 2 * MATCH_MS)
    if p >= 1:
        return samples
    return max(SHORTEST_PROOF, math.ceil(math.log(GAP_ERROR_RATE / samples) / math.log(p)))
