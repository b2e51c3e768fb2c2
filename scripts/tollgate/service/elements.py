"""A service's requests as elements of JMeter: those in YAML by Taurus's own builder, fragments as
they stand in their files."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from tollgate.compare.model import ALL_LABELS
from tollgate.plan import nodes, sessions
from tollgate.plan.expressions import reads_property
from tollgate.plan.inline import fragment
from tollgate.plan.jmx import is_sampler_kind
from tollgate.plan.model import FLOW_CONTROL, PLAIN_CONTROLLERS
from tollgate.service import xml
from tollgate.service.model import Request, Service

#: What Taurus's JMeter has set where it builds a plan.
_SETTINGS = {
    "protocol-handlers": {"http": "bzt.jmx.http.HTTPProtocolHandler"},
    "default-protocol": "http",
    "version": "5.6.3",
}
_DEFAULTS, _DATA = "ConfigTestElement", "CSVDataSet"
#: What Taurus says of a page's resources, in the element that is dropped for ours.
_RESOURCES = (
    *("HTTPSampler.image_parser", "HTTPSampler.concurrentDwn"),
    *("HTTPSampler.concurrentPool", "HTTPSampler.embedded_url_re"),
)
#: Properties that name a file: what is sent, a script, rows of data.
_FILES = "File.path", "filename"
#: Types of bodies that are sent as JSON.
_JSON = re.compile(r"\s*application/([\w.-]+\+)?json\b", re.IGNORECASE)
_HTTP = ("HTTPSamplerProxy", "HTTPSampler2", "HTTPSampler")
#: Milliseconds of a pause, and of a timer below it.
_PAUSES = ("ActionProcessor.duration", "ConstantTimer.delay", "RandomTimer.range")
_TIMEOUT_MS = 5000


@dataclass(frozen=True)
class Labelled:
    """The elements of one label, each before its hashTree, and the slug that names them. samples:
    what its samplers are called, in the order of the plan; the first of them is the arrival's."""

    label: str
    slug: str
    weight: float
    elements: tuple[etree._Element, ...]
    samples: tuple[str, ...]

    @property
    def pause_s(self) -> float:
        """How long its pauses keep a thread, as far as the elements say."""
        steps = [it for each in self.elements for it in each.iter(FLOW_CONTROL)]
        parts = [part for it in steps for part in (it, it.getnext()) if part is not None]
        props = (it for part in parts for it in part.iter("stringProp", "intProp"))
        texts = (it.text or "" for it in props if it.get("name") in _PAUSES)
        return sum(float(it) for it in texts if re.fullmatch(r"\d+(\.\d+)?", it)) / 1000


@dataclass(frozen=True)
class Parts:
    """What each shape of load puts together.

    common: cookies, defaults and the like, for the level of the Test Plan. data: what gives a row
    to each iteration of what it stands below. weights: of the labels by their slugs, with the sum
    1."""

    name: str
    common: tuple[etree._Element, ...]
    data: tuple[etree._Element, ...]
    requests: tuple[Labelled, ...]
    rate: float
    weights: Mapping[str, float]

    @property
    def slugs(self) -> dict[str, str]:
        """The slug of each label, by the label and by itself."""
        return {name: each.slug for each in self.requests for name in (each.label, each.slug)}

    @property
    def has_passes(self) -> bool:
        """Whether an arrival of some label sends several requests, one after the other."""
        return any(len(it.samples) > 1 for it in self.requests)

    @property
    def pause_s(self) -> float:
        """How long the pauses of an arrival keep a thread, on average."""
        return sum(self.weights[it.slug] * it.pause_s for it in self.requests)


def has_in_urls(root: etree._Element, properties: Iterable[str]) -> bool:
    """Whether the URL of some request of a plan may hold one of these properties of JMeter."""
    text = "\n".join(_url_texts(root))
    return any(reads_property(text, name) for name in properties)


