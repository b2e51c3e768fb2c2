"""A search for capacity: its record, what came of each trial, and the answer.

capacity-NAME.json says what the execution NAME was asked to send, trial by trial, and is written
anew after each of them; capacity-NAME.csv has every arrival (arrivals.py). What came of them is in
the samples alone, so that a live run and `tollgate judge` find the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tollgate.base import records
from tollgate.base.text import did_you_mean
from tollgate.capacity.answer import result
from tollgate.capacity.growth import grew
from tollgate.capacity.model import Ask, CapacitySettings, Limit, Trial
from tollgate.capacity.search import ceiling_of
from tollgate.criteria.grammar import Criterion, CriterionError
from tollgate.gather.arrivals import TrialArrivals, read_arrivals
from tollgate.judge.facts import Searched
from tollgate.run.manifest import Manifest, ManifestError, digest
from tollgate.samples.layout import JtlError
from tollgate.samples.requests import require, trial_answers
from tollgate.samples.store import Store

KIND = "capacity"
#: Of an execution's name in that of a file: what it can't hold, and how many characters it has.
_NO_FILE, LONGEST = re.compile(r"[^\w.-]+"), 60
#: Variables of plans/capacity.jmx that stand beside each sample.
COLUMNS = ("trial", "arrival", "due")
HELP = f"set JMeter's property sample_variables to {','.join(COLUMNS)} as well"
#: Of the answers that are over a limit, or that may be, so many may be so by the generator alone.
GENERATORS_SHARE = 0.2
Columns = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class TrialRecord:
    """One trial that is over. trial: its number in the file of arrivals. began_ms: since the epoch.
    seconds: for which it was sent, fewer than asked where the service was overrun beyond doubt.
    generator_cpu: in cores."""

    trial: int
    ask: Ask
    began_ms: int
    seconds: float
    generator_cpu: float


@dataclass(frozen=True)
class CapacityRecord:
    """limits: as they were written. of: what was asked. trials: those that are over, those of the
    ceiling first. problem: what ended the search before its time, empty for nothing. is_over:
    whether the search came to its end. passes: whether an arrival is a pass through a user's thread
    group, which leaves a parent sample."""

    __pydantic_config__ = records.STRICT

    settings: CapacitySettings
    limits: tuple[str, ...]
    of: tuple[str, ...]
    trials: tuple[TrialRecord, ...] = ()
    problem: str = ""
    is_over: bool = False
    passes: bool = False

    @property
    def first_ms(self) -> int:
        """When the first trial of the service began; 0 before."""
        return next((it.began_ms for it in self.trials if it.ask.purpose != "ceiling"), 0)


def record_path(run: Path, execution: str) -> Path:
    """Of the record of an execution's search, which may be called anything."""
    return run / f"capacity-{_NO_FILE.sub('-', execution)[:LONGEST]}.json"


def arrivals_path(run: Path, execution: str) -> Path:
    """Of the file of its arrivals."""
    return record_path(run, execution).with_suffix(".csv")


def read_record(run: Path, execution: str) -> CapacityRecord | None:
    """The record of an execution's search; None where it is none. Raises ManifestError."""
    path = record_path(run, execution)
    if not path.exists():
        return None
    return records.read(path, CapacityRecord, ManifestError, "search for capacity")


def sealed(run: Path, execution: str) -> dict[str, str]:
    """The SHA-256 of the files of an execution's search, by their names; none where it is none."""
    paths = (record_path(run, execution), arrivals_path(run, execution))
    return {path.name: digest(path) for path in paths if path.is_file()}


def check_records(run: Path, manifest: Manifest) -> None:
    """Whether a run's folder has the searches that it should, as the run left them. Raises
    ManifestError."""
    for planned in manifest.executions:
        found = sealed(run, planned.name)
        if manifest.kind == KIND and not found:
            path = record_path(run, planned.name)
            raise ManifestError(f"{path} is missing: the planned load of {planned.name} is unknown")
        for name, known in planned.capacity_sha256.items():
            if found.get(name) != known:
                raise ManifestError(
                    f"{run / name} is missing, or has changed since the run ended: what was to be "
                    "sent can't be proven"
                )


def criteria_problems(criteria: Iterable[Criterion], manifest: Manifest) -> Iterator[str]:
    """A line for each criterion on a capacity that nobody searches for."""
    names = [each.name for each in manifest.executions]
    for it in criteria:
        if it.is_of_capacity and manifest.kind != KIND:
            problem = f"a run of kind {manifest.kind} searches for none"
            step = "run -capacity, or remove it"
            yield str(CriterionError(it.text, "subject", it.subject, problem, step))
        elif it.is_of_capacity and it.label not in names:
            step = did_you_mean(it.label, names)
            problem = "no execution is called that"
            yield str(CriterionError(it.text, "label", it.label, problem, step))


