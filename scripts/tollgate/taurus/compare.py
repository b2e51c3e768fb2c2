"""Taurus service `compare`: base and head side by side, and the end of the run once it is decided.

Its settings are in compare/settings.py; a kind that names no budget compares nothing.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
two apps that it asks for.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.engine import Service

from tollgate.base.paths import BASE, ROOT
from tollgate.base.processes import defer_signals
from tollgate.base.text import duration_text
from tollgate.compare import pace, record, words
from tollgate.compare.facts import labels_of
from tollgate.compare.pace import Pace
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.compare.settings import (
    SETTINGS,
    CompareSettings,
    LagError,
    SettingError,
    drawn_seeds,
    is_compare,
    lag_s,
    read_settings,
    repeat_command,
    schedule_of,
)
from tollgate.compare.watch import ComparisonDecider
from tollgate.plan.read import read_plan
from tollgate.samples.watch import SampleWatch
from tollgate.targets import checkout, pm2
from tollgate.targets.git import GitError, Revisions, find_revisions
from tollgate.targets.scenarios import given_properties, name_of, scenario_of
from tollgate.taurus.compare_setup import (
    CompareSetupError,
    apps_of_sides,
    environment,
    places_of_apps,
    places_of_urls,
    put_back,
    refuse,
    replace_environment,
    sides_of_revisions,
    sides_of_urls,
    unequal,
)
from tollgate.taurus.interim import decisions
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.pace import CostError, cores, cost_of
from tollgate.taurus.profile_diff import comparison_of, explained
from tollgate.taurus.shared import property_of, refuse_unknown, under_way
from tollgate.taurus.targets import Targets
from tollgate.workers.background_cpu import BackgroundCpuRecorder


class Compare(Service):
    """One execution that asks base and head at random."""

    def __init__(self) -> None:
        super().__init__()
        self.record: CompareRecord | None = None
        self.decider: ComparisonDecider | None = None
        self.watches: dict[object, SampleWatch] = {}
        self.recorder: BackgroundCpuRecorder | None = None
        self.lag_s = 0.0
        self.profile: bool | None = None
        self.cpu_share = 0.0
        self.usual: dict[str, int] = {}
        self.fixed: dict[str, int] = {}
        self.targets: Targets | None = None  # from when on no other run uses this checkout
        self.replaced: dict[str, str | None] = {}

    @property
    def folder(self) -> Path:
        return Path(self.engine.artifacts_dir).resolve()

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be compared."""
        super().prepare()
        refuse_unknown("compare", self.settings, SETTINGS)
        if not is_compare(self.engine.config.get("modules")):
            return
        try:
            refuse(self.engine.config, os.environ)
            self._set_up(read_settings(self.settings, os.environ))
        except (SettingError, CompareSetupError, LagError) as problem:
            raise TaurusConfigError(f"compare: {problem}") from None
        except (GitError, checkout.PackagesError, checkout.PlaceError, pm2.Pm2Error) as problem:
            raise ToolError(f"compare: {problem}") from None

    def _set_up(self, wanted: CompareSettings) -> None:
        execution = self.engine.config.get("execution")[0]
        scenario = scenario_of(self.engine.config, execution)
        given = given_properties(self.engine.config, scenario)
        self.lag_s = lag_s(given)
        self.profile, self.cpu_share = wanted.profile, wanted.cpu_share
        seeds = drawn_seeds(scenario.get("script", None), given)
        self.usual, self.fixed = schedule_of(scenario.get("script", None), given)
        if wanted.urls:
            sides, places, processes = sides_of_urls(wanted.urls), places_of_urls(wanted.urls), 1
        else:
            sides, apps = self._here(wanted)
            places, processes = places_of_apps(apps), len(apps[0])
            scenario["target"] = [app.name for each in apps for app in each]
        # JMeter adds whole seconds.
        measured = int(wanted.gate.budget_s)
        scenario.merge({"properties": {**places, **seeds, "measured": measured}})
        self.record = CompareRecord(
            *sides,
            execution=name_of(execution),
            mode="url" if wanted.urls else wanted.mode,
            settings=wanted.gate,
            first_s=wanted.first_s,
            every_s=wanted.every_s,
            injected=wanted.injected,
            processes=processes,
        )
        record.write(self.record, self.folder)
        under_way(self.engine).position = self.position
        self._announce()
        if seeds:
            self.log.info("Seeds of this run; for the same again: %s", repeat_command(seeds))

    def _here(self, wanted: CompareSettings) -> tuple[list[SideRecord], list[list[pm2.App]]]:
        """Base beside the working tree, and the apps of both for PM2 to start."""
        found = find_revisions(ROOT, wanted.base)
        checkout.check_head_packages(ROOT)
        targets = next((it for it in self.engine.services if isinstance(it, Targets)), None)
        if targets is None:
            raise CompareSetupError("services has no `targets`, which would start base and head")
        targets.hold()
        self.targets = targets
        base = self._check_out(found)
        for line in unequal(found, os.environ):
            self.log.warning("compare: %s", line)
        if found.is_control and not wanted.injected:
            self.log.info("Base and head are the same code: this is the control, which must pass")
        variables = environment(wanted.mode, base, ROOT)
        self.replaced = replace_environment(variables)
        return sides_of_revisions(found), apps_of_sides(pm2.declared_apps())

    def _check_out(self, found: Revisions) -> Path:
        """Base, with its packages, outside of the project."""
        self.log.info("Checking out base %s...", found.base_text)
        folder = checkout.provide_folder(ROOT)
        checkout.note(folder, BASE)
        base = checkout.check_out(ROOT, found.base, folder / checkout.CHECKOUT)
        whence = checkout.provide_packages(base, ROOT, self.folder / "npm-base.log")
        self.log.info("Base has its Node packages: %s", whence)
        return base

    def _announce(self) -> None:
        of = self.record
        how = "" if of.mode == "url" else f", in {of.mode} mode"
        self.log.info(
            "Compare: base %s with head %s%s: at most %s of measuring, less if decided before",
            of.base.told,
            of.head.told,
            how,
            duration_text(of.settings.budget_s),
        )

    def startup(self) -> None:
        """Know what to look at, the labels of the plan, and how fast this machine can be asked."""
        super().startup()
        if self.record:
            executor = self._executor()
            if self.usual:
                self._set_pace(executor)
            texts = {key: str(value) for key, value in executor.properties.items()}
            warmup = property_of(texts, "warmup", 0, "compare")
            labels = labels_of(read_plan(Path(executor.original_jmx), texts))
            self.recorder = under_way(self.engine).background
            shares = self.recorder and self.recorder.shares
            self.decider = ComparisonDecider(self.record, labels, warmup, self.lag_s, shares)
            self.watches[executor] = SampleWatch(self.decider, Path(executor.kpi_jtl))

    def _set_pace(self, executor: InstalledJMeter) -> None:
        found = Pace(
            period_ms=(self.usual | self.fixed)[pace.PERIOD],
            usual_ms=self.usual[pace.PERIOD],
            why=pace.FIXED if self.fixed else pace.UNSEEN,
            cores=cores(),
            share=self.cpu_share,
        )
        if self.targets and not self.fixed:
            found = self._measured_pace(executor, found)
        self.record = replace(self.record, pace=found)
        record.write(self.record, self.folder)
        self.log.info("Compare: %s", words.pace(found))

    def _measured_pace(self, executor: InstalledJMeter, kept: Pace) -> Pace:
        """What fits the machine, handed to JMeter and noted in run.json."""
        self.log.info("Measuring what a request costs here, for half a minute at most...")
        texts = {key: str(value) for key, value in executor.properties.items()}
        labels = labels_of(read_plan(Path(executor.original_jmx), texts))
        try:
            cost = cost_of(executor, self.folder, labels, self.usual)
        except (CostError, pm2.Pm2Error, OSError) as problem:
            self.log.warning("compare: the rates stay as they are: %s", problem)
            return replace(kept, why=pace.UNKNOWN)
        given = pace.fitting(self.usual, cost, kept.cores, kept.share)
        executor.set_properties(given)
        known = under_way(self.engine).manifest
        known.executions[0].properties.update({name: str(ms) for name, ms in given.items()})
        return replace(kept, period_ms=given[pace.PERIOD], why=pace.MEASURED, cost=cost)

    def _executor(self) -> InstalledJMeter:
        return self.engine.provisioning.executors[0]

    def check(self) -> bool:
        """End the run once everything is decided."""
        for _, line in decisions(self, "compare", self.watches):
            self.log.info("%s", line)
        if not (self.decider and self.decider.is_decided):
            return super().check()
        self._write_record()
        return True

    def _write_record(self) -> None:
        self.record = self.decider.record
        record.write(self.record, self.folder)

    def shutdown(self) -> None:
        """Note what others took, also where nothing was decided: the last look goes by it."""
        super().shutdown()
        if self.recorder is None:
            return
        self.recorder.stop()
        self.recorder = None
        origin_s = self.watches[self._executor()].origin_s()
        if not self.decider.is_decided and origin_s is not None:
            measured_s = time.time() - origin_s - self.decider.warmup_s
            most_s = self.record.settings.budget_s
            self.decider.note_foreign(origin_s, int(max(0, min(measured_s, most_s))))
            self._write_record()

    def position(self, _executor: object, asked_s: float, elapsed_s: float) -> str | None:
        """Where the comparison stands, for `progress`; None where there is none."""
        if not self.record:
            return None
        return f"{min(elapsed_s, asked_s):.0f} of at most {asked_s:.0f} s"

    def post_process(self) -> None:
        """Find out why head is worse, now that the verdict stands; then leave no check-out behind,
        whatever happened, nor what runs from it."""
        super().post_process()
        try:
            self._explain()
        finally:
            self._leave()

    def _explain(self) -> None:
        comparison = comparison_of(under_way(self.engine).judged, self.profile)
        if comparison:
            base = Path(os.environ.get("BASE_FOLDER", ROOT))
            explained(self.folder, comparison, self._executor(), self.targets, base, self.log)

    def _leave(self) -> None:
        if self.targets is None:
            return  # there may be one, of another run that is under way
        with defer_signals():
            try:
                self.targets.shutdown()
            finally:
                put_back(self.replaced)
                self._clear()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, ROOT)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
