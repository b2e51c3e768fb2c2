"""Taurus service `compare`: base and head side by side, and the end of the run once it is decided.

Its settings are in compare/settings.py; a kind that names no budget compares nothing.

It stands behind `load`, which leaves it the one execution, and before `targets`, which starts the
two apps that it asks for.
"""

from __future__ import annotations

import os
from pathlib import Path

from bzt import TaurusConfigError, ToolError
from bzt.engine import Service

from tollgate.base import BASE, ROOT, uninterrupted
from tollgate.compare import (
    SETTINGS,
    CompareRecord,
    CompareSettings,
    LagError,
    SettingError,
    SideRecord,
    is_compare,
    lag_s,
    read_settings,
    record,
)
from tollgate.forecast import duration_text
from tollgate.gather import labels_of
from tollgate.plan import read_plan
from tollgate.samples import JtlError
from tollgate.targets import (
    GitError,
    Revisions,
    checkout,
    find_revisions,
    name_of,
    pm2,
    scenario_of,
)
from tollgate.taurus import compare_properties as properties
from tollgate.taurus import compare_setup as setup
from tollgate.taurus.checked import property_of, refuse_unknown
from tollgate.taurus.compare_setup import SetupError
from tollgate.taurus.compare_watch import Watch
from tollgate.taurus.targets import Targets


class Compare(Service):
    """One execution that asks base and head at random."""

    def __init__(self) -> None:
        super().__init__()
        self.record: CompareRecord | None = None
        self.watch: Watch | None = None
        self.lag_s = 0.0
        self.targets: Targets | None = None  # from when on nobody else uses this checkout
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
            setup.refuse(self.engine.config, os.environ)
            self._set_up(read_settings(self.settings, os.environ))
        except (SettingError, SetupError, LagError) as problem:
            raise TaurusConfigError(f"compare: {problem}") from None
        except (GitError, checkout.PackagesError, checkout.PlaceError, pm2.Pm2Error) as problem:
            raise ToolError(f"compare: {problem}") from None

    def _set_up(self, wanted: CompareSettings) -> None:
        execution = self.engine.config.get("execution")[0]
        scenario = scenario_of(self.engine.config, execution)
        given = properties.given(self.engine.config, execution)
        self.lag_s = lag_s(given)
        seeds = properties.drawn(scenario.get("script", None), given)
        if wanted.urls:
            sides, places = setup.sides_of_urls(wanted.urls), setup.places_of_urls(wanted.urls)
        else:
            sides, places = self._here(wanted)
        if not wanted.urls:
            scenario["target"] = list(setup.SIDES)
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
        )
        record.write(self.record, self.folder)
        self._announce()
        if seeds:
            self.log.info("Seeds of this run; for the same again: %s", properties.again(seeds))

    def _here(self, wanted: CompareSettings) -> tuple[list[SideRecord], dict[str, object]]:
        """Base beside the working tree, both for PM2 to start."""
        found = find_revisions(ROOT, wanted.base)
        checkout.check_head_packages(ROOT)
        targets = next((it for it in self.engine.services if isinstance(it, Targets)), None)
        if targets is None:
            raise SetupError("services has no `targets`, which would start base and head")
        targets.hold()
        self.targets = targets
        base = self._check_out(found)
        for line in setup.unequal(found, os.environ):
            self.log.warning("compare: %s", line)
        if found.is_control and not wanted.injected:
            self.log.info("Base and head are the same code: this is the control, which must pass")
        variables = setup.environment(wanted.mode, base, ROOT)
        self.replaced = setup.replace_environment(variables)
        return setup.sides_of_revisions(found), setup.places_of_apps(pm2.declared_apps())

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
        """Know what to look at: the labels of the plan."""
        super().startup()
        if self.record:
            executor = self._executor()
            texts = {key: str(value) for key, value in executor.properties.items()}
            warmup = property_of(texts, "warmup", 0, "compare")
            labels = labels_of(read_plan(Path(executor.original_jmx), texts))
            self.watch = Watch(self.record, Path(executor.kpi_jtl), labels, warmup, self.lag_s)

    def _executor(self) -> object:
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

    def position(self, asked_s: float, elapsed_s: float) -> str | None:
        """Where the comparison stands, for `progress`; None where there is none."""
        if not self.record:
            return None
        return f"{min(elapsed_s, asked_s):.0f} of at most {asked_s:.0f} s"

    def post_process(self) -> None:
        """Leave no check-out behind, whatever happened, nor what runs from it."""
        super().post_process()
        if self.targets is None:
            return  # there may be one, of another run that is under way
        with uninterrupted():
            try:
                self.targets.shutdown()
            finally:
                setup.put_back(self.replaced)
                self._clear()

    def _clear(self) -> None:
        try:
            checkout.clear(BASE, ROOT)
        except checkout.PlaceError as problem:
            self.log.warning("compare: the check-out of base is left: %s", problem)
