"""The gate on thousands of runs put together from seconds that were recorded. Pure.

A live run takes minutes, and to tell a false-positive rate of 1 % from 3 % takes hundreds. So the
recorded seconds of a condition are pooled, and a run is put together from them for as long as the
gate goes on looking: a circular block bootstrap (Politis and Romano 1992, "A circular
block-resampling procedure for stationary data") with segments of SEGMENT_S, long enough to hold
what noise remembers from second to second. All labels and both sides of a second stay together.

- Recorded runs end as soon as they are decided, most of them after 60 to 120 s, and a resampled one
  may last 600 s: segments are chained across runs of the same condition. A segment lies within
  one run, whose end is joined to its beginning.
- Every recorded second is as likely as any other, so a run is drawn in proportion to its length.
  Were runs drawn alike, those that ended early would count too much: they ended *because* head
  looked the slower one, or the same. Sums up to a stopping time divided by *its* sum are unbiased
  (Wald 1944, "On cumulative sums of random variables"), means of the runs' means are not.
- In an A/A run base and head are exchangeable: in each segment they change places by the toss of a
  coin. So there is no difference at all between the resampled sides, whatever few runs happened to
  show, and what is left is noise as it was recorded, against which the gate is tried. Of a slowed
  head nothing is exchanged.

What this cannot see:
- Differences from process to process (where code and data lie in memory, which core a process
  likes). Their size is in the data, since each segment comes from the processes of one run, but a
  live run has the same ones until its end and a resampled one changes them every SEGMENT_S: a
  difference which lasts averages out here and would not there. Nor can it invent pairs that were
  not recorded: their number is stated beside each rate.
- Noise that remembers for longer than SEGMENT_S, and hours or machines other than those recorded.
- The interval of a resampled rate is that of the drawing alone: it does not grow narrower in the
  recorded runs by drawing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tollgate.compare.cpu_times import CpuTimes
from tollgate.compare.decide import close, look, next_look_s
from tollgate.compare.model import Blocks, Gate, GateSettings, Requests, Side

Ints = NDArray[np.int64]
Apply = Callable[[Callable, Iterable], Iterable]
#: When the first look is, and how far they are apart, in seconds of measuring.
Looks = tuple[float, float]
SEGMENT_S = 30
#: Of fewer recorded pairs of processes, a base's and a head's of a run, nothing is resampled.
FEWEST_PAIRS = 10


@dataclass(frozen=True, eq=False)
class Pool:
    """All recorded seconds of a condition. labels: of every run the same, each with the T seconds
    of all runs one after the other. lengths: int[R], seconds of each run."""

    labels: tuple[Blocks, ...]
    lengths: Ints

    @classmethod
    def of(cls, runs: Sequence[Sequence[Blocks]]) -> Pool:
        """From each run's blocks. ValueError if runs differ in their labels, or there is none."""
        names = {tuple(blocks.label for blocks in run) for run in runs}
        if len(names) != 1:
            raise ValueError(f"runs to pool must have the same labels, not {sorted(names)}")
        labels = tuple(_joined(parts) for parts in zip(*runs, strict=True))
        return cls(labels, np.array([len(run[0].base.n) for run in runs]))

    @property
    def seconds(self) -> int:
        return int(self.lengths.sum())

    def chain(self, rng: np.random.Generator, seconds: int) -> Ints:
        """int[seconds]: recorded seconds, in segments of runs."""
        begins = np.cumsum(self.lengths) - self.lengths
        first = rng.integers(self.seconds, size=-(-seconds // SEGMENT_S))
        run = np.searchsorted(begins, first, side="right") - 1
        begin, length = begins[run], self.lengths[run]
        along = first - begin + np.arange(SEGMENT_S)[:, None]
        return (begin + along % length).T.ravel()[:seconds]

    def picked(self, seconds: Ints, swapped: NDArray[np.bool_]) -> list[Blocks]:
        """These seconds as a run; where `swapped`, base is head and head base."""
        return [_picked(blocks, seconds, swapped) for blocks in self.labels]


def gate_of(
    settings: GateSettings, looks: Looks, labels: Sequence[Blocks], until_s: float = math.inf
) -> Gate:
    """The gate after all of its looks until then."""
    gate = Gate(settings, has_cpu=labels[0].cpu is not None)
    while (at_s := next_look_s(gate, looks[1], looks[0])) is not None and at_s <= until_s:
        gate = look(gate, [each.first(int(at_s)) for each in labels], at_s)
    return gate


def resampled(
    pool: Pool,
    settings: GateSettings,
    looks: Looks,
    exchangeable: bool,
    rng: np.random.Generator,
) -> Gate:
    """The gate at the end of one resampled run."""
    most = int(settings.budget_s)
    seconds = pool.chain(rng, most)
    coins = rng.integers(2, size=-(-most // SEGMENT_S)).astype(bool) & exchangeable
    swapped = np.repeat(coins, SEGMENT_S)[:most]
    return close(gate_of(settings, looks, pool.picked(seconds, swapped)))


def sequences_of(
    pool: Pool,
    settings: GateSettings,
    looks: Looks,
    exchangeable: bool,
    many: int,
    seed: int,
    apply: Apply = map,
) -> list[Gate]:
    """So many gates of `resampled`, each of a seed of its own. apply: `map`, or what does the same
    in several processes."""
    draw = partial(resampled, pool, settings, looks, exchangeable)
    rngs = np.random.default_rng(seed).spawn(many)
    return list(apply(draw, rngs))


def _joined(parts: Sequence[Blocks]) -> Blocks:
    """One label of several runs, one after the other. Without rows and processes where a run has
    not seen all rows, for then the same row has another number there."""
    lengths = [len(it.base.n) for it in parts]
    begins = np.cumsum(lengths) - lengths
    sides = [_chained(side, begins) for side in zip(*(it.requests for it in parts), strict=True)]
    cpu = _cpu_of(parts)
    if len({len(np.union1d(*(side.row for side in it.requests))) for it in parts}) > 1:
        cpu = cpu and _of_sides(cpu)
        sides = [replace(it, row=np.zeros_like(it.row), process=None) for it in sides]
    values = np.unique(np.concatenate([it.values_ms for it in parts]))
    failed = (
        np.concatenate([side.failed for side in both])
        for both in zip(*((it.base, it.head) for it in parts), strict=True)
    )
    both = (Side.of(side, values, n) for side, n in zip(sides, failed, strict=True))
    blocks = Blocks(parts[0].label, values, *both, cpu=cpu)
    shares = [it.background_cpu for it in parts]
    if all(it is None for it in shares):
        return blocks
    known = (np.zeros(n) if it is None else it for it, n in zip(shares, lengths, strict=True))
    return blocks.beside(np.concatenate(list(known)))


def _of_sides(cpu: CpuTimes) -> CpuTimes:
    """Of all processes of a side together, where it is not known which of them answered."""
    used = [cpu.used_ms[it::2].sum(axis=0) for it in (0, 1)]
    return CpuTimes(np.stack(used), len(cpu.used_ms) // 2 * cpu.workers)


def _cpu_of(parts: Sequence[Blocks]) -> CpuTimes | None:
    """Of several runs one after the other; None where one has none, or other processes."""
    known = [it.cpu for it in parts if it.cpu is not None]
    if len(known) < len(parts) or len({(len(it.used_ms), it.workers) for it in known}) > 1:
        return None
    return CpuTimes(np.concatenate([it.used_ms for it in known], axis=1), known[0].workers)


def _chained(parts: Sequence[Requests], begins: Sequence[int]) -> Requests:
    """One after the other; of each part the second in which it begins."""
    block = np.concatenate([it.block + begin for it, begin in zip(parts, begins, strict=True)])
    names = ("row", "elapsed_ms") if parts[0].process is None else ("row", "elapsed_ms", "process")
    return Requests(block, *(np.concatenate([getattr(it, name) for it in parts]) for name in names))


def _picked(blocks: Blocks, seconds: Ints, swapped: NDArray[np.bool_]) -> Blocks:
    recorded = len(blocks.base.n)
    both = _chained(blocks.requests, (0, recorded))
    failed = np.concatenate([blocks.base.failed, blocks.head.failed])
    sides = []
    for place in (False, True):
        wanted = seconds + recorded * (swapped ^ place)
        begins, ends = (np.searchsorted(both.block, wanted, side=it) for it in ("left", "right"))
        n = ends - begins
        index = np.repeat(begins - np.cumsum(n) + n, n) + np.arange(n.sum())
        known = replace(both.where(index), block=np.repeat(np.arange(len(seconds)), n))
        sides.append(Side.of(known, blocks.values_ms, failed[wanted]))
    background_cpu = None if blocks.background_cpu is None else blocks.background_cpu[seconds]
    cpu = blocks.cpu
    if cpu is not None:
        used = cpu.used_ms[:, seconds]
        other_side = np.arange(len(used)) ^ 1
        cpu = replace(cpu, used_ms=np.where(swapped, used[other_side], used))
    return Blocks(blocks.label, blocks.values_ms, *sides, background_cpu, cpu=cpu)
