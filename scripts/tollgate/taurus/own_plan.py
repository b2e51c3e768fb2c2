"""Taurus service `plan`: a JMeter plan of the user's own, as it is, in the kind `plan`.

It stands before the other services, which read the plan that it gives the execution.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from bzt import NormalShutdown, TaurusConfigError
from bzt.engine import Service
from lxml import etree

from tollgate.base.settings import SETTINGS, Seconds, SettingError, Word, read
from tollgate.base.urls import Url
from tollgate.install.tools import jmeter_home
from tollgate.plan import bounds as plan_bounds
from tollgate.plan import copy as plan_copy
from tollgate.plan import lint as plan_lint
from tollgate.plan import plugins as plan_plugins
from tollgate.plan.jmx import PlanError, read_tree
from tollgate.plan.model import Plan
from tollgate.plan.read import expander_of, read_hosts, read_plan
from tollgate.plan.threads import groups_before
from tollgate.targets.scenarios import executions_of, given_properties
from tollgate.taurus.shared import is_running, problems_as, under_way

#: Variables that go before settings.
VARIABLES = {"path": "PLAN", "criteria": "CRITERIA", "stop-after": "STOP_AFTER"}
#: Seconds that JMeter may take to end by itself before Taurus ends it.
PATIENCE = 30.0
#: Seconds for answers behind the end of a plan that waits for them without a timeout.
GRACE_S = 60.0
#: JMeter looks for them in its working directory first, which is the plan's folder.
BESIDE = ("user.properties", "system.properties")
_PROBLEMS = PlanError, SettingError, OSError, etree.XMLSyntaxError
USAGE = "PLAN=path/to/their.jmx tollgate run -plan"


def longest_s(plan: Plan) -> float | None:
    """Seconds in which the plan sends, by the durations of its thread groups; None where one has
    none."""
    ends_s: dict[int, float] = {}
    for place in sorted(range(len(plan.groups)), key=lambda it: len(groups_before(plan, it))):
        group = plan.groups[place]
        if group.duration_s is None:
            return None
        begin_s = max((ends_s[it] for it in groups_before(plan, place)), default=0.0)
        ends_s[place] = begin_s + (group.delay_s or 0.0) + group.duration_s
    return max(ends_s.values(), default=None)


@dataclass(frozen=True)
class PlanSettings:
    """A JMeter plan as it is."""

    __pydantic_config__ = SETTINGS

    path: Word = ""
    """Of the plan. PLAN goes before it."""
    criteria: Word = ""
    """What must not happen, such as `p95 of home>300ms; fail>1%`, in place of those in taurus.yml.
    CRITERIA goes before them."""
    stop_after: Seconds | None = None
    """When to end the load of a plan that has no end of its own. STOP_AFTER goes before it."""


class OwnPlan(Service):
    """Checks the plan before anything starts, and ends its load where it has no end."""

    def __init__(self) -> None:
        super().__init__()
        self.stop_after: float | None = None
        self.ends_s: float | None = None  # where a service that hangs would keep it up
        self.began: dict[object, float] = {}

    def prepare(self) -> None:
        """Give the execution its plan and its criteria. Raises TaurusConfigError, one line."""
        super().prepare()
        if self.engine.config.get("modules").get("verdict").get("kind", "") != "plan":
            return
        with problems_as(TaurusConfigError, "plan", *_PROBLEMS):
            wanted = read(PlanSettings, self.settings, "modules.plan", os.environ, VARIABLES)
            path, self.stop_after = self._path(wanted.path.strip()), wanted.stop_after
            for name, scenario in executions_of(self.engine.config):
                self._check(path, given_properties(self.engine.config, scenario))
                scenario["script"] = str(path)
                notes = under_way(self.engine).executions[name].notes
                notes += [
                    f"JMeter reads {file} beside the plan, which the verdict knows nothing of: "
                    "give what the plan needs of it as -o modules.jmeter.properties.NAME=VALUE"
                    for file in BESIDE
                    if (path.parent / file).is_file()
                ]
                notes += self._give_criteria(scenario, wanted.criteria)
                for line in notes:
                    self.log.warning("plan: %s", line)

    def _path(self, given: str) -> Path:
        if not given:
            raise TaurusConfigError(f"plan: PLAN says which one: {USAGE}")
        path = Path(given).expanduser().absolute()
        if not path.is_file():
            raise TaurusConfigError(f"plan: PLAN is {given!r}, and there is no such file: {USAGE}")
        if not os.access(path.parent, os.W_OK):
            raise TaurusConfigError(
                f"plan: {path.parent} can't be written to, and Taurus keeps its copy of the plan "
                "beside it while it runs: copy the folder to a place of yours"
            )
        return path

    def _check(self, path: Path, properties: dict[str, str]) -> None:
        """Refuse what JMeter could not run, and what it would run for ever."""
        plan, root = read_plan(path, properties), read_tree(path, properties)
        if absent := plan_plugins.missing(plan_copy.with_includes(path), jmeter_home()):
            raise PlanError(f"{path}: {plan_plugins.advice(absent, jmeter_home())}")
        if not any(group.samplers for group in plan.groups):
            raise PlanError(f"{path}: has no sampler that is switched on, so it would send nothing")
        if not self.stop_after:
            found = list(plan_bounds.unbounded_groups(plan, root, expander_of(root, properties)))
            if endless := [line for line, ends in found if not ends]:
                raise PlanError(
                    f"{path}: {endless[0]}, so that the run would never end: give it a duration, "
                    "or say when to end it, such as STOP_AFTER=10min"
                )
            for line, ends in found:
                self.log.warning(
                    "plan: %s unless %s ends it, which can't be known before the run: "
                    "STOP_AFTER=10min, say, ends it for certain",
                    line,
                    ends[0],
                )
            self._warn_of_waits(plan)
        for host in read_hosts(path, properties):
            if not Url("http", host, 80).is_loopback:
                self.log.warning(
                    "plan: it sends load to %s, which is not this machine: be sure that its "
                    "owner agrees",
                    host,
                )

    def _warn_of_waits(self, plan: Plan) -> None:
        """No duration of the plan's ends a thread that waits for an answer: what is left of it some
        time later is ended here."""
        samplers = [each for group in plan.groups for each in group.samplers]
        http = [each for each in samplers if each.kind.startswith("HTTPSampler")]
        patient = [each.label.text for each in http if each.timeout_ms is None]
        if not patient:
            return
        length_s, end = longest_s(plan), "STOP_AFTER=10min, say, ends it for certain"
        if length_s:
            self.ends_s = length_s + GRACE_S
            end = f"its load is ended after {self.ends_s:.0f} s"
        self.log.warning(
            "plan: without a response timeout of %s the run goes on while the service hangs: %s",
            *(plan_lint.listed(patient), end),
        )

    def _give_criteria(self, scenario: dict, given: str) -> list[str]:
        """Returns a note where it is judged by those of taurus.yml."""
        stated = [each.strip() for each in given.split(";") if each.strip()]
        entries = [it for it in self.engine.config.get("reporting", []) if "criteria" in it]
        if stated:
            for entry in entries:
                entry["criteria"] = []
            scenario["criteria"] = stated
            return []
        default = ", ".join(str(each) for entry in entries for each in entry["criteria"])
        return [
            f"no criteria were stated, so that it is judged by '{default}' of taurus.yml alone: "
            "state yours, such as CRITERIA='p95>300ms; fail>1%'"
        ]

    def check(self) -> bool:
        """End the load when its time is over: in good order at first."""
        end_s = self.stop_after or self.ends_s
        for executor in self.engine.provisioning.executors if end_s else ():
            # JMeter makes the file when the test begins; how long it takes to start is no load.
            if is_running(executor) and Path(executor.kpi_jtl).exists():
                self._stop(executor, time.time(), end_s)
        return super().check()

    def _stop(self, executor: object, now: float, end_s: float) -> None:
        loaded_s = now - self.began.setdefault(executor, now)
        if executor.stop_requested_at is None:
            is_over = loaded_s >= end_s
            if is_over and (executor.tell_to_end() or loaded_s >= end_s + PATIENCE):
                # Taken before it is said: what is due from then on need not be sent.
                executor.stop_requested_at = now
                over = f"{loaded_s:.0f} s are over"
                self.log.info("%s: %s: telling JMeter to end", executor.label, over)
        elif now >= executor.stop_requested_at + PATIENCE:
            # As one with an Open Model Thread Group does, all of whose threads may have ended.
            self.log.info("%s: JMeter goes on: Taurus ends it", executor.label)
            raise NormalShutdown