def _url_texts(root: etree._Element) -> Iterator[str]:
    """What URLs are made of: paths, arguments of requests without a body, variables, defaults."""
    for around in root.iter("Arguments", "ConfigTestElement"):
        yield from around.itertext()
    for sampler in root.iter(*_HTTP):
        texts = {it.get("name"): it.text or "" for it in sampler.iter("stringProp", "boolProp")}
        yield texts.get("HTTPSampler.path", "")
        if texts.get("HTTPSampler.method") not in ("POST", "PUT", "PATCH"):
            yield from sampler.itertext()


def senders(tree: etree._Element) -> Iterator[tuple[etree._Element, etree._Element]]:
    """Yield each sampler at any depth that sends a request, with its hashTree."""
    for element, below in nodes.active(tree):
        if is_sampler_kind(nodes.kind(element)) and nodes.kind(element) != FLOW_CONTROL:
            yield element, below


def _condition_of_first(tree: etree._Element) -> str:
    """The kind of a controller that may send the first request never or several times; or none."""
    _, first = next(senders(tree))
    around = (it.getprevious() for it in first.iterancestors("hashTree") if it is not tree)
    return next((it for it in map(nodes.kind, around) if it not in PLAIN_CONTROLLERS), "")


def parts_of(service: Service, folder: Path) -> Parts:
    """The service's elements for a plan in a folder, from which JMeter reads data. Raises
    SettingError."""
    builder = _Builder(service.taurus)
    try:
        common, data = _common(service, builder, folder)
        requests = tuple(_labelled(service, it, builder, folder) for it in service.requests)
    except UnicodeDecodeError:
        raise SettingError(
            f"scenarios.{service.name}: a file of data-sources is not UTF-8: save it as UTF-8"
        ) from None
    except (TaurusConfigError, TaurusInternalException, OSError) as problem:
        line = " ".join(str(problem).split())
        raise SettingError(f"scenarios.{service.name}: {line}") from None
    _refuse_twice(service, requests)
    rate, weights = service.settings.rate, service.shares
    return Parts(service.name, tuple(common), tuple(data), requests, rate, weights)


def _refuse_twice(service: Service, requests: Sequence[Labelled]) -> None:
    """What a sample is called says which request it is of."""
    owners: dict[str, str] = {}
    for request in requests:
        for name in request.samples:
            if "${" in name:
                raise SettingError(
                    f"scenarios.{service.name} has the label {name!r}: criteria and weights are of "
                    "labels that are known before the run: write `label` without a variable"
                )
            if name == ALL_LABELS:
                raise SettingError(
                    f"scenarios.{service.name} has the label {name!r}, as comparisons call all of "
                    "them together: give it another one"
                )
            if owners.setdefault(name, request.label) != request.label:
                raise SettingError(
                    f"scenarios.{service.name}: {owners[name]!r} and {request.label!r} both send "
                    f"{name!r}: give one of the two another label"
                )


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

    def get_scenario(self, requests: Sequence[Any] = ()) -> Scenario:
        config = BetterDict.from_dict({**self.taurus, "requests": [*requests]})
        return Scenario(self.engine, config)

    def requests(self, config: Mapping[str, Any]) -> list[etree._Element]:
        request = _with_json(config, self.taurus.get("headers") or {})
        parsed = self.get_scenario([request]).get_requests(HierarchicRequestParser)
        return [it for compiled in self.compile_requests(parsed) for it in compiled]


def sends_json(headers: Mapping[str, Any]) -> bool:
    """Whether the type of a body with these headers is JSON."""
    types = [str(value) for name, value in headers.items() if name.lower() == "content-type"]
    return bool(types and _JSON.match(types[-1]))


def _with_json(step: Any, headers: Mapping[str, Any]) -> Any:
    """A step whose bodies are JSON's text where a header says so. Taurus knows the header
    `application/json` alone, and sends a mapping as a form below `application/json;
    charset=utf-8`."""
    if isinstance(step, list):
        return [_with_json(it, headers) for it in step]
    if not isinstance(step, Mapping):
        return step
    inner = {key: _with_json(step[key], headers) for key in ("do", "then", "else") if key in step}
    own = {**headers, **(step.get("headers") or {})}
    if sends_json(own) and isinstance(step.get("body"), (dict, list)):
        inner["body"] = json.dumps(step["body"], ensure_ascii=False)
    return {**step, **inner}


