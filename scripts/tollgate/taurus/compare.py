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
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.utils import BetterDict

from tollgate.base.paths import BASE, ECOSYSTEM, SUITE
from tollgate.base.processes import defer_signals
from tollgate.base.settings import SettingError
from tollgate.base.text import duration_text
from tollgate.base.urls import Url
from tollgate.compare import answers, mix, pace, record, settings, words
from tollgate.compare.answers import Answer, AnswersError, Found, Rehearsal
from tollgate.compare.facts import labels_of
from tollgate.compare.mix import mix_of
from tollgate.compare.model import Answers
from tollgate.compare.outset import Schedule, set_out
from tollgate.compare.own_plan import PlanOfSides, send_as_it_is, send_to_sides
from tollgate.compare.record import CompareRecord, CpuRecord, SideRecord
from tollgate.compare.settings import CompareSetup
from tollgate.compare.watch import ComparisonDecider, UsedMs
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


@dataclass(frozen=True)
class _Sides:
    """Base and head, as they are asked."""

    records: Sequence[SideRecord]
    urls: Sequence[Sequence[Url]]
    """Of each side, one for each process."""
    apps: Sequence[Sequence[pm2.App]] = ((), ())
    """Of each side; none of services by URL."""
    roots: Mapping[str, list[Path]] = field(default_factory=dict)
    """Of each side, first its own."""

    @property
    def is_sided(self) -> bool:
        return any(app.is_sided for side in self.apps for app in side)


