"""What a call of `tollgate bisect` asks for: whose commits, compared how, and for how long."""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bzt.cli import ConfigOverrider
from bzt.engine import Configuration

from tollgate.base.paths import ECOSYSTEM, RUN_FILE, STATE, SUITE, no_suite
from tollgate.base.settings import SettingError
from tollgate.base.text import UserError
from tollgate.cli import plan
from tollgate.cli.run import services
from tollgate.compare.settings import CompareSetup, read_setup
from tollgate.install import assemble
from tollgate.record.manifest import digest
from tollgate.service import choice
from tollgate.targets import packages, pm2, scenarios, sides
from tollgate.targets.bisection import Span
from tollgate.targets.packages import Provision
from tollgate.targets.sides import Source

#: Variables that, beside modules.compare, say what is compared.
VARIABLES = ("PLAN", "PLAN_HOST")
#: Settings of modules.compare that a bisect can't have, with the variables that go before them.
URLS = {"base-url": "BASE_URL", "head-url": "HEAD_URL"}
#: Seconds of a comparison that are not measured: starting, rehearsal, warm-up, ending.
BESIDE_S = 90.0


@dataclass(frozen=True)
class Asked:
    """names: of GOOD and BAD, as they were given. words: of the command line of each comparison.
    runs: the folder of their folders. setup: how long each measures, and what it promises."""

    names: tuple[str, str]
    span: Span
    words: tuple[str, ...]
    runs: Path
    setup: CompareSetup
    app: pm2.App
    source: Source
    provision: Provision

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Asked:
        """Raises UserError and GitError, one line, for what can't be found out."""
        if problem := no_suite():
            raise UserError(problem)
        assemble.provide()
        config = _configuration(arguments.names, arguments.settings)
        setup = read_setup(config.get("modules").get("compare"), os.environ)
        if setup.urls:
            named = [
                variable if os.environ.get(variable) else f"modules.compare.{key}"
                for key, variable in URLS.items()
            ]
            raise UserError(
                f"{' and '.join(named)} are set, and a service by URL has no commits: unset them"
            )
        if setup.injected:
            raise UserError("HEAD_INJECT_* is set, and slows every commit alike: unset it")
        name, scenario = _scenario(config, arguments.names)
        app = sides.app_of(name, scenario)
        source = Source.of(app)
        words = [f"-{it}" for it in (*arguments.names, "compare")]
        words += [word for it in arguments.settings for word in ("-o", it)]
        return cls(
            names=(arguments.good, arguments.bad),
            span=Span.of(source.root, arguments.good, arguments.bad),
            words=tuple(words),
            runs=_runs(str(config.get("settings").get("artifacts-dir", "reports/run"))),
            setup=setup,
            app=app,
            source=source,
            provision=packages.provision_of(name, scenario),
        )

    @property
    def budget_s(self) -> float:
        """Of measuring, in each comparison."""
        return self.setup.gate.budget_s

    @cached_property  # files may change while it goes on
    def state(self) -> Path:
        """The folder in which what is known lies: the same one for the same question."""
        variables = {it: os.environ.get(it, "") for it in VARIABLES}
        files = SUITE / RUN_FILE, ECOSYSTEM, Path(variables["PLAN"])
        load = [digest(it) for it in files if it.is_file()]
        span = self.span.good, self.span.bad
        question = (span, self.words, variables, load, repr(self.setup), repr(self.provision))
        text = json.dumps([str(self.source.root), *question])
        return STATE / "bisect" / hashlib.sha256(text.encode()).hexdigest()[:12]


def _configuration(names: Sequence[str], settings: Sequence[str]) -> Configuration:
    """taurus.yml as each comparison has it. Raises UserError."""
    config = plan.configuration([*names, "compare"])
    log = logging.getLogger(__name__)
    log.addHandler(logging.NullHandler())  # what it logs is said below
    for setting in settings:
        try:
            ConfigOverrider(log).apply_overrides([setting], config)
            if not all(isinstance(config.get(key), dict) for key in ("modules", "settings")):
                raise ValueError(setting)
        except Exception:
            raise UserError(
                f"-o {setting}: write PATH=VALUE by a path of taurus.yml, such as "
                "modules.compare.budget=5m"
            ) from None
    return config


def _runs(setting: str) -> Path:
    """The folder of the runs' folders. Raises UserError where Taurus would replace a part of it."""
    folder = SUITE / Path(setting).parent
    # By its path from the suite, as a run is given it: the suite itself may lie anywhere.
    if found := re.search(r"^~|%|\$| #|: ", os.path.relpath(folder, SUITE)):
        raise UserError(
            f"settings.artifacts-dir is {setting!r}: a bisect needs a folder without {found[0]!r}, "
            "such as -o settings.artifacts-dir=reports/run"
        )
    return folder


def _scenario(config: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Mapping[str, Any]]:
    """Name and content of the one that is compared. Raises SettingError."""
    service = choice.chosen(names, services(), config.get("cli-aliases"))
    if service := service or choice.only_service(config):
        return service, config["scenarios"][service]
    found = scenarios.executions_of(config)
    if len(found) != 1:
        named = ", ".join(name for name, _ in found) or "none"
        raise SettingError(f"compare: base and head share one execution, and there is: {named}")
    return found[0]