def _name_files(
    elements: Iterable[etree._Element], find: Callable[[str], str], folder: Path
) -> None:
    """Name the files of elements, which taurus.yml names from the suite, from a folder. Raises
    TaurusConfigError."""
    for prop in (it for each in elements for it in each.iter("stringProp")):
        name = prop.text or ""
        if prop.get("name") not in _FILES or not name or Path(name).is_absolute():
            continue
        if name.startswith("${"):
            continue
        path = SUITE / name if "${" in name else find(name)
        prop.text = os.path.relpath(path, folder)


def _common(
    service: Service, builder: _Builder, folder: Path
) -> tuple[list[etree._Element], list[etree._Element]]:
    """(what is for all requests, what reads their data). Taurus's own HTTP defaults say where a
    plan sends: ours do that by properties."""
    taurus = service.taurus
    timeout = taurus.get("timeout")
    timeout_ms = _TIMEOUT_MS if timeout is None else round(1000 * dehumanize_time(timeout))
    encoding = taurus.get("content-encoding") or "UTF-8"
    defaults = xml.plan("target", timeout_ms=timeout_ms, encoding=encoding)
    common, data = list(nodes.below_test_plan(defaults)), list[etree._Element]()
    if headers := taurus.get("headers"):
        common += [JMX._get_header_mgr(headers), etree.Element("hashTree")]
    compiled = builder.compile_scenario(builder.get_scenario())
    for element, below in zip(compiled[::2], compiled[1::2], strict=True):
        if element.tag == _DATA:
            element.append(JMX._string_prop("shareMode", "shareMode.all"))
            element.append(JMX._string_prop("fileEncoding", "UTF-8"))
        for url in element.iter("stringProp"):
            if url.get("name") == "Authorization.url":
                url.text = ""  # of any process of the service
        if element.tag == _DEFAULTS:
            common[0].extend(it for it in element if it.get("name") in _RESOURCES)
        else:
            has_file = element.find("stringProp[@name='filename']") is not None
            (data if has_file else common).extend((element, below))
    _name_files([*common, *data], builder.engine.find_file, folder)
    return common, data


def _labelled(service: Service, request: Request, builder: _Builder, folder: Path) -> Labelled:
    where = f"scenarios.{service.name}, label {request.label!r}"
    if request.fragment is None:
        elements = builder.requests(request.config)
        _name_files(elements, builder.engine.find_file, folder)
    else:
        path = SUITE / request.fragment
        if not path.is_file():
            raise SettingError(f"{where} includes {request.fragment}, which is no file: correct it")
        inside = fragment(path, SUITE / "plans")
        if inside is None:
            raise SettingError(
                f"{where}: {request.fragment} has no Test Fragment: save one by the JMeter GUI"
            )
        elements = list(inside)
    around = etree.Element("hashTree")
    around.extend(elements)
    for each, _ in nodes.active(around):
        if why := sessions.why_of_a_thread(each):
            raise SettingError(f"{where}: {nodes.kind(each)} {each.get('testname')!r}: {why}")
    sessions.keep_together(elements)
    samples = tuple(sampler.get("testname", "") for sampler, _ in senders(around))
    if not samples:
        raise SettingError(f"{where} has no request: switch on a sampler of it")
    if samples[0] in samples[1:]:
        raise SettingError(
            f"{where} sends {samples[0]!r}, with which its arrivals begin, several times: give "
            "each of them a name of its own"
        )
    if name := _condition_of_first(around):
        raise SettingError(
            f"{where}: {name} decides whether or how often the first request of an arrival is "
            "sent: send a request before it, or give the request behind it a label of its own"
        )
    return Labelled(request.label, request.slug, request.weight, tuple(elements), samples)
