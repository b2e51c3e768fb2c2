"""Services and a kind of run to plans, the scenarios that run them, and what changes beside these.

Nothing is written here, and no configuration changed: taurus/composition.py does both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from lxml import etree

from tollgate.base.paths import STATE, SUITE
from tollgate.base.settings import SettingError, unknown, weights
from tollgate.base.text import closest
from tollgate.criteria.grammar import is_about
from tollgate.forecast.model import Followed, Forecast, ForecastStep, LoadStep
from tollgate.forecast.read import read_forecast
from tollgate.service import xml
from tollgate.service.elements import Parts, parts_of
from tollgate.service.model import Service, is_service, read_service
from tollgate.service.shapes import SHAPES

#: Kinds with a plan of their own, or with targets of their own.
NOT_OF_A_SERVICE = ("study", "plan")
#: What is left of a scenario once its plan is made: the rest stands in the plan.
_STAYS = ("properties", "variables", "modifications", "criteria", "probes", "target", "url")
#: What `compare` makes its two sides of.
_OF_COMPARE = ("app", "install", "build", "link", "answers")
_OF_WORKERS, _OF_CAPACITY = attrgetter("is_of_workers"), attrgetter("is_of_capacity")

_Step = TypeVar("_Step", ForecastStep, LoadStep)


@dataclass(frozen=True)
class ServiceRun:
    """What a run is to do with services, by its configuration and the environment."""

    kind: str
    shape: str
    """Of the load."""
    own_plan: str
    """A user's own that is compared in the place of a service's; empty for none."""
    executions: Sequence[str]
    """The names of their scenarios."""
    is_named: bool
    """Whether the executions are others than those that the configuration has."""
    scenarios: Mapping[str, Any]
    """Those of the executions, some of which describe services."""
    criteria: Sequence[object]
    """Those of the kind, by reporter."""
    searched: object
    """The labels that a search for capacity is to ask, as they are set; None for all."""
    mode: str
    """In which the app is to run; empty for any."""

    @property
    def is_of_one(self) -> bool:
        """Whether it is of one service, and of nothing beside it."""
        return [is_service(self.scenarios[name]) for name in self.executions] == [True]


@dataclass(frozen=True)
class Composed:
    """A service as a run of some kind has it."""

    service: Service
    shape: str
    """Of the load."""
    plan: Path
    """That is to be written from `parts`, or one of the user's own."""
    parts: Parts | None
    """What the plan is made of; None for one of the user's own."""
    scenario: Mapping[str, Any]
    """That runs the plan, in the place of the one that describes the service."""

    @property
    def has_passes(self) -> bool:
        """Whether an arrival of some label sends several requests."""
        return bool(self.parts and self.parts.has_passes)

    def document(self, ports: int = 1) -> etree._ElementTree | None:
        """The plan to be written; None for one of the user's own. ports: at which the service's app
        listens. Raises SettingError."""
        if not self.parts:
            return None
        document = SHAPES[self.shape](self.parts)
        processes = len(self.service.settings.urls) or ports
        if processes > 1 and self.shape != "compare":
            xml.spread(document, processes)
        return document

    def forecast(self, usual: str) -> Forecast | None:
        """What the service's load follows, by slugs; None with a plan of the user's own. usual: the
        file where the service names none. Raises ForecastError."""
        if not self.parts:
            return None
        path, slugs = self.service.settings.forecast or usual, self.parts.slugs
        forecast = read_forecast(path, slugs, self.parts.weights)
        return replace(forecast, steps=_renamed(forecast.steps, slugs))

    def followed(self, followed: Followed) -> Followed:
        """A forecast by slugs as the samples show it, by the first request of each arrival; as it
        is with a plan of the user's own."""
        if not self.parts:
            return followed
        firsts = {each.slug: each.samples[0] for each in self.parts.requests}
        followers = dict.fromkeys(name for it in self.parts.requests for name in it.samples[1:])
        path = self.service.settings.forecast or followed.path
        steps = _renamed(followed.steps, firsts)
        return replace(followed, path=path, steps=steps, followers=tuple(followers))


def _renamed(steps: Sequence[_Step], names: Mapping[str, str]) -> tuple[_Step, ...]:
    """Steps of a forecast whose shares have other names."""
    return tuple(
        replace(step, shares={names[name]: share for name, share in step.shares.items()})
        for step in steps
    )


