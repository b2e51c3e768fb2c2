"""Two gates as they are commonly built, on the samples that the real one had. Pure.

Each fails if the p95 of any label exceeds its limit by more than EXCESS.

(a) `stored_baseline`: an absolute limit, the p95 of base in an earlier run, plus 5 %. That is the
    kindest of stored baselines: at most an hour old, of the same commit on the same machine, beside
    the same kind of neighbour (baselines.py), and taken under the same load as the candidate.
(b) `one_after_the_other`: base first, head afterwards, as two runs of a benchmark after one another
    would do it. Taken from a run in which both went on all the time: the first half of its seconds
    gives base's samples, the second half gives head's. Kind as well: nothing was stopped, started
    or warmed up between the halves.

They have the time of a run, as long as the real gate needed to decide, but not all of its samples.
A benchmark of one side alone would send it every request, where here the coin left it one of two:
(a) has half of those that it would have, and (b) as well, of each half of the time. Where both
sides are the same code it makes no difference whose samples are taken, so that (b) takes those of
both in A/A runs, as many as it would have. Of a slowed head it can't.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tollgate.compare import Blocks, Side, percentile_ratio

METRIC = "p95"
EXCESS = 0.05


def stored_baseline(earlier: Sequence[Blocks], run: Sequence[Blocks]) -> bool:
    """Whether gate (a) fails this run; `earlier` is the run that the limits come from."""
    limits = {blocks.label: percentile_ratio(blocks, METRIC).base for blocks in earlier}
    return any(
        _exceeds(percentile_ratio(blocks, METRIC).head, limits.get(blocks.label, math.nan))
        for blocks in run
    )


def one_after_the_other(run: Sequence[Blocks], same_code: bool) -> bool:
    """Whether gate (b) fails this run. same_code: of an A/A run."""
    pooled = [_pooled(blocks) for blocks in run] if same_code else run
    found = [percentile_ratio(_halves(blocks), METRIC) for blocks in pooled]
    return any(_exceeds(each.head, each.base) for each in found)


def _exceeds(head_ms: float, base_ms: float) -> bool:
    """Never where one of them is not known."""
    return head_ms > base_ms * (1 + EXCESS)


def _pooled(blocks: Blocks) -> Blocks:
    """With the samples of both sides on each."""
    both = Side(blocks.base.counts + blocks.head.counts, blocks.base.failed + blocks.head.failed)
    return Blocks(blocks.label, blocks.values_ms, both, both)


def _halves(blocks: Blocks) -> Blocks:
    half = len(blocks.base.n) // 2
    rest = slice(len(blocks.head.n) - half, None)
    head = Side(blocks.head.counts[rest], blocks.head.failed[rest])
    return Blocks(blocks.label, blocks.values_ms, blocks.base.first(half), head)
