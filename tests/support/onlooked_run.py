"""Runs of the archive with a service of Taurus that looks on while their samples come once more."""

import logging
from types import SimpleNamespace

from support.growing_jtl import GrowingRun
from tollgate.record import manifest
from tollgate.report.pages.run import write as run_page
from tollgate.taurus.shared import RunUnderWay


class Executor(SimpleNamespace):
    __hash__ = object.__hash__


class OnlookedRun:
    """A run from its beginning to its verdict. known: what the service knows of it."""

    def __init__(self, folder, service):
        self.folder, self.service, self.grown = folder, service, GrowingRun(folder)
        self.record = self.grown.record
        self.known = RunUnderWay(manifest=self.record)
        executors = [
            Executor(
                label=it.planned.name,
                kpi_jtl=str(folder / it.planned.jtl),
                process=SimpleNamespace(poll=lambda: 0),
                is_over=it.planned.decided_s is not None,
                stop_requested_at=it.planned.stop_requested_at,
                load_ended_at=it.planned.load_ended_at,
            )
            for it in self.grown.of
        ]
        service.log = logging.getLogger(type(service).__name__.lower())
        service.engine = SimpleNamespace(
            artifacts_dir=str(folder),
            services=[service],
            provisioning=SimpleNamespace(executors=executors),
            run_under_way=self.known,
            stopping_reason=None,
        )

    def begin(self):
        self.service.prepare()
        self.service.startup()
        self.grown.samples = list(self.known.samples.values()) or self.grown.samples
        return self

    def go(self):
        """To its end and its verdict."""
        for _ in self.grown.grow(4):
            self.service.next_at = self.service.read_at = 0.0
            self.service.check()
        self.service.shutdown()
        manifest.write(self.record, self.folder)
        self.known.judged = run_page.judged(self.folder, self.record)
        run_page.write(self.folder, self.known.judged)
        self.service.post_process()
        return self
