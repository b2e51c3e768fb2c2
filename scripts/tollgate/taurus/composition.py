"""A service that taurus.yml describes, and a kind of run: together they make executions whose plans
Tollgate writes, before any module is prepared. From then on they are like those of a plan that
somebody saved by hand."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bzt.utils import BetterDict

from tollgate.base.paths import STATE, SUITE
from tollgate.base.settings import SettingError
from tollgate.criteria.grammar import CriterionError, parse
from tollgate.install.tools import jmeter_home
from tollgate.plan import jmx, plugins
from tollgate.service.elements import parts_of
from tollgate.service.model import Service, ServiceSettings, is_service, read_service
from tollgate.service.shapes import SHAPES
from tollgate.targets import scenarios

#: Kinds with a plan of their own, or with targets of their own.
NOT_OF_A_SERVICE = ("study", "plan")
#: What is left of a scenario once its plan is made: the rest stands in the plan.
_STAYS = ("properties", "variables", "modifications", "criteria", "probes", "target")


@dataclass(frozen=True)
class Composed:
    """service: that was chosen. shape: of the load. plan: that was written or named. executions:
    their names, in their order."""

    service: Service
    shape: str
    plan: Path
    executions: tuple[str, ...]


def services_of(config: Mapping[str, Any]) -> list[str]:
    """The names of the services of taurus.yml."""
    return [str(name) for name, it in config.get("scenarios").items() if is_service(it)]


def chosen(given: Sequence[str], services: Collection[str], kinds: Mapping[str, Any]) -> str | None:
    """The service among the names on the command line. kinds: the aliases of taurus.yml. Raises
    SettingError for two services, and for two kinds."""
    found = list(dict.fromkeys(it for it in given if it in services))
    if len(found) > 1:
        raise SettingError(f"-{' and -'.join(found)} are two services: run one after the other")
    others = [it for it in dict.fromkeys(given) if it not in found and _is_kind(kinds.get(it))]
    if len(others) > 1:
        raise SettingError(f"-{' and -'.join(others)} are two kinds of run: run one of them")
    return found[0] if found else None


def _is_kind(alias: object) -> bool:
    """Whether an alias says what a run is; others change some of its settings."""
    try:
        return not alias or "kind" in alias["modules"]["verdict"]
    except (KeyError, TypeError):
        return False


def compose(config: BetterDict, chosen: str | None) -> Composed | None:
    """Put the executions of services into a configuration, and write their plans. chosen: on the
    command line; without one the executions of taurus.yml whose scenarios are services. None where
    there is no service. Raises SettingError."""
    if chosen is not None:
        config["execution"] = [BetterDict.from_dict({"scenario": chosen})]
    executions = config.get("execution", [])
    found = [
        it for it in executions if is_service(config.get("scenarios").get(it.get("scenario"), None))
    ]
    composed = None
    for execution in found:
        name = execution["scenario"]
        service = read_service(name, config["scenarios"][name])
        composed = _compose(config, service)
    if composed and composed.service.requests:
        _keep_criteria_of_kind(config, composed.service)
    return composed if chosen or len(executions) == 1 else None


def shape_of(config: Mapping[str, Any]) -> str:
    """The shape of the load that a configuration's kind has."""
    kind = scenarios.kind_of(config)
    if kind not in SHAPES and config.get("modules").get("load").get("length", None) is not None:
        return "forecast"
    return kind if kind in (*SHAPES, *NOT_OF_A_SERVICE) else "check"


def write_plan(service: Service, kind: str, shape: str) -> Path:
    """The plan of a service for a kind of run, written below the suite. Raises SettingError."""
    if service.settings.plans:
        plan = SUITE / service.settings.plans / f"{kind}.jmx"
        if not plan.is_file():
            raise SettingError(
                f"scenarios.{service.name}.plans is {service.settings.plans!r}, and there is no "
                f"{plan.name} in it: save one there, or choose another kind"
            )
        return plan
    if shape not in SHAPES:
        raise SettingError(f"-{kind} is no kind of run of the service {service.name!r}")
    path = STATE / f"{service.name}-{kind}.jmx"
    path.parent.mkdir(exist_ok=True)
    jmx.write(SHAPES[shape](parts_of(service, path.parent)), path)
    if absent := plugins.missing([path], jmeter_home()):
        raise SettingError(f"{path}: {plugins.advice(absent, jmeter_home())}")
    return path


def _compose(config: BetterDict, service: Service) -> Composed:
    kind, shape = scenarios.kind_of(config), shape_of(config)
    plan = write_plan(service, kind, shape)
    given = config["scenarios"][service.name]
    made = BetterDict.from_dict({key: it for key, it in given.items() if key in _STAYS})
    made.merge({"script": os.path.relpath(plan, SUITE), **_place(service.settings)})
    if service.requests:
        made.merge({"probes": given.get("probes", [])})
    config["scenarios"][service.name] = made
    return Composed(service, shape, plan, (service.name,))


def _place(settings: ServiceSettings) -> dict[str, Any]:
    if settings.app:
        return {"target": settings.app}
    return {"url": settings.url} if settings.url else {}


def _keep_criteria_of_kind(config: BetterDict, service: Service) -> None:
    """Of the criteria that a kind has, those on workers are about any service; others name labels
    of somebody else's."""
    for entry in config.get("reporting", []):
        criteria = entry.get("criteria", None) if isinstance(entry, dict) else None
        if isinstance(criteria, list):
            criteria[:] = _of_workers(criteria) if service.settings.app else []


def _of_workers(criteria: Iterable[object]) -> list[object]:
    found = []
    for it in criteria:
        try:
            if parse(it).is_of_workers:
                found.append(it)
        except CriterionError:
            found.append(it)  # `verdict` says what is wrong with it
    return found
