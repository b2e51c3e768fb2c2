"""Taurus reporter `passfail`, with one task left: to end a hopeless run early.

It judges the criteria that have a window of time while the samples come, as `verdict` does, and
ends the run when one of them fails. Whether the run has failed is for `verdict` to say, by the
samples that this has seen.
"""

from __future__ import annotations

import time
from pathlib import Path

from bzt import NormalShutdown
from bzt.engine import Reporter

from tollgate.gather.evidence import examined
from tollgate.gather.watch import StopWatch
from tollgate.samples.layout import JtlError
from tollgate.taurus.shared import under_way


class EarlyStop(Reporter):
    """Ends the run at the first criterion that fails, and lets `verdict` know which and when."""

    def __init__(self) -> None:
        super().__init__()
        self.watches: dict[object, StopWatch] = {}

    def startup(self) -> None:
        """Know what to judge: what `verdict` has recorded."""
        super().startup()
        known = under_way(self.engine)
        if known.is_shared or known.manifest is None:
            return  # its criteria are about the samples of all engines
        executors = self.engine.provisioning.executors
        all_examined = examined(Path(self.engine.artifacts_dir), known.manifest)
        for executor, each in zip(executors, all_examined, strict=True):
            if any(it.can_stop_early for it in each.criteria):
                self.watches[executor] = StopWatch(each, Path(executor.kpi_jtl))

    def check(self) -> bool:
        """End the run without a failure of Taurus's making."""
        for executor, watch in self.watches.items():
            process = executor.process
            is_decided = executor in under_way(self.engine).decided_s
            if process and process.poll() is None and not is_decided:
                self._look(executor, watch)
        return super().check()

    def _look(self, executor: object, watch: StopWatch) -> None:
        try:
            found = watch.look(executor.start_time)
        except JtlError as problem:  # `verdict` will say so; until then there is no harm in load
            self.log.warning("passfail: no look at the samples: %s", problem)
            return
        if found is None:
            return
        stop, failed = found
        self.log.info("%s: stopped: %s", executor.label, failed.line)
        known = under_way(self.engine)
        known.stopped_by, known.stopped_at = failed.criterion, time.time()
        known.stops[executor] = stop
        raise NormalShutdown