def trial_of(
    of: TrialRecord, arrivals: TrialArrivals, answers: Columns, record: CapacityRecord
) -> Trial:
    """What came of the arrivals of one of the record's trials. answers: `trial_answers` of it."""
    settings = record.settings
    joined = _join(arrivals, answers)
    is_ceiling, is_cut = of.ask.purpose == "ceiling", of.seconds < of.ask.seconds
    due_s = (arrivals.due_ms - of.began_ms) / 1000
    lead_s = 0.0 if is_ceiling else min(settings.lead_s, of.seconds / 2)
    judged = joined.where((due_s >= lead_s) | (due_s >= due_s[-1]))
    over = tuple(_over(judged.response_ms, judged.failed, each) for each in settings.limits)
    limits = zip(over, settings.limits, strict=True)
    is_kept = all(n <= each.share * len(judged) for n, each in limits)
    sent_ms = joined.start_ms if is_ceiling else arrivals.due_ms + joined.generator_ms
    p50, p95, p99 = (_quantile(judged.response_ms, share) for share in (0.5, 0.95, 0.99))
    is_services = is_kept if is_ceiling else _is_services(judged, settings.limits, over)
    return Trial(
        ask=of.ask,
        achieved=float((sent_ms < of.began_ms + 1000 * of.seconds).sum()) / of.seconds,
        n=len(judged),
        over=over,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        grew=is_cut or grew(due_s, joined.response_ms, of.seconds),
        generator_cpu=of.generator_cpu,
        sound=joined.is_whole and is_services,
        began_s=0.0 if is_ceiling else (of.began_ms - record.first_ms) / 1000,
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
        times = (self.start_ms, self.response_ms, self.failed, self.generator_ms)
        return _Joined(*(each[kept] for each in times), is_whole=self.is_whole)


def _join(arrivals: TrialArrivals, answers: Columns) -> _Joined:
    place = answers["arrival"].astype(np.int64) - arrivals.first
    known = (place >= 0) & (place < len(arrivals))
    once = len(np.unique(place[known])) == known.sum() == len(arrivals) and known.all()
    start, elapsed = (np.full(len(arrivals), np.nan) for _ in range(2))
    failed, free = np.ones(len(arrivals), bool), np.full(len(arrivals), -np.inf)
    at = place[known]
    start[at], elapsed[at] = answers["start_ms"][known], answers["elapsed_ms"][known]
    failed[at], free[at] = ~answers["ok"][known].astype(bool), _free_ms(answers)[known]
    late = start - np.maximum(arrivals.due_ms, free)
    response = start + elapsed - arrivals.due_ms
    return _Joined(
        start_ms=start,
        response_ms=np.where(np.isnan(response), np.inf, response),
        failed=failed,
        generator_ms=np.where(np.isnan(late), 0.0, np.maximum(late, 0.0)),
        is_whole=bool(once),
    )


def _free_ms(answers: Columns) -> np.ndarray:
    """When the thread that sent each sample had its last answer; -inf for its first one."""
    thread, start = answers["number"], answers["start_ms"].astype(float)
    order = np.lexsort((start, thread))
    ends = (start + answers["elapsed_ms"])[order]
    before = np.concatenate([[-np.inf], ends[:-1]])
    is_first = np.concatenate([[True], np.diff(thread[order]) != 0])
    free = np.empty(len(start))
    free[order] = np.where(is_first, -np.inf, before)
    return free


def _over(response_ms: np.ndarray, failed: np.ndarray, limit: Limit) -> int:
    if limit.threshold is None:
        return int(failed.sum())
    return int((failed | (response_ms > limit.threshold)).sum())


def _is_services(joined: _Joined, limits: Sequence[Limit], over: Sequence[int]) -> bool:
    """Whether the generator's lateness changes little of what is over the limits."""
    without_generator_lateness = joined.response_ms - joined.generator_ms
    for limit, n in zip(limits, over, strict=True):
        most = max(limit.share * len(without_generator_lateness), n)
        if n - _over(without_generator_lateness, joined.failed, limit) > max(
            1.0, GENERATORS_SHARE * most
        ):
            return False
    return True


def _quantile(values: np.ndarray, share: float) -> float:
    return float(np.quantile(values, share, method="inverted_cdf")) if len(values) else np.nan


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
        shares=tuple(each.share for each in record.settings.limits),
        thresholds_ms=tuple(each.threshold for each in record.settings.limits),
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
