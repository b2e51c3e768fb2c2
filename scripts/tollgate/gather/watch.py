"""The looks at an execution that is under way: when, at what, and what is still open."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tollgate.gather.interim import WRITTEN_S, Examined, Look
from tollgate.judge.verdicts import FAIL, PASS, CriterionResult
from tollgate.run.manifest import Stop
from tollgate.samples.layout import JtlError, peek_test_start
from tollgate.samples.store import Growing

#: Seconds until the file is read again where it was not as far.
AGAIN_S = 2.0
#: Seconds between two looks for a reason to stop, at least, and how many times as long as a look.
STOP_EVERY_S, STOP_PAUSE = 5.0, 20


class Watch:
    """Looks at the samples whenever a look is due, as the verdict will when the run has ended."""

    def __init__(self, examined: Examined, jtl: Path, now: Callable[[], float] = time.time) -> None:
        """now: seconds since the epoch."""
        self.examined = examined
        self.jtl = jtl
        self.samples = Growing(jtl)
        self.now = now
        self.course = examined.course
        self.last: Look | None = None
        self.not_before = 0.0

    def look(self, began: float, reloads: list[Mapping[str, Any]]) -> Look | None:
        """The look that is due, None where none is. began: when JMeter was started, in seconds
        since the epoch. reloads: as run.json has them, so far. Raises JtlError."""
        number, moments = len(self.course.looks_s), self.examined.moments
        if number >= len(moments) or self.now() < self.not_before:
            return None
        planned = self.examined.planned
        self.not_before = self.now() + AGAIN_S
        origin_ms = _origin_ms(self.jtl)
        if origin_ms is None:
            return None
        seen_s = planned.warmup + moments[number] + planned.interim.lag_s
        self.not_before = origin_ms / 1000 + seen_s + WRITTEN_S
        if self.now() < self.not_before:
            return None
        self.not_before = self.now() + planned.interim.every_s  # unless the file can be read
        here = replace(
            self.examined,
            planned=replace(planned, began=began),
            manifest=replace(self.examined.manifest, reloads=list(reloads)),
        )
        with self.samples.read() as store:
            look = here.look(store, self.course)
        self.not_before = self.now() + AGAIN_S
        if look is None:
            return None
        self.not_before = 0.0
        self.course, self.last = look.course, look
        return look

    @property
    def is_over(self) -> bool:
        """Whether the last look ends the execution."""
        looks_s = self.course.looks_s
        budget_s = self.examined.planned.interim.budget_s
        return self.last is not None and (self.last.settled or looks_s[-1] >= budget_s)

    @property
    def open(self) -> list[str]:
        """The criteria that the last look did not decide, all of them before it."""
        if self.last is None:
            return [each.text for each in self.examined.criteria if each.fail]
        return [
            each.criterion
            for each in self.last.results
            if each.decides and each.verdict not in (PASS, FAIL)
        ]


class StopWatch:
    """Judges the criteria that may stop a run by the samples so far, as the verdict does then."""

    def __init__(self, examined: Examined, jtl: Path, now: Callable[[], float] = time.time) -> None:
        """now: seconds since the epoch."""
        self.examined, self.jtl, self.now = examined, jtl, now
        self.samples = Growing(jtl)
        self.not_before = 0.0

    def look(self, began: float) -> tuple[Stop, CriterionResult] | None:
        """The criterion that stops the run, and where; None for none, and for none yet. began: when
        JMeter was started, in seconds since the epoch. Raises JtlError."""
        from_s = self.now()
        if from_s < self.not_before or _origin_ms(self.jtl) is None:
            return None
        here = replace(self.examined, planned=replace(self.examined.planned, began=began))
        with self.samples.read() as store:
            found = here.stop(store)
        to_s = self.now()
        self.not_before = to_s + max(STOP_EVERY_S, STOP_PAUSE * (to_s - from_s))
        return found


def _origin_ms(jtl: Path) -> int | None:
    """When JMeter began: its file has that with the first sample."""
    if not jtl.is_file() or not jtl.stat().st_size:
        return None
    try:
        return peek_test_start(jtl)
    except JtlError:
        return None


def outcome(look: Look) -> str:
    """`fails after 10 s: p95 of search = ...`, `every criterion is decided after 30 s`."""
    at_s = look.course.looks_s[-1]
    failed = [each for each in look.results if each.decides and each.verdict == FAIL]
    if failed:
        return f"fails after {at_s:g} s: {failed[0].line}"
    if look.settled:
        return f"every criterion is decided after {at_s:g} s"
    return f"not decided after {at_s:g} s, all of the budget"
