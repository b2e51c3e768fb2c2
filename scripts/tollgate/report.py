"""Taurus service `report`: the run's folder as a person finds it.

Points reports/latest at the run when it begins; when it has ended, lets JMeter draw the HTML
dashboard of each execution and says what to open.
"""

from __future__ import annotations

from pathlib import Path

from bzt.engine import Service

from tollgate import dashboard


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
        """Draw one dashboard an execution, all at once, and name the paths to open."""
        super().post_process()
        run = Path(self.engine.artifacts_dir)
        drawn = [
            dashboard.Drawing(run, execution.label, Path(execution.kpi_jtl))
            for execution in self.engine.provisioning.executors
            if execution.kpi_jtl and Path(execution.kpi_jtl).exists()
        ]
        for drawing in drawn:
            problem = drawing.finish()
            if problem:
                self.log.warning("report: no dashboard of %s: %s", drawing.name, problem)
            else:
                self.log.info("Dashboard: %s", drawing.page)
