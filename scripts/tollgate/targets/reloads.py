"""The run's own timetable of reloads: `pm2 reload` of the app under load, every so many seconds.

While an execution's load runs, its app is reloaded at whole multiples of the period: from the end
of the warm-up, which nothing is judged of, until so shortly before the end of the load that the
reload would outlast it. One reload at a time; a time at which one still goes on is left out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from bzt import TaurusConfigError

from tollgate.base.settings import SecondsOrOff, SettingError, configured, read
from tollgate.targets import pm2

#: Seconds that one worker takes: to start, and for its idle connections (QUIET_MS, app/drain.js).
WORKER_S = 8.0


@configured
class TargetsSettings:
    """The apps of a run, under PM2."""

    reload_every: SecondsOrOff = None
    """How often `pm2 reload` replaces the workers of a cluster under load. RELOAD_EVERY goes before
    it."""


def period_of(settings: Mapping[str, Any], environment: Mapping[str, str]) -> float | None:
    """Seconds between two reloads, None for no reloads. Raises TaurusConfigError."""
    variables = {"reload-every": "RELOAD_EVERY"}
    try:
        found = read(TargetsSettings, settings, "modules.targets", environment, variables)
    except SettingError as problem:
        raise TaurusConfigError(f"targets: {problem}") from None
    return found.reload_every


@dataclass
class Timetable:
    """When the reloads of one execution are due, in seconds since its load's start: at multiples of
    the period from the end of the warm-up to last_s, infinite for a load without an end."""

    period: float
    warmup: float
    last_s: float
    reached: int = 0

    def is_due(self, second: float) -> bool:
        """Whether a moment of the timetable has come since the last time that this was asked."""
        number = math.floor(second / self.period)
        due = number > self.reached and self.warmup <= number * self.period <= self.last_s
        self.reached = max(self.reached, number)
        return due


class Reloads:
    """Reloads the app under load by the timetable, in a thread of its own, so that the run's own
    loop goes on meanwhile. `records` are run.json's."""

    def __init__(self, period: float, log: Any) -> None:
        self.period = period
        self.log = log
        self.records: list[dict[str, Any]] = []
        self._timetables: dict[str, Timetable] = {}
        self._thread = ThreadPoolExecutor(1, "reload")
        self._in_flight: Future[None] | None = None

    def expect(self, execution: str, app: pm2.App, warmup: float, length: float) -> None:
        """Draw up the timetable of an execution. length: seconds of its load, warm-up included.
        Raises TaurusConfigError if no reload fits in."""
        if app.exec_mode != "cluster":
            line = "targets: %s is not reloaded: it runs in %s mode, where a reload is a restart"
            self.log.info(line, app.name, app.exec_mode)
            return
        room = WORKER_S * app.instances
        if max(1, math.ceil(warmup / self.period)) * self.period > length - room:
            raise TaurusConfigError(
                f"targets: reload-every is {self.period:g} s, and no reload of {app.name!r} fits "
                f"into the {length:g} s of {execution!r}: one begins after {warmup:g} s of warm-up "
                f"and may take {room:g} s; measure for longer or reload more often"
            )
        self._timetables[execution] = Timetable(self.period, warmup, length - room)

    def tick(self, execution: str, app: pm2.App, second: float) -> None:
        """Begin the reload that is due at this second of the execution's load, if there is one."""
        timetable = self._timetables.get(execution)
        is_due = timetable and timetable.is_due(second)
        if is_due and (self._in_flight is None or self._in_flight.done()):
            self.log.info("Reloading %s, %.0f s into %s", app.name, second, execution)
            self._in_flight = self._thread.submit(self._one, app)

    def _one(self, app: pm2.App) -> None:
        record = {"app": app.name, "began": time.time(), "ended": None, "problem": ""}
        self.records.append(record)
        try:
            pm2.reload(app)
        except Exception as problem:  # a thread's error is not shown: it would be lost
            is_known = isinstance(problem, pm2.Pm2Error)
            record["problem"] = str(problem) if is_known else f"unexpected: {problem!r}"
            self.log.warning("targets: %s", record["problem"])
        record["ended"] = time.time()

    def finish(self) -> None:
        """Wait for the reload that is under way; none begins from now on."""
        self._timetables.clear()
        self._thread.shutdown()
