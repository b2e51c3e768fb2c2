"""The export of a run that has ended, with the times at which it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tollgate.base.text import UserError
from tollgate.export.metrics import Metric, decisions, limits, metrics_of
from tollgate.export.totals import Totals
from tollgate.gather.context import contexts
from tollgate.gather.early_decisions import judged_until_ms
from tollgate.judge.verdicts import RunVerdict
from tollgate.record.manifest import Execution, Manifest, check_seal
from tollgate.samples.store import Store, open_store
from tollgate.workers.latest import FILE, LatestLooks, Looks

#: Seconds between two points, at least; points of an execution, at most.
SHORTEST_S, MOST_POINTS = 5.0, 200


@dataclass(frozen=True)
class Moment:
    """at_s: seconds since the epoch. rows: of each execution, until then."""

    at_s: float
    metrics: Sequence[Metric]
    rows: dict[str, int]


class Finished:
    """A run's samples, one piece of time after the other. began_s: when the first execution did, in
    seconds since the epoch. of: rows of each execution's JTL."""

    def __init__(self, run: Path, manifest: Manifest) -> None:
        """Raises UserError for a run without samples, and for one of several engines."""
        if manifest.engines:
            folders = ", ".join(str(run / it["folder"]) for it in manifest.engines)
            raise UserError(f"{run} is of several engines: export each of them: {folders}")
        self._run, self._manifest = run, manifest
        self._of = [it for it in contexts(run, manifest) if it.planned.sha256]
        if not self._of:
            raise UserError(f"{run} has no samples to export")
        self._looks = _Looks(run / FILE)
        self._judged_until_ms = judged_until_ms(run, manifest)
        self.began_s = min(each.planned.began or 0.0 for each in self._of)
        self.of: dict[str, int] = {}

    def moments(self, verdict: RunVerdict) -> Iterator[Moment]:
        """All points in order, the last with the verdict; an execution that is over keeps its last.
        Raises JtlError and ManifestError."""
        name, at_s, done = self._run.resolve().name, 0.0, list[Totals]()
        decided = [it for of in self._of for it in limits(of.planned.name, of.criteria)]
        for of in self._of:
            check_seal(of.planned, self._run)
            ended_at = partial(self._load_ended_at, of.planned)
            totals = Totals(of.planned.name, of.plan, load_ended_at=ended_at)
            with ExitStack() as opened:
                store = opened.enter_context(open_store(self._run / of.planned.jtl))
                for at_s in self._counted(totals, store, not self._was_cut_short(of.planned)):
                    looks = self._looks.until(at_s)
                    metrics = metrics_of(name, [*done, totals], looks, decided)
                    yield Moment(at_s, metrics, {it.name: it.rows for it in (*done, totals)})
            done.append(totals)
        if at_s:
            at_s = max(at_s + 0.001, *(of.planned.ended or 0.0 for of in self._of))
            decided += decisions(verdict)
            metrics = metrics_of(name, done, self._looks.until(at_s), decided)
            yield Moment(at_s, metrics, {it.name: it.rows for it in done})

    def _was_cut_short(self, planned: Execution) -> bool:
        run = self._manifest
        ends = planned.decided_s, planned.stop, planned.stopped_by, planned.stop_requested_at
        return run.interrupted or bool(run.stopped_by) or any(it is not None for it in ends)

    def _load_ended_at(self, planned: Execution) -> float | None:
        """Earlier versions recorded it of the kind `plan` alone: of others, what was judged."""
        until_ms = self._judged_until_ms.get(planned.name)
        return planned.load_ended_at or planned.stop_requested_at or (until_ms and until_ms / 1000)

    def _counted(self, totals: Totals, store: Store, ran_out: bool) -> Iterator[float]:
        """Count the samples of one execution, and say at each point when it is."""
        ((rows, first_ms, last_ms),) = store.rows(
            "SELECT count(*), min(start_ms), max(start_ms + elapsed_ms) FROM samples"
        )
        self.of[totals.name] = rows
        if not rows:
            return
        step_ms = max(1000 * SHORTEST_S, (last_ms - first_ms) / MOST_POINTS)
        from_ms = first_ms - 1
        while from_ms < last_ms:
            to_ms = min(round(from_ms + step_ms), last_ms)
            with store.until(to_ms, from_ms):
                ((new,),) = store.rows("SELECT count(*) FROM samples")
                if new:
                    totals.take(store)
            if to_ms == last_ms:
                totals.end(ran_out)
            if totals.rows:
                yield to_ms / 1000
            from_ms = to_ms


class _Looks(LatestLooks):
    """The last look at each worker until a moment; moments only go on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self._lines = deque(text.splitlines())

    def until(self, at_s: float) -> Looks:
        while self._lines and self.take(self._lines[0], 1000 * at_s):
            self._lines.popleft()
        return dict(self.of)
