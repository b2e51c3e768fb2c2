"""Taurus reporter `verdict`: has the criteria checked before any load and the run judged after it.

The targets start between its `prepare` and its `startup`, which writes run.json: a run that ends
before that was refused, or gets its verdict from `judge_unstarted`.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bzt import ManualShutdown, NormalShutdown, TaurusConfigError, ToolError
from bzt.engine import Engine, Reporter

from tollgate.base import disk
from tollgate.base.clock import ClockWatch
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError
from tollgate.capacity.record import sealed
from tollgate.compare import record as compare_record
from tollgate.engines.divided import divide
from tollgate.gather.context import EvidenceError, contexts, refuse_lower_bounds, refuse_never_sent
from tollgate.plan import copy as plan_copy
from tollgate.plan import lint as plan_lint
from tollgate.plan.jmx import PlanError
from tollgate.record import manifest
from tollgate.record.environment import fingerprint
from tollgate.record.sealed_files import seal_watched
from tollgate.report import write as outputs
from tollgate.report.pages.kit.assemble import PageError
from tollgate.report.pages.run import write as run_page
from tollgate.targets.pm2 import declared_apps
from tollgate.targets.scenarios import KINDS_WITH_OWN_LOAD, kind_of, remote_of, targets_of
from tollgate.taurus import refusals
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.shared import problems_as, property_of, under_way


class VerdictExit(NormalShutdown):
    """Makes bzt exit with the verdict's code, and adds nothing to what has been said."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"verdict: exit code {exit_code}")
        self.exit_code = exit_code

    def get_rc(self) -> int:
        return self.exit_code


