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
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base.paths import BASE, SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError
from tollgate.base.text import duration_text
from tollgate.base.urls import Url
from tollgate.compare import answers, mix, pace, record, words
from tollgate.compare.answers import Answer, AnswersError, Found, Rehearsal
from tollgate.compare.facts import labels_of
from tollgate.compare.mix import mix_of
from tollgate.compare.outset import Schedule, set_out
from tollgate.compare.own_plan import OwnPlanCompared, send_to_sides
from tollgate.compare.record import CompareRecord, CpuRecord, SideRecord
from tollgate.compare.settings import (
    TIMEOUTS_MS,
    CompareSetup,
    answers_of,
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
from tollgate.targets.sides import BuiltSides, Source
from tollgate.taurus.decision_loop import decisions
from tollgate.taurus.own_load import OwnLoad
from tollgate.taurus.profile_diff import comparison_of, explained
from tollgate.taurus.rehearsal import RehearsalError, rehearse
from tollgate.taurus.shared import problems_as, property_of, samples_of, under_way
from tollgate.taurus.targets import Targets
from tollgate.workers.cgroups import usable_cores

#: CPU ms by process in each of so many seconds from a moment on, None where not known.
UsedMs = Callable[[float, int], tuple[tuple[float | None, ...], ...]]


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
        self.roots: dict[str, list[Path]] = {}  # of each side, first its own
        self.unwritten: frozenset[str] | None = None  # in base before it ran, where git tells
        self.names: list[list[str]] = [[], []]  # of the apps of base and of head
        self.urls: list[Url] = []  # of both
        self.straying: tuple[str, ...] = ()  # labels of a user's own plan that may ask others
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
        is_sided = False
        if wanted.urls:
            both, urls = sides.sides_of_urls(wanted.urls), wanted.urls
        else:
            both, apps = self._here(wanted, name, scenario)
            is_sided = any(app.is_sided for each in apps for app in each)
            urls = [[Url("http", pm2.HOST, app.port) for app in each] for each in apps]
            self.names = [[app.name for app in each] for each in apps]
            scenario["target"] = [name for each in self.names for name in each]
        self.urls = [it for each in urls for it in each]
        own = {**sides.places(urls), **seeds}
        plan = None
        if prepared.original:
            host = prepared.service_host
            plan = send_to_sides(prepared.original, host, self.folder, urls, given, wanted)
            prepared.notes += plan.sided.remarks
            prepared.ends_s = plan.ends_s
            scenario["script"] = str(plan.copy)
            self.lag_s, self.straying = lag_s(plan.properties), plan.sided.straying
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
        wanted_answers = answers_of(name, scenario)
        if sides.VARIABLE in os.environ:  # of a bisect, which asks for times alone
            wanted_answers = "any"
        self._begin(name, both, len(urls[0]), plan)
        self._write(replace(self.record, answers=wanted_answers, is_sided=is_sided))
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
        if not wanted.urls:
            known = replace(known, cpu=CpuRecord())
        if plan:
            sided = plan.sided
            known = replace(
                known, coin=sided.coin, repeats=sided.repeats, elsewhere=sided.elsewhere
            )
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
            self.log.info("Compare: %s", words.coin(known, sided.lasting, sided.threads))
            for line in sided.remarks:
                self.log.warning("compare: %s", line)

    def _here(
        self, wanted: CompareSetup, name: str, scenario: BetterDict
    ) -> tuple[list[SideRecord], list[list[pm2.App]]]:
        """Base beside the working tree, and the processes of both for PM2 to start."""
        app = sides.app_of(name, scenario)
        mode = wanted.settings.mode
        copies.refuse_mode(app, mode)
        source = Source.of(app)
        built = BuiltSides.of(os.environ) or self._check_out(name, scenario, source)
        self._hold()
        self.roots, found = built.roots, built.found
        places = source.root, built.folders
        both = sides.copies_of_sides(app, mode, wanted.settings.processes, *places, os.environ)
        in_turn = sides.in_turn(both, swapped=bool(secrets.randbits(1)))
        self.to_leave.callback(copies.compose(in_turn))
        apps = sides.apps_of_sides(app, both, pm2.declared_apps())
        for line in (*sides.unequal(found, os.environ), *sides.shared_stores(apps)):
            self.log.warning("compare: %s", line)
        if found.is_control and not wanted.injected:
            what = "this is the control, which must pass"
            if any(it.is_sided for each in apps for it in each):
                what = f"but {words.SIDED}"
            self.log.info("Base and head are the same code: %s", what)
        return sides.sides_of_revisions(found), apps

    def _check_out(self, name: str, scenario: BetterDict, source: Source) -> BuiltSides:
        """Base in a folder of its own, with its packages, and both sides built."""
        provision = packages.provision_of(name, scenario)
        found = source.revisions(self.wanted.settings.base, provision)
        if not provision.install:
            for folder in packages.locked_folders(source.folder, source.root):
                packages.check_head_packages(folder)
        self._hold()  # a killed run's check-out may lie there
        self.log.info("Checking out base %s...", found.base_text)
        place = checkout.provide_folder(SUITE, source.root)
        checkout.note(place, BASE)
        base = place / checkout.CHECKOUT
        checkout.check_out(source.root, found.base, base)
        source_of = packages.provide(provision, source.folder, (base, source.root), self.folder)
        packages.build(provision, source.folder, self.folder, "head")
        self.unwritten = git.written(base)
        self.log.info("Base has its packages: %s", source_of)
        if found.ignored and not provision.build and packages.makes_packages(source.folder):
            self.log.warning(
                "compare: install scripts of package.json ran for base now, and for head when it "
                "was installed: if they build, name `build` beside the app"
            )
        return BuiltSides(found, (base, source.root), source.root)

    def _hold(self) -> None:
        """Keep other runs out until this one has left nothing behind."""
        if self.targets:
            return
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
        shares, used_ms = recorder and recorder.shares, self._watch_cpu()
        labels = labels_of(plan, self.record.uncompared)
        self.decider = ComparisonDecider(self.record, labels, warmup, self.lag_s, shares, used_ms)
        samples = samples_of(self.engine, self.executor)
        self.watches[self.executor] = SampleWatch(self.decider, samples)

    def _watch_cpu(self) -> UsedMs | None:
        """Note whose CPU time is compared; what finds it by second, None where nothing can."""
        recorder = under_way(self.engine).worker_cpu
        if not (recorder and self.record.cpu):
            return None
        pids: dict[str, list[int]] = {}
        with problems_as(ToolError, "compare", pm2.Pm2Error):
            for it in pm2.workers():
                pids.setdefault(it["name"], []).append(it["pid"])
        in_turn = [pids.get(name, []) for pair in zip(*self.names, strict=True) for name in pair]
        self._write(replace(self.record, cpu=CpuRecord(max(1, len(in_turn[0])))))
        return partial(recorder.used_ms, in_turn)

    def _warn_of_shared_files(self) -> None:
        """Tell what base's processes have written by now into the folder that all of them have."""
        new: frozenset[str] = frozenset()
        several = self.record.processes > 1 or self.record.mode == "cluster"
        if self.unwritten is not None and several:
            with suppress(GitError):
                new = git.written(self.roots["base"][0]) - self.unwritten
        if new:
            self.log.warning(
                "compare: processes of a side write to the same files, such as %s: if one's work "
                "slows another, give each its own by ${PROCESS} in ecosystem.config.js",
                min(new),
            )

    def _rehearse(self, plan: Plan, texts: Mapping[str, str]) -> None:
        """Ask each label of both sides, and choose labels and pace by what they answer."""
        labels = labels_of(plan, self.record.elsewhere)
        found = mix_of(plan, plan.path.read_text(encoding="utf-8"))
        seed = int(property_of(texts, mix.SEED, 1, "compare"))
        known = Schedule(labels, found, self.usual, self.fixed, seed)
        sees_cpu = bool(self.targets and self.usual and not self.fixed)
        given = pace.rehearsed(self.usual, found is not None) | self.fixed if self.usual else {}
        self.log.info("Rehearsing what base and head answer, for half a minute or so...")
        try:
            seen = rehearse(
                *(self.executor, self.folder, labels, found, given, sees_cpu),
                lambda them: self._judged(them, labels),
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

    def _judged(self, seen: Sequence[Answer], labels: Sequence[str]) -> Found:
        answers.refuse_strays(seen, self.straying, self.urls)
        return answers.judge(seen, labels)

    def check(self) -> bool:
        """End the run once everything is decided."""
        for _, line in decisions(self, "compare", self.watches):
            self.log.info("%s", line)
        recorder = under_way(self.engine).worker_cpu
        if recorder and self.decider and self.decider.origin_s:  # read at the edges of its seconds
            recorder.phase_s = (self.decider.origin_s + self.decider.warmup_s) % 1.0
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
        known = under_way(self.engine)
        recorders = [it for it in (known.background, known.worker_cpu) if it]
        if not (self.decider and recorders):
            return
        for recorder in recorders:
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
                known = self.executor, self.targets, self.roots
                explained(self.folder, comparison, *known, self.log)
        finally:
            with defer_signals():
                self.to_leave.close()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, SUITE)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
