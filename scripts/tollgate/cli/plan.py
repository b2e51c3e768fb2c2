"""`tollgate plan -SERVICE [-KIND]`: writes the plan that such a run of a service would have."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from bzt import TaurusConfigError
from bzt.engine import Configuration

from tollgate.base.paths import RUN_FILE, SUITE, no_suite
from tollgate.base.settings import SettingError
from tollgate.base.text import UserError
from tollgate.cli.run import KINDS, own_kinds, services
from tollgate.install import assemble
from tollgate.service import choice
from tollgate.service.compose import compose_service
from tollgate.service.model import read_service
from tollgate.targets.scenarios import kind_of
from tollgate.taurus import composition
from tollgate.taurus.run_file import with_kinds


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the others."""
    parser = commands.add_parser("plan", help="write the plan that a run of a service would have")
    names = list(dict.fromkeys((*services(), *KINDS, *own_kinds())))
    for each in names:
        parser.add_argument(f"-{each}", dest="names", action="append_const", const=each)
    parser.set_defaults(command=write, names=[], options=[f"-{each}" for each in names])


def write(arguments: argparse.Namespace) -> int:
    """Print where the plan is. Raises UserError for what is no service and no kind."""
    if problem := no_suite():
        raise UserError(problem)
    assemble.provide()
    names = arguments.names or []
    config = configuration(names)
    service = choice.chosen(names, services(), config.get("cli-aliases"))
    if service is None:
        there = ", ".join(f"-{it}" for it in services()) or "none"
        raise UserError(f"no service is named; those of {RUN_FILE} are: {there}")
    try:
        read, kind = read_service(service, config["scenarios"][service]), kind_of(config)
        composed = compose_service(read, kind, composition.shape_of(config))
        composition.write_plan(composed)
    except TaurusConfigError as problem:
        raise SettingError(str(problem)) from None
    print(os.path.relpath(composed.plan))
    return 0


def configuration(names: Sequence[str]) -> Configuration:
    """taurus.yml with the aliases of these names."""
    config = Configuration()
    config.load(with_kinds(SUITE / RUN_FILE))
    aliases = config.get("cli-aliases")
    for name in names:
        config.merge(aliases.get(name, {}))
    return config
