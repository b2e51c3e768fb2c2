"""The criterion on CPU time for each answer, `cpu-per-request of worker>5ms`. Pure.

What all workers of the execution's targets have used, and all that they have started, over the
answers that its samples hold, failed ones among them. Both are counted in short pieces of time: the
interval is that of a ratio of sums whose pieces are not independent (mean_interval). What is under
way at the edge of a piece is counted in one and computed in both, which evens out from piece to
piece, so that pieces are some seconds long.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from tollgate.criteria.grammar import Criterion
from tollgate.judge.criterion import Judgement, rule_over_time
from tollgate.judge.facts import MeasuredExecution
from tollgate.judge.observe import Levels
from tollgate.judge.verdicts import INCONCLUSIVE, INVALID, PASS
from tollgate.stats.counts import Counts
from tollgate.stats.intervals import LEAST_KNOWN, MIN_SECONDS, mean_interval

#: Seconds of a piece of time at most, and how many pieces a shorter time has.
PIECE_S, PIECES = 5, 12


def judge_cpu_per_request(
    criterion: Criterion, execution: MeasuredExecution, levels: Levels
) -> Judgement:
    """The judgement on all workers together, which are there."""
    cpu, workers = execution.resources.cpu, execution.resources.workers
    if cpu is None:
        return Judgement(INVALID, "the run has no record of the workers' CPU time: run it again")
    from_s, to_s = execution.window
    services = [it.service for it in execution.labels.values() if not it.is_transaction]
    counts = Counts.merged(it.window(from_s, to_s) for it in services)
    if not counts.total:
        return Judgement(INVALID, "gave no samples, so nothing was judged")
    # A piece begins where a bin does.
    length = counts.width * max(1, int(min(PIECE_S, (to_s - from_s) / PIECES)) // counts.width)
    first_s = math.ceil(from_s)
    edges_s = np.arange(first_s, to_s + 1e-9, length)
    pids = np.concatenate([it.pid[it.pid > 0] for it in workers])
    used_ms = 1000 * cpu.of_all({*pids.tolist()}, edges_s)
    piece = np.searchsorted(edges_s, counts.second, side="right") - 1
    inside = (piece >= 0) & (piece < len(used_ms))
    n = np.bincount(piece[inside], counts.n[inside], len(used_ms))
    measured = np.flatnonzero(np.isfinite(used_ms))
    answers = int(n[measured].sum())
    if not answers or not len(pids):
        return Judgement(INVALID, "no CPU time of the workers is known while they answered")

    sums = used_ms[measured]
    interval = partial(mean_interval, measured, n[measured], sums, has_tail=False)
    estimate = levels.estimate(criterion, float(sums.sum() / answers), answers, interval)
    if len(measured) < MIN_SECONDS:
        reason = (
            f"known of {len(measured) * length} s: at least {MIN_SECONDS * length} s are needed"
        )
        return Judgement(INCONCLUSIVE, reason, estimate)
    watched_s = float(len(measured) * length)
    judgement = rule_over_time(criterion, estimate, watched_s, estimate.times_longer(criterion))
    if judgement.verdict != PASS:
        return judgement
    read, least = np.isin(pids, [*cpu.used_s]), f"at least {100 * LEAST_KNOWN:.0f} % are needed"
    if len(measured) < LEAST_KNOWN * len(used_ms):
        reason = f"known of {watched_s:.0f} of {len(used_ms) * length} s: {least}"
        return replace(judgement, verdict=INCONCLUSIVE, reason=reason)
    if read.mean() < LEAST_KNOWN:
        reason = f"known of the processes of {read.sum()} of {len(read)} looks: {least}"
        return replace(judgement, verdict=INCONCLUSIVE, reason=reason)
    return judgement
