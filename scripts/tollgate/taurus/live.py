"""Taurus service `live`: a page on this machine that shows what a run measures, while it measures,
to a person at a terminal. In CI and without a terminal no port is opened.

It stands behind all others: it shows what they decided, and at the end the page that `report` has
written. Neither load nor verdict depends on it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate.compare.watch import ComparisonDecider
from tollgate.gather.context import ExecutionContext
from tollgate.gather.early_decisions import lag_of
from tollgate.live import view
from tollgate.live.state import LiveSamples
from tollgate.live.view import Snapshot
from tollgate.report.pages.kit.names import readable
from tollgate.report.pages.kit.tones import tone
from tollgate.report.pages.live.page import to_html
from tollgate.report.pages.run import write as run_page
from tollgate.taurus.capacity import Capacity
from tollgate.taurus.compare import Compare
from tollgate.taurus.decision_loop import with_contexts
from tollgate.taurus.onlooker import Onlooker
from tollgate.taurus.progress import position_of
from tollgate.taurus.shared import RunUnderWay, is_running, samples_of, under_way
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


class Live(Onlooker):
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
        self.is_wanted = is_wanted(os.environ, bool(sys.stdout and sys.stdout.isatty()))

    def startup(self) -> None:
        """Open the page, and print its address. It is no line of the log, which stays with the
        run."""
        run = under_way(self.engine)
        if self.is_wanted and run.manifest:
            with self.harmless():
                self._begin(run)
                print(f"Live: {self.server.url}", flush=True)

    def _begin(self, run: RunUnderWay) -> None:
        # aiohttp takes a moment to import, from those alone who see a page.
        from tollgate.live.server import LiveServer

        self.looks = LatestLooks(Path(self.engine.artifacts_dir) / FILE)
        decider, follows = self._comparison(), run.remote is None
        lag_s = decider.lag_s if decider else 0.0
        for executor, context in with_contexts(self.engine):
            planned = context.planned
            samples = LiveSamples(context.plan, planned.warmup, planned.measured, follows, lag_s)
            self.of[executor] = context, samples
            samples_of(self.engine, executor).listen(samples.take, self.warn)
        began = run.manifest.started[:16].replace("T", " ")
        page, policy = to_html(readable(run.manifest.kind), began, self._headings())
        self.server = LiveServer(page, policy)
        self.server.start()
        self._publish("The load begins")

    def _headings(self) -> dict[str, str]:
        left_out = set()
        if not self._comparison():
            left_out.add(view.COMPARISON)
        if not (capacity := self._other(Capacity)) or not capacity.records:
            left_out.add(view.CAPACITY)
        if not any(of.criteria for of, _ in self.of.values()):
            left_out.add(view.CRITERIA)
        return {name: text for name, text in view.HEADINGS.items() if name not in left_out}

    def _other(self, kind: type[Other]) -> Other | None:
        return next((it for it in self.engine.services if isinstance(it, kind)), None)

    def _comparison(self) -> ComparisonDecider | None:
        compare = self._other(Compare)
        return compare and compare.decider

    def stop(self) -> None:
        """Close the page."""
        server, self.server = self.server, None
        if server:
            with suppress(Exception):  # its thread ends with the process in any case
                server.close()

    def read(self) -> None:
        self.looks.advance()
        super().read()

    def check(self) -> bool:
        """Read what is new, and show it to those who look."""
        if self.server:
            is_seen, now = self.server.clients > 0, time.monotonic()
            if now - self.read_at >= (EVERY_S if is_seen else UNSEEN_S):
                self.read_at = now
                with self.harmless():
                    self.read()
                    if is_seen:
                        self._publish(self._sentence())
        return False

    def shutdown(self) -> None:
        """The load has ended: show the last of it."""
        if self.server:
            with self.harmless():
                self._know_ends()
                self.read()
                for executor, (_, samples) in self.of.items():
                    samples.end(ran_out=not self.was_cut(executor))
                self._publish("The load has ended, and the run is judged")

    def post_process(self) -> None:
        """Let the run's page take the place of this one."""
        if self.server:
            with self.harmless():
                self._end(Path(self.engine.artifacts_dir) / run_page.NAME)
            self.stop()

    def _end(self, report: Path) -> None:
        judged = under_way(self.engine).judged
        sentence, answer, mark = "The run has ended without a verdict", "ended", "bad"
        if judged:
            sentence, answer = run_page.sentence(judged.verdict), judged.verdict.verdict
            mark = tone(answer)
        has_page = bool(judged) and report.is_file()
        last = Snapshot(sentence, answer, mark, self._sections(), True, has_page)
        self.server.end(last.to_json(), report if has_page else None)

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
        if (decider := self._comparison()) and decider.is_decided:
            for _, samples in began:
                samples.decided(decider.record.decided_s, decider.lag_s)

    def _publish(self, sentence: str) -> None:
        self.server.publish(Snapshot(sentence, sections=self._sections()).to_json())

    def _sentence(self) -> str:
        running = [it for it in self.of if is_running(it)]
        positions = [f"{readable(it.label)}: {position_of(self.engine, it)}" for it in running]
        return "; ".join(positions) or "Between two executions"

    def _sections(self) -> view.Sections:
        self._know_ends()
        sections: defaultdict[str, list[view.Shown]] = defaultdict(list)
        for executor, (context, samples) in self.of.items():
            sections[view.CRITERIA] += self._criteria(executor, context)
            if samples.newest_ms is not None:
                for name, shown in view.execution(executor.label, samples):
                    sections[name] += shown
        if decider := self._comparison():
            sections[view.COMPARISON] += view.comparison(decider.gate)
        if capacity := self._other(Capacity):
            for executor, search in capacity.searches.items():
                at = position_of(self.engine, executor) if is_running(executor) else "ended"
                trials = (*search.ceilings, *search.trials)
                sections[view.CAPACITY] += view.capacity(executor.label, at, trials, search.record)
        sections[view.WORKERS] += view.workers(self.looks.of)
        return sections

    def _criteria(self, executor: Any, context: ExecutionContext) -> list[view.Shown]:
        deciding = self._other(StopWhenDecided)
        watch = deciding and deciding.watches.get(executor)
        if not watch:
            undecided = [criterion.text for criterion in context.criteria if criterion.fail]
            return view.criteria(executor.label, (), undecided, None)
        last = watch.decider.last
        results = last.results if last else ()
        at_s = last.course.looks_s[-1] if last else None
        return view.criteria(executor.label, results, watch.decider.open, at_s)
