"""A service that taurus.yml describes, and a kind of run: together they make executions whose plans
Tollgate writes, before any module is prepared. After that they are like executions of a plan that
a user saved."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from bzt.utils import BetterDict
from lxml import etree

from tollgate.base.paths import STATE, SUITE
from tollgate.base.settings import SettingError, names, unknown, weights
from tollgate.base.text import closest, did_you_mean
from tollgate.criteria.grammar import is_about
from tollgate.forecast.model import Followed, Forecast
from tollgate.forecast.read import read_forecast
from tollgate.install.tools import jmeter_home
from tollgate.plan import jmx, plugins
from tollgate.plan.expressions import reads_property
from tollgate.plan.inline import put_in_tree
from tollgate.record.redaction import AS_JSON
from tollgate.service import xml
from tollgate.service.elements import Parts, has_in_urls, parts_of
from tollgate.service.model import Service, is_service, read_service
from tollgate.service.shapes import SHAPES
from tollgate.targets import copies, pm2, scenarios

#: Kinds with a plan of their own, or with targets of their own.
NOT_OF_A_SERVICE = ("study", "plan")
#: What is left of a scenario once its plan is made: the rest stands in the plan.
_STAYS = ("properties", "variables", "modifications", "criteria", "probes", "target", "url")
#: What `compare` makes its two sides of.
_OF_COMPARE = ("app", "install", "build", "link", "answers")
MODES = ("fork", "cluster")
_OF_WORKERS, _OF_CAPACITY = attrgetter("is_of_workers"), attrgetter("is_of_capacity")
BOTH = "both"


@dataclass(frozen=True)
class Composed:
    """service: that was chosen. shape: of the load. plan: that was written or named. parts: what it
    was made of, None for one of the user's own."""

    service: Service
    shape: str
    plan: Path
    parts: Parts | None

    @property
    def has_passes(self) -> bool:
        """Whether an arrival of some label sends several requests."""
        return bool(self.parts and self.parts.has_passes)

    def forecast(self, usual: str | None) -> Forecast:
        """What the service's load follows, by slugs. usual: the file where it names none. Raises
        ForecastError."""
        slugs = {name: it.slug for it in self.parts.requests for name in (it.label, it.slug)}
        found = read_forecast(self.service.settings.forecast or usual, slugs, self.parts.weights)
        renamed = (
            replace(it, shares={slugs[name]: share for name, share in it.shares.items()})
            for it in found.steps
        )
        return replace(found, steps=tuple(renamed))

    def followed(self, of: Followed) -> Followed:
        """A forecast by slugs as the samples show it: by the first request of each arrival."""
        firsts = {it.slug: it.samples[0] for it in self.parts.requests}
        steps = (
            replace(it, shares={firsts[slug]: share for slug, share in it.shares.items()})
            for it in of.steps
        )
        followers = (name for it in self.parts.requests for name in it.samples[1:])
        path = self.service.settings.forecast or of.path
        return replace(of, path=path, steps=tuple(steps), followers=tuple(dict.fromkeys(followers)))


def services_of(config: Mapping[str, Any]) -> list[str]:
    """The names of the services of taurus.yml."""
    found = config.get("scenarios") or {}
    return [str(name) for name, it in found.items() if is_service(it)]


def secrets_of(config: Mapping[str, Any]) -> set[str]:
    """The variables of the environment that services of taurus.yml keep secrets in."""
    found = config.get("scenarios") or {}
    given = (it.get("environment") for it in found.values() if is_service(it))
    return {name for it in given if it for name in names(it if isinstance(it, str) else [*it])}


def chosen(given: Sequence[str], services: Collection[str], kinds: Mapping[str, Any]) -> str | None:
    """The service among the names on the command line. kinds: the aliases of taurus.yml. Raises
    SettingError for two services, and for two kinds."""
    found = list(dict.fromkeys(it for it in given if it in services and not _is_kind(kinds, it)))
    if len(found) > 1:
        raise SettingError(f"-{' and -'.join(found)} are two services: run one after the other")
    others = [it for it in dict.fromkeys(given) if _is_kind(kinds, it)]
    if len(others) > 1:
        raise SettingError(f"-{' and -'.join(others)} are two kinds of run: run one of them")
    return found[0] if found else None


def only_service(config: Mapping[str, Any]) -> str | None:
    """The service of a run for which neither the command line nor taurus.yml names one; None where
    there are executions, or no service. Raises SettingError where there are several."""
    found = services_of(config)
    if config.get("execution", None) or not found:
        return None
    if len(found) > 1:
        raise SettingError(f"no service is named: write one of -{', -'.join(found)}")
    return found[0]


