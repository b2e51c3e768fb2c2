"""What evidence.py gathers for the looks at an execution that may end early.

A look at second T of measuring is made of the requests that were due in [warmup, warmup + T), by
the rows that had ended lag_s later. What was due and had not ended by then is missing, and a PASS
must hold with each of them failed and as slow as its timeout. So the same file gives the same look
whenever it is read, and what JMeter gave up when the execution was ended is never judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollgate.criteria import Criterion
from tollgate.gather import labels as evidence_labels
from tollgate.gather import workers as evidence_workers
from tollgate.gather.waits import held_back
from tollgate.judge import (
    Course,
    CriterionResult,
    ExecutionFacts,
    JudgeSettings,
    MeasuredExecution,
    is_settled,
    noted,
    results_of,
)
from tollgate.plan import Plan
from tollgate.run import Execution as Planned
from tollgate.run import Manifest
from tollgate.samples import JtlError, Store, peek_test_start, read_jtl
from tollgate.schedule import replay_jtl
from tollgate.stats import Bins


@dataclass(frozen=True)
class Look:
    """One look: what was measured until then, what the criteria say of it, and the course with it.
    settled: whether the verdict of the execution is."""

    execution: MeasuredExecution
    results: tuple[CriterionResult, ...]
    course: Course
    settled: bool


@dataclass(frozen=True)
class Examined:
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
    def course(self) -> Course:
        """The one before any look."""
        looks = self.planned.looks
        ended = self.planned.decided_s is not None
        return Course(looks.least_s, looks.budget_s, ended=ended)

    @property
    def moments(self) -> Sequence[float]:
        """Of the looks that may end it, in seconds of measuring: at its own end it ends anyway."""
        length_s = self.planned.measured
        return [it for it in self.planned.looks.moments if not length_s or it < length_s]

    def look(self, store: Store, course: Course) -> Look | None:
        """The look behind those of the course that the moments have; None where the samples do not
        say when JMeter began. Raises JtlError and OSError."""
        course = course.at(self.moments[len(course.looks_s)])
        execution = self._measured(store, course)
        if execution is None:
            return None
        (results,) = results_of([execution], self.settings, self.family)
        settled = is_settled(self.criteria, results, course)
        return Look(execution, results, noted(course, results), settled)

    def replayed(self, store: Store, ended_s: float | None) -> tuple[Look | None, Course]:
        """The look that ended the execution, None where none did, and the course of all looks.
        ended_s: when the load ended, in seconds since the execution's start, None for unknown.
        Raises JtlError and OSError."""
        course = self.course
        planned, last_s = self.planned, self.planned.decided_s
        if last_s is None and ended_s is not None:
            last_s = ended_s - planned.warmup - planned.looks.lag_s
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

    def _measured(self, store: Store, course: Course) -> MeasuredExecution | None:
        planned, at_s = self.planned, course.looks_s[-1]
        to_s = planned.warmup + at_s
        origin_ms = peek_test_start(store.path, store.layout)
        if origin_ms is None:
            return None
        seen_s = to_s + planned.looks.lag_s
        found = MeasuredExecution(
            name=planned.name,
            labels={},
            criteria=self.criteria,
            warmup_s=planned.warmup,
            measured_s=at_s,
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
            waiting = held_back(labels, self.plan, store, jtl, (to_s, seen_s), self.bins, parents)
        watched = evidence_workers.watched(self.run, self.manifest, planned, jtl)
        return replace(
            found,
            labels=labels,
            unsent=(*replayed.unsent, *waiting),
            facts=replace(found.facts, workers=watched.counts),
            resources=watched.resources,
        )


def ended(execution: MeasuredExecution, look: Look) -> MeasuredExecution:
    """The execution, of all that its folder has, as it is judged at the look that ended it."""
    return replace(
        execution,
        labels=look.execution.labels,
        measured_s=look.execution.measured_s,
        unsent=look.execution.unsent,
        course=look.course,
    )
