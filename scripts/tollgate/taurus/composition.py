"""Services of taurus.yml become executions whose plans Tollgate writes, before any module is
prepared. After that they are like executions of a plan that a user saved.

`read_run` tells what a configuration asks of services, service/compose.py what becomes of them, and
`compose` writes their plans and merges the rest into the configuration.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from bzt.utils import BetterDict

from tollgate.base.settings import SettingError
from tollgate.install import tools
from tollgate.plan import jmx, plugins
from tollgate.service.compose import NOT_OF_A_SERVICE, Composed, ServiceRun, compose_run
from tollgate.service.secrets import read_secrets
from tollgate.service.shapes import SHAPES
from tollgate.targets import copies, pm2
from tollgate.targets.scenarios import kind_of


def shape_of(config: Mapping[str, Any]) -> str:
    """The shape of the load that a configuration's kind has."""
    kind = kind_of(config)
    if kind not in SHAPES and config.get("modules").get("load").get("length", None) is not None:
        return "forecast"
    return kind if kind in ("compare", "capacity", *NOT_OF_A_SERVICE) else "check"


def read_run(config: BetterDict, chosen: str | None, environment: Mapping[str, str]) -> ServiceRun:
    """What a run is to do with services. chosen: on the command line; without one those that the
    executions of taurus.yml name."""
    shape, modules, described = shape_of(config), config.get("modules"), config.get("scenarios")
    own_plan = environment.get("PLAN", "") if shape == "compare" else ""
    names = [str(execution.get("scenario", None)) for execution in config.get("execution", [])]
    are_urls = bool(own_plan and not names) and chosen is None  # in a suite without services
    if are_urls:
        names, described = [shape], {shape: {"script": "PLAN"}}
    elif chosen is not None:
        names = [chosen]
    return ServiceRun(
        kind_of(config),
        shape,
        own_plan,
        executions=names,
        is_named=are_urls or chosen is not None,
        scenarios={name: described.get(name) for name in names},
        criteria=[reporter.get("criteria", None) for reporter in config.get("reporting", [])],
        searched=modules.get("capacity").get("of", None),
        mode=environment.get("MODE") or modules.get("load").get("mode", ""),
    )


def compose(config: BetterDict, run: ServiceRun, environment: Mapping[str, str]) -> Composed | None:
    """Write the plans of services, and have a configuration run them. Returns the only service of a
    run, if there is one. Raises SettingError."""
    services, settings = compose_run(run)
    for composed in services:
        write_plan(composed, 1 if run.mode else _ports(composed.service.settings.app))
    config.merge(settings)
    for composed in services:
        secrets = read_secrets(composed.service, composed.plan, environment)
        config.merge({"modules": {"jmeter": secrets}})
    if not run.is_of_one:
        return None
    [only] = services
    if run.mode and run.shape != "compare" and (run.is_named or only.parts):
        _run_in_modes(config, only, run.mode)
    return only


def _run_in_modes(config: BetterDict, composed: Composed, mode: str) -> None:
    """Have the app run in one mode, or in an execution for each of both."""
    name = composed.service.name
    targets = copies.compose_modes(name, composed.service.settings.app, mode)
    scenario = config["scenarios"].pop(name)
    for execution, target in targets.items():
        config["scenarios"][execution] = BetterDict.from_dict({**scenario, "target": target})
    config["execution"] = [BetterDict.from_dict({"scenario": execution}) for execution in targets]


def _ports(app: str) -> int:
    """At how many ports an app listens. What can't be read is refused where it is to be started."""
    with contextlib.suppress(pm2.Pm2Error):
        if app and pm2.ECOSYSTEM.is_file() and tools.pm2().exists():
            declared = pm2.declared_apps().get(app)
            return len(declared.ports) if declared else 1
    return 1


def write_plan(composed: Composed, ports: int = 1) -> None:
    """Write the plan that a service has for a kind of run, unless the user has. ports: at which its
    app listens. Raises SettingError."""
    document = composed.document(ports)
    if document is None:
        return
    composed.plan.parent.mkdir(exist_ok=True)
    jmx.write(document, composed.plan)
    if absent := plugins.missing([composed.plan], tools.jmeter_home()):
        raise SettingError(f"{composed.plan}: {plugins.advice(absent, tools.jmeter_home())}")
