"""What evidence.py gathers for the looks at an execution that may end early.

A look at second T of measuring is made of the requests that were due in [warmup, warmup + T), by
the rows that had ended lag_s later. What was due and had not ended by then is missing, and a PASS
must hold with each of them failed and as slow as its timeout. So the same file gives the same look
whenever it is read, and what JMeter gave up when the execution was ended is never judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.criteria.grammar import Criterion
from tollgate.gather import labels as evidence_labels
from tollgate.gather import workers as evidence_workers
from tollgate.gather.waits import omitted_requests
from tollgate.judge.facts import ExecutionFacts, InterimHistory, JudgeSettings, MeasuredExecution
from tollgate.judge.interim import is_settled, noted
from tollgate.judge.judgement import results_of
from tollgate.judge.verdicts import FAIL, CriterionResult
from tollgate.plan.model import Plan
from tollgate.record.manifest import Execution as Planned
from tollgate.record.manifest import Manifest, Stop
from tollgate.samples.counts import read_jtl
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.store import Store
from tollgate.schedule.replay import replay_jtl
from tollgate.stats.bins import Bins

#: Seconds between the end of an answer and its row in the file, at most, as a rule.
WRITTEN_S = 0.5


@dataclass(frozen=True)
class Look:
    """One look: what was measured until then, what the criteria say of it, and the course with it.
    settled: whether the verdict of the execution is."""

    execution: MeasuredExecution
    results: tuple[CriterionResult, ...]
    course: InterimHistory
    settled: bool


@dataclass(frozen=True)
class ExecutionContext:
    """An execution that may end early. family: how many estimates its run has."""

    run: Path
    manifest: Manifest
    planned: Planned
    plan: Plan
    criteria: tuple[Criterion, ...]
    settings: JudgeSettings
    family: int
    bins: Bins

    @property
    def course(self) -> InterimHistory:
        """The one before any look."""
        looks = self.planned.interim
        ended = self.planned.decided_s is not None
        return InterimHistory(looks.least_s, looks.budget_s, ended=ended)

    @property
    def moments(self) -> Sequence[float]:
        """Of the looks that may end it, in seconds of measuring: at its own end it ends anyway."""
        length_s = self.planned.measured
        return [it for it in self.planned.interim.moments if not length_s or it < length_s]

    def look(self, store: Store, course: InterimHistory) -> Look | None:
        """The look behind those of the course that the moments have; None where the samples do not
        say when JMeter began. Raises JtlError and OSError."""
        course = course.at(self.moments[len(course.looks_s)])
        at_s = course.looks_s[-1]
        seen_s = self.planned.warmup + at_s + self.planned.interim.lag_s
        execution = self.seen(store, Stop(at_s, seen_s), course)
        if execution is None:
            return None
        (results,) = results_of([execution], self.settings, self.family)
        settled = is_settled(self.criteria, results, course)
        return Look(execution, results, noted(course, results), settled)

    def replayed(self, store: Store, ended_s: float | None) -> tuple[Look | None, InterimHistory]:
        """The look that ended the execution, None where none did, and the course of all looks.
        ended_s: when the load ended, in seconds since the execution's start, None for unknown.
        Raises JtlError and OSError."""
        course = self.course
        planned, last_s = self.planned, self.planned.decided_s
        if last_s is None and ended_s is not None:
            last_s = ended_s - planned.warmup - planned.interim.lag_s
        for at_s in self.moments:
            if last_s is not None and at_s > last_s:
                break
            look = self.look(store, course)
            if look is None:
                break
            course = look.course
            if look.settled or at_s == planned.decided_s:
                return look, course
        return None, course

    def stop(self, store: Store) -> tuple[Stop, CriterionResult] | None:
        """The first criterion that stops the run by the samples so far, and what of them shows it.
        What was sent so late that the slowest answer so far would not have come is left out."""
        origin_ms = peek_test_start(store.path, store.layout)
        query = "SELECT max(start_ms + elapsed_ms), max(elapsed_ms) FROM samples"
        ((last_ms, slowest_ms),) = store.rows(query)
        if origin_ms is None or last_ms is None:
            return None
        planned, seen_s = self.planned, (last_ms - origin_ms) / 1000 - WRITTEN_S
        due_s = math.floor(seen_s - slowest_ms / 1000 - planned.warmup)
        stop = Stop(float(max(0, min(due_s, planned.measured or due_s))), max(0.0, seen_s))
        stopping = tuple(it for it in self.criteria if it.can_stop_early)
        execution = replace(self, criteria=stopping).seen(store, stop)
        (results,) = results_of([execution], self.settings)
        failed = [it for it in results if it.verdict == FAIL]
        return (stop, failed[0]) if failed else None

    def seen(
        self, store: Store, stop: Stop, course: InterimHistory | None = None
    ) -> MeasuredExecution | None:
        """What was measured until a look or a stop, None where the samples do not say when JMeter
        began. Raises OSError."""
        planned = self.planned
        to_s, seen_s = planned.warmup + stop.measured_s, stop.seen_s
        origin_ms = peek_test_start(store.path, store.layout)
        if origin_ms is None:
            return None
        found = MeasuredExecution(
            name=planned.name,
            labels={},
            criteria=self.criteria,
            warmup_s=planned.warmup,
            measured_s=stop.measured_s,
            facts=ExecutionFacts(ended_s=to_s),
            course=course,
        )
        with store.until(origin_ms + round(seen_s * 1000)):
            try:
                jtl = read_jtl(store, bins=self.bins)
            except JtlError:
                return found  # no sample has ended yet
            parents = evidence_labels.parent_samples(self.plan, jtl)
            replayed = replay_jtl(self.plan, store, jtl, planned.warmup, to_s, self.bins)
            labels = evidence_labels.labels_of(jtl, replayed, parents)
            waiting = omitted_requests(
                labels, self.plan, store, jtl, (to_s, seen_s), self.bins, parents
            )
        watched = evidence_workers.watched(self.run, self.manifest, planned, jtl)
        return replace(
            found,
            labels=labels,
            unanswered=(*replayed.unanswered, *waiting),
            facts=replace(found.facts, workers=watched.counts),
            resources=watched.resources,
        )


def ended(
    execution: MeasuredExecution, seen: MeasuredExecution, course: InterimHistory | None
) -> MeasuredExecution:
    """The execution, of all that its folder has, as it is judged at the look or stop that ended
    it."""
    return replace(
        execution,
        labels=seen.labels,
        measured_s=seen.measured_s,
        unanswered=seen.unanswered,
        course=course,
    )


def judged_until_ms(run: Path, record: Manifest) -> dict[str, int]:
    """Of each execution that a look or a criterion has ended, up to when its samples are judged, in
    epoch ms: what came later may have been cut off by that end. Raises JtlError."""
    found = {}
    for planned in record.executions:
        seen_s = planned.stop and planned.stop.seen_s
        if planned.decided_s is not None and planned.interim is not None:
            seen_s = planned.warmup + planned.decided_s + planned.interim.lag_s
        if seen_s is not None:
            origin_ms = peek_test_start(run / planned.jtl)
            found |= {} if origin_ms is None else {planned.name: origin_ms + round(seen_s * 1000)}
    return found
