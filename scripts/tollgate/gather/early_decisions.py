"""What is decided by the samples of an execution that is under way: its verdict, or that it must be
stopped; and the same again when the run is judged.

A look at second T of measuring is made of the requests that were due in [warmup, warmup + T), by
the rows that had ended lag_s later. What was due and had not ended by then is missing, and a PASS
must hold with each of them failed and as slow as its timeout. Where all of them had certainly ended
a second later, nothing is waited for: more rows would change nothing. So the same file gives the
same look whenever it is read, and what JMeter gave up when the execution was ended is never judged.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.gather import workers
from tollgate.gather.context import ExecutionContext
from tollgate.gather.samples import ExecutionSamples, joined
from tollgate.gather.waits import waits_at_look
from tollgate.judge.facts import ExecutionFacts, InterimHistory, LabelData, MeasuredExecution
from tollgate.judge.judgement import results_of
from tollgate.judge.verdicts import FAIL, PASS, CriterionResult
from tollgate.judge.when_decided import is_settled, noted
from tollgate.record.manifest import Execution, Manifest, Stop
from tollgate.samples.counts import Jtl, read_jtl
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.store import Store
from tollgate.samples.threads import Key
from tollgate.schedule.model import Unanswered
from tollgate.workers.reading import TargetsWatched

#: Seconds between the end of an answer and its row in the file, at most, as a rule.
WRITTEN_S = 0.5
#: By how much JMeter sends a request before it is due, at most: it sleeps and stamps in whole
#: milliseconds.
EARLY_MS = 2.0
#: Seconds between two looks for a reason to stop, at least, and how many times as long as a look.
STOP_EVERY_S, STOP_PAUSE = 5.0, 20


@dataclass(frozen=True)
class Look:
    """One look: what was measured until then, what the criteria say of it, and the course with it.
    settled: whether the verdict of the execution is. lag_s: between its moment and the end of what
    it was made of."""

    execution: MeasuredExecution
    results: tuple[CriterionResult, ...]
    course: InterimHistory
    settled: bool
    lag_s: float


class InterimDecider:
    """Judges all criteria at each interim look, as the verdict will when the run has ended."""

    def __init__(self, context: ExecutionContext) -> None:
        interim, length_s = context.planned.interim, context.planned.measured
        if interim is None:
            raise ValueError(f"{context.planned.name} is looked at once, at its end")
        self.context, self.interim = context, interim
        self.every_s = interim.every_s
        ended = context.planned.decided_s is not None
        self.course = InterimHistory(interim.least_s, interim.budget_s, ended=ended)
        self.last: Look | None = None
        self._lags_s = [*interim.lags_s]
        # Of the looks that may end it, in seconds of measuring: at its own end it ends anyway.
        self._moments = [it for it in interim.moments if not length_s or it < length_s]

    @property
    def next_s(self) -> float:
        """The next look, in seconds of measuring; inf for none."""
        number = len(self.course.looks_s)
        return self._moments[number] if number < len(self._moments) else math.inf

    @property
    def lag_s(self) -> float:
        """How long the next look waits for answers."""
        return self._lags_s[0]

    def _seen_s(self, at_s: float) -> float:
        """When what a look is made of had ended, in seconds since JMeter's start."""
        return self.context.planned.warmup + at_s + self.lag_s

    def due_at(self, origin_s: float) -> float | None:
        seen_s = self._seen_s(self.next_s)
        return None if seen_s == math.inf else origin_s + seen_s + WRITTEN_S

    def look(self, store: Store) -> Look | None:
        """None also where an answer may be missing and is still waited for."""
        context, at_s = self.context, self.next_s
        course, stop = self.course.at(at_s), Stop(at_s, self._seen_s(at_s))
        waits = len(self._lags_s) > 1
        execution = measured_until(context, store, stop, course, only_whole=waits)
        if execution is None:
            del self._lags_s[: int(waits)]
            return None
        (results,) = results_of([execution], context.settings, context.family)
        settled = is_settled(context.criteria, results, course)
        self.course = noted(course, results)
        self.last = Look(execution, results, self.course, settled, self.lag_s)
        self._lags_s = [*self.interim.lags_s]
        return self.last

    @property
    def is_over(self) -> bool:
        """Whether the last look ends the execution."""
        if self.last is None:
            return False
        return self.last.settled or self.course.looks_s[-1] >= self.interim.budget_s

    @property
    def open(self) -> list[str]:
        """The criteria that the last look did not decide, all of them before it."""
        if self.last is None:
            return [each.text for each in self.context.criteria if each.fail]
        return [
            each.criterion
            for each in self.last.results
            if each.decides and each.verdict not in (PASS, FAIL)
        ]


