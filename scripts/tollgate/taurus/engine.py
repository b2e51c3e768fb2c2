"""Taurus's engine, which begins a run in one order: the configuration is checked, all modules are
prepared and refuse what can't be run or judged, the targets start, the load begins."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import bzt
from bzt import TaurusConfigError
from bzt.engine import Configuration
from bzt.linter import ToplevelChecker

from tollgate.base.text import did_you_mean
from tollgate.record.redaction import Redaction
from tollgate.taurus import secrecy
from tollgate.taurus.shared import refuse_other
from tollgate.taurus.targets import Targets

#: Taurus's own modules and aliases.
BASE_CONFIG = Path(bzt.__file__).parent / "resources" / "10-base-config.yml"
_SECTIONS = ToplevelChecker.KNOWN_TOPLEVEL_SECTIONS
#: Sections with such a name are the user's own, to be referred to by YAML's anchors.
_OWN = "x-"
_PATIENCE = "Please wait for graceful shutdown..."


class Engine(secrecy.RecordingEngine):
    """kinds: the aliases of bzt's command line."""

    def __init__(self, parent: logging.Logger, redaction: Redaction, kinds: Sequence[str]) -> None:
        super().__init__(parent, redaction)
        self.kinds = kinds
        # At every end Taurus asks for patience; only whoever interrupts it has to wait.
        self.log.addFilter(lambda record: record.msg != _PATIENCE or self.interrupted)

    def configure(
        self, user_configs: list[str], read_config_files: bool = True
    ) -> Configuration | None:
        """Read the files of settings. Raises TaurusConfigError for a kind that none of them has."""
        merged = super().configure(user_configs, read_config_files)
        known = self.config.get("cli-aliases")
        for kind in self.kinds:
            if kind not in known:
                taurus = Configuration()
                taurus.load([str(BASE_CONFIG)])
                ours = [str(it) for it in known if it not in taurus["cli-aliases"]]
                raise TaurusConfigError(
                    f"-{kind} is no kind of run (cli-aliases): {did_you_mean(kind, ours)}"
                )
        return merged

    def prepare(self) -> None:
        """Raises TaurusConfigError for what no module would read, before one is called."""
        own = [it for it in self.config if not str(it).startswith(_OWN)]
        refuse_other("the configuration has the section", own, _SECTIONS)
        modules = self.config.get("modules")
        known = [it for it, settings in modules.items() if _class_of(settings)]
        ours = [it for it in known if _class_of(modules[it]).startswith("tollgate.")]
        unknown = [it for it in modules if it not in known]
        refuse_other("modules has the entry", unknown, [*ours, "jmeter"])
        super().prepare()

    def _startup(self) -> None:
        for each in self.services:
            if isinstance(each, Targets):
                each.start()
        super()._startup()


def _class_of(settings: object) -> str:
    return str(settings.get("class", "") if isinstance(settings, dict) else settings or "")
