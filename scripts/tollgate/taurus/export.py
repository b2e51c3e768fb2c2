"""Taurus service `export`: sends what a run measures to a collector of OpenTelemetry, while it
measures, where OpenTelemetry's own variables ask for that. Neither load nor verdict depends on it.

It stands behind those that end executions, whose decisions it tells.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tollgate.export.events import Event, ended_early, started, verdict_events
from tollgate.export.wanted import Wanted, wanted
from tollgate.taurus.decision_loop import with_contexts
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.onlooker import Onlooker
from tollgate.taurus.shared import RunUnderWay, samples_of, under_way

if TYPE_CHECKING:
    from tollgate.export.live import LiveExport


class Export(Onlooker):
    """Reads the samples of each execution every few seconds, and has them sent."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Wanted()
        self.export: LiveExport | None = None
        self.next_at = 0.0
        self.reported: set[str] = set()

    def prepare(self) -> None:
        """Know whether an export is wanted."""
        self.wanted = wanted(os.environ)
        if self.wanted.problem:
            what = "no event is exported" if self.wanted.metrics else "nothing is exported"
            self.log.warning("export: %s: %s", what, self.wanted.problem)

    def startup(self) -> None:
        """Follow all executions, by what `verdict` has recorded."""
        run = under_way(self.engine)
        if self.wanted.metrics and run.manifest:
            with self.harmless():
                self._begin(run)

    def _begin(self, run: RunUnderWay) -> None:
        # OpenTelemetry takes a fifth of a second to import, from those alone who export.
        from tollgate.export.live import LiveExport
        from tollgate.export.otlp import Sender

        sender = Sender(with_logs=self.wanted.logs, warn=self.warn)
        folder = Path(self.engine.artifacts_dir)
        self.export = LiveExport(folder, run.manifest, sender, self.warn)
        for executor, context in with_contexts(self.engine):
            samples, ended_at = samples_of(self.engine, executor), partial(_load_ended_at, executor)
            self.export.follow(context, samples, run.remote is None, ended_at)
        self.export.offer([started(run.manifest, time.time())])

    def stop(self) -> None:
        """Send nothing more."""
        if self.export:
            self.export.stop()
        self.export = None

    def check(self) -> bool:
        """Send what is new, if it is time to."""
        if self.export and time.monotonic() >= self.next_at:
            self.next_at = time.monotonic() + self.wanted.every_s
            with self.harmless():
                self.read()
                self.export.offer(self._ended_early())
        return False

    def shutdown(self) -> None:
        """Send the last samples, and note how many of all are acknowledged: JMeter has ended, and
        the run is not judged yet."""
        if self.export:
            with self.harmless():
                self.read()
                executors = self.engine.provisioning.executors
                self.export.end([it.label for it in executors if self.was_cut(it)])
                rows = self.export.rows
                for planned in under_way(self.engine).manifest.executions:
                    planned.exported = rows[planned.name]

    def post_process(self) -> None:
        """Send the verdict."""
        if self.export:
            with self.harmless():
                events, judged = [*self._ended_early()], under_way(self.engine).judged
                if judged:
                    events += verdict_events(judged.verdict, judged.record, time.time())
                self.export.close(events, judged.verdict if judged else None)

    def _ended_early(self) -> Iterator[Event]:
        """Each execution once that a look or a criterion has ended."""
        for planned in under_way(self.engine).manifest.executions:
            is_ended = planned.decided_s is not None or planned.stopped_by or planned.stop
            if is_ended and planned.name not in self.reported:
                self.reported.add(planned.name)
                yield ended_early(planned, time.time())


def _load_ended_at(executor: InstalledJMeter) -> float | None:
    return executor.load_ended_at