def outcome(look: Look) -> str:
    """`fails after 10 s: p95 of search = ...`, `every criterion is decided after 30 s`."""
    at_s = look.course.looks_s[-1]
    failed = [each for each in look.results if each.decides and each.verdict == FAIL]
    if failed:
        return f"fails after {at_s:g} s: {failed[0].line}"
    if look.settled:
        return f"every criterion is decided after {at_s:g} s"
    return f"not decided after {at_s:g} s, all of the budget"


def ended_by_look(
    context: ExecutionContext, store: Store, jtl: Jtl
) -> tuple[MeasuredExecution | None, InterimHistory | None]:
    """What was measured until a look or a stop ended the execution, None where neither did, and
    the course of all looks, None where there is none. Raises JtlError and OSError."""
    planned = context.planned
    execution, course = _looks_again(context, store, jtl) if planned.interim else (None, None)
    if stop := planned.stop:
        course = course and course.at(max(stop.measured_s, *course.looks_s, 0.0))
        execution = measured_until(context, store, stop, course)
    return execution, course


def _looks_again(
    context: ExecutionContext, store: Store, jtl: Jtl
) -> tuple[MeasuredExecution | None, InterimHistory]:
    """Of the looks alone."""
    planned, decider = context.planned, InterimDecider(context)
    ended_s = math.inf if planned.ended is None else planned.ended - jtl.origin_ms / 1000
    last_s = ended_s - planned.warmup - decider.interim.lag_s
    if planned.decided_s is not None:
        last_s = planned.decided_s
    while decider.next_s < math.inf and decider.next_s <= last_s:
        at_s, look = decider.next_s, decider.look(store) or decider.look(store)
        if look is None:
            break
        if look.settled or at_s == planned.decided_s:
            return replace(look.execution, course=look.course), look.course
    return None, decider.course


class StopDecider:
    """Judges the criteria that may stop a run by the samples so far, as the verdict does then."""

    every_s = STOP_EVERY_S

    def __init__(self, context: ExecutionContext, now: Callable[[], float] = time.time) -> None:
        """now: seconds since the epoch."""
        self.context, self.now = context, now
        self._asked_at = self._next_at = 0.0

    def due_at(self, _origin_s: float) -> float:
        self._asked_at = self.now()
        return self._next_at

    def look(self, store: Store) -> tuple[Stop, CriterionResult] | None:
        """The criterion that stops the run, and where."""
        found = find_stop(self.context, store)
        to_s = self.now()
        self._next_at = to_s + max(STOP_EVERY_S, STOP_PAUSE * (to_s - self._asked_at))
        return found


