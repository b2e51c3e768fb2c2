"""Taurus service `compare`: base and head side by side, and the end of the run once it is decided.

Its settings are in compare/settings.py; a kind that names no budget compares nothing.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
two apps that it asks for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.engine import Service

from tollgate.base import BASE, ROOT, Url, duration_text, uninterrupted
from tollgate.compare import (
    INJECTIONS,
    SETTINGS,
    CompareRecord,
    CompareSettings,
    LagError,
    Pace,
    SettingError,
    SideRecord,
    Watch,
    again,
    drawn_seeds,
    is_compare,
    lag_s,
    pace,
    read_settings,
    record,
    schedule_of,
    words,
)
from tollgate.gather import labels_of
from tollgate.plan import read_plan
from tollgate.run import manifest
from tollgate.samples import JtlError
from tollgate.targets import (
    GitError,
    Revisions,
    checkout,
    find_revisions,
    name_of,
    period_of,
    pm2,
    probe,
    scenario_of,
)
from tollgate.taurus.jmeter import InstalledJMeter
from tollgate.taurus.pace import CostError, cores, cost_of
from tollgate.taurus.shared import property_of, refuse_unknown, under_way
from tollgate.taurus.targets import Targets
from tollgate.taurus.why import comparison_of, explained


def given_properties(config: Mapping, execution: Mapping) -> dict[str, object]:
    """The properties that a person has set; as in Taurus, a scenario's own go before the rest."""
    module = config.get("modules").get("jmeter").get("properties")
    own = scenario_of(config, execution).get("properties", None)
    return {**(module or {}), **(own or {})}


#: Apps of ecosystem.config.js, and how many of each the plan can ask.
SIDES = ("base", "head")
MOST_PROCESSES = 4
#: So many files are named in a line.
NAMED = 3


class SetupError(ValueError):
    """One line: what can't be compared and what to do."""


def refuse(config: Mapping, variables: Mapping[str, str]) -> None:
    """Raises SetupError for what would make two comparisons of one, or none. config: Taurus's."""
    modules = config.get("modules")
    if period_of(modules.get("targets").get("reload-every", None), variables):
        raise SetupError(
            "RELOAD_EVERY or modules.targets.reload-every is set, and a reload hits base and head "
            "at different moments: leave reloads out"
        )
    executions = config.get("execution", [])
    if len(executions) != 1:
        names = ", ".join(name_of(each) for each in executions) or "none"
        raise SetupError(f"base and head share one execution, and this run has: {names}")
    given = modules.get("jmeter").get("properties")
    own = scenario_of(config, executions[0]).get("properties", None) or {}
    measured = own.get("measured", given.get("measured", 0))
    if str(measured) not in ("0", "0.0"):
        raise SetupError(
            f"the property measured is {measured}: modules.compare.budget says how long to "
            "measure, so set that"
        )


def unequal(found: Revisions, variables: Mapping[str, str]) -> list[str]:
    """In what the two sides differ beyond their commits, a line each."""
    lines = []
    if found.changed:
        files = _listed(found.changed)
        lines.append(f"head is the working tree with changes not committed: {files}")
    if found.ignored:
        lines.append(f"head alone has what git ignores under app/: {_listed(found.ignored)}")
    for name in INJECTIONS:
        value = variables.get(name, "")
        if value.strip("0."):
            lines.append(f"{name}={value} slows base and head alike; HEAD_{name} slows head alone")
    return lines


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return f"{', '.join(files[:NAMED])}{more}"


def environment(mode: str, base: Path, head: Path) -> dict[str, str]:
    """What ecosystem.config.js makes the two apps of. base, head: where each has its app/."""
    return {"COMPARE_MODE": mode, "BASE_FOLDER": str(base), "HEAD_FOLDER": str(head)}


def replace_environment(variables: Mapping[str, str]) -> dict[str, str | None]:
    """Set variables of this process; returns what they were, for `put_back`."""
    replaced = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    return replaced


def put_back(replaced: Mapping[str, str | None]) -> None:
    """Variables of this process as they were; None: not set."""
    for name, value in replaced.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def sides_of_revisions(found: Revisions) -> list[SideRecord]:
    """Base and head, both of this repository."""
    return [
        SideRecord("base", found.base_text, found.base, None),
        SideRecord("head", found.head_text, found.head if found.is_commit else None, None),
    ]