class Verdict(Reporter):
    """Writes run.json before the run; after it verdict.json, junit.xml and verdict.md."""

    def __init__(self) -> None:
        super().__init__()
        self.manifest: manifest.Manifest | None = None
        self.ended: dict[object, float] = {}
        self.reserve: disk.DiskReserve | None = None
        self.clock = ClockWatch()

    @property
    def folder(self) -> Path:
        return Path(self.engine.artifacts_dir)

    def prepare(self) -> None:
        """Refuse what can't be judged, before any load is sent."""
        executors = self.engine.provisioning.executors
        for executor in executors:
            refusals.require_jmeter_plan(executor)
        with problems_as(TaurusConfigError, "verdict", EvidenceError, PlanError, SettingError):
            kind, settings = refusals.checked_settings(self.settings, os.environ)
            planned = [self._planned(executor) for executor in executors]
            # Of whatever reporter: criteria that are not judged would be a lie.
            entries = self.engine.config.get("reporting", [])
            record = _record(
                self.engine,
                kind,
                criteria=[it for each in entries for it in _criteria_of(each)],
                settings=settings,
                environment=fingerprint(self.folder / plan_copy.FOLDER),
                executions=planned,
                share=under_way(self.engine).share,
            )
            for each, its in zip(planned, contexts(self.folder, record), strict=True):
                refuse_lower_bounds(its.criteria)
                refuse_never_sent(its.criteria, its.plan)
                each.interim = each.interim and each.interim.with_lag(its.criteria)
        under_way(self.engine).manifest = record

    def _planned(self, executor: InstalledJMeter) -> manifest.Execution:
        scenario = executor.get_scenario()
        names = targets_of(scenario, executor.label)
        remote = remote_of(scenario, executor.label)
        declared = declared_apps() if names else {}
        where = f"verdict: execution {executor.label!r}"
        script = Path(executor.original_jmx)
        plan = plan_copy.copy(script, self.folder, executor.label)
        properties = refusals.recorded_properties(
            self.folder / plan, executor.properties, where, self.engine.redaction
        )
        prepared = under_way(self.engine).executions[executor.label]
        original = prepared.original or script
        refusals.refuse_missing_files(original, executor.properties, where)
        warmup_s = property_of(properties, "warmup", 0, where)
        self._refuse_data(executor, script, original.absolute().parent, warmup_s)
        # What the copy that is compared has mended is no remark.
        linted = script if kind_of(self.engine.config) == "compare" else original
        return manifest.Execution(
            name=executor.label,
            plan=plan,
            jtl=Path(executor.kpi_jtl).name,
            properties=properties,
            targets=[
                manifest.Target(
                    name=app.name,
                    mode=app.exec_mode,
                    instances=app.instances,
                    memory_limit=app.memory_limit,
                )
                for app in (declared[name] for name in names)
            ],
            criteria=[*_criteria_of(executor.execution), *_criteria_of(scenario)],
            warmup=warmup_s,
            measured=property_of(properties, "measured", 0, where),
            forecast=prepared.forecast,
            url=remote.url if remote else None,
            interim=prepared.interim,
            lint=plan_lint.lint(linted, properties),
            undivided_properties=prepared.undivided_properties,
        )

    def _refuse_data(
        self, executor: InstalledJMeter, script: Path, folder: Path, warmup_s: float
    ) -> None:
        """Refuse what would be sent without its data. folder: in which JMeter looks for it."""
        run, properties = under_way(self.engine), executor.properties
        composed, interim = run.composed, run.executions[executor.label].interim
        is_ours = composed and composed.parts
        where = f"verdict: {f'scenarios.{composed.service.name}' if is_ours else script}"
        until_s = None
        if not run.remote and kind_of(self.engine.config) not in KINDS_WITH_OWN_LOAD:
            until_s = warmup_s + interim.least_s if interim else math.inf
        variables = executor.get_scenario().get("variables", {})
        refusals.refuse_without_data(script, folder, properties, variables, until_s, where)

    def startup(self) -> None:
        """Write run.json, with what the targets have shown since."""
        self.manifest = under_way(self.engine).manifest
        for planned in self.manifest.executions:
            planned.notes = under_way(self.engine).executions[planned.name].notes
        manifest.write(self.manifest, self.folder)
        self.reserve = disk.DiskReserve(self.folder)
        self._look_at_clock()

    def check(self) -> bool:
        """Note when each execution ends and whether the clock was set meanwhile, and end the run
        while there is room for its verdict. Raises ToolError."""
        self._look_at_clock()
        for executor in self.engine.provisioning.executors:
            if executor.process and executor.process.poll() is not None:
                self.ended.setdefault(executor, time.time())
        if disk.free(self.folder) < disk.LOW:
            # Says what was free before anything is given back.
            problem = ToolError(disk.full(self.folder))
            self.reserve.give_back()
            raise problem
        return False

    def shutdown(self) -> None:
        self._look_at_clock()

    def _look_at_clock(self) -> None:
        step = self.clock.look()
        if step is None:
            return
        executors = self.engine.provisioning.executors
        for planned, executor in zip(self.manifest.executions, executors, strict=True):
            if executor.start_time and executor not in self.ended:
                # Steps before this one have moved what the clock shows.
                moved = sum(step_s for _, step_s in planned.clock_steps)
                at_s = step[0] - executor.start_time - moved
                planned.clock_steps.append([round(at_s, 3), round(step[1], 3)])

    def post_process(self) -> None:
        """Seal the run, judge it, and let bzt exit with the verdict's code."""
        if not self.manifest:
            return  # the run was refused, and bzt says why
        # The load is over: a signal now could only take the verdict away, and would leave a run
        # that is not judged, or one half of whose seals are written.
        with defer_signals():
            if self.reserve:
                self.reserve.give_back()
            self._seal()
            judged = under_way(self.engine).judged = run_page.judge_and_write(self.folder)
        if judged.verdict.exit_code:
            raise VerdictExit(judged.verdict.exit_code)

    def _seal(self) -> None:
        """Complete run.json: how each execution ended, and what the other modules know of it."""
        run, record = under_way(self.engine), self.manifest
        for planned, executor in zip(
            record.executions, self.engine.provisioning.executors, strict=True
        ):
            self._record_end(planned, executor)
            planned.capacity_sha256 = sealed(self.folder, planned.name)
            manifest.seal(planned, self.folder)
        reason = self.engine.stopping_reason
        record.interrupted = isinstance(reason, ManualShutdown)
        record.interrupted_at = run.interrupted_at
        record.watching = run.watching.so_far() if run.watching else None
        record.compare_sha256 = compare_record.sealed(self.folder)
        record.watched_sha256 = seal_watched(self.folder)
        if reason is not None and not isinstance(reason, KeyboardInterrupt):
            line = disk.explained(reason, self.engine.artifacts_dir)
            line = line or next(iter(str(reason).splitlines()), type(reason).__name__)
            record.problem = f"the run ended with an error: {self.engine.redaction.hide(line)}"
        if run.remote:
            self.manifest = divide(record, self.folder, run.remote.engines())
        manifest.write(self.manifest, self.folder)

    def _record_end(self, planned: manifest.Execution, executor: InstalledJMeter) -> None:
        """Record how the load of an execution began and ended, and what others took meanwhile."""
        run = under_way(self.engine)
        # What JMeter still did after the interruption, on its way out, is no part of the run.
        planned.ended = self.ended.get(executor, run.interrupted_at or time.time())
        planned.began = executor.start_time
        if executor.begins_at:
            planned.began = min(executor.begins_at, planned.ended)
        planned.exit_code = executor.process.poll() if executor.process else None
        planned.stop_requested_at = executor.stop_requested_at
        planned.load_ended_at = executor.load_ended_at
        planned.ended_by_force = executor.forced
        planned.thread_ends = executor.threads_ended()
        if run.background and planned.targets and planned.began:
            from_s = planned.began + planned.warmup
            planned.background_cpu = run.background.used(from_s, planned.ended)


def _criteria_of(entry: Mapping[str, Any]) -> list[Any]:
    """Those of an execution, a scenario or a reporter; a mapping of messages to criteria as a list
    of one-entry mappings."""
    criteria = entry.get("criteria", [])
    if isinstance(criteria, dict):
        return [{message: text} for message, text in criteria.items()]
    return list(criteria)


def _record(engine: Engine, kind: str, **fields: Any) -> manifest.Manifest:
    """The record of a run that begins now."""
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return manifest.Manifest(kind=kind, started=started, arguments=engine.arguments, **fields)


def judge_unstarted(engine: Engine) -> None:
    """Write and show the verdict on a run that was interrupted before it had a run.json."""
    folder = Path(engine.artifacts_dir) if engine.artifacts_dir else None
    if not isinstance(engine.stopping_reason, ManualShutdown) or folder is None:
        return
    if not folder.is_dir() or (folder / manifest.NAME).exists():
        return
    nothing = {"criteria": [], "settings": {}, "executions": [], "environment": fingerprint()}
    kind = engine.config.get("modules").get("verdict", {}).get("kind", "check")
    manifest.write(_record(engine, kind, interrupted=True, **nothing), folder)
    judged = run_page.judge_and_write(folder)
    outputs.show(judged.verdict)
    try:
        run_page.write(folder, judged)
    except PageError as problem:
        print(f"report: {problem}", file=sys.stderr)
