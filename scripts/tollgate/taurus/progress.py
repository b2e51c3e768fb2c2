"""One line every few seconds for the person who waits, instead of Taurus's full-screen console.

The console redraws a screen each second, on the machine that is being measured, and in a CI log
it prints every one of them.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from bzt.engine import Engine, Service

from tollgate.samples.layout import JtlError
from tollgate.samples.store import Store
from tollgate.taurus.shared import is_running, property_of, samples_of, under_way

#: Seconds between two lines, at least and at most; in between, a tenth of what has passed.
SHORTEST_PERIOD = 5.0
LONGEST_PERIOD = 300.0


class Count:
    """The requests of one execution that were read so far, and how many of them failed."""

    def __init__(self) -> None:
        self.read = self.failed = 0

    def take(self, new: Store) -> None:
        ((read, failed),) = new.rows("SELECT count(*), count(*) FILTER (NOT ok) FROM samples")
        self.read, self.failed = self.read + read, self.failed + failed


class Progress(Service):
    """Says how far each execution is and how many requests it has sent."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[object, Count] = {}
        self.said_at = 0.0

    def startup(self) -> None:
        """Listen to what is read of each JTL; no execution had one before."""
        for executor in self.engine.provisioning.executors:
            count = self.counts[executor] = Count()
            samples_of(self.engine, executor).listen(count.take)

    def check(self) -> bool:
        """Say something if it is time to."""
        for executor in self.engine.provisioning.executors:
            if is_running(executor) and time.monotonic() - self.said_at >= period(
                _elapsed(executor)
            ):
                self.said_at = time.monotonic()
                self.log.info("%s", self._line(executor))
        return False

    def _line(self, executor: object) -> str:
        at = position_of(self.engine, executor)
        jtl = Path(executor.kpi_jtl)
        if not (jtl.exists() and jtl.stat().st_size):  # JMeter writes in blocks
            return f"{executor.label}: JMeter has written nothing yet ({at})"
        # `verdict` says what is wrong with the file; until then there is no harm in load.
        with suppress(JtlError, OSError):
            samples_of(self.engine, executor).advance()
        count = self.counts[executor]
        failed = f", {count.failed} failed so far" if count.failed else ""
        return f"{executor.label}: {at}, {count.read} requests read{failed}"


def position_of(engine: Engine, executor: object) -> str:
    """How far an execution is: `23 of at most 240 s, open: p95 of sum`."""
    given, where = executor.properties, f"progress: execution {executor.label!r}"
    asked = sum(property_of(given, name, 0, where) for name in ("warmup", "measured"))
    elapsed = _elapsed(executor)
    # How long it takes may not be known: a plan can end by itself.
    at = f"{min(elapsed, asked):.0f} of {asked:.0f} s" if asked else f"{elapsed:.0f} s"
    position = under_way(engine).position
    return (position and position(executor, asked, elapsed)) or at


def period(elapsed_s: float) -> float:
    """Seconds between two lines about an execution that has gone on for so long."""
    return min(max(elapsed_s / 10, SHORTEST_PERIOD), LONGEST_PERIOD)


def _elapsed(executor: object) -> float:
    began = max(executor.start_time, executor.begins_at)
    return max(0.0, time.time() - began)