def compose_run(run: ServiceRun) -> tuple[list[Composed], dict[str, Any]]:
    """The services of a run in its kind, and the settings that change with them, as Taurus merges
    them. Raises SettingError."""
    described = {name: it for name, it in run.scenarios.items() if is_service(it)}
    read = [read_service(name, scenario) for name, scenario in described.items()]
    services = [compose_service(each, run.kind, run.shape, run.own_plan) for each in read]
    scenarios = {f"~{each.service.name}": each.scenario for each in services}
    settings: dict[str, Any] = {"scenarios": scenarios}
    plans = {name: it for name, it in run.scenarios.items() if it and it.get("script", None)}
    if run.is_named:
        settings["~execution"] = [{"scenario": name} for name in run.executions]
        scenarios |= plans
    elif run.shape != "compare":  # of the user's own, some of them beside an app
        apps = {name: plan.get("app", None) for name, plan in plans.items()}
        scenarios |= {name: {"target": app} for name, app in apps.items() if app}
    if run.is_of_one and (parts := services[0].parts):
        settings |= _settings_of_one(services[0], parts, run)
    return services, settings


def _settings_of_one(composed: Composed, parts: Parts, run: ServiceRun) -> dict[str, Any]:
    """Those that change with a service that has nothing beside it: of a kind's criteria those on
    workers apply to any app, and the others name labels of another service; a search for capacity
    has limits in the place of the service's criteria."""
    app, searches = composed.service.settings.app, run.shape == "capacity"
    stated = composed.scenario.get("criteria", [])
    own = _kept(stated, lambda criterion: is_about(criterion, _OF_CAPACITY, searches) == searches)
    of_kind = [
        _kept(criteria, lambda criterion: bool(app) and is_about(criterion, _OF_WORKERS, True))
        for criteria in run.criteria
    ]
    searched = {"~of": _searched(parts, run.searched)} if searches else {}
    return {
        "scenarios": {f"~{composed.service.name}": {**composed.scenario, "criteria": own}},
        "$reporting": [{} if it is None else {"~criteria": it} for it in of_kind],
        "modules": {"capacity": searched},
    }


def _kept(criteria: object, is_kept: Callable[[object], bool]) -> object:
    """Those of a list that are kept; what is no list, as it is: it is refused later."""
    return [it for it in criteria if is_kept(it)] if isinstance(criteria, list) else criteria


def compose_service(service: Service, kind: str, shape: str, own_plan: str = "") -> Composed:
    """Put a service and a kind of run together. own_plan: a user's own that has the place of the
    service's. Raises SettingError."""
    described, app, urls = service.scenario, service.settings.app, service.settings.urls
    path, parts = (Path(own_plan), None) if own_plan else _plan(service, kind, shape)
    stays = (*_STAYS, *_OF_COMPARE) if shape == "compare" else _STAYS
    scenario = {key: value for key, value in described.items() if key in stays}
    scenario["script"] = os.path.relpath(path, SUITE)
    if parts or own_plan:
        scenario["probes"] = described.get("probes", [])
    if own_plan:
        scenario.pop("criteria", None)  # of labels of the service's own
    if shape == "compare":
        scenario.pop("url", None)
    elif app:
        scenario["target"] = app
    elif urls:
        scenario |= {"url": urls[0]} if len(urls) == 1 else {"urls": described["urls"]}
    return Composed(service, shape, path, parts, scenario)


def _plan(service: Service, kind: str, shape: str) -> tuple[Path, Parts | None]:
    """Where the plan of a kind of run is, and what it is made of."""
    if shape in NOT_OF_A_SERVICE:
        raise SettingError(f"-{kind} is no kind of run of a service: leave out -{service.name}")
    folder = service.settings.plans
    if not folder:
        path = STATE / f"{service.name}-{kind}.jmx"
        return path, parts_of(service, path.parent)
    path = SUITE / folder / f"{kind}.jmx"
    if not path.is_file():
        raise SettingError(
            f"scenarios.{service.name}.plans is {folder!r}, and there is no {path.name} in it: "
            "save one there, or choose another kind"
        )
    return path, None


def _searched(parts: Parts, named: object) -> Mapping[str, object]:
    """All labels by their weights, or those of the service that are named, by weights of their own
    if they have any. What is like no label is that of another service."""
    slugs, usual = parts.slugs, dict(parts.weights)
    named_weights = {} if named is None else weights(named)
    stated = {str(name): weight for name, weight in named_weights.items()}
    ours = {slugs[name]: weight for name, weight in stated.items() if name in slugs}
    for name in stated:
        if name not in slugs and (ours or closest(name, slugs)):
            labels = [each.label for each in parts.requests]
            raise SettingError(f"modules.capacity.of names {name!r}, {unknown(name, labels)}")
    if not isinstance(named, Mapping):
        ours = {slug: usual[slug] for slug in ours}
    return ours or {**usual}
