"""Taurus service `capacity`: searches each execution for the highest rate that keeps the limits.

JMeter reads a file of arrivals that grows while it runs, so that one JMeter sends all rates. Here
each trial is drawn, written down some moments before it is due, and measured once it is answered.

It stands behind `load`, which chooses the executions, and before `targets`.
"""

from __future__ import annotations

import secrets
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base import records
from tollgate.base.settings import Listed, Seconds, Weights, Word, configured, read
from tollgate.base.text import duration_text
from tollgate.capacity.arrivals import END, HEADER, NOTHING, row
from tollgate.capacity.asked import check_plan, limit_of, reads_arrivals
from tollgate.capacity.iterations import write_by_arrivals
from tollgate.capacity.model import CapacitySettings
from tollgate.capacity.record import CapacityRecord, arrivals_path, record_path
from tollgate.capacity.running import DEFAULTS, Search
from tollgate.criteria.grammar import CriterionError
from tollgate.install.tools import jmeter_home
from tollgate.plan import plugins
from tollgate.plan.iterations import Iteration, longest_of
from tollgate.plan.jmx import PlanError
from tollgate.service.shapes import pass_of
from tollgate.targets import lock
from tollgate.targets.pm2 import IDLE_SERVER
from tollgate.targets.scenarios import executions_of, given_properties, script_of
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.shared import (
    end_by_stdin,
    is_running,
    problems_as,
    property_of,
    samples_of,
    under_way,
)


@configured
class SearchSettings:
    """The highest rate that keeps the limits; without a budget none is searched for."""

    of: Weights = field(default_factory=dict)
    """What is asked: controllers of the plan, of which each arrival asks one at random, by their
    weights if they have any."""
    rate: Word | None = None
    """The property from which a plan that reads no file of arrivals has its rate: one pass through
    the thread group that reads it is asked, whatever `of` is."""
    limits: Listed = ()
    """What must not happen in a trial, such as p95>250ms."""
    budget: Seconds | None = None
    """Of an execution, behind the generator's own ceiling."""


class Capacity(OwnLoad):
    """Searches the executions one after the other."""

    name = "capacity"

    def __init__(self) -> None:
        super().__init__()
        self.idle: subprocess.Popen[str] | None = None
        self.idle_port: int | None = None
        self.records: dict[str, CapacityRecord] = {}
        self.passes: dict[str, Iteration] = {}
        self.searches: dict[object, Search] = {}

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be searched."""
        if self.settings.get("budget", None) is None:
            return
        self.refuse_reloads("a trial in which workers are replaced measures something else")
        with problems_as(TaurusConfigError, "capacity", CriterionError, ValueError):
            search = read(SearchSettings, self.settings, "modules.capacity")
            record = _record(search)
        executions = executions_of(self.engine.config)
        for name, scenario in executions:
            self._have_passes(name, scenario, search.rate, record.of)
        self.idle_port = lock.free_port(socket.SOCK_STREAM)
        for name, scenario in executions:
            self._give(name, scenario, record, self.idle_port)
        # Those on the capacity of executions that taurus.yml has and this run has not.
        absent = {str(name) for name in self.engine.config.get("scenarios")} - self.records.keys()
        self.leave_criteria_out(lambda crit: crit.is_of_capacity and crit.label in absent)
        under_way(self.engine).position = self.position
        self.log.info(
            "Capacity of %s within %s: %s for each of %s, behind the generator's own ceiling",
            ", ".join(dict.fromkeys(of for it in self.records.values() for of in it.of)),
            " and ".join(record.limits),
            duration_text(record.settings.budget_s),
            ", ".join(self.records),
        )

    def _have_passes(
        self, name: str, scenario: BetterDict, rate: str | None, targets: Sequence[str]
    ) -> None:
        """Check the plan, and give one that reads its rate from a property a copy that sends what
        the file of arrivals says."""
        properties = given_properties(self.engine.config, scenario)
        script = script_of(scenario).absolute()
        with problems_as(TaurusConfigError, "capacity", PlanError):
            if (composed := under_way(self.engine).composed) and composed.has_passes:
                self.passes[name] = longest_of(script, map(pass_of, targets), properties)
            if not rate or not script.is_file() or reads_arrivals(script):
                check_plan(script, targets)
                return
            # In a folder of its own, as an inline scenario is called like its plan's file.
            copy = record_path(self.folder, name).with_suffix("") / script.name
            copy.parent.mkdir(exist_ok=True)
            ends = NOTHING, END
            self.passes[name] = write_by_arrivals(script, str(rate), copy, properties, ends)
            if absent := plugins.missing([copy], jmeter_home()):
                raise PlanError(f"{script}: {plugins.advice(absent, jmeter_home())}")
        scenario.merge({"script": str(copy)})
        under_way(self.engine).executions[name].original = script

    def _give(self, name: str, scenario: BetterDict, record: CapacityRecord, port: int) -> None:
        """The plan gets its file of arrivals, and the run's folder the record."""
        path = arrivals_path(self.folder, name)
        if path.exists():
            raise TaurusConfigError(
                f"capacity: two executions would write {path.name}: rename one of them"
            )
        path.write_text(row(HEADER))
        properties = {"arrivals": str(path), "origin": 0, "nothing_port": port}
        scenario.merge({"properties": properties})
        whole = given_properties(self.engine.config, scenario)
        for each, default in DEFAULTS.items():
            property_of(whole, each, default, f"capacity: execution {name!r}")
        if name in self.passes:
            record = replace(record, of=self.passes[name].names or record.of, passes=True)
        records.write(record_path(self.folder, name), record)
        self.records[name] = record

    def startup(self) -> None:
        """Start the server that does nothing, once every module is prepared. Raises ToolError."""
        if self.idle_port is None:
            return
        for executor in self.engine.provisioning.executors:
            samples_of(self.engine, executor).keeps = True
        self.idle = subprocess.Popen(
            ["node", str(IDLE_SERVER), str(self.idle_port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.idle.stdout.readline().strip() != str(self.idle_port):
            raise ToolError(
                f"capacity: {IDLE_SERVER.name} did not start on port {self.idle_port}: is `node` "
                "in the PATH, and the port still free?"
            )

    def check(self) -> bool:
        """Go on with the search of the execution that runs."""
        for executor in self.engine.provisioning.executors if self.records else ():
            if is_running(executor) and Path(executor.kpi_jtl).exists():
                if executor not in self.searches:
                    self.searches[executor] = Search(
                        executor,
                        self.folder,
                        self.records[executor.label],
                        samples_of(self.engine, executor),
                        self.log,
                        iteration=self.passes.get(executor.label),
                    )
                self.searches[executor].go_on(time.time())
        return False

    def position(self, executor: object, _asked_s: float = 0, elapsed_s: float = 0) -> str | None:
        """Where the search stands, for `progress`."""
        search = self.searches.get(executor)
        return search.position(elapsed_s) if search else None

    def post_process(self) -> None:
        """Leave no server behind."""
        if self.idle:
            self.idle.stdout.close()
            end_by_stdin(self.idle)
            self.idle = None


def _record(search: SearchSettings) -> CapacityRecord:
    """Raises CriterionError and ValueError."""
    if not search.of:
        raise ValueError("modules.capacity.of is missing: name a target, such as sum, or a list")
    limits = tuple(limit_of(it) for it in search.limits)
    settings = CapacitySettings(limits, search.budget, seed=secrets.randbelow(1 << 31))
    targets, weights = tuple(search.of), tuple(search.of.values())
    return CapacityRecord(settings, search.limits, targets, weights=weights)