def find_stop(context: ExecutionContext, store: Store) -> tuple[Stop, CriterionResult] | None:
    """The first criterion that stops the run by the samples so far, and what of them shows it. What
    was sent so late that the slowest answer so far would not have come is left out."""
    origin_ms = peek_test_start(store.path, store.layout)
    query = "SELECT max(start_ms + elapsed_ms), max(elapsed_ms) FROM samples"
    ((last_ms, slowest_ms),) = store.rows(query)
    if origin_ms is None or last_ms is None:
        return None
    planned, seen_s = context.planned, (last_ms - origin_ms) / 1000 - WRITTEN_S
    due_s = math.floor(seen_s - slowest_ms / 1000 - planned.warmup)
    stop = Stop(float(max(0, min(due_s, planned.measured or due_s))), max(0.0, seen_s))
    criteria = tuple(it for it in context.criteria if it.can_stop_early)
    execution = measured_until(replace(context, criteria=criteria), store, stop)
    if execution is None:
        return None
    (results,) = results_of([execution], context.settings)
    return next(((stop, it) for it in results if it.verdict == FAIL), None)


def _is_whole(samples: ExecutionSamples, to_s: float) -> bool:
    """Whether all that was due until then has certainly ended: each request follows a schedule, and
    as many have begun by then as were due. None of those can be of a later arrival, for none is
    sent more than EARLY_MS before it is due."""
    replayed, origin_ms = samples.replayed, samples.jtl.origin_ms
    if replayed.closed or replayed.problems or replayed.steps or samples.jtl.transactions:
        return False
    begun = "SELECT count(*) FROM samples WHERE start_ms < ?"
    ((sent,),) = samples.store.rows(begun, [origin_ms + to_s * 1000 - EARLY_MS])
    intended = sum(it.intended for it in replayed.facts)
    return bool(sent == intended == sum(it.sent for it in replayed.facts))


def measured_until(
    context: ExecutionContext,
    store: Store,
    stop: Stop,
    course: InterimHistory | None = None,
    only_whole: bool = False,
) -> MeasuredExecution | None:
    """What was measured until a look or a stop, None where the samples do not say when JMeter
    began. only_whole: None also where an answer to what was due may be missing. Raises JtlError and
    OSError."""
    planned = context.planned
    to_s = planned.warmup + stop.measured_s
    origin_ms = peek_test_start(store.path, store.layout)
    if origin_ms is None:
        return None
    labels: dict[Key, LabelData] = {}
    unanswered: tuple[Unanswered, ...] = ()
    targets = TargetsWatched()
    with store.until(origin_ms + round(stop.seen_s * 1000)):
        try:
            jtl = read_jtl(store, bins=context.bins)
        except JtlError:  # no sample has ended yet
            if only_whole:
                return None
        else:
            samples = joined(context, store, jtl, to_s)
            if only_whole and not _is_whole(samples, to_s):
                return None
            labels = samples.labels
            waiting = waits_at_look(samples, to_s, stop.seen_s)
            unanswered = (*samples.replayed.unanswered, *waiting)
            targets = workers.watched(context, jtl, context.criteria)
    return MeasuredExecution(
        name=planned.name,
        labels=labels,
        criteria=context.criteria,
        warmup_s=planned.warmup,
        measured_s=stop.measured_s,
        facts=ExecutionFacts(ended_s=to_s, workers=targets.counts),
        resources=targets.resources,
        course=course,
        unanswered=unanswered,
    )


def lag_of(planned: Execution) -> float:
    """Of an execution that a look has ended: between its moment and the end of what it was made
    of."""
    if planned.decided_lag_s is not None:
        return planned.decided_lag_s
    return planned.interim.lag_s if planned.interim else 0.0


def judged_until_ms(run: Path, record: Manifest) -> dict[str, int]:
    """Of each execution that a look or a criterion has ended, up to when its samples are judged, in
    epoch ms: what came later may have been cut off by that end. Raises JtlError."""
    until_ms = {}
    for planned in record.executions:
        seen_s = planned.stop.seen_s if planned.stop else None
        if planned.decided_s is not None and planned.interim is not None:
            seen_s = planned.warmup + planned.decided_s + lag_of(planned)
        if seen_s is not None:
            origin_ms = peek_test_start(run / planned.jtl)
            if origin_ms is not None:
                until_ms[planned.name] = origin_ms + round(seen_s * 1000)
    return until_ms
