"""Taurus reporter `passfail`, with one task left: to end a hopeless run early.

It watches the criteria that have a window of time, by Taurus's own and rougher figures, and ends
the run when one of them trips by seconds behind the warm-up. Criteria on workers and slopes, which
Taurus doesn't know, take no window, so that it never gets to see them. Whether the run has failed
is for `verdict` to say.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bzt import AutomatedShutdown, NormalShutdown
from bzt.engine import Reporter
from bzt.modules.aggregator import DataPoint
from bzt.modules.passfail import CriteriaProcessor, PassFailStatus

from tollgate.criteria import Criterion, parse_all
from tollgate.taurus.shared import property_of, under_way


class Measured(CriteriaProcessor):
    """Taurus's criteria, without the seconds of the warm-up: the verdict has no window in them."""

    def __init__(self, criteria: list, feeder: object, executors: Sequence[object]) -> None:
        """executors: of all executions that the feeder has samples of."""
        super().__init__(criteria, feeder)
        self.executors = executors
        self.first: dict[object, float] = {}  # the second of each one's first sample

    def aggregated_second(self, data: dict) -> None:
        """Pass on a second of samples if it is measured."""
        second = data[DataPoint.TIMESTAMP]
        # A second begins before what starts within it.
        begun = [it for it in self.executors if it.start_time and it.start_time < second + 1]
        if not begun:
            return
        executor = max(begun, key=lambda it: it.start_time)
        first = self.first.setdefault(executor, second)
        where = f"passfail: execution {executor.label!r}"
        if second >= first + property_of(executor.properties, "warmup", 0, where):
            super().aggregated_second(data)


class EarlyStop(PassFailStatus):
    """Ends the run at the first criterion that trips, and lets `verdict` know which and when."""

    def __init__(self) -> None:
        super().__init__()
        self.watched: list[tuple[Criterion, object]] = []

    def prepare(self) -> None:
        """Watch the criteria that can stop a run. verdict has checked all of them."""
        Reporter.prepare(self)
        if under_way(self.engine).is_shared:
            return  # its criteria are about the samples of all engines
        executors = self.engine.provisioning.executors
        self._watch(self.parameters.get("criteria", []), self.engine.aggregator, executors)
        for executor in executors:
            for source in (executor.execution, executor.get_scenario()):
                self._watch(source.get("criteria", []), executor.reader, [executor])

    def _watch(self, config: list, feeder: object, executors: Sequence[object]) -> None:
        # Taurus writes its own form of the criteria into the list that it is given.
        criteria = [each for each in parse_all(config) if each.can_stop_early]
        if criteria:
            taurus = [each.as_taurus() for each in criteria]
            processor = Measured(taurus, feeder, executors)
            processor.log = self.log
            self.processors.append(processor)
            self.watched += zip(criteria, processor.criteria, strict=True)

    def check(self) -> bool:
        """End the run without a failure of Taurus's making."""
        try:
            finished = super().check()
        except AutomatedShutdown:
            finished = True
        if finished:
            tripped = [ours for ours, taurus in self.watched if taurus.is_triggered and ours.stop]
            if tripped:
                run = under_way(self.engine)
                run.stopped_by, run.stopped_at = tripped[0].text, time.time()
            raise NormalShutdown
        return False

    def post_process(self) -> None:
        """Leave the judging to verdict."""
        Reporter.post_process(self)
