"""A service's requests as elements of JMeter: those in YAML by Taurus's own builder, fragments as
they stand in their files."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bzt import TaurusConfigError, TaurusInternalException
from bzt.engine import Scenario
from bzt.jmx import JMX
from bzt.jmx.tools import JMeterScenarioBuilder, RequestCompiler
from bzt.requests_model import HierarchicRequestParser
from bzt.utils import BetterDict, dehumanize_time
from lxml import etree

from tollgate.base.paths import SUITE
from tollgate.base.settings import SettingError
from tollgate.plan import nodes
from tollgate.plan.inline import fragment
from tollgate.plan.jmx import is_sampler_kind
from tollgate.service.model import Request, Service
from tollgate.service.xml import target

#: What Taurus's JMeter has set where it builds a plan.
_SETTINGS = {
    "protocol-handlers": {"http": "bzt.jmx.http.HTTPProtocolHandler"},
    "default-protocol": "http",
    "version": "5.6.3",
}
_DEFAULTS, _DATA = "ConfigTestElement", "CSVDataSet"
_TIMEOUT_MS = 5000


@dataclass(frozen=True)
class Labelled:
    """The elements of one label, each before its hashTree, and the slug that names them."""

    label: str
    slug: str
    weight: float
    elements: tuple[etree._Element, ...]

    @property
    def copies(self) -> list[etree._Element]:
        """An element stands in one place alone."""
        return [deepcopy(it) for it in self.elements]

    def samplers(self) -> Iterator[tuple[etree._Element, etree._Element]]:
        """Those that JMeter runs, in the order of the plan, each with its hashTree."""
        return samplers(self.elements)


@dataclass(frozen=True)
class Parts:
    """What each shape of load puts together.

    common: cookies, defaults, data and the like, for the level of the Test Plan. weights: of the
    labels by their slugs, with the sum 1."""

    name: str
    common: tuple[etree._Element, ...]
    requests: tuple[Labelled, ...]
    rate: float
    weights: Mapping[str, float]

    @property
    def everywhere(self) -> list[etree._Element]:
        """Copies of `common`."""
        return [deepcopy(it) for it in self.common]


def samplers(
    elements: tuple[etree._Element, ...] | list[etree._Element],
) -> Iterator[tuple[etree._Element, etree._Element]]:
    """What sends something, at any depth of a list of elements and hashTrees."""
    around = etree.Element("hashTree")
    around.extend(map(deepcopy, elements))
    return (it for it in nodes.active(around) if is_sampler_kind(nodes.kind(it[0])))


def parts_of(service: Service, folder: Path) -> Parts:
    """The service's elements for a plan in a folder, from which JMeter reads data. Raises
    SettingError."""
    builder = _Builder(service.taurus)
    try:
        common = _common(service, builder, folder)
        requests = tuple(_labelled(service, it, builder) for it in service.requests)
    except (TaurusConfigError, TaurusInternalException, OSError) as problem:
        line = " ".join(str(problem).split())
        raise SettingError(f"scenarios.{service.name}: {line}") from None
    return Parts(service.name, tuple(common), requests, service.settings.rate, service.shares)


@dataclass
class _Engine:
    """What Taurus's builder asks its engine for. Files are named from the suite."""

    log: logging.Logger = field(default_factory=lambda: logging.getLogger("tollgate.service"))
    config: BetterDict = field(default_factory=BetterDict)

    def find_file(self, name: str) -> str:
        path = SUITE / Path(name).expanduser()
        if not path.is_file():
            raise TaurusConfigError(f"{name!r} is no file: name one relative to taurus.yml")
        return str(path)

    def is_functional_mode(self) -> bool:
        return False


class _Builder(JMeterScenarioBuilder):
    """Taurus's builder of elements, without a run around it."""

    def __init__(self, taurus: Mapping[str, Any]) -> None:
        self.engine = _Engine()
        self.settings = BetterDict.from_dict(_SETTINGS)
        self.taurus = taurus
        super().__init__(self)
        self.request_compiler = RequestCompiler(self)

    def get_scenario(self, requests: list | None = None) -> Scenario:
        given = BetterDict.from_dict({**self.taurus, "requests": requests or []})
        return Scenario(self.engine, given)

    def requests(self, config: Mapping[str, Any]) -> list[etree._Element]:
        parsed = self.get_scenario([dict(config)]).get_requests(HierarchicRequestParser)
        return [it for compiled in self.compile_requests(parsed) for it in compiled]


def _common(service: Service, builder: _Builder, folder: Path) -> list[etree._Element]:
    """Taurus's own HTTP defaults say where a plan sends: ours do that by properties."""
    taurus = service.taurus
    timeout = taurus.get("timeout")
    timeout_ms = _TIMEOUT_MS if timeout is None else round(1000 * dehumanize_time(timeout))
    found = list(target(timeout_ms, str(taurus.get("content-encoding") or "UTF-8")))
    if headers := taurus.get("headers"):
        found += [JMX._get_header_mgr(headers), etree.Element("hashTree")]
    made = builder.compile_scenario(builder.get_scenario())
    for element, below in zip(made[::2], made[1::2], strict=True):
        if element.tag == _DEFAULTS:
            continue
        for file in element.iterfind("stringProp[@name='filename']"):
            if element.tag == _DATA and "${" not in file.text:
                file.text = os.path.relpath(file.text, folder)
        found += [element, below]
    return found


def _labelled(service: Service, request: Request, builder: _Builder) -> Labelled:
    where = f"scenarios.{service.name}, label {request.label!r}"
    if request.fragment is None:
        elements = builder.requests(request.config)
    else:
        path = SUITE / request.fragment
        if not path.is_file():
            raise SettingError(f"{where} includes {request.fragment}, which is no file: correct it")
        inside = fragment(path, SUITE / "plans")
        if inside is None:
            raise SettingError(
                f"{where} includes {request.fragment}, which has no Test Fragment: save one there "
                "by the JMeter GUI"
            )
        elements = list(inside)
    if not any(True for _ in samplers(elements)):
        raise SettingError(f"{where} has no request: switch on a sampler of it")
    return Labelled(request.label, request.slug, request.weight, tuple(elements))
