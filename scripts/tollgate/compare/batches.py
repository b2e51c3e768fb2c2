"""Pieces of time, within which two sides are compared, and what each of them weighs. Pure.

Pieces are whole seconds, as few as hold the samples that are wanted on each side in the mean.

**Background CPU load.** Where other processes, or other guests of the host, take CPU time, answers
queue, and a tail gets long by chance. How much they took is measured, of the machine alone and
for both sides at once (workers/background_cpu.py), so that it may say what a second is worth, which
samples may not. Seconds of the tail are put together with their like, by CALM and CROWDED as
shares of the cores, and a piece weighs by WEIGHTS: about one over its variance, of recorded
controls beside a neighbour that burns one of two cores half of the time, where the error of sum's
p95 after 480 s was 1.6 % of all seconds alike, 1.2 % of calm ones alone, 3.0 and 4.0 % of the other
two (rms of 7 runs), and 1.1 % is left of all by weight. In the middle of a distribution such
seconds are as good as others: there all weigh the same, and stay in their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tollgate.compare.model import Blocks, Requests
from tollgate.stats.arrays import Floats, Ints
from tollgate.workers.background_cpu import CALM

#: Pieces that there are at least, each with fewer samples if need be.
FEWEST_PIECES = 8
#: The share of the cores that others take from which a second is crowded.
CROWDED = 3 / 8
#: Of a piece of calm seconds, of those in between, and of crowded ones.
WEIGHTS = np.array([1.0, 0.16, 0.09])


@dataclass(frozen=True, eq=False)
class Batches:
    """blocks: in the order of the pieces. begins: int[P], the block that each piece begins with.
    weight: float[P]. in_time: int[P], the pieces in the order of their time."""

    blocks: Blocks
    begins: Ints
    weight: Floats
    in_time: Ints

    def means(self, requests: Requests, values: Floats) -> Floats:
        """float[P]: of the values of a side's requests, NaN without any."""
        piece = self.of(requests)
        n = np.bincount(piece, minlength=len(self.begins))
        total = np.bincount(piece, values, minlength=len(self.begins))
        return np.divide(total, n, where=n > 0, out=np.full(len(n), np.nan))

    def of(self, requests: Requests) -> Ints:
        """Each request's piece."""
        return np.searchsorted(self.begins, requests.block, side="right") - 1


def pieces_of(blocks: Blocks, samples: float, is_tail: bool = False) -> Batches:
    """samples: of a side in each. is_tail: whether pieces are formed by their
    background CPU load."""
    size = len(blocks.base.n)
    fewest = min(blocks.base.total, blocks.head.total)
    length = min(max(1, math.ceil(samples * size / fewest)), size // FEWEST_PIECES)
    kind = np.zeros(size, np.int64)
    if is_tail and blocks.background_cpu is not None:
        kind = _kinds(blocks.background_cpu, length)
    seconds = np.bincount(kind, minlength=len(WEIGHTS))
    if (seconds // length).sum() < FEWEST_PIECES:
        kind, seconds = np.zeros_like(kind), np.array([size, 0, 0])
    many = seconds // length
    firsts = np.cumsum(seconds) - seconds
    kinds = zip(firsts, seconds, many, strict=True)
    begins = np.concatenate([first + np.arange(n) * own // n for first, own, n in kinds])
    order = np.argsort(kind, kind="stable")
    middle = np.add.reduceat(order, begins) / np.diff(begins, append=size)
    ordered = blocks if (kind == kind[0]).all() else blocks.reordered(order)
    weight = np.repeat(WEIGHTS, many)
    return Batches(ordered, begins, weight / weight.max(), np.argsort(middle, kind="stable"))


def _kinds(background_cpu: Floats, length: int) -> Ints:
    """int[B]: 0 of a calm block, 2 of a crowded one. Too few for a piece of their own join others,
    first those that are calmer."""
    kind = np.digitize(background_cpu, [CALM, CROWDED])
    for one, other in ((2, 1), (1, 0), (0, 1), (1, 2)):
        is_one = kind == one
        if is_one.sum() < length:
            kind[is_one] = other
    return kind
