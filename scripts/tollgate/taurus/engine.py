"""Taurus's engine, which begins a run in one order: the configuration is checked, all modules are
prepared and refuse what can't be run or judged, the targets start, the load begins."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from bzt import ManualShutdown, TaurusConfigError
from bzt.engine import Configuration

from tollgate.base.settings import SettingError
from tollgate.base.text import did_you_mean
from tollgate.install.tools import jmeter_home, runs
from tollgate.plan.properties import leave_out
from tollgate.record.environment import jmeter_version
from tollgate.record.redaction import Redaction
from tollgate.service import choice
from tollgate.targets.pm2 import Pm2Error
from tollgate.taurus import composition, run_file, secrecy
from tollgate.taurus.run_file import BASE_CONFIG
from tollgate.taurus.shared import problems_as, under_way
from tollgate.taurus.targets import Targets

#: The kind of a run without one: it changes no setting.
DEFAULT_KIND = "check"
_PATIENCE = "Please wait for graceful shutdown..."


class Engine(secrecy.RecordingEngine):
    """kinds: the aliases of bzt's command line."""

    def __init__(self, parent: logging.Logger, redaction: Redaction, kinds: Sequence[str]) -> None:
        super().__init__(parent, redaction)
        self.kinds = kinds
        self.arguments: list[str] | None = None  # of the command line, for run.json
        self.service: str | None = None
        # At every end Taurus asks for patience; only whoever interrupts it has to wait.
        self.log.addFilter(lambda record: record.msg != _PATIENCE or self.interrupted)

    def configure(
        self, user_configs: list[str], read_config_files: bool = True
    ) -> Configuration | None:
        """Read the files of settings. Raises TaurusConfigError for a kind or a service that none of
        them has, and for two of either."""
        merged = super().configure(user_configs, read_config_files)
        aliases = self.config.get("cli-aliases")
        aliases.get(DEFAULT_KIND, {}, force_set=True)
        services = choice.services_of(self.config)
        for kind in self.kinds:
            if kind not in (*aliases, *services):
                taurus = Configuration()
                taurus.load([str(BASE_CONFIG)])
                ours = [str(it) for it in aliases if it not in taurus["cli-aliases"]]
                what = "is no kind of run (cli-aliases) and no service (scenarios)"
                raise TaurusConfigError(f"-{kind} {what}: {did_you_mean(kind, [*ours, *services])}")
        with problems_as(TaurusConfigError, "run", SettingError):
            self.service = choice.chosen(self.kinds, services, aliases)
        # Of a scenario whose plan comes from a folder of plans.
        linter = self.config.get("cli").get("linter")
        linter.get("ignored-warnings", []).append("no-script-or-requests")
        for name in services:  # where an alias is called like it, both are meant
            aliases.get(name, {}, force_set=True)
        return merged

    def prepare(self) -> None:
        """Raises TaurusConfigError for what no module would read, before one is called."""
        try:
            run_file.check(self.config)
            self._take_own_jmeter()
            self.unify_config()
            self._leave_out_properties()
            for name in choice.secrets_of(self.config):
                self.redaction.add(name, os.environ.get(name, ""))
            service = self.service or choice.only_service(self.config)
            run = composition.read_run(self.config, service, os.environ)
            under_way(self).composed = composition.compose(self.config, run, os.environ)
        except (SettingError, Pm2Error) as problem:
            raise TaurusConfigError(str(problem)) from None
        super().prepare()

    def _leave_out_properties(self) -> None:
        """Without those of JMeter by which samples would be others. Raises SettingError."""
        places = {"modules.jmeter": self.config.get("modules").get("jmeter", None)}
        places |= {f"scenarios.{it}": each for it, each in self.config.get("scenarios").items()}
        for where, settings in places.items():
            properties = (settings or {}).get("properties", None) or {}
            if line := leave_out(properties, f"{where}.properties"):
                self.log.warning("%s", line)

    def _take_own_jmeter(self) -> None:
        """Have all use the JMeter that modules.jmeter.path names. Raises SettingError."""
        modules = self.config.get("modules")
        path = str((modules.get("jmeter", None) or {}).get("path", "") or "")
        if not path or "${" in path:
            return
        launcher = Path(path).expanduser().absolute()
        if launcher == jmeter_home().absolute() / "bin" / "jmeter":
            return
        home = launcher.parent.parent
        if not runs(launcher) or (version := jmeter_version(home)) == "unknown":
            raise SettingError(f"modules.jmeter.path {path!r} is no JMeter: name its bin/jmeter")
        os.environ["JMETER_HOME"] = str(home)
        self.config.merge({"settings": {"env": {"JMETER_HOME": str(home)}}})
        self.config.merge({"modules": {"jmeter": {"path": str(launcher), "version": version}}})
        self.log.info("JMeter %s of %s: yours, and nothing is installed into it", version, home)

    def _check_modules_list(self) -> bool:
        try:
            return bool(super()._check_modules_list())
        except BaseException:
            # Libraries raise errors of their own in place of what a signal's handler does.
            if self.interrupted:
                raise ManualShutdown from None
            raise

    def _startup(self) -> None:
        for each in self.services:
            if isinstance(each, Targets):
                each.start()
        super()._startup()
