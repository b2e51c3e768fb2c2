"""The export of a run under way: what its samples and workers are so far, every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from tollgate.export.events import Event
from tollgate.export.metrics import Measured, decisions, limits, metrics_of
from tollgate.export.otel import resource_of, to_logs, to_metrics
from tollgate.export.otlp import Message, Sender
from tollgate.export.totals import Totals
from tollgate.gather.context import ExecutionContext
from tollgate.judge.verdicts import RunVerdict
from tollgate.record.manifest import Manifest
from tollgate.samples.growing import Growing
from tollgate.workers.latest import FILE, LatestLooks

#: Seconds that a run waits at its end for a collector, and for one that has not taken it then.
FLUSH_S, ONCE_MORE_S = 10.0, 2.0


class LiveExport:
    """rows: of each execution, in what the collector has acknowledged."""

    def __init__(
        self,
        run: Path,
        manifest: Manifest,
        sender: Sender,
        warn: Callable[[str], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        """warn: is called with what can't be exported. now: seconds since the epoch."""
        self._resource = resource_of(run, manifest)
        self._sender, self._warn, self._now = sender, warn, now
        self._began_s = now()
        self._totals: dict[str, Totals] = {}
        self._looks = LatestLooks(run / FILE)
        self._name, self._decided = run.resolve().name, list[Measured]()

    @property
    def rows(self) -> dict[str, int]:
        return {name: self._sender.acknowledged.get(name, 0) for name in self._totals}

    def follow(
        self,
        context: ExecutionContext,
        samples: Growing,
        is_of_one: bool = True,
        load_ended_at: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Count the samples of an execution from its beginning. is_of_one: whether one JMeter sends
        them. load_ended_at: see Totals."""
        name = context.planned.name
        self._decided += limits(name, context.criteria)
        totals = self._totals[name] = Totals(name, context.plan, is_of_one, load_ended_at)

        def warn(problem: Exception) -> None:
            self._warn(f"{name}: samples can't be exported: {problem!r}")

        samples.listen(totals.take, warn)

    def offer(self, events: Iterable[Event] = ()) -> None:
        """Have all that is known by now sent, and these events."""
        self._looks.advance()
        begun = [it for it in self._totals.values() if it.newest_ms is not None]
        metrics = to_metrics(
            metrics_of(self._name, begun, self._looks.of, self._decided),
            self._resource,
            self._began_s,
            self._now(),
        )
        rows = {name: it.rows for name, it in self._totals.items()}
        self._sender.offer(Message(metrics, rows), to_logs(events, self._resource))

    def end(self, cut_short: Collection[str] = ()) -> None:
        """All samples were read: have the last of them sent, and wait until they are taken.
        cut_short: the executions that ended before their time."""
        for name, totals in self._totals.items():
            totals.end(ran_out=name not in cut_short)
        self.offer()
        self._sender.flush(FLUSH_S)

    def close(self, events: Iterable[Event], verdict: RunVerdict | None = None) -> None:
        """Have these sent as well, with the verdict if there is one, and send nothing more."""
        self._decided += decisions(verdict) if verdict else ()
        self.offer(events)
        self._sender.flush(ONCE_MORE_S if self._sender.problem else FLUSH_S)
        self.stop()

    def stop(self) -> None:
        """Send nothing more."""
        self._sender.close()
