"""One line every few seconds for the person who waits, instead of Taurus's full-screen console.

The console redraws a screen each second, on the machine that is being measured, and in a CI log
it prints every one of them.
"""

from __future__ import annotations

import time
from pathlib import Path

from bzt.engine import Service
from bzt.modules.aggregator import AggregatorListener, DataPoint, KPISet

#: Seconds between two lines, at least and at most; in between, a tenth of what has passed.
SHORTEST_PERIOD = 5.0
LONGEST_PERIOD = 300.0


class Progress(Service, AggregatorListener):
    """Says how far each execution is and how many requests it has sent."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = 0
        self.said_at = 0.0

    def prepare(self) -> None:
        """Listen to what Taurus reads from the JTL files."""
        super().prepare()
        self.engine.aggregator.add_listener(self)

    def aggregated_second(self, data: dict) -> None:
        """Count the failures of one more second."""
        self.failed += data[DataPoint.CURRENT][""][KPISet.FAILURES]

    def check(self) -> bool:
        """Say something if it is time to."""
        for executor in self.engine.provisioning.executors:
            runs = executor.process and executor.process.poll() is None
            if runs and time.monotonic() - self.said_at >= period(_elapsed(executor)):
                self.said_at = time.monotonic()
                self.log.info("%s", self._line(executor))
        return super().check()

    def _line(self, executor: object) -> str:
        asked = executor.properties.get("warmup", 0) + executor.properties.get("measured", 0)
        elapsed = min(_elapsed(executor), asked)
        jtl = Path(executor.kpi_jtl)
        if not (jtl.exists() and jtl.stat().st_size):  # JMeter writes in blocks
            return f"{executor.label}: JMeter has written nothing in {elapsed:.0f} s of {asked:.0f}"
        failed = f", {self.failed} failed so far" if self.failed else ""
        read = executor.reader.read_records
        return f"{executor.label}: {elapsed:.0f} of {asked:.0f} s, {read} requests read{failed}"


def period(elapsed_s: float) -> float:
    """Seconds between two lines about an execution that has gone on for so long."""
    return min(max(elapsed_s / 10, SHORTEST_PERIOD), LONGEST_PERIOD)


def _elapsed(executor: object) -> float:
    return time.time() - executor.start_time
