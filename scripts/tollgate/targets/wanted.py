"""What a run asks: the apps of ecosystem.config.js that its executions' scenarios name, and the
services that run elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError

from tollgate.plan import copy as plan_copy
from tollgate.targets import pm2
from tollgate.targets.remote import Remote, remote_of, unread
from tollgate.targets.scenarios import Probe, name_of, probes_of, scenario_of, targets_of

Probes = list[Probe]


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
    _check_ports(wanted.values())
    return list(wanted.values())


def wanted_probes(config: Mapping[str, Any], common: Probes) -> dict[str, Probes]:
    """What each app is asked before any load, by its name: the probes of the scenarios that name
    it, or the common ones where a scenario has none of its own. Raises TaurusConfigError."""
    found: dict[str, Probes] = {}
    for execution in config.get("execution", []):
        scenario, name = scenario_of(config, execution), name_of(execution)
        own = probes_of(scenario.get("probes", None), f"scenario {name!r}")
        for target in targets_of(scenario, name):
            mine = found.setdefault(target, [])
            mine += [each for each in (common if own is None else own) if each not in mine]
    return found


def wanted_remotes(config: Mapping[str, Any]) -> Iterator[tuple[str, Remote, Probes]]:
    """(execution, service, what it is asked before any load) of each scenario with a `url`, whose
    plan gets protocol, host and port. Raises TaurusConfigError."""
    for execution in config.get("execution", []):
        scenario, name = scenario_of(config, execution), name_of(execution)
        remote = remote_of(scenario, name)
        if remote is None:
            continue
        script = Path(str(scenario.get("script", None) or ""))
        if script.is_file():  # where it isn't, Taurus says so
            files = plan_copy.with_includes(script)
            missing = unread(remote, (file.read_text("utf-8", "replace") for file in files))
            if missing:
                raise TaurusConfigError(
                    f"targets: {script} does not read the property {missing[0]!r}, so that it "
                    f"would not ask {remote.url}: write ${{__P({missing[0]},...)}} in its HTTP "
                    "Request Defaults"
                )
        scenario.merge({"properties": remote.properties})
        probes = probes_of(scenario.get("probes", None), f"scenario {name!r}")
        yield name, remote, probes or []


def _declared(target: str, scenario: str, declared: Mapping[str, pm2.App]) -> pm2.App:
    if target not in declared:
        raise TaurusConfigError(
            f"targets: scenario {scenario!r} has target {target!r}, which "
            f"ecosystem.config.js does not have; its apps are: {', '.join(declared)}"
        )
    return declared[target]


def _check_ports(apps: Iterable[pm2.App]) -> None:
    """All apps of a run are up at the same time. In cluster mode the daemon listens for them, so
    that two with one port start without an error, and share each other's requests."""
    owners: dict[int, str] = {}
    for app in apps:
        first = owners.setdefault(app.port, app.name)
        if first != app.name:
            raise TaurusConfigError(
                f"targets: the apps {first!r} and {app.name!r} both have port {app.port}, so that "
                "each would get requests of the other: give one of them another port, in "
                "ecosystem.config.js or by PORT_ and its name"
            )


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
