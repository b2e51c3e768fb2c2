"""Taurus reporter `passfail`, with one task left: to end a hopeless run early.

It watches the criteria that have a window of time, by Taurus's own and rougher figures, and ends
the run when one of them trips. Criteria on workers and slopes, which Taurus doesn't know, take no
window, so that it never gets to see them. Whether the run has failed is for `verdict` to say.
"""

from __future__ import annotations

import time

from bzt import AutomatedShutdown, NormalShutdown
from bzt.engine import Reporter
from bzt.modules.passfail import CriteriaProcessor, PassFailStatus

from tollgate.criteria import Criterion, parse_all
from tollgate.taurus.shared import under_way


class EarlyStop(PassFailStatus):
    """Ends the run at the first criterion that trips, and lets `verdict` know which and when."""

    def __init__(self) -> None:
        super().__init__()
        self.watched: list[tuple[Criterion, object]] = []

    def prepare(self) -> None:
        """Watch the criteria that can stop a run. verdict has checked all of them."""
        Reporter.prepare(self)
        self._watch(self.parameters.get("criteria", []), self.engine.aggregator)
        for executor in self.engine.provisioning.executors:
            for source in (executor.execution, executor.get_scenario()):
                self._watch(source.get("criteria", []), executor.reader)

    def _watch(self, config: list, feeder: object) -> None:
        # Taurus writes its own form of the criteria into the list that it is given.
        criteria = [each for each in parse_all(config) if each.can_stop_early]
        if criteria:
            processor = CriteriaProcessor([each.as_taurus() for each in criteria], feeder)
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