def _is_kind(kinds: Mapping[str, Any], name: str) -> bool:
    """Whether an alias says what a run is; others change some of its settings."""
    alias = kinds.get(name, None)
    try:
        return name in kinds and (not alias or "kind" in alias["modules"]["verdict"])
    except (KeyError, TypeError):
        return False


def compose(
    config: BetterDict, chosen: str | None, environment: Mapping[str, str] | None = None
) -> Composed | None:
    """Put the executions of services into a configuration, and write their plans. chosen: on the
    command line; without one the executions of taurus.yml whose scenarios are services. Returns the
    only service of a run, if there is one. Raises SettingError."""
    if chosen is not None:
        config["execution"] = [BetterDict.from_dict({"scenario": chosen})]
    own_plan = _own_plan_compared(config, environment or {})
    if own_plan and not config.get("execution", None):  # of URLs, in a suite without services
        config["execution"] = [BetterDict.from_dict({"scenario": "compare"})]
        config.merge({"scenarios": {"compare": {"script": "PLAN"}}})
    executions = config.get("execution", [])
    named = [(it, str(it.get("scenario", None))) for it in executions]
    services = config.get("scenarios")
    found = [(it, name) for it, name in named if is_service(services.get(name, None))]
    for _, name in named:  # of a plan of the user's own beside an app
        given = services.get(name, None)
        given = given if isinstance(given, dict) else {}
        if given.get("script", None) and given.get("app", None) and shape_of(config) != "compare":
            given["target"] = given["app"]
    is_only = len(found) == len(executions) == 1
    composed = None
    for _, name in found:
        composed = _compose(config, read_service(name, services[name]), own_plan)
        _give_secrets(config, composed, environment or {})
    if not (composed and is_only):
        return None
    if composed.parts:
        _keep_criteria_of_kind(config, composed)
        if composed.shape == "capacity":
            _ask_for_labels(config, composed.parts)
    if composed.shape != "compare" and (chosen or composed.parts):
        _choose_modes(config, composed.service, environment or {})
    return composed


