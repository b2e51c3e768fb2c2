"""What the services of the kinds that make a load of their own share: study, compare, capacity."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bzt import TaurusConfigError
from bzt.engine import Service
from bzt.utils import BetterDict

from tollgate.criteria.grammar import Criterion, is_about
from tollgate.targets.reloads import period_of
from tollgate.targets.scenarios import executions_of
from tollgate.taurus.jmeter import InstalledJMeter


class OwnLoad(Service):
    """name: of the service, in taurus.yml and in its messages."""

    name = ""

    @property
    def folder(self) -> Path:
        return Path(self.engine.artifacts_dir).resolve()

    @property
    def executor(self) -> InstalledJMeter:
        """The one executor of a study or a comparison."""
        return self.engine.provisioning.executors[0]

    def refuse_reloads(self, why: str) -> None:
        """Raises TaurusConfigError where workers are to be reloaded. why: that can't be."""
        if period_of(self.engine.config.get("modules").get("targets"), os.environ):
            raise TaurusConfigError(
                f"{self.name}: RELOAD_EVERY or modules.targets.reload-every is set, and {why}: "
                "leave reloads out"
            )

    def only_execution(self, why: str) -> tuple[str, BetterDict]:
        """Name and scenario of the one. why: there can't be several. Raises TaurusConfigError."""
        executions = executions_of(self.engine.config)
        if len(executions) != 1:
            names = ", ".join(name for name, _ in executions) or "none"
            raise TaurusConfigError(f"{self.name}: {why}, and this run has: {names}")
        return executions[0]

    def leave_criteria_out(self, is_left_out: Callable[[Criterion], bool]) -> None:
        """Take from the reporters' lists the criteria on what this run does not measure: they could
        not be judged. What can't be read stays: `verdict` says what is wrong with it."""
        for entry in self.engine.config.get("reporting", []):
            criteria = entry.get("criteria", [])
            if isinstance(criteria, list):
                criteria[:] = [it for it in criteria if not is_about(it, is_left_out, False)]
