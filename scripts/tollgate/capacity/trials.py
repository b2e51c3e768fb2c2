"""What came of each trial of a search for capacity, and the answer of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tollgate.capacity.answer import result
from tollgate.capacity.arrivals import TrialArrivals, read_arrivals
from tollgate.capacity.growth import grew
from tollgate.capacity.model import Limit, Searched, Trial
from tollgate.capacity.record import CapacityRecord, TrialRecord, arrivals_path, read_record
from tollgate.capacity.search import ceiling_of
from tollgate.samples.layout import JtlError
from tollgate.samples.requests import require, trial_answers
from tollgate.samples.store import Store

#: Variables of plans/capacity.jmx that stand beside each sample.
COLUMNS = ("trial", "arrival", "due")
HELP = f"set JMeter's property sample_variables to {','.join(COLUMNS)} as well"
#: Of the answers that are over a limit, or that may be, so many may be so by the generator alone.
GENERATORS_SHARE = 0.2
QUANTILES = (0.5, 0.95, 0.99)
Columns = Mapping[str, np.ndarray]


def trial_of(
    trial: TrialRecord, arrivals: TrialArrivals, answers: Columns, record: CapacityRecord
) -> Trial:
    """What came of the arrivals of one of the record's trials. answers: `trial_answers` of it."""
    settings = record.settings
    joined = _join(arrivals, answers)
    is_ceiling, is_cut = trial.ask.purpose == "ceiling", trial.seconds < trial.ask.seconds
    due_s = (arrivals.due_ms - trial.began_ms) / 1000
    lead_s = 0.0 if is_ceiling else min(settings.lead_s, trial.seconds / 2)
    judged = joined.where((due_s >= lead_s) | (due_s >= due_s[-1]))
    over = tuple(_over(judged.response_ms, judged.failed, each) for each in settings.limits)
    limits = zip(over, settings.limits, strict=True)
    is_kept = all(n <= each.share * len(judged) for n, each in limits)
    sent_ms = joined.start_ms if is_ceiling else arrivals.due_ms + joined.generator_ms
    p50, p95, p99 = map(float, np.quantile(judged.response_ms, QUANTILES, method="inverted_cdf"))
    is_services = is_kept if is_ceiling else _is_services(judged, settings.limits, over)
    return Trial(
        ask=trial.ask,
        achieved=float((sent_ms < trial.began_ms + 1000 * trial.seconds).sum()) / trial.seconds,
        n=len(judged),
        over=over,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        grew=is_cut or grew(due_s, joined.response_ms, trial.seconds),
        generator_cpu=trial.generator_cpu,
        sound=joined.is_whole and is_services,
        began_s=0.0 if is_ceiling else (trial.began_ms - record.first_ms) / 1000,
    )


@dataclass(frozen=True)
class _Joined:
    """Float and bool[n], one for each arrival. start_ms: NaN where none was sent. response_ms: from
    when it was due; inf where no answer came. generator_ms: how late it was by the generator alone,
    though a thread was free. is_whole: whether each was sent exactly once, and nothing else was."""

    start_ms: np.ndarray
    response_ms: np.ndarray
    failed: np.ndarray
    generator_ms: np.ndarray
    is_whole: bool

    def __len__(self) -> int:
        return len(self.start_ms)

    def where(self, kept: np.ndarray) -> _Joined:
        """Those alone for which `kept` is true."""
        arrays = {name: it[kept] for name, it in vars(self).items() if name != "is_whole"}
        return replace(self, **arrays)


def _join(arrivals: TrialArrivals, answers: Columns) -> _Joined:
    place = answers["arrival"].astype(np.int64) - arrivals.first
    is_ours = (place >= 0) & (place < len(arrivals))
    once = len(np.unique(place[is_ours])) == is_ours.sum() == len(arrivals) and is_ours.all()
    start, elapsed = (np.full(len(arrivals), np.nan) for _ in range(2))
    failed, free = np.ones(len(arrivals), bool), np.full(len(arrivals), -np.inf)
    at = place[is_ours]
    start[at], elapsed[at] = answers["start_ms"][is_ours], answers["elapsed_ms"][is_ours]
    failed[at], free[at] = ~answers["ok"][is_ours].astype(bool), answers["free_ms"][is_ours]
    late = start - np.maximum(arrivals.due_ms, free)
    response = start + elapsed - arrivals.due_ms
    return _Joined(
        start_ms=start,
        response_ms=np.where(np.isnan(response), np.inf, response),
        failed=failed,
        generator_ms=np.where(np.isnan(late), 0.0, np.maximum(late, 0.0)),
        is_whole=bool(once),
    )


def _over(response_ms: np.ndarray, failed: np.ndarray, limit: Limit) -> int:
    if limit.threshold is None:
        return int(failed.sum())
    return int((failed | (response_ms > limit.threshold)).sum())


def _is_services(joined: _Joined, limits: Sequence[Limit], over: Sequence[int]) -> bool:
    """Whether the generator's lateness changes little of what is over the limits."""
    punctual_ms = joined.response_ms - joined.generator_ms
    for limit, n in zip(limits, over, strict=True):
        by_generator = n - _over(punctual_ms, joined.failed, limit)
        if by_generator > max(1.0, GENERATORS_SHARE * max(limit.share * len(joined), n)):
            return False
    return True


def gather(run: Path, execution: str, store: Store | None) -> Searched | None:
    """What an execution's search found, None where it is none. store: of its samples, None where
    they can't be read. Raises JtlError, OSError and ManifestError."""
    record = read_record(run, execution)
    if record is None:
        return None
    trials = _trials(run, execution, record, store) if store and record.trials else []
    ceilings = tuple(it for it in trials if it.ask.purpose == "ceiling")
    others = tuple(it for it in trials if it.ask.purpose != "ceiling")
    ceiling = ceiling_of(ceilings)
    return Searched(
        limits=record.limits,
        parsed_limits=record.settings.limits,
        of=record.of,
        ceiling=ceiling,
        ceiling_trials=ceilings,
        trials=others,
        result=result(record.settings, ceiling, others),
        is_over=record.is_over,
        problem=record.problem,
    )


def _trials(run: Path, execution: str, record: CapacityRecord, store: Store) -> list[Trial]:
    require(store, COLUMNS, HELP)
    arrivals = read_arrivals(arrivals_path(run, execution))
    found = []
    for each in record.trials:
        if each.trial not in arrivals:
            raise JtlError(store.path, f"trial {each.trial} has no arrivals in {execution}'s file")
        answers = trial_answers(store, each.trial, of_passes=record.passes)
        found.append(trial_of(each, arrivals[each.trial], answers, record))
    return found