def _own_plan_compared(config: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The plan that the user names and that is compared, in the place of a service's; empty for
    none. Those of modules.plan are for the kind `plan`."""
    return environment.get("PLAN", "") if shape_of(config) == "compare" else ""


def shape_of(config: Mapping[str, Any]) -> str:
    """The shape of the load that a configuration's kind has."""
    kind = scenarios.kind_of(config)
    if kind not in SHAPES and config.get("modules").get("load").get("length", None) is not None:
        return "forecast"
    return kind if kind in ("compare", "capacity", *NOT_OF_A_SERVICE) else "check"


def plan_of(service: Service, kind: str, shape: str) -> tuple[Path, Parts | None]:
    """The plan of a service for a kind of run, which is written below the suite, or is in the
    service's own folder of plans. Raises SettingError."""
    if shape in NOT_OF_A_SERVICE:
        raise SettingError(f"-{kind} is no kind of run of a service: leave out -{service.name}")
    if service.settings.plans:
        plan = SUITE / service.settings.plans / f"{kind}.jmx"
        if not plan.is_file():
            raise SettingError(
                f"scenarios.{service.name}.plans is {service.settings.plans!r}, and there is no "
                f"{plan.name} in it: save one there, or choose another kind"
            )
        return plan, None
    path = STATE / f"{service.name}-{kind}.jmx"
    path.parent.mkdir(exist_ok=True)
    parts = parts_of(service, path.parent)
    document, processes = SHAPES[shape](parts), len(service.settings.urls)
    if processes > 1 and shape != "compare":
        xml.spread(document, processes)
    jmx.write(document, path)
    if absent := plugins.missing([path], jmeter_home()):
        raise SettingError(f"{path}: {plugins.advice(absent, jmeter_home())}")
    return path, parts


def _compose(config: BetterDict, service: Service, own_plan: str) -> Composed:
    """own_plan: that takes the place of the service's, empty for none."""
    kind, shape = scenarios.kind_of(config), shape_of(config)
    plan, parts = (Path(own_plan), None) if own_plan else plan_of(service, kind, shape)
    given = config["scenarios"][service.name]
    stays = (*_STAYS, *_OF_COMPARE) if shape == "compare" else _STAYS
    made = BetterDict.from_dict({key: it for key, it in given.items() if key in stays})
    if service.settings.urls and shape != "compare":
        one = len(service.settings.urls) == 1
        made["url" if one else "urls"] = service.settings.urls[0] if one else given["urls"]
    made["script"] = os.path.relpath(plan, SUITE)
    if own_plan:
        made.pop("criteria", None)  # of labels of the service's own
    if shape == "compare":
        made.pop("url", None)
    elif service.settings.app:
        made["target"] = service.settings.app
    if parts or own_plan:
        made.merge({"probes": given.get("probes", [])})
    config["scenarios"][service.name] = made
    return Composed(service, shape, plan, parts)


def _give_secrets(config: BetterDict, composed: Composed, environment: Mapping[str, str]) -> None:
    """Give JMeter what the environment holds for a service, as properties, which no file of the run
    shows. A URL that has one in it would stand in the samples, so these are written without."""
    wanted, jmeter = composed.service.settings.environment, config.get("modules").get("jmeter")
    try:
        document = jmx.parsed(composed.plan) if wanted else None
    except (OSError, etree.XMLSyntaxError):  # of the user's own: `plan` says what is wrong with it
        document = None
    if document is None:
        return
    put_in_tree(document, composed.plan)
    plan = etree.tostring(document, encoding="unicode")
    for name in wanted:
        reads = [it for it in (name, f"{name}{AS_JSON}") if reads_property(plan, it)]
        if reads and not environment.get(name):
            raise SettingError(
                f"scenarios.{composed.service.name}.environment names {name}, and no variable of "
                "that name is set: the comment in taurus.yml says what it is for, export it"
            )
        for it in reads:
            value = environment[name]
            text = value if it == name else json.dumps(value)[1:-1]
            jmeter.get("properties")[it] = text
    if has_in_urls(document.getroot(), wanted):
        jmeter.get("csv-jtl-flags")["url"] = False
        jmeter.get("properties")["jmeter.save.saveservice.url"] = "false"  # of a rehearsal


def _keep_criteria_of_kind(config: BetterDict, composed: Composed) -> None:
    """Of the criteria of a kind, those on workers apply to any service; the others name labels of
    another one. A search for capacity has limits in place of a service's own criteria."""
    app = composed.service.settings.app
    for entry in config.get("reporting", []):
        criteria = entry.get("criteria", None) if isinstance(entry, dict) else None
        if isinstance(criteria, list):
            criteria[:] = [it for it in criteria if app and is_about(it, _OF_WORKERS, True)]
    own, searches = config["scenarios"][composed.service.name], composed.shape == "capacity"
    if isinstance(stated := own.get("criteria", []), list):
        own["criteria"] = [it for it in stated if is_about(it, _OF_CAPACITY, searches) == searches]


def _ask_for_labels(config: BetterDict, parts: Parts) -> None:
    """Have a search for capacity ask for all labels by their weights, or for those of the service
    that it names, by weights of its own if it has any. What is like no label is that of another
    service. Raises SettingError."""
    slugs = {name: it.slug for it in parts.requests for name in (it.label, it.slug)}
    capacity = config.get("modules").get("capacity")
    given = capacity.get("of", None)
    asked = {} if given is None else weights(given)
    known = {slugs[it]: n for it, n in asked.items() if it in slugs}
    absent = next((it for it in asked if it not in slugs and (known or closest(it, slugs))), None)
    if absent is not None:
        labels = [it.label for it in parts.requests]
        raise SettingError(f"modules.capacity.of names {absent!r}, {unknown(absent, labels)}")
    if not isinstance(given, Mapping):
        known = {slug: parts.weights[slug] for slug in known}
    capacity["of"] = known or dict(parts.weights)


def _choose_modes(config: BetterDict, service: Service, environment: Mapping[str, str]) -> None:
    """Have the app run as MODE says: in one mode, or an execution for each of both."""
    load = config.get("modules").get("load")
    mode = environment.get("MODE") or load.get("mode", "")
    if not mode:
        return
    if mode not in (*MODES, BOTH):
        raise SettingError(f"MODE is {mode!r}: {did_you_mean(mode, [*MODES, BOTH])}")
    if not service.settings.app:
        raise SettingError(
            f"MODE is {mode!r}, and {service.name!r} answers at a URL: leave MODE out"
        )
    where = f"scenarios.{service.name}.app"
    app = copies.declared(pm2.declared_apps(), service.settings.app, where)
    modes = MODES if mode == BOTH else (mode,)
    names = [f"{service.name}-{it}" for it in modes] if mode == BOTH else [service.name]
    scenario = config["scenarios"].pop(service.name)
    made = []
    for place, (name, each) in enumerate(zip(names, modes, strict=True)):
        app_name = f"{app.name}-{each}"
        made.append(copies.in_mode(app, app_name, app.port + place, each))
        config["scenarios"][name] = BetterDict.from_dict({**scenario, "target": app_name})
    copies.compose(made)
    apps = pm2.declared_apps()
    copies.refuse_shared_ports(app, [apps[it.name] for it in made])
    config["execution"] = [BetterDict.from_dict({"scenario": it}) for it in names]
