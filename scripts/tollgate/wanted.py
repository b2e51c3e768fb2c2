"""Which apps of ecosystem.config.js a run needs: those that its executions' scenarios name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bzt import TaurusConfigError

from tollgate import pm2
from tollgate.scenarios import name_of, scenario_of, targets_of


def wanted_apps(config: Mapping[str, Any], has_timetable: bool) -> list[pm2.App]:
    """The apps, each once; each scenario's plan gets its host and, with one target, its port.

    has_timetable: of reloads, which can have one target alone. Raises TaurusConfigError for what
    can't be run, and Pm2Error."""
    declared: dict[str, pm2.App] = {}
    wanted: dict[str, pm2.App] = {}
    for execution in config.get("execution", []):
        scenario, name = scenario_of(config, execution), name_of(execution)
        targets = targets_of(scenario, name)
        if not targets:
            continue
        declared = declared or pm2.declared_apps()
        apps = [_declared(target, name, declared) for target in targets]
        _check(apps, name, has_timetable)
        wanted |= {app.name: app for app in apps}
        port = {"port": apps[0].port} if len(apps) == 1 else {}
        scenario.merge({"properties": {"host": pm2.HOST, **port}})
    return list(wanted.values())


def _declared(target: str, scenario: str, declared: Mapping[str, pm2.App]) -> pm2.App:
    if target not in declared:
        raise TaurusConfigError(
            f"targets: scenario {scenario!r} has target {target!r}, which "
            f"ecosystem.config.js does not have; its apps are: {', '.join(declared)}"
        )
    return declared[target]


def _check(apps: list[pm2.App], scenario: str, has_timetable: bool) -> None:
    if has_timetable and len(apps) > 1:
        raise TaurusConfigError(
            f"targets: reload-every is set, and scenario {scenario!r} has several targets: "
            "a timetable is for one; set reload-every to off"
        )
    for app in apps:
        if app.deals_to and not pm2.servers_behind(app, apps):
            raise TaurusConfigError(
                f"targets: scenario {scenario!r} has target {app.name!r}, which deals to apps that "
                f"match {app.deals_to!r}, and none of those: name them as targets as well"
            )
