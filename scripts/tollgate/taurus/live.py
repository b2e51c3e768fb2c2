"""Taurus service `live`: a page on this machine that shows what a run measures, while it measures,
to a person at a terminal. In CI and without a terminal no port is opened.

It stands behind all others: it shows what they decided, and at the end the page that `report` has
written. Neither load nor verdict depends on it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate.gather.context import ExecutionContext, contexts
from tollgate.gather.early_decisions import lag_of
from tollgate.live import view
from tollgate.live.state import LiveSamples
from tollgate.live.view import Section, Snapshot
from tollgate.report.pages.kit.names import readable
from tollgate.report.pages.kit.tones import tone
from tollgate.report.pages.live.page import to_html
from tollgate.report.pages.run import write as run_page
from tollgate.samples.layout import JtlError
from tollgate.taurus.capacity import Capacity
from tollgate.taurus.compare import Compare
from tollgate.taurus.progress import position_of
from tollgate.taurus.shared import RunUnderWay, is_running, samples_of, under_way, was_ended
from tollgate.taurus.stop_when_decided import StopWhenDecided
from tollgate.workers.latest import FILE, LatestLooks

if TYPE_CHECKING:
    from tollgate.live.server import LiveServer

Other = TypeVar("Other", bound=Service)

VARIABLE, OFF = "LIVE", "off"
#: What a CI system sets, and what it says there if it is none.
CI, NO_CI = "CI", ("", "0", "false")
#: Seconds between two readings while the page is open somewhere, and while it is not.
EVERY_S, UNSEEN_S = 2.0, 10.0


def is_wanted(environment: Mapping[str, str], on_terminal: bool) -> bool:
    """Whether there is a live page. Raises TaurusConfigError."""
    given = environment.get(VARIABLE, "")
    if given not in ("", OFF):
        raise TaurusConfigError(
            f"live: {VARIABLE} is {given!r}: write {OFF}, or unset it for a page where there is a "
            "terminal"
        )
    in_ci = environment.get(CI, "").lower() not in NO_CI
    return on_terminal and not given and not in_ci


class Live(Service):
    """Follows the samples of each execution, and publishes what they show."""

    def __init__(self) -> None:
        super().__init__()
        self.is_wanted = False
        self.server: LiveServer | None = None
        self.of: dict[Any, tuple[ExecutionContext, LiveSamples]] = {}
        self.looks: LatestLooks | None = None
        self.read_at = 0.0

    def prepare(self) -> None:
        """Know whether a page is wanted. Raises TaurusConfigError."""
        super().prepare()
        self.is_wanted = is_wanted(os.environ, bool(sys.stdout and sys.stdout.isatty()))

    def startup(self) -> None:
        """Open the page, and print its address. It is no line of the log, which stays with the
        run."""
        super().startup()
        known = under_way(self.engine)
        if self.is_wanted and known.manifest:
            with self._harmless():
                self._begin(Path(self.engine.artifacts_dir), known)
                print(f"Live: {self.server.url}", flush=True)

    def _begin(self, run: Path, known: RunUnderWay) -> None:
        # aiohttp takes a moment to import, from those alone who see a page.
        from tollgate.live.server import LiveServer

        self.looks = LatestLooks(run / FILE)
        executors, judged_with = self.engine.provisioning.executors, contexts(run, known.manifest)
        for executor, of in zip(executors, judged_with, strict=True):
            planned = of.planned
            given = of.plan, planned.warmup, planned.measured, known.remote is None
            compare = self._other(Compare)
            samples = LiveSamples(*given, compare.lag_s if compare else 0.0)
            self.of[executor] = of, samples
            samples_of(self.engine, executor).listen(samples.take, self._warn)
        began = known.manifest.started[:16].replace("T", " ")
        page, policy = to_html(readable(known.manifest.kind), began, self._headings())
        self.server = LiveServer(page, policy)
        self.server.start()
        self._publish("The load begins")

    def _headings(self) -> dict[str, str]:
        left_out = set()
        if not (compare := self._other(Compare)) or not compare.decider:
            left_out.add(view.COMPARISON)
        if not (capacity := self._other(Capacity)) or not capacity.records:
            left_out.add(view.CAPACITY)
        if not any(of.criteria for of, _ in self.of.values()):
            left_out.add(view.CRITERIA)
        return {name: text for name, text in view.HEADINGS.items() if name not in left_out}

    def _other(self, kind: type[Other]) -> Other | None:
        return next((it for it in self.engine.services if isinstance(it, kind)), None)

    def _warn(self, problem: Exception) -> None:
        said = str(problem) or repr(problem)
        self.log.warning("live: %s; load and verdict do not depend on it", said)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Whatever goes wrong ends the page, and nothing else."""
        try:
            yield
        except Exception as problem:
            self.log.debug("live: failed", exc_info=True)
            self._warn(problem)
            self._close()

    def _close(self) -> None:
        server, self.server = self.server, None
        if server:
            with suppress(Exception):  # its thread ends with the process in any case
                server.close()

    def check(self) -> bool:
        """Read what is new, and show it to those who look."""
        if self.server:
            is_seen, now = self.server.clients > 0, time.monotonic()
            if now - self.read_at >= (EVERY_S if is_seen else UNSEEN_S):
                self.read_at = now
                with self._harmless():
                    self._read()
                    if is_seen:
                        self._publish(self._sentence())
        return super().check()

    def shutdown(self) -> None:
        """The load has ended: show the last of it."""
        super().shutdown()
        if self.server:
            with self._harmless():
                self._know_ends()
                self._read()
                is_cut = self.engine.stopping_reason is not None
                for executor, (_, samples) in self.of.items():
                    samples.end(ran_out=not (is_cut or was_ended(executor)))
                self._publish("The load has ended, and the run is judged")

    def post_process(self) -> None:
        """Let the run's page take the place of this one."""
        super().post_process()
        if self.server:
            with self._harmless():
                self._end(Path(self.engine.artifacts_dir) / run_page.NAME)
            self._close()

    def _end(self, report: Path) -> None:
        judged = under_way(self.engine).judged
        said, answer, mark = "The run has ended without a verdict", "ended", "bad"
        if judged:
            said, answer = run_page.sentence(judged.verdict), judged.verdict.verdict
            mark = tone(answer)
        has_page = bool(judged) and report.is_file()
        last = Snapshot(said, answer, mark, self._sections(), True, has_page)
        self.server.end(last.to_json(), report if has_page else None)

    def _read(self) -> None:
        self.looks.advance()
        for executor in self.of:
            with suppress(JtlError):  # `verdict` says so
                samples_of(self.engine, executor).advance()

    def _know_ends(self) -> None:
        """Count nothing behind the moments of decisions."""
        began = [(of, it) for of, it in self.of.values() if it.newest_ms is not None]
        for of, samples in began:
            planned = of.planned
            if planned.decided_s is not None and planned.interim:
                samples.decided(planned.decided_s, lag_of(planned))
            elif stop := planned.stop:
                lag_s = stop.seen_s - planned.warmup - stop.measured_s
                samples.decided(stop.measured_s, lag_s)
        compare = self._other(Compare)
        if compare and compare.decider and compare.decider.is_decided:
            for _, samples in began:
                samples.decided(compare.decider.record.decided_s, compare.decider.lag_s)

    def _publish(self, sentence: str) -> None:
        self.server.publish(Snapshot(sentence, sections=self._sections()).to_json())

    def _sentence(self) -> str:
        running = [it for it in self.of if is_running(it)]
        positions = [f"{readable(it.label)}: {position_of(self.engine, it)}" for it in running]
        return "; ".join(positions) or "Between two executions"

    def _sections(self) -> list[Section]:
        self._know_ends()
        found: list[Section] = []
        for executor, (of, samples) in self.of.items():
            found.append(self._criteria(executor, of))
            if samples.newest_ms is not None:
                found += view.execution(executor.label, samples)
        found += [*self._comparison(), *self._trials(), view.workers(self.looks.of)]
        return view.joined(found)

    def _criteria(self, executor: Any, of: ExecutionContext) -> Section:
        deciding = self._other(StopWhenDecided)
        watch = deciding and deciding.watches.get(executor)
        if not watch:
            undecided = [each.text for each in of.criteria if each.fail]
            return view.criteria(executor.label, (), undecided, None)
        last, undecided = watch.decider.last, watch.decider.open
        results = last.results if last else ()
        at_s = last.course.looks_s[-1] if last else None
        return view.criteria(executor.label, results, undecided, at_s)

    def _comparison(self) -> Iterator[Section]:
        compare = self._other(Compare)
        if compare and compare.decider:
            yield view.comparison(compare.decider.gate)

    def _trials(self) -> Iterator[Section]:
        capacity = self._other(Capacity)
        for executor, search in capacity.searches.items() if capacity else ():
            at = position_of(self.engine, executor) if is_running(executor) else "ended"
            trials, limits = (*search.ceilings, *search.trials), search.record.settings.limits
            yield view.capacity(executor.label, at, trials, limits, search.record.limits)
