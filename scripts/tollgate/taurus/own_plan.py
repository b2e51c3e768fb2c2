"""Taurus service `plan`: JMeter plans of the user's own, as they are, in the kind `plan`; and the
one of which the kind `compare` makes a copy.

It stands before the other services, which read the plan that it gives an execution.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from bzt import TaurusConfigError
from bzt.engine import Service
from bzt.utils import BetterDict
from lxml import etree

from tollgate.base.settings import Listed, Seconds, SettingError, Word, configured, read
from tollgate.base.urls import Url
from tollgate.install.tools import jmeter_home
from tollgate.plan import bounds as plan_bounds
from tollgate.plan import copy as plan_copy
from tollgate.plan import lint as plan_lint
from tollgate.plan import plugins as plan_plugins
from tollgate.plan.jmx import PlanError, read_tree
from tollgate.plan.model import Plan
from tollgate.plan.read import expander_of, read_hosts, read_plan
from tollgate.plan.threads import longest_s
from tollgate.targets.scenarios import executions_of, given_properties, kind_of
from tollgate.taurus.named_plans import CRITERIA, NamedPlan, named_plans, properties_of
from tollgate.taurus.shared import is_running, problems_as, under_way

#: Variables that go before settings.
VARIABLES = {
    "path": "PLAN",
    "criteria": "CRITERIA",
    "stop-after": "STOP_AFTER",
    "host": "PLAN_HOST",
}
#: Seconds that JMeter may take to end by itself before Taurus ends it.
PATIENCE = 30.0
#: Seconds for answers behind the end of a plan that waits for them without a timeout.
GRACE_S = 60.0
#: JMeter looks for them in its working directory first, which is the plan's folder.
BESIDE = ("user.properties", "system.properties")
_PROBLEMS = PlanError, SettingError, OSError, etree.XMLSyntaxError


@configured
class PlanSettings:
    """A JMeter plan as it is."""

    path: Listed = ()
    """Of the plan, or of several, which run one after the other. PLAN goes before it."""
    property_files: Listed = ()
    """JMeter's properties, as its option -q reads them."""
    host: Word = ""
    """Of compare: the host, or host:port, that base and head stand for, where the plan asks
    several. PLAN_HOST goes before it."""
    criteria: Word = ""
    """What must not happen, such as `p95 of home>300ms; fail>1%`, in place of those in taurus.yml.
    CRITERIA goes before them."""
    stop_after: Seconds | None = None
    """When to end the load of a plan that has no end of its own. STOP_AFTER goes before it."""


