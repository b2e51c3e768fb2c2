"""Taurus service `capacity`: searches each execution for the highest rate that keeps the limits.

Settings, under modules.capacity in taurus.yml; a kind that names no budget searches for nothing:

    of: sum                         what is asked, or a list of which each arrival asks one at
                                    random: controllers of the plan
    rate: NAME                      the property from which a plan of the user's own, which reads
                                    no file of arrivals, has its rate: one pass through the thread
                                    group that reads it is asked, whatever `of` is
    limits: [p95>250ms, fail>0.1%]  what must not happen in a trial
    budget: 5m                      of an execution, behind the generator's own ceiling

JMeter reads a file of arrivals that grows while it runs, so that one JMeter sends all rates. Here
each trial is drawn, written down some moments before it is due, and measured once it is answered.

It stands behind `load`, which chooses the executions, and before `targets`.
"""

from __future__ import annotations

import itertools
import os
import re
import secrets
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from bzt import TaurusConfigError, ToolError
from bzt.engine import Service

from tollgate.base import records
from tollgate.base.paths import jmeter_home
from tollgate.base.text import did_you_mean, duration_text
from tollgate.capacity.arrivals import END, HEADER, LONGEST_NAME, NOTHING, row
from tollgate.capacity.model import CapacitySettings, Limit
from tollgate.capacity.record import CapacityRecord, arrivals_path, record_path
from tollgate.compare.settings import SettingError, seconds_of
from tollgate.criteria.grammar import CriterionError, parse
from tollgate.plan import plugins
from tollgate.plan.iterations import Iteration, rates_of, write_by_arrivals
from tollgate.plan.jmx import PlanError
from tollgate.targets.pm2 import HOST
from tollgate.targets.reloads import period_of
from tollgate.targets.scenarios import given_properties, name_of, scenario_of
from tollgate.targets.tools import IDLE_SERVER
from tollgate.taurus.search import Search
from tollgate.taurus.shared import refuse_unknown, under_way

SETTINGS = ("of", "rate", "limits", "budget")


class Capacity(Service):
    """Searches the executions one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.idle: subprocess.Popen | None = None
        self.idle_port: int | None = None
        self.records: dict[str, CapacityRecord] = {}
        self.passes: dict[str, Iteration] = {}
        self.searches: dict[object, Search] = {}

    @property
    def folder(self) -> Path:
        return Path(self.engine.artifacts_dir).resolve()

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be searched."""
        super().prepare()
        refuse_unknown("capacity", self.settings, SETTINGS)
        if self.settings.get("budget", None) is None:
            return
        self._refuse()
        record = self._record()
        executions = self.engine.config.get("execution", [])
        rate = self.settings.get("rate", None)
        for each in executions:
            self._have_passes(each, rate, record.of)
        self.idle_port = free_port()
        for each in executions:
            self._give(each, record, self.idle_port)
        self._leave_criteria_out([name_of(each) for each in executions])
        under_way(self.engine).position = self.position
        lasts = duration_text(record.settings.budget_s)
        self.log.info(
            "Capacity of %s within %s: %s for each of %s, behind the generator's own ceiling",
            ", ".join(dict.fromkeys(of for it in self.records.values() for of in it.of)),
            " and ".join(record.limits),
            lasts,
            ", ".join(self.records),
        )

    def _refuse(self) -> None:
        timetable = self.engine.config.get("modules").get("targets").get("reload-every", None)
        if period_of(timetable, os.environ):
            raise TaurusConfigError(
                "capacity: RELOAD_EVERY or modules.targets.reload-every is set, and a trial in "
                "which workers are replaced measures something else: leave reloads out"
            )

    def _record(self) -> CapacityRecord:
        given = self.settings.get("limits", None) or []
        limits = given if isinstance(given, list) else [given]
        of = self.settings.get("of", None) or []
        names = of if isinstance(of, list) else [of]
        if not names or not all(isinstance(it, str) for it in names):
            raise TaurusConfigError(
                f"capacity: modules.capacity.of is {of!r}: name a target of the plan, such as sum, "
                "or a list of them"
            )
        try:
            settings = CapacitySettings(
                limits=tuple(limit_of(str(it)) for it in limits),
                budget_s=seconds_of("modules.capacity.budget", self.settings.get("budget")),
                seed=secrets.randbelow(1 << 31),
            )
        except (SettingError, CriterionError, ValueError) as problem:
            raise TaurusConfigError(f"capacity: {problem}") from None
        return CapacityRecord(settings, tuple(map(str, limits)), tuple(names))

    def _have_passes(self, execution: Mapping, rate: str | None, of: Sequence[str]) -> None:
        """Check the plan, and give one that reads its rate from a property a copy that sends what
        the file of arrivals says."""
        scenario, name = scenario_of(self.engine.config, execution), name_of(execution)
        given = given_properties(self.engine.config, scenario)
        script = Path(str(scenario.get("script", None) or "")).absolute()
        try:
            if not rate or not script.is_file() or _reads_arrivals(script):
                check_plan(script, of, given)
                return
            # In a folder of its own, as an inline scenario is called like its plan's file.
            copy = record_path(self.folder, name).with_suffix("") / script.name
            copy.parent.mkdir(exist_ok=True)
            self.passes[name] = write_by_arrivals(script, str(rate), copy, given, (NOTHING, END))
            absent = plugins.missing([copy], jmeter_home())
            if absent:
                raise PlanError(f"{script}: {plugins.advice(absent, jmeter_home())}")
        except PlanError as problem:
            raise TaurusConfigError(f"capacity: {problem}") from None
        scenario.merge({"script": str(copy)})
        under_way(self.engine).executions[name].original = script

    def _give(self, execution: Mapping, record: CapacityRecord, port: int) -> None:
        """The plan gets its file of arrivals, and the run's folder the record."""
        name, path = name_of(execution), arrivals_path(self.folder, name_of(execution))
        if path.exists():
            raise TaurusConfigError(
                f"capacity: execution {name!r} would write {path.name}, which another one does: "
                "call one of them otherwise"
            )
        path.write_text(row(HEADER))
        scenario_of(self.engine.config, execution).merge(
            {"properties": {"arrivals": str(path), "origin": 0, "nothing_port": port}}
        )
        if name in self.passes:
            record = replace(record, of=(self.passes[name].name,), passes=True)
        records.write(record_path(self.folder, name), record)
        self.records[name] = record

    def _leave_criteria_out(self, names: list[str]) -> None:
        """Those on the capacity of executions that taurus.yml has and this run has not."""
        known = {str(name) for name in self.engine.config.get("scenarios")} - set(names)
        for entry in self.engine.config.get("reporting", []):
            if isinstance(entry.get("criteria", None), list):
                entry["criteria"] = [it for it in entry["criteria"] if not _is_of(it, known)]

    def startup(self) -> None:
        """Start the server that does nothing, once every module is prepared. Raises ToolError."""
        super().startup()
        if self.idle_port is None:
            return
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
            process = getattr(executor, "process", None)
            if process and process.poll() is None and Path(executor.kpi_jtl).exists():
                if executor not in self.searches:
                    record, longest = self.records[executor.label], self.passes.get(executor.label)
                    self.searches[executor] = Search(
                        executor, self.folder, record, self.log, of=longest
                    )
                self.searches[executor].go_on(time.time())
        return super().check()

    def position(self, executor: object, _asked_s: float = 0, elapsed_s: float = 0) -> str | None:
        """Where the search stands, for `progress`."""
        search = self.searches.get(executor)
        return search and search.position(elapsed_s)

    def post_process(self) -> None:
        """Leave no server behind."""
        super().post_process()
        if self.idle:
            self.idle.stdin.close()
            self.idle.stdout.close()
            try:
                self.idle.wait(5)
            except subprocess.TimeoutExpired:
                self.idle.kill()
            self.idle = None


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.create_server((HOST, 0)) as server:
        return server.getsockname()[1]


