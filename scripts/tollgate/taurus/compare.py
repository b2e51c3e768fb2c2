"""Taurus service `compare`: base and head side by side, and the end of the run once it is decided.

Its settings are in compare/settings.py; a kind that names no budget compares nothing.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
two apps that it asks for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base.paths import BASE, SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError
from tollgate.base.text import duration_text
from tollgate.base.urls import Url
from tollgate.compare import answers, mix, pace, record, words
from tollgate.compare.answers import AnswersError
from tollgate.compare.facts import labels_of
from tollgate.compare.mix import Mix
from tollgate.compare.model import Requests
from tollgate.compare.pace import Pace
from tollgate.compare.power import power_of
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.compare.settings import (
    CompareSetup,
    drawn_seeds,
    lag_s,
    read_setup,
    repeat_command,
    schedule_of,
)
from tollgate.compare.watch import ComparisonDecider
from tollgate.plan.read import read_plan
from tollgate.samples.watch import SampleWatch
from tollgate.targets import checkout, pm2, sides
from tollgate.targets.git import GitError, find_revisions
from tollgate.targets.scenarios import given_properties
from tollgate.taurus.decision_loop import decisions
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.profile_diff import comparison_of, explained
from tollgate.taurus.rehearsal import Rehearsal, RehearsalError, rehearse
from tollgate.taurus.shared import problems_as, property_of, under_way
from tollgate.taurus.targets import Targets
from tollgate.workers.cgroups import usable_cores


class Compare(OwnLoad):
    """One execution that asks base and head at random."""

    name = "compare"

    def __init__(self) -> None:
        super().__init__()
        self.wanted: CompareSetup | None = None
        self.record: CompareRecord | None = None
        self.decider: ComparisonDecider | None = None
        self.watches: dict[object, SampleWatch] = {}
        self.lag_s = 0.0
        self.usual: dict[str, int] = {}
        self.fixed: dict[str, int] = {}
        self.targets: Targets | None = None  # from when on no other run uses this suite
        self.to_leave = ExitStack()

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be compared."""
        super().prepare()
        if self.settings.get("budget", None) is None:
            return
        self.refuse_reloads("a reload hits base and head at different moments")
        execution = self.only_execution("base and head share one execution")
        problems = GitError, checkout.PackagesError, checkout.PlaceError, pm2.Pm2Error
        with (
            problems_as(TaurusConfigError, "compare", SettingError),
            problems_as(ToolError, "compare", *problems),
        ):
            self.wanted = read_setup(self.settings, os.environ)
            self._set_up(*execution)

    def _set_up(self, name: str, scenario: BetterDict) -> None:
        wanted, given = self.wanted, given_properties(self.engine.config, scenario)
        if (measured := given.get("measured", "0")) not in ("0", "0.0"):
            raise SettingError(
                f"the property measured is {measured}: modules.compare.budget says how long to "
                "measure, so set that"
            )
        self.lag_s = lag_s(given)
        script = scenario.get("script", None)
        seeds = drawn_seeds(script, given)
        self.usual, self.fixed = schedule_of(script, given)
        if wanted.urls:
            both, urls = sides.sides_of_urls(wanted.urls), [[url] for url in wanted.urls]
        else:
            both, apps = self._here(wanted)
            urls = [[Url("http", pm2.HOST, app.port) for app in each] for each in apps]
            scenario["target"] = [app.name for each in apps for app in each]
        # JMeter adds whole seconds.
        properties = {**sides.places(urls), **seeds, "measured": int(wanted.gate.budget_s)}
        scenario.merge({"properties": properties})
        known = CompareRecord(
            *both,
            execution=name,
            mode="url" if wanted.urls else wanted.settings.mode,
            settings=wanted.gate,
            first_s=wanted.settings.first,
            every_s=wanted.settings.every,
            injected=wanted.injected,
            processes=len(urls[0]),
        )
        self._write(known)
        under_way(self.engine).position = self.position
        mode = "" if wanted.urls else f", in {wanted.settings.mode} mode"
        self.log.info(
            "Compare: base %s with head %s%s: at most %s of measuring, less if decided before",
            known.base.description,
            known.head.description,
            mode,
            duration_text(wanted.gate.budget_s),
        )
        if seeds:
            self.log.info("Seeds of this run; for the same again: %s", repeat_command(seeds))

    def _here(self, wanted: CompareSetup) -> tuple[list[SideRecord], list[list[pm2.App]]]:
        """Base beside the working tree, and the apps of both for PM2 to start."""
        found = find_revisions(SUITE, wanted.settings.base)
        checkout.check_head_packages(SUITE)
        targets = next((it for it in self.engine.services if isinstance(it, Targets)), None)
        if targets is None:
            raise SettingError("services has no `targets`, which would start base and head")
        targets.hold()
        self.targets = targets
        self.to_leave.callback(self._clear)
        self.to_leave.callback(targets.shutdown)
        self.log.info("Checking out base %s...", found.base_text)
        folder = checkout.provide_folder(SUITE)
        checkout.note(folder, BASE)
        base = checkout.check_out(SUITE, found.base, folder / checkout.CHECKOUT)
        self.to_leave.callback(sides.set_environment(wanted.settings.mode, base, SUITE))
        apps = sides.apps_of_sides(pm2.declared_apps())
        whence = checkout.provide_packages(base, SUITE, self.folder / "npm-base.log")
        self.log.info("Base has its Node packages: %s", whence)
        for line in sides.unequal(found, os.environ):
            self.log.warning("compare: %s", line)
        if found.is_control and not wanted.injected:
            self.log.info("Base and head are the same code: this is the control, which must pass")
        return sides.sides_of_revisions(found), apps

    def startup(self) -> None:
        """Know what to look at, the labels of the plan that both sides answer, and how fast this
        machine can be asked. Raises ToolError, one line, for what base does not answer."""
        super().startup()
        if not self.record:
            return
        texts = {key: str(value) for key, value in self.executor.properties.items()}
        path = Path(self.executor.original_jmx)
        plan = read_plan(path, texts)
        with problems_as(ToolError, "compare", AnswersError, ValueError):
            found = mix.mix_of(plan, path.read_text(encoding="utf-8"))
            self._rehearse(labels_of(plan), found)
        warmup = property_of(texts, "warmup", 0, "compare")
        recorder = under_way(self.engine).background
        shares = recorder and recorder.shares
        labels = labels_of(plan, self.record.left_out)
        self.decider = ComparisonDecider(self.record, labels, warmup, self.lag_s, shares)
        self.watches[self.executor] = SampleWatch(self.decider, Path(self.executor.kpi_jtl))

    def _rehearse(self, labels: Sequence[str], found: Mix | None) -> None:
        """Send each label to both sides, and choose labels and pace by what they answer. Raises
        AnswersError."""
        self.log.info("Rehearsing what base and head answer, for half a minute or so...")
        sees_cpu = bool(self.targets and self.usual and not self.fixed)
        given = pace.rehearsed(self.usual, found is not None) | self.fixed if self.usual else {}
        rehearsal, problem = Rehearsal((), None), ""
        try:
            rehearsal = rehearse(
                *(self.executor, self.folder, labels, found, given, sees_cpu),
                lambda seen: answers.judge(seen, labels),
            )
        except (RehearsalError, pm2.Pm2Error, OSError) as unknown:
            problem = str(unknown)
            self.log.warning("compare: the rates stay as they are: %s", problem)
        kept = self._leave_out(answers.judge(rehearsal.answers, labels), labels, found)
        if self.usual:
            self._choose_pace(rehearsal, kept, problem)
            self._say_power(answers.times(rehearsal.answers, labels), kept)

    def _leave_out(
        self, seen: answers.Found, labels: Sequence[str], found: Mix | None
    ) -> Mix | None:
        """Ask no label that base does not know, nor what comes with it in an arrival."""
        for line in seen.broken:
            self.log.warning("compare: %s", line)
        new = found.parts_with(seen.left_out) if found else ()
        left_out = {*seen.left_out, *(label for it in new for label in it.labels)}
        chosen = self.record.settings.labels or labels
        if labels and left_out.issuperset(chosen):
            raise AnswersError(f"base answers none of {', '.join(chosen)}: nothing is left")
        if left_out:
            ordered = tuple(it for it in labels if it in left_out)
            self._write(replace(self.record, left_out=ordered))
            self.log.warning("compare: %s", words.left_out(ordered))
        if not found:
            return None
        kept = found.without([it.name for it in new])
        weights = {it.name: n for it, n in zip(kept.parts, kept.weights, strict=True)}
        self._write(replace(self.record, weights=weights))
        given = self.executor.properties
        seed = int(property_of(given, mix.SEED, 1, "compare"))
        self._set({mix.PROPERTY: given.get(mix.PROPERTY) or mix.sequence(kept.weights, seed)})
        return kept

    def _choose_pace(self, rehearsal: Rehearsal, kept: Mix | None, problem: str) -> None:
        found = Pace.of(self.usual, self.fixed, usable_cores(), self.wanted.settings.cpu_share)
        if problem and not self.fixed:
            found = replace(found, why=pace.UNKNOWN)
        if rehearsal.cost:
            limits = found.cores, found.share
            given = pace.fitting(self.usual, rehearsal.cost, *limits, is_mix=kept is not None)
            self._set(given)
            period_ms = given[pace.PERIOD]
            found = replace(found, period_ms=period_ms, why=pace.MEASURED, cost=rehearsal.cost)
        self._write(replace(self.record, pace=found))
        self.log.info("Compare: %s", words.pace(found, self.record.weights))

    def _say_power(self, times: Mapping[str, Requests], kept: Mix | None) -> None:
        """What will probably be found, before it is measured."""
        known, gate = self.record, self.record.settings
        arrivals = 1000 * gate.budget_s / known.pace.period_ms / 2
        asked = {
            label: int(arrivals * (kept.share(label) if kept else 1))
            for label, it in times.items()
            if len(it.row) and label not in known.left_out
        }
        looks = known.first_s, known.every_s
        found = power_of(gate, {it: times[it] for it in asked}, asked, known.processes, looks)
        self._write(replace(known, power=found))
        for line in words.power(found):
            self.log.info("Compare: %s", line)

    def _set(self, properties: Mapping[str, object]) -> None:
        """Hand them to JMeter, and note them in run.json."""
        self.executor.set_properties(properties)
        [planned] = under_way(self.engine).manifest.executions
        planned.properties.update({name: str(it) for name, it in properties.items()})

    def check(self) -> bool:
        """End the run once everything is decided."""
        for _, line in decisions(self, "compare", self.watches):
            self.log.info("%s", line)
        if self.decider and self.decider.is_decided:
            self._write(self.decider.record)
            return True
        return super().check()

    def _write(self, known: CompareRecord) -> None:
        self.record = known
        record.write(known, self.folder)

    def shutdown(self) -> None:
        """Note what others took, also where nothing was decided: the last look goes by it."""
        super().shutdown()
        recorder = under_way(self.engine).background
        if not (self.decider and recorder):
            return
        recorder.stop()
        origin_s = self.watches[self.executor].origin_s()
        if not self.decider.is_decided and origin_s is not None:
            self.decider.note_until(origin_s, time.time())
            self._write(self.decider.record)

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
            wanted = self.wanted and self.wanted.settings.profile
            comparison = comparison_of(under_way(self.engine).judged, wanted)
            if comparison:
                base = Path(os.environ.get("BASE_FOLDER", SUITE))
                explained(self.folder, comparison, self.executor, self.targets, base, self.log)
        finally:
            with defer_signals():
                self.to_leave.close()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, SUITE)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
