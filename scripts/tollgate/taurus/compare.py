"""Taurus service `compare`: base and head side by side, and the end of the run once it is decided.

Its settings are in compare/settings.py; a kind that names no budget compares nothing.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
apps that it asks for: copies of the scenario's `app`. Beside that the scenario may have `install`,
`build` and `link` (targets/packages.py).
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base.paths import BASE, SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError, read
from tollgate.base.text import duration_text
from tollgate.base.urls import Url
from tollgate.compare import answers, mix, pace, record, words
from tollgate.compare.answers import AnswersError, Rehearsal
from tollgate.compare.facts import labels_of
from tollgate.compare.mix import mix_of
from tollgate.compare.outset import Schedule, set_out
from tollgate.compare.record import CompareRecord, SideRecord
from tollgate.compare.settings import (
    TIMEOUTS_MS,
    CompareSetup,
    drawn_seeds,
    lag_s,
    own_timeouts,
    read_setup,
    repeat_command,
    schedule_of,
)
from tollgate.compare.watch import ComparisonDecider
from tollgate.plan.model import Plan
from tollgate.plan.read import read_plan
from tollgate.plan.sided import SEED as COIN_SEED
from tollgate.samples.watch import SampleWatch
from tollgate.targets import checkout, copies, git, packages, pm2, sides
from tollgate.targets.git import GitError
from tollgate.targets.scenarios import given_properties
from tollgate.targets.sides import Source
from tollgate.taurus.decision_loop import decisions
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.profile_diff import comparison_of, explained
from tollgate.taurus.rehearsal import RehearsalError, rehearse
from tollgate.taurus.shared import problems_as, property_of, samples_of, under_way
from tollgate.taurus.sided_plan import OwnPlanCompared, send_to_sides
from tollgate.taurus.targets import Targets
from tollgate.workers.cgroups import usable_cores

#: What a scenario says beside its app.
PROVISION = ("install", "build", "link")


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
        self.roots: tuple[Path, Path] | None = None  # of base's check-out and of the repository
        self.unwritten: frozenset[str] = frozenset()  # in base before it ran
        self.to_leave = ExitStack()

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be compared."""
        super().prepare()
        if self.settings.get("budget", None) is None:
            return
        self.refuse_reloads("a reload hits base and head at different moments")
        execution = self.only_execution("base and head share one execution")
        problems = GitError, packages.PackagesError, checkout.PlaceError, pm2.Pm2Error
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
                f"the property measured is {measured}: set modules.compare.budget instead"
            )
        prepared = under_way(self.engine).executions[name]
        script = prepared.original or scenario.get("script", None)
        seeds = drawn_seeds(script, given)
        if wanted.urls:
            both, urls = sides.sides_of_urls(wanted.urls), wanted.urls
        else:
            both, apps = self._here(wanted, name, scenario)
            urls = [[Url("http", pm2.HOST, app.port) for app in each] for each in apps]
            scenario["target"] = [app.name for each in apps for app in each]
        own = {**sides.places(urls), **seeds}
        plan = None
        if prepared.original:
            plan = send_to_sides(prepared, self.folder, urls, given, wanted)
            scenario["script"] = str(plan.copy)
            self.lag_s = lag_s(plan.properties)
            self.wanted = replace(wanted, gate=plan.gate)
            own |= plan.properties
            seeds[COIN_SEED] = plan.properties[COIN_SEED]
        else:
            self.usual, self.fixed = schedule_of(script, given)
            timeouts = own_timeouts(Path(str(script)).read_text(encoding="utf-8")) | given
            self.lag_s = lag_s(timeouts)
            # JMeter adds whole seconds.
            own |= {it: timeouts[it] for it in TIMEOUTS_MS if it in timeouts}
            own["measured"] = int(wanted.gate.budget_s)
        scenario.merge({"properties": own})
        self._begin(name, both, len(urls[0]), plan)
        if seeds:
            self.log.info("Seeds of this run; for the same again: %s", repeat_command(seeds))

    def _begin(
        self, name: str, both: Sequence[SideRecord], processes: int, plan: OwnPlanCompared | None
    ) -> None:
        """Record and log what is compared. processes: of each side. plan: a user's own."""
        wanted = self.wanted
        known = CompareRecord(
            *both,
            execution=name,
            mode="url" if wanted.urls else wanted.settings.mode,
            settings=wanted.gate,
            first_s=wanted.settings.first,
            every_s=wanted.settings.every,
            injected=wanted.injected,
            processes=processes,
        )
        if plan:
            known = replace(known, coin=plan.sided.coin, repeats=plan.sided.repeats)
        self._write(known)
        under_way(self.engine).position = self.position
        mode = "" if wanted.urls else f", in {known.mode} mode"
        self.log.info(
            "Compare: base %s with head %s%s: at most %s of measuring, less if decided before",
            known.base.description,
            known.head.description,
            mode,
            duration_text(wanted.gate.budget_s),
        )
        if plan:
            sided = plan.sided
            self.log.info("Compare: %s", words.coin(known, sided.lasting, sided.threads))
            for line in sided.remarks:
                self.log.warning("compare: %s", line)

    def _here(
        self, wanted: CompareSetup, name: str, scenario: BetterDict
    ) -> tuple[list[SideRecord], list[list[pm2.App]]]:
        """Base beside the working tree, and the processes of both for PM2 to start."""
        app = self._app(name, scenario)
        mode = wanted.settings.mode
        copies.refuse_mode(app, mode)
        source = Source.of(app)
        given = {key: scenario[key] for key in PROVISION if scenario.get(key, None) is not None}
        provision = read(packages.Provision, given, f"scenarios.{name}")
        found = source.revisions(wanted.settings.base, provision)
        if not provision.install:
            for folder in packages.locked_folders(source.folder, source.root):
                packages.check_head_packages(folder)
        self._hold()
        self.log.info("Checking out base %s...", found.base_text)
        place = checkout.provide_folder(SUITE, source.root)
        checkout.note(place, BASE)
        self.roots = place / checkout.CHECKOUT, source.root
        checkout.check_out(source.root, found.base, self.roots[0])
        source_of = packages.provide(provision, source.folder, self.roots, self.folder)
        self.unwritten = git.written(self.roots[0])
        self.log.info("Base has its packages: %s", source_of)
        both = sides.copies_of_sides(
            app, mode, wanted.settings.processes, *reversed(self.roots), os.environ
        )
        in_turn = sides.in_turn(both, swapped=bool(secrets.randbits(1)))
        self.to_leave.callback(copies.compose(in_turn))
        apps = sides.apps_of_sides(app, both, pm2.declared_apps())
        for line in (*sides.unequal(found, os.environ), *sides.shared_stores(apps)):
            self.log.warning("compare: %s", line)
        if found.is_control and not wanted.injected:
            self.log.info("Base and head are the same code: this is the control, which must pass")
        return sides.sides_of_revisions(found), apps

    @staticmethod
    def _app(name: str, scenario: BetterDict) -> pm2.App:
        wanted = scenario.get("app", None)
        if not wanted:
            raise SettingError(
                f"scenario {name!r} has no `app`: name one of ecosystem.config.js, of which base "
                "and head are made, or set BASE_URL and HEAD_URL"
            )
        return copies.declared(pm2.declared_apps(), str(wanted), f"scenarios.{name}.app")

    def _hold(self) -> None:
        """Keep other runs out until this one has left nothing behind."""
        targets = next((it for it in self.engine.services if isinstance(it, Targets)), None)
        if targets is None:
            raise SettingError("services has no `targets`, which would start base and head")
        targets.hold()
        self.targets = targets
        self.to_leave.callback(self._clear)
        self.to_leave.callback(targets.shutdown)

    def startup(self) -> None:
        """Know what to look at, the labels of the plan that both sides answer, and how fast this
        machine can be asked. Raises ToolError, one line, for what base does not answer."""
        super().startup()
        if not self.record:
            return
        texts = {key: str(value) for key, value in self.executor.properties.items()}
        plan = read_plan(Path(self.executor.original_jmx), texts)
        with problems_as(ToolError, "compare", AnswersError, ValueError):
            self._rehearse(plan, texts)
        self._warn_of_shared_files()
        warmup = property_of(texts, "warmup", 0, "compare")
        recorder = under_way(self.engine).background
        shares = recorder and recorder.shares
        labels = labels_of(plan, self.record.left_out)
        self.decider = ComparisonDecider(self.record, labels, warmup, self.lag_s, shares)
        samples = samples_of(self.engine, self.executor)
        self.watches[self.executor] = SampleWatch(self.decider, samples)

    def _warn_of_shared_files(self) -> None:
        """Tell what base's processes have written by now into the folder that all of them have."""
        new: frozenset[str] = frozenset()
        if self.roots and (self.record.processes > 1 or self.record.mode == "cluster"):
            with suppress(GitError):
                new = git.written(self.roots[0]) - self.unwritten
        if new:
            self.log.warning(
                "compare: processes of a side write to the same files, such as %s: if one's work "
                "slows another, give each its own by ${PROCESS} in ecosystem.config.js",
                min(new),
            )

    def _rehearse(self, plan: Plan, texts: Mapping[str, str]) -> None:
        """Ask each label of both sides, and choose labels and pace by what they answer."""
        labels, found = labels_of(plan), mix_of(plan, plan.path.read_text(encoding="utf-8"))
        seed = int(property_of(texts, mix.SEED, 1, "compare"))
        known = Schedule(labels, found, self.usual, self.fixed, seed)
        sees_cpu = bool(self.targets and self.usual and not self.fixed)
        given = pace.rehearsed(self.usual, found is not None) | self.fixed if self.usual else {}
        self.log.info("Rehearsing what base and head answer, for half a minute or so...")
        try:
            seen = rehearse(
                *(self.executor, self.folder, labels, found, given, sees_cpu),
                lambda them: answers.judge(them, labels),
            )
        except (RehearsalError, pm2.Pm2Error, OSError) as problem:
            self.log.warning("compare: the rates stay as they are: %s", problem)
            seen = Rehearsal(problem=str(problem))
        made = set_out(self.record, known, seen, usable_cores(), self.wanted.settings.cpu_share)
        self.executor.set_properties(made.properties)
        [planned] = under_way(self.engine).manifest.executions
        planned.properties.update({name: str(it) for name, it in made.properties.items()})
        self._write(made.record)
        for line in made.warnings:
            self.log.warning("compare: %s", line)
        for line in made.lines:
            self.log.info("Compare: %s", line)

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
        most_s = max(asked_s, self.record.settings.budget_s)  # where a plan does not say its length
        return f"{min(elapsed_s, most_s):.0f} of at most {most_s:.0f} s"

    def post_process(self) -> None:
        """Find out why head is worse, now that the verdict stands; then leave no check-out behind,
        whatever happened, nor what runs from it."""
        super().post_process()
        try:
            wanted = self.wanted and self.wanted.settings.profile
            comparison = comparison_of(under_way(self.engine).judged, wanted)
            if comparison:
                roots = self.roots or (SUITE, SUITE)
                explained(self.folder, comparison, self.executor, self.targets, roots, self.log)
        finally:
            with defer_signals():
                self.to_leave.close()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, SUITE)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