class OwnPlan(Service):
    """Checks the plans before anything starts, and ends the load of those that have no end."""

    def __init__(self) -> None:
        super().__init__()
        self.stop_after: float | None = None
        self.began: dict[object, float] = {}
        self.title = "plan:"

    def prepare(self) -> None:
        """Give each plan an execution with its criteria. Raises TaurusConfigError, one line."""
        kind = kind_of(self.engine.config)
        if kind not in ("plan", "compare"):
            return
        with problems_as(TaurusConfigError, "plan", *_PROBLEMS):
            own = read(PlanSettings, self.settings, "modules.plan", os.environ, VARIABLES)
            if kind == "compare" and not os.environ.get("PLAN"):
                return
            self.stop_after = own.stop_after
            [(only, template)] = executions_of(self.engine.config)
            plans = named_plans(own.path, only)
            self._refuse_several(plans, kind)
            stated = [each.strip() for each in own.criteria.split(";") if each.strip()]
            properties, left_out = properties_of(own.property_files)
            scenarios = self._scenarios(plans, template, properties)
            titles = [f"plan: {it.name}:" if len(plans) > 1 else "plan:" for it in plans]
            for plan, scenario, title in zip(plans, scenarios, titles, strict=True):
                self.title = title
                self._prepare(plan, scenario, kind, own.host)
                notes = [*left_out, *self._notes(plan)]
                under_way(self.engine).executions[plan.name].notes += notes
                if criteria := stated or list(plan.criteria):
                    scenario["criteria"] = criteria
            self._leave_default_criteria(plans, stated, kind)
            for plan, title in zip(plans, titles, strict=True):
                for line in under_way(self.engine).executions[plan.name].notes:
                    self.log.warning("%s %s", title, line)

    def _refuse_several(self, plans: Sequence[NamedPlan], kind: str) -> None:
        shares = any(os.environ.get(name) for name in ("ENGINE", "ENGINES"))
        if len(plans) > 1 and (kind == "compare" or shares):
            raise TaurusConfigError(
                f"plan: {len(plans)} plans are named: a comparison, or several engines, take one"
            )

    def _scenarios(
        self, plans: Sequence[NamedPlan], template: BetterDict, properties: dict[str, str]
    ) -> list[BetterDict]:
        """That of an execution for each plan, like the only one of the kind."""
        config, usual = self.engine.config, given_properties(self.engine.config, template)
        # Those of the command line, and what a run needs itself, go before those of files.
        own = {name: it for name, it in properties.items() if name not in usual}
        whole = {**own, **(template.get("properties", None) or {})}
        if len(plans) > 1:
            [like] = config.get("execution")
            config["execution"] = []
            for each in plans:
                config["scenarios"][each.name] = BetterDict.from_dict({**template})
                execution = BetterDict.from_dict({**like, "scenario": each.name})
                config["execution"].append(execution)
        scenarios = [scenario for _, scenario in executions_of(config)]
        for scenario in scenarios if own else ():
            scenario["properties"] = BetterDict.from_dict(whole)
        return scenarios

    def _prepare(self, plan: NamedPlan, scenario: BetterDict, kind: str, host: str) -> None:
        properties = given_properties(self.engine.config, scenario)
        scenario["script"] = str(plan.path)
        prepared = under_way(self.engine).executions[plan.name]
        if kind == "compare":
            prepared.original, prepared.service_host = plan.path, host
            self._refuse_unfit(plan.path, properties)
        else:
            prepared.ends_s = self._check(plan.path, properties)

    def _notes(self, plan: NamedPlan) -> list[str]:
        return [
            f"JMeter reads {file} beside the plan, which the verdict knows nothing of: name it by "
            "-q FILE, or give what the plan needs of it as -o modules.jmeter.properties.NAME=VALUE"
            for file in BESIDE
            if (plan.path.parent / file).is_file()
        ]

    def _leave_default_criteria(
        self, plans: Sequence[NamedPlan], stated: Sequence[str], kind: str
    ) -> None:
        """Those of taurus.yml are for plans without their own. Notes where a plan is judged by them
        alone."""
        entries = [it for it in self.engine.config.get("reporting", []) if "criteria" in it]
        default = [each for entry in entries for each in entry["criteria"]]
        texts = ", ".join(map(str, default))
        without = [it for it in plans if not (stated or it.criteria)]
        if len(without) < len(plans):
            for entry in entries:
                entry["criteria"] = []
            for name, scenario in executions_of(self.engine.config):
                if name in [it.name for it in without]:
                    scenario["criteria"] = list(default)
        for each in without if kind == "plan" else ():
            under_way(self.engine).executions[each.name].notes.append(
                f"no criteria were stated, so that it is judged by '{texts}' of taurus.yml alone: "
                "state yours, such as CRITERIA='p95>300ms; fail>1%', or one a line in "
                f"{each.path.with_suffix(CRITERIA).name} beside the plan"
            )

    def _refuse_unfit(self, path: Path, properties: dict[str, str]) -> Plan:
        """What JMeter could not run."""
        plan = read_plan(path, properties)
        if absent := plan_plugins.missing(plan_copy.with_includes(path), jmeter_home()):
            raise PlanError(f"{path}: {plan_plugins.advice(absent, jmeter_home())}")
        if not any(group.samplers for group in plan.groups):
            raise PlanError(f"{path}: has no sampler that is switched on, so it would send nothing")
        if group := next((it for it in plan.groups if it.no_number and it.samplers), None):
            raise PlanError(
                f"{path}: the thread group {group.name!r} would send nothing: "
                f"{group.no_number.partition(', ')[0]}, and JMeter takes its number of threads for "
                "0: write a number, or ${__P(NAME,10)}"
            )
        return plan

    def _check(self, path: Path, properties: dict[str, str]) -> float | None:
        """Refuse what JMeter could not run, and what it would run for ever; returns after how many
        seconds to end its load, None where it ends by itself."""
        plan, root = self._refuse_unfit(path, properties), read_tree(path, properties)
        ends_s = self.stop_after
        if not self.stop_after:
            expander = expander_of(root, properties)
            unbounded = list(plan_bounds.unbounded_groups(plan, root, expander))
            if endless := [line for line, ends in unbounded if not ends]:
                raise PlanError(
                    f"{path}: {endless[0]}, so that the run would never end: give it a duration, "
                    "or say when to end it, such as STOP_AFTER=10min"
                )
            for line, ends in unbounded:
                text = "%s %s unless %s ends it: STOP_AFTER=10min, say, ends it for certain"
                self.log.warning(text, self.title, line, ends[0])
            ends_s = self._warn_of_waits(plan)
        for host in read_hosts(path, properties):
            if not Url("http", host, 80).is_loopback:
                line = "%s it sends load to %s, which is not this machine: its owner must agree"
                self.log.warning(line, self.title, host)
        return ends_s

    def _warn_of_waits(self, plan: Plan) -> float | None:
        """No duration of the plan's ends a thread that waits for an answer: what is left of it some
        time later is ended here. Returns when."""
        samplers = [each for group in plan.groups for each in group.samplers]
        http = [each for each in samplers if each.kind.startswith("HTTPSampler")]
        patient = [each.label.text for each in http if each.timeout_ms is None]
        if not patient:
            return None
        length_s, end = longest_s(plan), "STOP_AFTER=10min, say, ends it for certain"
        ends_s = length_s + GRACE_S if length_s else None
        if ends_s:
            end = f"its load is ended after {ends_s:.0f} s"
        line = "%s without a response timeout of %s the run goes on while the service hangs: %s"
        self.log.warning(line, self.title, plan_lint.listed(patient), end)
        return ends_s

    def check(self) -> bool:
        """End the load when its time is over: in good order at first."""
        executions = under_way(self.engine).executions
        for executor in self.engine.provisioning.executors:
            end_s = executions[executor.label].ends_s
            # JMeter makes the file when the test begins; how long it takes to start is no load.
            if end_s and is_running(executor) and Path(executor.kpi_jtl).exists():
                self._stop(executor, time.time(), end_s)
        return False

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
            executor.shutdown()
