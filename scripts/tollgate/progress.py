"""One line every few seconds for the person who waits, instead of Taurus's full-screen console.

The console redraws a screen each second, on the machine that is being measured, and in a CI log
it prints every one of them.
"""

from __future__ import annotations

import time
from pathlib import Path

from bzt.engine import Service
from bzt.modules.aggregator import AggregatorListener, DataPoint, KPISet

#: Seconds between two lines.
PERIOD = 5


class Progress(Service, AggregatorListener):
    """Says how far each execution is and how many requests it has sent."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = 0
        self.began: dict[object, float] = {}
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
        if time.monotonic() - self.said_at >= PERIOD:
            self.said_at = time.monotonic()
            for executor in self.engine.provisioning.executors:
                if executor.process and executor.process.poll() is None:
                    self.log.info("%s", self._line(executor))
        return super().check()

    def _line(self, executor: object) -> str:
        jtl = Path(executor.kpi_jtl)
        if not (jtl.exists() and jtl.stat().st_size):  # JMeter writes the header as it begins
            return f"{executor.label}: JMeter is starting"
        began = self.began.setdefault(executor, time.time())
        asked = executor.properties.get("warmup", 0) + executor.properties.get("measured", 0)
        elapsed = min(time.time() - began, asked)
        failed = f", {self.failed} failed so far" if self.failed else ""
        return (
            f"{executor.label}: {elapsed:.0f} of {asked:.0f} s, "
            f"{executor.reader.read_records} requests{failed}"
        )
