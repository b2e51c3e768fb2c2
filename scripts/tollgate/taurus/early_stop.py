"""Taurus reporter `passfail`, with one task left: to end a hopeless run early.

It judges the criteria that have a window of time while the samples come, as `verdict` does, and
ends the run when one of them fails. Whether the run has failed is for `verdict` to say, by the
samples that this has seen.
"""

from __future__ import annotations

import time

from bzt import NormalShutdown
from bzt.engine import Reporter

from tollgate.gather.context import ExecutionContext
from tollgate.gather.early_decisions import StopDecider
from tollgate.samples.watch import SampleWatch
from tollgate.targets.scenarios import kind_of
from tollgate.taurus.decision_loop import decisions, watches
from tollgate.taurus.shared import under_way


class EarlyStop(Reporter):
    """Ends the run, or the one of several plans, at the first criterion that fails, and lets
    `verdict` know which and when."""

    def __init__(self) -> None:
        super().__init__()
        self.watches: dict[object, SampleWatch] = {}

    def startup(self) -> None:
        """Know what to judge: what `verdict` has recorded."""
        run = under_way(self.engine)
        # The criteria of a share are about the samples of all engines.
        if run.manifest and not run.is_shared:
            self.watches = watches(self, _decider_of)

    def check(self) -> bool:
        """End the run without a failure of Taurus's making."""
        several = len(self.engine.provisioning.executors) > 1
        for executor, (stop, failed) in decisions(self, "passfail", self.watches):
            self.log.info("%s: stopped: %s", executor.label, failed.line)
            context = self.watches[executor].decider.context
            context.planned.stop = stop
            if several and kind_of(self.engine.config) == "plan":
                # Plans of a user's own have nothing to do with each other.
                context.planned.stopped_by = failed.criterion
                executor.stop_now()
                continue
            context.manifest.stopped_by, context.manifest.stopped_at = failed.criterion, time.time()
            raise NormalShutdown
        return False


def _decider_of(context: ExecutionContext) -> StopDecider | None:
    can_stop = any(criterion.can_stop_early for criterion in context.criteria)
    return StopDecider(context) if can_stop else None
