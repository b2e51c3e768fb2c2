"""What the scenarios of a run ask: apps of ecosystem.config.js, and services that run already.

They are read from Taurus's configuration, before Taurus makes anything of it:

scenarios:
  fork:
    script: plans/check.jmx
    target: fork                    an app, or a list of apps; started and stopped by the run
  shop:
    script: plans/check-shop.jmx
    url: http://127.0.0.1:8080      a service that no run starts or stops
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from bzt import TaurusConfigError
from bzt.utils import BetterDict
from pydantic import Field, PositiveFloat

from tollgate.base.paths import ECOSYSTEM
from tollgate.base.settings import SettingError, Word, configured, read, says
from tollgate.base.urls import Url, read_url, shown
from tollgate.plan import copy as plan_copy
from tollgate.plan.expressions import reads_property
from tollgate.targets import pm2


def remote_of(scenario: Mapping[str, Any], name: str) -> Url | None:
    """The service that a scenario names as its `url`, None where it names none.

    name: of the execution. Raises TaurusConfigError, also for a `target` beside it."""
    url = scenario.get("url", None)
    if url is None:
        return None
    if scenario.get("target", None):
        raise TaurusConfigError(
            f"targets: scenario {name!r} has a `target` and a `url`: keep the target for an app "
            "that the run starts, or the url for a service that runs already"
        )
    try:
        return read_url("url", str(url))
    except ValueError:
        raise TaurusConfigError(
            f"targets: scenario {name!r} has url {shown(str(url))!r}: write protocol, host and "
            "perhaps a port, such as http://127.0.0.1:8080; paths belong to the plan"
        ) from None


def unread(remote: Url, plan: Iterable[str]) -> list[str]:
    """The properties of `remote` that a plan does not read, so that it would ask another service.

    plan: the text of the plan and of each file that it includes."""
    text = "\n".join(plan)
    # Without a protocol JMeter takes http.
    names = [name for name in remote.properties if (name, remote.protocol) != ("protocol", "http")]
    return [name for name in names if not reads_property(text, name)]


#: Services that make a load of their own, each with the setting that has it do so.
KINDS_WITH_OWN_LOAD = {"compare": "budget", "study": "design", "capacity": "budget"}


def scenario_of(config: BetterDict, execution: Mapping[str, Any]) -> BetterDict:
    """The execution's own scenario, inline or by name; an empty one where there is none."""
    scenario = execution.get("scenario", None)
    if not isinstance(scenario, dict | list):
        scenario = config.get("scenarios").get(scenario, None)
    return scenario if isinstance(scenario, dict) else BetterDict()


def script_of(scenario: Mapping[str, Any]) -> Path:
    """The plan that a scenario names; the path of no file where it names none."""
    return Path(str(scenario.get("script", None) or ""))


def kind_of(config: BetterDict) -> str:
    """The kind of a run: what its settings have it measure, or what `verdict` calls it."""
    modules = config.get("modules")
    for kind, setting in KINDS_WITH_OWN_LOAD.items():
        if (modules.get(kind, None) or {}).get(setting, None) is not None:
            return kind
    return str((modules.get("verdict", None) or {}).get("kind", ""))


def given_properties(config: BetterDict, scenario: Mapping[str, Any]) -> dict[str, str]:
    """JMeter's properties of a scenario: as in Taurus, its own replace those of the module."""
    module = config.get("modules").get("jmeter").get("properties") or {}
    raw = {**module, **(scenario.get("properties", None) or {})}
    return {name: str(value) for name, value in raw.items()}


def targets_of(scenario: Mapping[str, Any], name: str) -> list[str]:
    """The apps that a scenario names as its `target`, each once: one, a list of them, or none.

    name: of the execution. Raises TaurusConfigError for anything else."""
    given = scenario.get("target", None)
    names = given if isinstance(given, list) else [given] if given else []
    if given == [] or not all(isinstance(each, str) for each in names):
        raise TaurusConfigError(
            f"targets: scenario {name!r} has target {given!r}: name an app of "
            f"{ECOSYSTEM.name}, or a list of them such as [balancer, pi-1]"
        )
    return list(dict.fromkeys(names))


@configured
class Probe:
    """What is asked before any load."""

    path: Annotated[str, Field(pattern="^/"), says("write a path that begins with /")]
    """What is asked for."""
    answer: Annotated[
        re.Pattern[str] | None,
        says("write a regular expression that the body of the answer must contain"),
    ] = None
    """A regular expression that the body of the answer must contain."""
    expected_ms: Annotated[PositiveFloat | None, says("write milliseconds above 0")] = None
    """How many milliseconds it may take where the load was made for; by default any time."""
    schema: Word = ""
    """A file with JSON Schemas, and behind # the name of the one that the body must match."""


Probes = list[Probe]


def executions_of(config: Mapping[str, Any]) -> list[tuple[str, BetterDict]]:
    """The name and the scenario of each execution."""
    return [(name_of(it), scenario_of(config, it)) for it in config.get("execution", [])]