def sides_of_urls(urls: Sequence[Url]) -> list[SideRecord]:
    """Base and head, each where it answers. Raises SetupError where one does not."""
    for name, url in zip(SIDES, urls, strict=True):
        why = probe.unanswered(url)
        if why:
            raise SetupError(
                f"{name.upper()}_URL {url.text} does not answer as a web server does ({why}): "
                "start what runs there, or correct the URL"
            )
    return [
        SideRecord(name, url.text, None, url.text) for name, url in zip(SIDES, urls, strict=True)
    ]


def apps_of_sides(declared: Mapping[str, pm2.App]) -> list[list[pm2.App]]:
    """The processes of base and those of head: `base`, `base-2` and so on, as far as they are
    declared. Raises SetupError where a side has none, or other ones than the other."""
    found = []
    for side in SIDES:
        if side not in declared:
            raise SetupError(f"ecosystem.config.js has no app {side!r}: put it back")
        others = (f"{side}-{number}" for number in range(2, MOST_PROCESSES + 1))
        found.append([declared[name] for name in (side, *others) if name in declared])
    base, head = ([app.name.partition("-")[2] for app in apps] for apps in found)
    if base != head:
        raise SetupError(
            f"ecosystem.config.js has {len(base)} processes of base and {len(head)} of head: "
            "declare as many of both"
        )
    return found


def places_of_apps(sides: Sequence[Sequence[pm2.App]]) -> dict[str, object]:
    """Properties of the plan. sides: the processes of base and of head."""
    hosts = {f"{name}_host": pm2.HOST for name in SIDES}
    ports = {
        f"{name}_port{f'_{number}' if number > 1 else ''}": app.port
        for name, apps in zip(SIDES, sides, strict=True)
        for number, app in enumerate(apps, start=1)
    }
    protocols = {f"{name}_protocol": "http" for name in SIDES}
    return {**hosts, **ports, **protocols, "last_coin": 2 * len(sides[0]) - 1}


def places_of_urls(urls: Sequence[Url]) -> dict[str, object]:
    """Properties of the plan."""
    return {
        f"{name}_{key}": value
        for name, url in zip(SIDES, urls, strict=True)
        for key, value in (("host", url.host), ("port", url.port), ("protocol", url.protocol))
    }


class Compare(Service):
    """One execution that asks base and head at random."""

    def __init__(self) -> None:
        super().__init__()
        self.record: CompareRecord | None = None
        self.watch: Watch | None = None
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
        except (SettingError, SetupError, LagError) as problem:
            raise TaurusConfigError(f"compare: {problem}") from None
        except (GitError, checkout.PackagesError, checkout.PlaceError, pm2.Pm2Error) as problem:
            raise ToolError(f"compare: {problem}") from None

    def _set_up(self, wanted: CompareSettings) -> None:
        execution = self.engine.config.get("execution")[0]
        scenario = scenario_of(self.engine.config, execution)
        given = given_properties(self.engine.config, execution)
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
            self.log.info("Seeds of this run; for the same again: %s", again(seeds))

    def _here(self, wanted: CompareSettings) -> tuple[list[SideRecord], list[list[pm2.App]]]:
        """Base beside the working tree, and the apps of both for PM2 to start."""
        found = find_revisions(ROOT, wanted.base)
        checkout.check_head_packages(ROOT)
        targets = next((it for it in self.engine.services if isinstance(it, Targets)), None)
        if targets is None:
            raise SetupError("services has no `targets`, which would start base and head")
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
            self.watch = Watch(self.record, Path(executor.kpi_jtl), labels, warmup, self.lag_s)

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
        manifest.write(known, self.folder)
        return replace(kept, period_ms=given[pace.PERIOD], why=pace.MEASURED, cost=cost)

    def _executor(self) -> InstalledJMeter:
        return self.engine.provisioning.executors[0]

    def check(self) -> bool:
        """Look at the samples when it is time to; ends the run once everything is decided."""
        return self._is_decided() or super().check()

    def _is_decided(self) -> bool:
        process = getattr(self._executor(), "process", None) if self.watch else None
        if process is None or process.poll() is not None:
            return False
        try:
            line = self.watch.look()
        except JtlError as problem:  # `verdict` will say so; until then there is no harm in load
            self.log.warning("compare: no look at the samples: %s", problem)
            return False
        if line:
            self.log.info("%s", line)
        if not self.watch.is_decided:
            return False
        self.record = self.watch.record
        record.write(self.record, self.folder)
        return True

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
        with uninterrupted():
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
