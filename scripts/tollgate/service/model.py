"""A service as taurus.yml describes it: where it answers, what it is asked, what must not happen.

scenarios:
  shop:
    app: shop
    rate: 30/s
    requests:
    - {label: list, url: "/items?page=${page}", weight: 6}
    - {label: order, url: /orders, method: POST, body: {item: "${id}"}}
    - {include: plans/fragments/cart.jmx, weight: 2}
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from tollgate.base.paths import ECOSYSTEM
from tollgate.base.settings import Listed, SettingError, Word, configured, form, number, read
from tollgate.compare.model import Answers

#: By one of these a scenario is a service: Tollgate makes the plan of the kind that runs.
MARKS = ("app", "urls", "requests", "plans")
#: Keys of a service that are Taurus's own, each with its value where bzt has another one.
DEFAULTS = {"retrieve-resources": False, "store-cache": False, "use-dns-cache-mgr": False}
#: What Taurus reads of requests that can't mean here what it means there, and what to do.
_ARRIVALS = "arrivals say when each is sent: write `action: pause` between steps of a transaction"
_REFUSED = {
    "think-time": _ARRIVALS,
    "default-address": "`app` or `url` says where the service answers",
    "protocol": "the scheme of `url` says it",
    "force-parent-sample": "each request of a transaction is judged by its own row",
}
_BLOCKS = {
    "once": "an arrival has no thread of its own to do it once in: write it into a transaction",
    "while": "an arrival has to end: write `loop` with a number",
    "include-scenario": "write `include: FRAGMENT.jmx`, or its requests",
    "setup": "prepare the service before the run",
    "teardown": "clean up after the run",
}
_PAUSE = "pause"
_PER_SECOND = {"s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0}
_NAME = re.compile(r"[^\w.-]+", re.ASCII)
#: What plans have names of their own for.
TAKEN = ("nothing", "end", "default")
#: Characters of a slug: it stands in names of properties and in rows of files that JMeter reads.
LONGEST_SLUG = 60


def _rate(value: object) -> float:
    found = re.fullmatch(r"\s*([\d.]+)\s*(?:/\s*(s|sec|min|h))?\s*", str(value))
    if isinstance(value, bool) or not found:
        return math.nan
    return number(found[1]) / _PER_SECOND[found[2] or "s"]


Rate = Annotated[
    float,
    BeforeValidator(_rate),
    Field(gt=0),
    form("write requests a second above 0, such as 30/s", "number", "string"),
]


@configured
class ServiceSettings:
    """A service: Tollgate makes the plan of each kind of run of it."""

    app: Word = ""
    """An app of ecosystem.config.js, which the run starts."""
    url: Word = ""
    """Of a service that runs already."""
    urls: Listed = ()
    """Of alike processes of a service that runs already."""
    rate: Rate = 10.0
    """Requests a second of `check`, of all labels together."""
    plans: Word = ""
    """A folder with a plan of each kind, such as check.jmx, in place of requests."""
    forecast: Word = ""
    """The file that stress, load and soak follow, in place of modules.load.forecast."""
    install: Word = ""
    """Of compare: the command that installs the app's packages."""
    build: Word = ""
    """Of compare: the command that builds the app."""
    link: Listed = ()
    """Of compare: files that git ignores and the app needs, such as .env."""
    answers: Answers = "any"
    """Of compare: `same` makes a run INVALID in which head answers something else than base."""
    environment: Listed = ()
    """Variables of the environment that requests refer to as ${__P(NAME)}. Their values are secret:
    no file of the run holds one."""


@dataclass(frozen=True)
class Request:
    """What is asked under one label.

    slug: the label as names of properties and controllers have it. weight: its part of the load,
    relative to the others'. fragment: a file with a Test Fragment; without one `config` is what
    Taurus calls a request."""

    label: str
    slug: str
    weight: float
    config: Mapping[str, Any]
    fragment: Path | None = None


@dataclass(frozen=True)
class Service:
    """A service as its scenario in taurus.yml describes it."""

    name: str
    """Of the scenario."""
    settings: ServiceSettings
    requests: tuple[Request, ...]
    """None where it has `plans`."""
    taurus: Mapping[str, Any]
    """What Taurus's own keys say of all requests."""
    scenario: Mapping[str, Any]
    """All keys as they are written."""

    @property
    def shares(self) -> dict[str, float]:
        """The share of each label, by its slug; their sum is 1."""
        total = math.fsum(it.weight for it in self.requests)
        return {it.slug: it.weight / total for it in self.requests}


def is_service(scenario: object) -> bool:
    """Whether Tollgate makes this scenario's plan, or takes it from a folder of plans."""
    if not isinstance(scenario, Mapping) or scenario.get("script", None):
        return False
    return any(scenario.get(it, None) for it in MARKS)


