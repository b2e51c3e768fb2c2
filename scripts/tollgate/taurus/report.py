"""Taurus service `report`: the run's folder as a person finds it.

Points reports/latest at the run when it begins; when it has ended, shows the verdict, lets JMeter
draw the HTML dashboard of each execution that has not too many samples for that, writes index.html,
and says what to open. `latest`, the history and the list of all runs are kept up in reports/, and
elsewhere where there is a list already: a run may leave its files in any folder, and what stands
around that is not its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bzt import TaurusConfigError
from bzt.engine import Service

from tollgate.base import disk
from tollgate.base.paths import REPORTS
from tollgate.base.settings import SettingError, configured, read
from tollgate.gather.early_decisions import judged_until_ms
from tollgate.history import files as history
from tollgate.report import dashboard
from tollgate.report import write as outputs
from tollgate.report.pages.run import write as run_page
from tollgate.report.pages.runs import build as runs_page
from tollgate.targets import sides
from tollgate.taurus.shared import problems_as, under_way


@configured
class ReportSettings:
    """The run's folder as a person finds it."""

    dashboards: bool = True
    """Whether JMeter draws its own dashboard of each execution."""


class Report(Service):
    """Draws the dashboards and closes the run on the console."""

    draws = True

    def prepare(self) -> None:
        """Let reports/latest point here, so that a run can be followed while it goes on."""
        with problems_as(TaurusConfigError, "report", SettingError):
            self.draws = read(ReportSettings, self.settings, "modules.report").dashboards
        run = Path(self.engine.artifacts_dir)
        if not _holds_runs(run.parent):
            return
        latest = run.with_name(f".latest-{run.name}")
        latest.unlink(missing_ok=True)
        latest.symlink_to(run.name)
        latest.replace(run.with_name("latest"))

    def post_process(self) -> None:
        """Show the verdict, draw the dashboards, and say what to open."""
        run, under = Path(self.engine.artifacts_dir), under_way(self.engine)
        executors = self.engine.provisioning.executors
        jtls = {it.label: Path(it.kpi_jtl) for it in executors if getattr(it, "kpi_jtl", None)}
        drawn = jtls if self.draws else {}
        if drawn and disk.free(run) < disk.LEAST:
            drawn = {}
            self.log.warning("report: no dashboards: %s", disk.full(run))
        try:
            if under.judged:  # or else bzt says why the run was not
                outputs.show(under.judged.verdict)
            until_ms = judged_until_ms(run, under.manifest) if under.manifest and drawn else {}
            for name, problem in dashboard.draw_all(run, drawn, until_ms=until_ms).items():
                self.log.warning("report: no dashboard of %s: %s", name, problem)
            for name in (name for name, jtl in drawn.items() if not jtl.exists()):
                self.log.warning("report: no dashboard of %s: it has no samples", name)
        finally:  # also where the console is gone, or the dashboards are interrupted
            self._close(run, jtls)

    def _close(self, run: Path, names: Iterable[str]) -> None:
        """Write the page and say what to open. names: of the executions."""
        under, listed = under_way(self.engine), []
        if under.judged:
            with self._without(run_page.NAME):
                run_page.write(run, under.judged, under.study)
            if sides.VARIABLE not in os.environ:  # a bisect's commits follow no order of time
                with self._without("record for the history"):
                    history.add(run, under.judged, _holds_runs(run.parent))
        with self._without("list of runs"):
            if _holds_runs(run.parent):
                listed = [runs_page.write(run.parent)]
        pages = [run / run_page.NAME, *(run / "dashboard" / name / "index.html" for name in names)]
        pages += [run / "verdict.md", run / "junit.xml", *listed]
        shown = [os.path.relpath(page) for page in pages if page.exists()]
        if shown:
            print("\nOpen:", *shown, sep="\n  ", flush=True)

    @contextmanager
    def _without(self, page: str) -> Iterator[None]:
        """Log whatever goes wrong with a page: what the run found does not depend on it."""
        try:
            yield
        except Exception as problem:
            self.log.debug("report: no %s", page, exc_info=True)
            self.log.warning("report: no %s: %s", page, problem or repr(problem))


def _holds_runs(folder: Path) -> bool:
    """Whether `latest`, the history and the list of all runs are kept up in a folder."""
    if folder.resolve() == REPORTS.resolve():
        return True
    return runs_page.is_ours(folder / runs_page.NAME)