class Compare(OwnLoad):
    """One execution that asks base and head at random."""

    name = "compare"

    def __init__(self) -> None:
        super().__init__()
        self.setup: CompareSetup | None = None
        self.sides = _Sides((), ())
        self.plan: PlanOfSides | None = None
        self.record: CompareRecord | None = None
        self.decider: ComparisonDecider | None = None
        self.watches: dict[object, SampleWatch] = {}
        self.targets: Targets | None = None  # from when on no other run uses this suite
        self.unwritten: frozenset[str] | None = None  # in base before it ran, where git tells
        self.to_leave = ExitStack()

    def prepare(self) -> None:
        """Raises TaurusConfigError or ToolError, one line, for what can't be compared."""
        if self.settings.get("budget", None) is None:
            return
        self.refuse_reloads("a reload hits base and head at different moments")
        name, scenario = self.only_execution("base and head share one execution")
        problems = GitError, packages.PackagesError, checkout.PlaceError, pm2.Pm2Error
        with (
            problems_as(TaurusConfigError, "compare", SettingError),
            problems_as(ToolError, "compare", *problems),
        ):
            self.setup = settings.read_setup(self.settings, os.environ)
            self._set_up(name, scenario, self.setup)

    def _set_up(self, name: str, scenario: BetterDict, setup: CompareSetup) -> None:
        properties = given_properties(self.engine.config, scenario)
        if (measured := properties.get("measured", "0")) not in ("0", "0.0"):
            raise SettingError(
                f"the property measured is {measured}: set modules.compare.budget instead"
            )
        prepared = under_way(self.engine).executions[name]
        script = prepared.original or scenario.get("script", None)
        seeds = settings.drawn_seeds(script, properties)
        if setup.urls:
            self.sides = _Sides(sides.sides_of_urls(setup.urls), setup.urls)
        else:
            self.sides = self._here(setup, name, scenario)
            scenario["target"] = [app.name for side in self.sides.apps for app in side]
        urls = self.sides.urls
        if prepared.original:
            host = prepared.service_host
            plan = send_to_sides(prepared.original, host, self.folder, urls, properties, setup)
            prepared.notes += plan.sided.remarks
            prepared.ends_s = plan.ends_s
            scenario["script"] = str(plan.copy)
            seeds[COIN_SEED] = plan.properties[COIN_SEED]
        else:
            plan = send_as_it_is(Path(str(script)).read_text("utf-8"), properties, setup)
        scenario.merge({"properties": {**sides.places(urls), **seeds, **plan.properties}})
        self.plan = plan
        self._begin(name, settings.answers_of(name, scenario), setup, plan)
        if seeds:
            repeat = settings.repeat_command(seeds)
            self.log.info("Seeds of this run; for the same again: %s", repeat)

    def _begin(self, name: str, same: Answers, setup: CompareSetup, plan: PlanOfSides) -> None:
        """Record and log what is compared. same: what head may answer."""
        base, head = self.sides.records
        promise = CompareRecord(
            base,
            head,
            execution=name,
            mode="url" if setup.urls else setup.settings.mode,
            settings=plan.gate,
            first_s=setup.settings.first,
            every_s=setup.settings.every,
            injected=setup.injected,
            processes=len(self.sides.urls[0]),
            # A bisect asks for times alone.
            answers="any" if sides.VARIABLE in os.environ else same,
            is_sided=self.sides.is_sided,
            cpu=None if setup.urls else CpuRecord(),
        )
        if sided := plan.sided:
            promise = replace(
                promise, coin=sided.coin, repeats=sided.repeats, elsewhere=sided.elsewhere
            )
        self._write(promise)
        under_way(self.engine).position = self.position
        self.log.info(
            "Compare: base %s with head %s%s: at most %s of measuring, less if decided before",
            promise.base.description,
            promise.head.description,
            "" if setup.urls else f", in {promise.mode} mode",
            duration_text(plan.gate.budget_s),
        )
        if sided:
            self.log.info("Compare: %s", words.coin(promise, sided.lasting, sided.threads))
            for line in sided.remarks:
                self.log.warning("compare: %s", line)

    def _here(self, setup: CompareSetup, name: str, scenario: BetterDict) -> _Sides:
        """Base beside the working tree, and the processes of both for PM2 to start."""
        app = sides.app_of(name, scenario)
        mode = setup.settings.mode
        copies.refuse_mode(app, mode)
        source = Source.of(app)
        built = BuiltSides.of(os.environ) or self._check_out(setup, name, scenario, source)
        self._hold()
        processes = setup.settings.processes
        both = sides.copies_of_sides(app, mode, processes, source.root, built.folders, os.environ)
        in_turn = sides.in_turn(both, swapped=bool(secrets.randbits(1)))
        self.to_leave.callback(copies.compose(in_turn))
        apps = sides.apps_of_sides(app, both, pm2.declared_apps())
        urls = [[Url("http", pm2.HOST, app.port) for app in side] for side in apps]
        here = _Sides(sides.sides_of_revisions(built.found), urls, apps, built.roots)
        for line in (*sides.unequal(built.found, os.environ), *sides.shared_stores(apps)):
            self.log.warning("compare: %s", line)
        if built.found.is_control and not setup.injected:
            what = f"but {words.SIDED}" if here.is_sided else "this is the control, which must pass"
            self.log.info("Base and head are the same code: %s", what)
        return here

    def _check_out(
        self, setup: CompareSetup, name: str, scenario: BetterDict, source: Source
    ) -> BuiltSides:
        """Base in a folder of its own, with its packages, and both sides built."""
        provision = packages.provision_of(name, scenario)
        revisions = source.revisions(setup.settings.base, provision)
        if not provision.install:
            for folder in packages.locked_folders(source.folder, source.root):
                packages.check_head_packages(folder)
        self._hold()  # a killed run's check-out may lie there
        self.log.info("Checking out base %s...", revisions.base_text)
        place = checkout.provide_folder(SUITE, source.root)
        checkout.note(place, BASE)
        base = place / checkout.CHECKOUT
        checkout.check_out(source.root, revisions.base, base)
        source_of = packages.provide(provision, source.folder, (base, source.root), self.folder)
        packages.build(provision, source.folder, self.folder, "head")
        self.unwritten = git.written(base)
        self.log.info("Base has its packages: %s", source_of)
        if revisions.ignored and not provision.build and packages.makes_packages(source.folder):
            self.log.warning(
                "compare: install scripts of package.json ran for base now, and for head when it "
                "was installed: if they build, name `build` beside the app"
            )
        return BuiltSides(revisions, (base, source.root), source.root)

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
        if not self.record:
            return
        texts = {key: str(value) for key, value in self.executor.properties.items()}
        plan = read_plan(Path(self.executor.original_jmx), texts)
        with problems_as(ToolError, "compare", AnswersError, ValueError):
            self._rehearse(plan, texts)
        self._warn_of_shared_files()
        warmup = property_of(texts, "warmup", 0, "compare")
        used_ms, recorder = self._watch_cpu(), under_way(self.engine).background
        self.decider = ComparisonDecider(
            self.record,
            labels_of(plan, self.record.uncompared),
            warmup,
            self.plan.lag_s,
            recorder and recorder.shares,
            used_ms,
        )
        samples = samples_of(self.engine, self.executor)
        self.watches[self.executor] = SampleWatch(self.decider, samples)

    def _watch_cpu(self) -> UsedMs | None:
        """Note whose CPU time is compared; what finds it by second, None where nothing can."""
        recorder = under_way(self.engine).worker_cpu
        if not (recorder and self.record.cpu):
            return None
        pids: dict[str, list[int]] = {}
        with problems_as(ToolError, "compare", pm2.Pm2Error):
            for worker in pm2.workers():
                pids.setdefault(worker["name"], []).append(worker["pid"])
        pairs = zip(*self.sides.apps, strict=True)
        in_turn = [pids.get(app.name, []) for pair in pairs for app in pair]
        self._write(replace(self.record, cpu=CpuRecord(max(1, len(in_turn[0])))))
        return partial(recorder.used_ms, in_turn)

    def _warn_of_shared_files(self) -> None:
        """Tell what base's processes have written by now into the folder that all of them have."""
        new: frozenset[str] = frozenset()
        several = self.record.processes > 1 or self.record.mode == "cluster"
        if self.unwritten is not None and several:
            with suppress(GitError):
                new = git.written(self.sides.roots["base"][0]) - self.unwritten
        if new:
            self.log.warning(
                "compare: processes of a side write to the same files, such as %s: if one's work "
                "slows another, give each its own by ${PROCESS} in %s",
                min(new),
                ECOSYSTEM.name,
            )

    def _rehearse(self, plan: Plan, texts: Mapping[str, str]) -> None:
        """Ask each label of both sides, and choose labels and pace by what they answer."""
        labels = labels_of(plan, self.record.elsewhere)
        mixed = mix_of(plan, plan.path.read_text(encoding="utf-8"))
        seed = int(property_of(texts, mix.SEED, 1, "compare"))
        usual, fixed = self.plan.usual, self.plan.fixed
        sees_cpu = bool(self.targets and usual and not fixed)
        timing = pace.rehearsed(usual, mixed is not None) | fixed if usual else {}
        self.log.info("Rehearsing what base and head answer, for half a minute or so...")
        try:
            seen = rehearse(
                self.executor,
                self.folder,
                labels,
                mixed,
                timing,
                sees_cpu,
                lambda them: self._judged(them, labels),
            )
        except (RehearsalError, pm2.Pm2Error, OSError) as problem:
            self.log.warning("compare: the rates stay as they are: %s", problem)
            seen = Rehearsal(problem=str(problem))
        schedule, share = Schedule(labels, mixed, usual, fixed, seed), self.setup.settings.cpu_share
        outset = set_out(self.record, schedule, seen, usable_cores(), share)
        self.executor.set_properties(outset.properties)
        [planned] = under_way(self.engine).manifest.executions
        planned.properties.update({name: str(it) for name, it in outset.properties.items()})
        self._write(outset.record)
        for line in outset.warnings:
            self.log.warning("compare: %s", line)
        for line in outset.lines:
            self.log.info("Compare: %s", line)

    def _judged(self, seen: Sequence[Answer], labels: Sequence[str]) -> Found:
        if self.plan.sided:
            urls = [url for side in self.sides.urls for url in side]
            answers.refuse_strays(seen, self.plan.sided.straying, urls)
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
        return False

    def _write(self, latest: CompareRecord) -> None:
        self.record = latest
        record.write(latest, self.folder)

    def shutdown(self) -> None:
        """Note what others took, also where nothing was decided: the last look goes by it."""
        run = under_way(self.engine)
        recorders = [it for it in (run.background, run.worker_cpu) if it]
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
        try:
            profile = self.setup and self.setup.settings.profile
            if comparison := comparison_of(under_way(self.engine).judged, profile):
                roots = self.sides.roots
                explained(self.folder, comparison, self.executor, self.targets, roots, self.log)
        finally:
            with defer_signals():
                self.to_leave.close()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, SUITE)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