def read_service(name: str, scenario: Mapping[str, Any]) -> Service:
    """The service that a scenario describes. Raises SettingError."""
    where = f"scenarios.{name}"
    keys = [it.replace("_", "-") for it in ServiceSettings.__dataclass_fields__]
    # `app: false` takes one away that another file of settings has.
    stated = ((key, scenario.get(key, None)) for key in keys)
    own = {key: value for key, value in stated if value is not None and value is not False}
    settings = read(ServiceSettings, own, where)
    _check_place(where, scenario, settings)
    for key, advice in _REFUSED.items():
        if scenario.get(key, None) is not None:
            raise SettingError(f"{where}.{key} is no setting of a service: {advice}")
    requests = () if settings.plans else _requests(where, scenario.get("requests", None))
    ours = {*keys, "requests", "properties"}
    others = {key: value for key, value in scenario.items() if key not in ours}
    # A copy: Taurus writes into what it reads.
    return Service(name, settings, requests, _plain({**DEFAULTS, **others}), scenario)


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of what Taurus reads. YAML knows dates, which are sent as they are written."""
    copy: dict[str, Any] = json.loads(json.dumps(config, default=str))
    return copy


def _check_place(where: str, scenario: Mapping[str, Any], settings: ServiceSettings) -> None:
    if settings.plans and scenario.get("requests", None):
        raise SettingError(f"{where} has `plans` and `requests`: keep one of them")
    places = [it for it in ("app", "url", "urls", "target") if scenario.get(it, None)]
    if not places:
        raise SettingError(
            f"{where} has neither app nor url: name an app of {ECOSYSTEM.name}, or write where "
            "the service answers, such as http://127.0.0.1:8080"
        )
    if len(places) > 1:
        raise SettingError(f"{where} has {' and '.join(places)}: keep one of them")


def _requests(where: str, stated: object) -> tuple[Request, ...]:
    if not isinstance(stated, Sequence) or isinstance(stated, str) or not stated:
        raise SettingError(
            f"{where}.requests is {stated!r}: write a list, such as {{label: list, url: /items}}"
        )
    requests = [_request(f"{where}.requests.{place}", it) for place, it in enumerate(stated)]
    if not any(request.weight for request in requests):
        raise SettingError(f"{where}.requests: each weight is 0: give one of them a weight above 0")
    slugs: dict[str, str] = {}
    for request in requests:
        label, slug = request.label, request.slug
        if slug in slugs:
            raise SettingError(
                f"{where}.requests: the labels {slugs[slug]!r} and {label!r} are both {slug!r} in "
                "the names of properties: rename one of them"
            )
        slugs[slug] = label
    return tuple(request for request in requests if request.weight)


def _request(where: str, stated: object) -> Request:
    if not isinstance(stated, (str, Mapping)):
        raise SettingError(f"{where} is {stated!r}: write a request, such as {{url: /items}}")
    config = _plain({"url": stated} if isinstance(stated, str) else stated)
    weight = _weight(where, config.pop("weight", 1))
    fragment = config.pop("include", None)
    label = str(config.get("label") or config.get("transaction") or "")
    if fragment:
        label = label or Path(str(fragment)).stem
    else:
        _check_steps(where, [config])
        if not _sends(config):
            what = f", label {label!r}," if label else ""
            raise SettingError(f"{where}{what} needs `url`, `include`, or `transaction` with `do`")
    if not label and not config.get("url"):
        raise SettingError(f"{where} has several requests: write `label`, which names their load")
    label = label or str(config["url"])
    slug = slug_of(label)
    if not re.search("[A-Za-z]", slug) or slug.lower() in TAKEN:
        raise SettingError(
            f"{where}.label is {label!r}: use ASCII letters, and none of {', '.join(TAKEN)}"
        )
    return Request(label, slug, weight, config, Path(str(fragment)) if fragment else None)


def slug_of(label: str) -> str:
    """A label as names of properties and controllers have it."""
    return _NAME.sub("-", label).strip("-.")[:LONGEST_SLUG]


def _weight(where: str, stated: object) -> float:
    try:
        weight = math.nan if isinstance(stated, bool) else number(stated)
    except ValueError:
        weight = math.nan
    if not weight >= 0:
        raise SettingError(f"{where}.weight is {stated!r}: write a number of 0 or more, such as 6")
    return weight


def _check_steps(where: str, steps: object) -> None:
    """Refuse what means something else here than in Taurus."""
    for place, step in enumerate(steps if isinstance(steps, list) else []):
        if not isinstance(step, Mapping):
            continue
        for key, advice in _BLOCKS.items():
            if key in step:
                raise SettingError(f"{where} has `{key}`, which no request can be: {advice}")
        action = step.get("action")
        if action is not None and (action != _PAUSE or not place):
            raise SettingError(
                f"{where} has `action: {action}`, which would end or hold back the load: "
                "write `action: pause` alone, behind a request"
            )
        for key in ("concurrency", "throughput", "iterations", *_REFUSED):
            if key in step:
                raise SettingError(f"{where}.{key} is no setting of a request: {_advice(key)}")
        if re.match("[^/?]*://", str(step.get("url", ""))):
            raise SettingError(
                f"{where}.url is {step['url']!r}: write a path such as /items; `app` or `url` of "
                "the service says where it answers"
            )
        for inner in ("do", "then", "else"):
            _check_steps(where, step.get(inner))


def _advice(key: str) -> str:
    return _REFUSED.get(key, "`rate` and `weight` say how often each label is asked")


def _sends(step: object) -> bool:
    if isinstance(step, str):
        return True
    if not isinstance(step, Mapping):
        return False
    inner = [each for key in ("do", "then", "else") for each in step.get(key) or []]
    return bool(step.get("url")) or any(map(_sends, inner))