def probes_of(probes: object, where: str) -> Probes | None:
    """`probes` of a scenario or of the service `targets`; None where there are none. where: whose
    they are. Raises TaurusConfigError."""
    if probes is None:
        return None
    try:
        if not isinstance(probes, list) or not all(isinstance(it, dict) for it in probes):
            raise SettingError(f"{where}.probes is {probes!r}: write a list of paths with answers")
        return [read(Probe, it, f"{where}.probes.{place}") for place, it in enumerate(probes)]
    except SettingError as problem:
        raise TaurusConfigError(f"targets: {problem}") from None


def is_inline(execution: Mapping[str, Any]) -> bool:
    """Whether the scenario stands in the execution itself, where MODE can't name it."""
    return not isinstance(execution.get("scenario", None), str | int | float)


def name_of(execution: Mapping[str, Any]) -> str:
    """What the execution is called; an inline scenario, as in Taurus, by its plan's file."""
    scenario = execution.get("scenario", None)
    if isinstance(scenario, dict):
        return Path(str(scenario.get("script", None) or "inline scenario")).name
    return str(scenario)


def wanted_apps(config: Mapping[str, Any], has_timetable: bool) -> list[pm2.App]:
    """The apps, each once; each scenario's plan gets its host and, with one target, its port.

    has_timetable: of reloads, which can have one target alone. Raises TaurusConfigError for what
    can't be run, and Pm2Error."""
    declared: dict[str, pm2.App] = {}
    apps: dict[str, pm2.App] = {}
    for name, scenario in executions_of(config):
        targets = targets_of(scenario, name)
        if not targets:
            continue
        declared = declared or pm2.declared_apps()
        own = [_declared(target, name, declared) for target in targets]
        _check(own, name, has_timetable)
        apps |= {app.name: app for app in own}
        places: dict[str, str | int] = {"port": own[0].port} if len(own) == 1 else {}
        if len(own) == 1 and len(own[0].ports) > 1:
            places |= numbered(Url("http", pm2.host(), port) for port in own[0].ports)
        scenario.merge({"properties": {"host": pm2.host(), **places}})
    _check_ports(apps.values())
    return list(apps.values())


def wanted_probes(config: Mapping[str, Any], of_the_service: object) -> dict[str, Probes]:
    """What each app is asked before any load, by its name: the probes of the scenarios that name
    it, or those of the service `targets` where a scenario has none of its own. Raises
    TaurusConfigError."""
    common = probes_of(of_the_service, "services.targets") or []
    found: dict[str, Probes] = {}
    for name, scenario in executions_of(config):
        own = probes_of(scenario.get("probes", None), f"scenarios.{name}")
        for target in targets_of(scenario, name):
            mine = found.setdefault(target, [])
            mine += [each for each in (common if own is None else own) if each not in mine]
    return found


def wanted_remotes(config: Mapping[str, Any]) -> Iterator[tuple[str, Url, Probes]]:
    """(execution, service, what it is asked before any load) of each scenario with a `url`, whose
    plan gets protocol, host and port. Raises TaurusConfigError."""
    for name, scenario in executions_of(config):
        probes = probes_of(scenario.get("probes", None), f"scenarios.{name}") or []
        # Of alike processes, whose plan Tollgate has made.
        listed = [remote_of({"url": text}, name) for text in scenario.get("urls", None) or ()]
        if processes := [remote for remote in listed if remote]:
            scenario.merge({"properties": numbered(processes)})
            yield from ((name, process, probes) for process in processes)
        remote = remote_of(scenario, name)
        if remote is None:
            continue
        script = script_of(scenario)
        if script.is_file():  # where it isn't, Taurus says so
            files = plan_copy.with_includes(script)
            missing = unread(remote, (file.read_text("utf-8", "replace") for file in files))
            if missing:
                raise TaurusConfigError(
                    f"targets: {script} does not read the property {missing[0]!r}, and so does not "
                    f"ask {remote.url}: write ${{__P({missing[0]},...)}} in its HTTP "
                    "Request Defaults"
                )
        scenario.merge({"properties": remote.properties})
        yield name, remote, probes


def numbered(processes: Iterable[Url]) -> dict[str, str | int]:
    """The properties of a plan that asks alike processes in turn: host_0, port_0 and so on."""
    each = enumerate(remote.properties for remote in processes)
    return {f"{key}_{number}": it for number, values in each for key, it in values.items()}


def _declared(target: str, scenario: str, declared: Mapping[str, pm2.App]) -> pm2.App:
    if target not in declared:
        raise TaurusConfigError(
            f"targets: scenario {scenario!r} has target {target!r}, which "
            f"{ECOSYSTEM.name} does not have; its apps are: {', '.join(declared)}"
        )
    if why := pm2.why_not_asked(declared[target]):
        raise TaurusConfigError(f"targets: {why}")
    return declared[target]


def _check_ports(apps: Iterable[pm2.App]) -> None:
    """All apps of a run are up at the same time. In cluster mode the daemon listens for them, so
    that two with one port start without an error, and share each other's requests."""
    owners: dict[int, str] = {}
    places = [(each, port) for each in apps for port in each.ports]
    for app, port in places:
        first = owners.setdefault(port, app.name)
        if first != app.name:
            raise TaurusConfigError(
                f"targets: the apps {first!r} and {app.name!r} both have port {port}, so that "
                "each would get requests of the other: give one of them another port, in "
                f"{ECOSYSTEM.name} or by PORT_ and its name"
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