def check_plan(script: Path, of: Sequence[str], properties: Mapping[str, str]) -> None:
    """Raises TaurusConfigError where a plan sends no arrivals of a file, or has nothing of a name
    that is asked for; PlanError. A plan that is missing is for Taurus to refuse."""
    if not script.is_file():
        return
    if not _reads_arrivals(script):
        rates = rates_of(script, properties)
        such = f", which seems to be {min(rates)!r}" if len(rates) == 1 else ""
        raise TaurusConfigError(
            f"capacity: {script} does not read the property 'arrivals', the file of what to send "
            f"and when: set modules.capacity.rate to the property that sets its rate{such}, or "
            "give your requests a controller in plans/capacity.jmx (docs/capacity.md)"
        )
    names = _choices(script)
    for name in of:
        if name not in names:
            raise TaurusConfigError(
                f"capacity: modules.capacity.of names {name!r}, which {script} can't send: "
                f"{did_you_mean(name, names)}"
            )
        if not name.isascii() or len(name) > LONGEST_NAME or set(name) & set(",\"'"):
            raise TaurusConfigError(
                f"capacity: modules.capacity.of names {name!r}, which stands in each row of a file "
                f"that JMeter reads: give that controller of {script} a name of at most "
                f"{LONGEST_NAME} letters of ASCII, without commas and quotes"
            )


def _reads_arrivals(script: Path) -> bool:
    return re.search(r"__P\(\s*arrivals\s*[,)]", script.read_text("utf-8", "replace")) is not None


def _choices(script: Path) -> list[str]:
    """The names of what the plan's Switch Controller chooses from."""
    found = []
    for tree in ElementTree.parse(script).iter("hashTree"):  # noqa: S314 - the user's own file
        for element, below in itertools.pairwise(tree):
            if element.tag == "SwitchController":
                found += [it.get("testname", "") for it in below if it.tag != "hashTree"]
    return [name for name in found if name not in (NOTHING, END)]


def limit_of(text: str) -> Limit:
    """A limit of trials. Raises CriterionError and ValueError."""
    it = parse(text)
    takes = (it.percentile is not None and it.unit == "ms") or (
        it.subject == "fail" and it.is_percent
    )
    if not takes or it.label or it.timeframe_s or it.condition != ">":
        step = "write a percentile or the share of failures, such as p95>250ms or fail>0.1%"
        raise CriterionError(text, "limit", text, "no limit of a search for capacity", step)
    if it.percentile is None:
        return Limit("fail", None, it.threshold / 100)
    return Limit(it.subject, it.threshold, round(1 - it.percentile / 100, 10))


def _is_of(item: object, names: set[str]) -> bool:
    """Whether a criterion is about the capacity of one of these executions."""
    try:
        found = parse(item)
    except CriterionError:  # `verdict` says what is wrong with it
        return False
    return found.is_of_capacity and found.label in names
