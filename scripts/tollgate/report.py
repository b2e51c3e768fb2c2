"""Taurus service `report`: the run's folder as a person finds it.

Points reports/latest at the run when it begins; when it has ended, lets JMeter draw the HTML
dashboard of each execution that has not too many samples for that, and says what to open.
"""

from __future__ import annotations

import os
from pathlib import Path

from bzt.engine import Service

from tollgate import dashboard, outputs
from tollgate.study import page as study_page
from tollgate.verdict import Verdict


class Report(Service):
    """Draws the dashboards and closes the run on the console."""

    def prepare(self) -> None:
        """Let reports/latest point here, so that a run can be followed while it goes on."""
        super().prepare()
        run = Path(self.engine.artifacts_dir)
        latest = run.with_name(f".latest-{run.name}")
        latest.unlink(missing_ok=True)
        latest.symlink_to(run.name)
        latest.replace(run.with_name("latest"))

    def post_process(self) -> None:
        """Draw the dashboards, then show the verdict and what to open."""
        super().post_process()
        run = Path(self.engine.artifacts_dir)
        executors = self.engine.provisioning.executors
        jtls = {it.label: Path(it.kpi_jtl) for it in executors if getattr(it, "kpi_jtl", None)}
        for name, problem in dashboard.draw_all(run, jtls).items():
            self.log.warning("report: no dashboard of %s: %s", name, problem)
        for name in (name for name, jtl in jtls.items() if not jtl.exists()):
            self.log.warning("report: no dashboard of %s: it has no samples", name)
        for reporter in self.engine.reporters:
            if isinstance(reporter, Verdict) and reporter.verdict:
                outputs.show(reporter.verdict)
        pages = [run / study_page.NAME, *(run / "dashboard" / name / "index.html" for name in jtls)]
        pages += [run / "verdict.md", run / "junit.xml"]
        shown = [os.path.relpath(page) for page in pages if page.exists()]
        if shown:
            print("\nOpen:", *shown, sep="\n  ", flush=True)
